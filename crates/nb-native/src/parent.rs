//! One call, seen from the daemon: what the interpreter asks for is metered and given, and at a limit it is ended.

use std::io;
use std::time::Duration;

use nb_sandbox::{CancelFlag, Finished, Limits, Meter, NoHost, Stop, ToolError};

use crate::interpreter::{COMPILE_FUEL, COMPILE_MEMORY_BYTES};
use crate::lines::Lines;
use crate::process::Process;
use crate::protocol::{Job, Reply, Report, Request, Work, longest_message};
use crate::tool::{NativeCall, NativeTool, Runner};

/// How often a call is looked at while nothing happens: how late a limit or a cancellation is noticed.
const TICK: Duration = Duration::from_millis(10);

/// Runs a tool in a process of its own, and blocks until it and the programs that it started have ended.
///
/// Of [`Usage`](nb_sandbox::Usage), `fuel` and `peak_memory_bytes` are Lua's own and 0 when the interpreter did not
/// come to tell them.
pub fn run(call: NativeCall) -> Finished {
    let NativeCall { tool, variables, limits, cancel, host, runner } = call;
    let file = tool.source.file.clone();
    let mut meter = Meter::new(host, limits, cancel);
    let outcome = carry_out(&mut meter, tool, Work::Run, variables, &runner);
    let (fuel, peak_memory_bytes) =
        outcome.as_ref().map_or((0, 0), |report| (report.fuel, report.peak_memory_bytes));
    let outcome = outcome.and_then(|report| report.outcome).and_then(|result| {
        meter.check_output(result.len()).map_err(|stop| stop.into_error(&file))?;
        Ok(result)
    });
    let output_bytes = outcome.as_ref().map_or(0, |result| result.len() as u64);
    let usage = meter.usage(fuel, peak_memory_bytes, output_bytes);
    Finished { outcome, usage, host: meter.into_host() }
}

/// Compiles a tool and all of its modules in a process of its own, because the macros of a Fennel script run meanwhile.
///
/// # Errors
/// [`ToolError::Script`] with the place when a source is no program of its language; another one when a macro does not
/// end, or ends the process.
pub fn check(tool: &NativeTool, runner: &Runner) -> Result<(), ToolError> {
    let limits = Limits {
        fuel: COMPILE_FUEL,
        memory_bytes: COMPILE_MEMORY_BYTES,
        wall: Duration::from_secs(30),
        host_calls: 0,
        log_bytes: 0,
        ..Limits::default()
    };
    let mut meter = Meter::new(Box::new(NoHost), limits, CancelFlag::default());
    let checked = carry_out(&mut meter, tool.clone(), Work::Check, String::new(), runner);
    checked.and_then(|report| report.outcome).map(drop).map_err(ToolError::while_compiling)
}

/// Why a call ended without a report.
enum Ended {
    Stopped(Stop),
    Crashed(String),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Crashed(format!("the connection to its process failed: {error}"))
    }
}

fn carry_out(
    meter: &mut Meter,
    tool: NativeTool,
    work: Work,
    variables: String,
    runner: &Runner,
) -> Result<Report, ToolError> {
    let file = tool.source.file.to_string();
    let outcome = start_and_serve(meter, tool, work, variables, runner);
    outcome.map_err(|ended| match ended {
        Ended::Stopped(stop) => stop.into_error(&file),
        Ended::Crashed(message) => ToolError::Crashed { tool: file, message },
    })
}

fn start_and_serve(
    meter: &mut Meter,
    tool: NativeTool,
    work: Work,
    variables: String,
    runner: &Runner,
) -> Result<Report, Ended> {
    meter.tick()?;
    let longest = longest_message(&tool, meter.limits());
    let limits = meter.limits().clone();
    let file = tool.source.file.to_string();
    let job = Job { work, tool, variables, limits };
    let started = Process::start(runner);
    let mut process =
        started.map_err(|error| Ended::Crashed(format!("its process cannot be started: {error}")))?;
    let mut lines = Lines::default();
    let served = process.send(&job).map_err(Ended::from);
    let served = served.and_then(|()| serve(meter, &mut process, &mut lines, longest));
    let end = process.stop(|bytes| lines.take(bytes, |line| meter.log(line)));
    lines.finish(|line| meter.log(line));
    if let Some(warning) = end.warning {
        tracing::warn!(tool = file, warning, "a tool outside of the sandbox may have left programs");
    }
    served?.ok_or(Ended::Crashed(end.how))
}

/// Serves the interpreter until it has ended. Its report, when it sent one.
fn serve(
    meter: &mut Meter,
    process: &mut Process,
    lines: &mut Lines,
    longest: u64,
) -> Result<Option<Report>, Ended> {
    let mut report = None;
    loop {
        let ended = process.step(TICK, |bytes| lines.take(bytes, |line| meter.log(line)))?;
        if ended {
            process.receive_rest()?;
        }
        while let Some(request) = process.message(longest)? {
            match request {
                Request::Log { line } => meter.log(&line),
                Request::Done(done) => report = Some(done),
                // Nobody is there to hear the answer.
                _ if ended => return Ok(report),
                Request::Invoke { ability, args } => {
                    process.send(&Reply::Answer(meter.invoke(&ability, &args)?))?;
                }
                Request::Now => process.send(&Reply::Number(meter.ask(|host| host.now_ns())?))?,
                Request::Random => process.send(&Reply::Number(meter.ask(|host| host.random())?))?,
            }
        }
        if ended {
            return Ok(report);
        }
        meter.tick()?;
    }
}
