//! The two processes of a call; and the call, seen from the one that is the tool's.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::process::{self, ExitCode};
use std::sync::Arc;

use nb_sandbox::{Host, Limit, Limits, Stop, ToolError};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdin, stdin};
use signal_hook::consts::{SIGPIPE, SIGXFSZ};
use signal_hook::flag;

use crate::interpreter::{Evaluated, compile_all, evaluate_counted};
use crate::protocol::{Job, Reply, Report, Request, Work};
use crate::rlimits;
use crate::socket::Socket;
use crate::supervisor::supervise;

/// How the argument begins with which the supervisor starts the interpreter; the supervisor's number follows.
pub(crate) const INTERPRETER: &str = "interpreter-of=";

/// A line that is longer, and longer than the whole log may be, is sent in parts, which the daemon drops one by one.
const LOG_PART_BYTES: usize = 64 << 10;

/// What the daemon's program does instead of its own work when its first argument is
/// [`CHILD_ARGUMENT`](crate::CHILD_ARGUMENT): it is the supervisor of a call, or the interpreter, which reads a job from
/// its standard input, a socket, and serves it.
///
/// It must be the first thing that `main` calls. What it answers is the exit code of the process.
pub fn child() -> ExitCode {
    match supervisor().map_or_else(supervise, serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever started this has its standard error, if not its socket.
            let _ = writeln!(io::stderr(), "a native tool cannot be run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The process that started this one as an interpreter.
fn supervisor() -> Option<Pid> {
    let last = env::args_os().next_back()?.into_string().ok()?;
    Pid::from_raw(last.strip_prefix(INTERPRETER)?.parse().ok()?)
}

fn serve(supervisor: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before that.
    if getppid() != Some(supervisor) {
        return Err(io::Error::other("its supervisor has ended"));
    }
    // Programs that the tool starts get neither the socket nor what the daemon says there.
    let socket = UnixStream::from(stdin().try_clone_to_owned()?);
    dup2_stdin(File::open("/dev/null")?)?;
    default_signals()?;
    let mut socket = Socket(socket);
    let Job { work, tool, variables, limits } = socket.receive()?;
    rlimits::apply(&limits)?;

    let mut remote = Remote { socket, tool: tool.source.file.to_string(), limits };
    let limits = remote.limits.clone();
    let evaluated = match work {
        Work::Run => evaluate_counted(&tool, &variables, &limits, &mut remote),
        Work::Check => {
            let outcome = compile_all(&tool, &mut remote);
            Evaluated { outcome, fuel: 0, peak_memory_bytes: 0 }
        }
    };
    remote.report(evaluated)
}

/// Rust has a process ignore SIGPIPE, and programs that it starts would inherit that: `yes | head` would complain. A
/// handler is not inherited. For this process nothing changes: writing to a closed pipe is an error and no end. So it is
/// with a file that has grown as large as it may.
fn default_signals() -> io::Result<()> {
    [SIGPIPE, SIGXFSZ].into_iter().try_for_each(|signal| flag::register(signal, Arc::default()).map(drop))
}

/// Without the daemon there is nothing more to do. The supervisor ends what was started.
fn without_the_daemon() -> ! {
    process::exit(1)
}

/// The host, which is in the daemon.
struct Remote {
    socket: Socket,
    tool: String,
    limits: Limits,
}

impl Remote {
    fn report(&mut self, evaluated: Evaluated) -> io::Result<()> {
        let Evaluated { outcome, fuel, peak_memory_bytes } = evaluated;
        let outcome = outcome.and_then(|result| {
            self.check_size(Limit::Output, self.limits.output_bytes, result.len())?;
            Ok(result)
        });
        self.socket.send(&Request::Done(Report { outcome, fuel, peak_memory_bytes }))
    }

    /// What is too large is not sent: the daemon would have to read all of it to refuse it.
    fn check_size(&self, limit: Limit, allowed: u64, size: usize) -> Result<(), ToolError> {
        let used = size as u64;
        if used <= allowed {
            return Ok(());
        }
        Err(Stop::Limit { limit, allowed, used }.into_error(&self.tool))
    }

    /// Asks, and waits for the answer.
    fn ask(&mut self, request: &Request) -> Reply {
        match self.socket.send(request).and_then(|()| self.socket.receive()) {
            Ok(reply) => reply,
            Err(_) => without_the_daemon(),
        }
    }

    fn ask_number(&mut self, request: &Request) -> u64 {
        match self.ask(request) {
            Reply::Number(number) => number,
            Reply::Answer(_) => without_the_daemon(),
        }
    }
}

impl Host for Remote {
    fn invoke(&mut self, ability: &str, args: &str) -> Result<String, String> {
        let size = ability.len() + args.len();
        if let Err(error) = self.check_size(Limit::HostBytes, self.limits.host_bytes, size) {
            let _ = self.report(Evaluated { outcome: Err(error), fuel: 0, peak_memory_bytes: 0 });
            process::exit(0);
        }
        match self.ask(&Request::Invoke { ability: ability.to_owned(), args: args.to_owned() }) {
            Reply::Answer(answer) => answer,
            Reply::Number(_) => without_the_daemon(),
        }
    }

    fn log(&mut self, line: &str) {
        let longest = usize::try_from(self.limits.log_bytes).unwrap_or(usize::MAX).max(LOG_PART_BYTES);
        let mut rest = line;
        loop {
            let part = &rest[..rest.floor_char_boundary(longest)];
            rest = &rest[part.len()..];
            if self.socket.send(&Request::Log { line: part.to_owned() }).is_err() {
                without_the_daemon();
            }
            if rest.is_empty() {
                return;
            }
        }
    }

    fn now_ns(&mut self) -> u64 {
        self.ask_number(&Request::Now)
    }

    fn random(&mut self) -> u64 {
        self.ask_number(&Request::Random)
    }
}
