//! One call's store: set up with its limits, and asked at the end what came of it.

use wasmtime::component::ResourceTableError;
use wasmtime::{Engine, Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

use crate::call::Usage;
use crate::error::ToolError;
use crate::explain::explain;
use crate::guest::{Failure, Ran};
use crate::limits::Limit;
use crate::meter::{Metered, Stop};
use crate::script_error::{ScriptError, ScriptErrorKind};
use crate::slots::Slot;
use crate::source::Source;
use crate::ticker::Running;
use crate::wasi::MAX_RESOURCES;

/// A store for one instance, while it has a place in the pool.
pub(crate) struct Instance<'a, T: Metered> {
    // In this order: the store gives its memory back to the pool before the place is free again.
    pub(crate) store: Store<T>,
    _running: Running,
    _slot: Slot<'a>,
}

impl<'a, T: Metered> Instance<'a, T> {
    pub(crate) fn new(engine: &Engine, slot: Slot<'a>, data: T) -> Self {
        let mut store = Store::new(engine, data);
        store.set_hostcall_fuel(
            usize::try_from(store.data().meter().limits().message_bytes()).unwrap_or(usize::MAX),
        );
        store.limiter(|data| data.meter_mut());
        store.epoch_deadline_callback(|store| {
            store.data().meter().tick()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store.set_epoch_deadline(1);
        Self { store, _running: Running::start(), _slot: slot }
    }

    /// Nothing runs before this.
    pub(crate) fn give_fuel(&mut self) -> wasmtime::Result<()> {
        let fuel = self.store.data().meter().fuel_given();
        self.store.set_fuel(fuel)
    }

    /// Says why there is no result. `sources` are those that an error may point into.
    pub(crate) fn judge<R>(
        &self,
        tool: &str,
        sources: &[Source],
        answer: wasmtime::Result<Result<R, Failure>>,
    ) -> Result<R, ToolError> {
        let meter = self.store.data().meter();
        let stopped = |stop: Stop| stop.into_error(tool);
        match answer {
            Ok(Ok(value)) => Ok(value),
            // Of the guest it is true. A component may say anything: only what it was denied counts.
            Ok(Err(error)) if error.kind == ScriptErrorKind::Memory && !sources.is_empty() => {
                Err(stopped(meter.memory.exhausted()))
            }
            Ok(Err(error)) => Err(match meter.memory.stop() {
                Some(stop) => stopped(stop),
                None => script_error(tool, sources, error),
            }),
            Err(error) => Err(if let Some(stop) = error.downcast_ref::<Stop>() {
                stopped(*stop)
            } else if error.downcast_ref::<Trap>() == Some(&Trap::OutOfFuel) {
                let allowed = meter.limits().fuel;
                stopped(Stop::Limit { limit: Limit::Fuel, allowed, used: allowed })
            } else if is_too_much_at_once(&error) {
                let allowed = meter.limits().message_bytes();
                stopped(Stop::Limit { limit: Limit::Message, allowed, used: allowed.saturating_add(1) })
            } else if let Some(stop) = meter.memory.stop() {
                stopped(stop)
            } else if let Some(I32Exit(code)) = error.downcast_ref() {
                let message = format!("it ended itself with exit code {code} instead of answering");
                ToolError::Script(Box::new(ScriptError::new(tool, message)))
            } else if let Some(ResourceTableError::Full) = error.downcast_ref() {
                let message =
                    format!("it has more than {MAX_RESOURCES} files, streams and timers open at once");
                ToolError::Script(Box::new(ScriptError::new(tool, message)))
            } else {
                // A script never comes here; what a component wrote before it broke off says why, where it does.
                let message = format!("{error:#}; what it wrote before is in its log: nbctl logs");
                ToolError::Crashed { tool: tool.into(), message }
            }),
        }
    }

    /// Ends the call of a tool: what came of it, what it used up, and what the store carried.
    pub(crate) fn conclude(
        self,
        tool: &str,
        sources: &[Source],
        ran: wasmtime::Result<Ran>,
    ) -> (Result<String, ToolError>, Usage, T) {
        let ran = ran.and_then(|answer| {
            if let Ok(json) = &answer {
                self.store.data().meter().check_output(json.len())?;
            }
            Ok(answer)
        });
        let outcome = self.judge(tool, sources, ran);
        let meter = self.store.data().meter();
        // It cannot fail: the engine counts fuel.
        let fuel = meter.fuel_used(self.store.get_fuel().unwrap_or(0));
        let output_bytes = outcome.as_ref().map_or(0, |json| json.len() as u64);
        let usage = meter.usage(fuel, meter.memory.peak, output_bytes);
        let Self { store, _running, _slot } = self;
        (outcome, usage, store.into_data())
    }
}

/// The engine's error when a guest hands over more than [`Limits::message_bytes`](crate::Limits::message_bytes) has no
/// type of its own; a test sees it when its words change.
fn is_too_much_at_once(error: &wasmtime::Error) -> bool {
    error.chain().any(|cause| cause.to_string().ends_with("fuel allocated for hostcalls has been exhausted"))
}

fn script_error(tool: &str, sources: &[Source], failure: Failure) -> ToolError {
    let Failure { kind, message, position, traceback } = failure.shortened();
    let mut error = ScriptError { kind, position, traceback, ..ScriptError::new(tool, message) };
    explain(&mut error, sources);
    ToolError::Script(Box::new(error))
}
