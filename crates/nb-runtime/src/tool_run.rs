//! One tool call in the sandbox, and its bridge to the abilities.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nb_native::NativeCall;
use nb_sandbox::{Call, Folder, Host, SandboxError, ToolError};
use nb_spec::Code;
use nb_spec::permission::{FILES_READ, UNSANDBOXED};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::ability::{self, Caller, Reply};
use crate::engine::RunContext;
use crate::error::RunError;
use crate::installed::Executable;
use crate::policy::{Decision, Scopes, decide};
use crate::record::{RunEvent, kept};

/// Calls a tool of the run's agent.
pub(crate) async fn call_tool(
    run: &Arc<RunContext>,
    tool: &str,
    parameters: Value,
) -> Result<Value, RunError> {
    run.agent.check_parameters(tool, &parameters).map_err(|mismatch| RunError::Arguments {
        what: format!("tool `{tool}`"),
        reason: mismatch.message,
    })?;
    // Waiting for a place must not hold a thread: what runs needs threads of the same pool, to look up names.
    let _place = tokio::select! {
        place = run.engine.place() => place,
        () = run.cancel.cancelled() => return Err(run.cancelled()),
    };
    let unsandboxed = run.agent.spec.tools.get(tool).is_some_and(|tool| !tool.is_sandboxed());
    if unsandboxed {
        may_leave_the_sandbox(run, tool)?;
    }
    let is_component =
        run.agent.spec.tools.get(tool).is_some_and(|tool| matches!(tool.code, Code::Component(_)));
    let folders = if is_component {
        // A file system may take its time.
        let run = Arc::clone(run);
        let opening = tokio::task::spawn_blocking(move || folders(&run));
        joined(opening).await??
    } else {
        Vec::new()
    };
    run.record(&RunEvent::ToolStarted { tool: tool.to_owned(), input: kept(&parameters), unsandboxed })?;
    if unsandboxed {
        // On disk before it can have an effect: after a crash it is not called again.
        run.engine.services().store.commit().await?;
    }
    let log = Arc::new(LogRoom::new(run.engine.services().limits.log_bytes));
    let bridge = Bridge { run: Arc::clone(run), runtime: Handle::current(), log: Arc::clone(&log) };
    let name = tool.to_owned();
    // The sandbox computes; a thread of the blocking pool keeps the others answering.
    let worker = tokio::task::spawn_blocking(move || {
        let services = bridge.run.engine.services().clone();
        let agent = Arc::clone(&bridge.run.agent);
        let variables = json!({"parameters": parameters}).to_string();
        let limits = agent.limits(&services.limits);
        let cancel = bridge.run.cancel.flag.clone();
        let host = Box::new(bridge);
        Ok::<_, SandboxError>(match agent.executable(&name, &services)? {
            Executable::Sandboxed(program) => {
                services.sandbox.run(Call { program, variables, limits, cancel, folders, host })
            }
            Executable::Native(tool) => {
                let runner = services.native.clone();
                nb_native::run(NativeCall { tool: (*tool).clone(), variables, limits, cancel, host, runner })
            }
        })
    });
    let finished = joined(worker)
        .await?
        .map_err(|error| RunError::Internal(format!("tool `{tool}` does not compile: {error}")))?;
    if let Some(message) = log.missing() {
        run.record(&RunEvent::Log { level: "print".to_owned(), message })?;
    }
    let usage = &finished.usage;
    let result = match finished.outcome {
        Ok(text) => serde_json::from_str(&text).map_err(|error| RunError::Internal(error.to_string())),
        Err(ToolError::Cancelled { .. }) => Err(run.cancelled()),
        Err(cause) => Err(RunError::Tool { tool: tool.to_owned(), cause }),
    };
    let traceback = match &result {
        Err(RunError::Tool { cause: ToolError::Script(error), .. }) if !error.traceback.is_empty() => {
            Some(error.traceback.clone())
        }
        _ => None,
    };
    run.record(&RunEvent::ToolFinished {
        tool: tool.to_owned(),
        is_error: result.is_err(),
        output: result.as_ref().map_or_else(|error| Value::String(error.to_string()), kept),
        traceback,
        fuel: usage.fuel,
        peak_memory: usage.peak_memory_bytes,
        output_bytes: usage.output_bytes,
        host_calls: usage.host_calls,
        running_ms: usage.running.as_secs_f64() * 1e3,
        waiting_ms: usage.waiting.as_secs_f64() * 1e3,
    })?;
    result
}

/// What a thread of the blocking pool gave. A panic in it goes on here: it ends the run.
async fn joined<T>(task: JoinHandle<T>) -> Result<T, RunError> {
    task.await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => RunError::Internal(error.to_string()),
    })
}

fn may_leave_the_sandbox(run: &RunContext, tool: &str) -> Result<(), RunError> {
    let Err(reason) = run.agent.may_leave_the_sandbox() else { return Ok(()) };
    let (ability, decision) = (UNSANDBOXED.to_owned(), "deny".to_owned());
    run.record(&RunEvent::PolicyDecided { ability, decision, reason: reason.clone() })?;
    Err(RunError::Permission(format!("tool `{tool}` says `sandboxed: false`: {reason}")))
}

/// The folders that the run's agent may read.
fn folders(run: &RunContext) -> Result<Vec<Folder>, RunError> {
    let Decision::Allow(Scopes::Limited(granted)) = decide(run.agent.name(), &run.agent.grants, FILES_READ)
    else {
        return Ok(Vec::new());
    };
    let services = run.engine.services();
    granted.iter().map(|name| services.open_folder(name).map_err(RunError::Permission)).collect()
}

/// What a line of log costs beside its text: the record keeps its time and place.
const LOG_LINE_BYTES: u64 = 64;

/// How much one call may still log, by `print` and by `nb.log` together. What is over is dropped, and told once.
struct LogRoom {
    left: AtomicU64,
    dropped: AtomicU64,
}

impl LogRoom {
    fn new(bytes: u64) -> Self {
        Self { left: AtomicU64::new(bytes), dropped: AtomicU64::new(0) }
    }

    /// Whether a line still fits.
    fn take(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            left.checked_sub(bytes.saturating_add(LOG_LINE_BYTES))
        });
        if taken.is_err() {
            // After the first line that does not fit, none does: a log with gaps would mislead.
            self.left.store(0, Ordering::Relaxed);
            self.dropped.fetch_add(bytes, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    fn missing(&self) -> Option<String> {
        let dropped = self.dropped.load(Ordering::Relaxed);
        (dropped > 0).then(|| format!("… {dropped} bytes of log dropped"))
    }
}

/// What a script reaches of the outside world.
struct Bridge {
    run: Arc<RunContext>,
    runtime: Handle,
    log: Arc<LogRoom>,
}

impl Host for Bridge {
    fn invoke(&mut self, name: &str, args: &str) -> Result<String, String> {
        let args: Value =
            serde_json::from_str(args).map_err(|error| format!("{name}: arguments are not JSON: {error}"))?;
        if matches!(name, "log.info" | "log.error") && !self.log.take(args["message"].to_string().len()) {
            return Ok("null".to_owned());
        }
        match self.runtime.block_on(ability::invoke(&self.run, Caller::Tool, name, args)) {
            Ok(Reply::Value(value)) => Ok(value.to_string()),
            Ok(Reply::Stop(_)) => Err(format!("{name} ends a chain; in a tool, return")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn log(&mut self, line: &str) {
        if !self.log.take(line.len()) {
            return;
        }
        let event = RunEvent::Log { level: "print".to_owned(), message: line.to_owned() };
        // A script cannot be told that its log line was lost; the store's failure ends the run at its next record.
        if let Err(error) = self.run.record(&event) {
            tracing::error!(run = %self.run.id, "a line of log is lost: {error}");
        }
    }

    fn log_dropped(&mut self, bytes: u64) {
        self.log.dropped.fetch_add(bytes, Ordering::Relaxed);
    }

    fn now_ns(&mut self) -> u64 {
        let now = self.run.engine.services().world.now();
        now.timestamp_nanos_opt().and_then(|ns| u64::try_from(ns).ok()).unwrap_or_default()
    }

    fn random(&mut self) -> u64 {
        self.run.engine.services().world.random()
    }
}
