//! Counting what a call uses, and stopping it.

use std::time::{Duration, Instant};

use wasmtime::{ResourceLimiter, StoreContextMut};

use crate::call::Usage;
use crate::error::ToolError;
use crate::host::{CancelFlag, Host, NoHost};
use crate::limits::{FUEL_PER_UNIT, Limit, Limits, MAX_MEMORY_BYTES};

/// What asking the host costs, in WebAssembly instructions: about what the way there and back takes.
const HOST_CALL_FUEL: u64 = 8 * FUEL_PER_UNIT;

/// What a byte costs that goes to the host or comes from there: it is checked and copied once.
const HOST_BYTE_FUEL: u64 = 2;

/// What an element of a table takes of the memory, in bytes.
const TABLE_ELEMENT_BYTES: usize = 16;

/// The most core instances, memories and tables of a component: each takes something of the host that the guest's
/// memory does not show. The guest has three instances; those that were made from several libraries have some dozens.
const MAX_PARTS: usize = 100;

/// Why the host ends a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// It used up what it was given.
    #[error("{limit}")]
    Limit {
        /// Which limit.
        limit: Limit,
        /// The limit's value, in the unit of [`Limit::unit`].
        allowed: u64,
        /// What was used, or asked for.
        used: u64,
    },
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl Stop {
    /// The error of the tool with that file.
    pub fn into_error(self, tool: &str) -> ToolError {
        let tool = tool.to_owned();
        match self {
            Self::Limit { limit, allowed, used } => {
                ToolError::Limit { tool, limit, allowed, used, compiling: false }
            }
            Self::Cancelled => ToolError::Cancelled { tool },
        }
    }
}

/// What a store of this crate carries: a meter, for a component of somebody else with WASI around it.
pub(crate) trait Metered: 'static {
    fn meter(&self) -> &Meter;
    fn meter_mut(&mut self) -> &mut Meter;
}

impl Metered for Meter {
    fn meter(&self) -> &Meter {
        self
    }

    fn meter_mut(&mut self) -> &mut Meter {
        self
    }
}

/// Counts what one call uses, and stands between a tool and its host. Public for runtimes beside this one.
pub struct Meter {
    host: Box<dyn Host + Send>,
    limits: Limits,
    /// WebAssembly instructions to one unit of [`Limits::fuel`].
    fuel_per_unit: u64,
    cancel: CancelFlag,
    started: Instant,
    waiting: Duration,
    host_calls: u64,
    sent: u64,
    received: u64,
    logged: u64,
    log_dropped: u64,
    pub(crate) memory: Memory,
}

impl Meter {
    /// A call begins.
    pub fn new(host: Box<dyn Host + Send>, limits: Limits, cancel: CancelFlag) -> Self {
        let memory = Memory { allowed: limits.memory_bytes.min(MAX_MEMORY_BYTES), ..Memory::default() };
        Self {
            host,
            limits,
            fuel_per_unit: FUEL_PER_UNIT,
            cancel,
            started: Instant::now(),
            waiting: Duration::ZERO,
            host_calls: 0,
            sent: 0,
            received: 0,
            logged: 0,
            log_dropped: 0,
            memory,
        }
    }

    /// Counts each WebAssembly instruction as one unit of fuel: the steps of a component are its own.
    pub(crate) fn counting_instructions(self) -> Self {
        Self { fuel_per_unit: 1, ..self }
    }

    /// The fuel of the limits, in WebAssembly instructions.
    pub(crate) fn fuel_given(&self) -> u64 {
        self.limits.fuel.saturating_mul(self.fuel_per_unit)
    }

    /// Fuel in units, of what is left of it in WebAssembly instructions.
    pub(crate) fn fuel_used(&self, left: u64) -> u64 {
        self.fuel_given().saturating_sub(left).div_ceil(self.fuel_per_unit)
    }

    /// What the call may use up.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What ends the call from another thread.
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// How long the call has run, without what it waited for its host.
    pub fn running(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.waiting)
    }

    /// Whether the call may run on: to be asked at every tick of a clock, while it runs.
    pub fn tick(&self) -> Result<(), Stop> {
        self.check_cancelled()?;
        let running = self.running();
        if running > self.limits.wall {
            let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
            return Err(Stop::Limit {
                limit: Limit::WallClock,
                allowed: milliseconds(self.limits.wall),
                // Rounded up: what ended the call is more than what was allowed.
                used: milliseconds(running).saturating_add(1),
            });
        }
        Ok(())
    }

    fn check_cancelled(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// Counts a call of the host before it is made.
    fn admit(&mut self, bytes: usize) -> Result<(), Stop> {
        self.check_cancelled()?;
        self.host_calls += 1;
        within(Limit::HostCalls, self.limits.host_calls, self.host_calls)?;
        self.sent = self.sent.saturating_add(bytes as u64);
        within(Limit::HostBytes, self.limits.host_bytes, self.sent)
    }

    /// Counts what the host answered.
    fn accept(&mut self, bytes: usize) -> Result<(), Stop> {
        self.check_cancelled()?;
        self.received = self.received.saturating_add(bytes as u64);
        within(Limit::HostBytes, self.limits.host_bytes, self.received)
    }

    /// Whether a result is within its limit.
    pub fn check_output(&self, bytes: usize) -> Result<(), Stop> {
        within(Limit::Output, self.limits.output_bytes, bytes as u64)
    }

    /// Gives the host a line of the log, as long as there is room.
    pub fn log(&mut self, line: &str) {
        // With what the record needs for each line, so that a flood of empty lines has an end as well.
        let size = line.len() as u64 + LOG_LINE_BYTES;
        if self.log_dropped > 0 || self.logged + size > self.limits.log_bytes {
            self.drop_log(line.len() as u64 + 1);
            return;
        }
        self.logged += size;
        self.wait_for(|host| host.log(line));
    }

    /// Asks the host, within the limits.
    pub fn invoke(&mut self, ability: &str, args: &str) -> Result<Result<String, String>, Stop> {
        self.admit(ability.len() + args.len())?;
        let answer = self.wait_for(|host| host.invoke(ability, args));
        self.accept(answer.as_ref().map_or_else(String::len, String::len))?;
        Ok(answer)
    }

    /// Asks the host's clock or its randomness, which are counted like other host calls.
    pub fn ask(&mut self, ask: impl FnOnce(&mut dyn Host) -> u64) -> Result<u64, Stop> {
        self.admit(0)?;
        Ok(self.wait_for(ask))
    }

    /// What the call used up so far. `fuel` is in units, `output_bytes` the size of the result.
    pub fn usage(&self, fuel: u64, peak_memory_bytes: u64, output_bytes: u64) -> Usage {
        Usage {
            fuel,
            peak_memory_bytes,
            output_bytes,
            host_calls: self.host_calls,
            running: self.running(),
            waiting: self.waiting,
        }
    }

    /// Counts bytes of the log that nobody will see.
    pub(crate) fn drop_log(&mut self, bytes: u64) {
        self.log_dropped = self.log_dropped.saturating_add(bytes);
    }

    /// Ends the call's log and gives the host back.
    pub fn into_host(mut self) -> Box<dyn Host + Send> {
        if self.log_dropped > 0 {
            self.host.log_dropped(self.log_dropped);
        }
        self.host
    }

    fn wait_for<T>(&mut self, ask: impl FnOnce(&mut dyn Host) -> T) -> T {
        let asked = Instant::now();
        let answer = ask(self.host.as_mut());
        self.waiting += asked.elapsed();
        answer
    }
}

fn within(limit: Limit, allowed: u64, used: u64) -> Result<(), Stop> {
    if used > allowed { Err(Stop::Limit { limit, allowed, used }) } else { Ok(()) }
}

/// Takes fuel for what the host does, or ends the call when there is not enough.
fn charge<T: Metered>(store: &mut StoreContextMut<'_, T>, flat: u64, bytes: usize) -> wasmtime::Result<()> {
    let cost = (bytes as u64).saturating_mul(HOST_BYTE_FUEL).saturating_add(flat);
    let left = store.get_fuel()?;
    store.set_fuel(left.saturating_sub(cost))?;
    if left >= cost {
        return Ok(());
    }
    let meter = store.data().meter();
    let allowed = meter.limits.fuel;
    let used = allowed.saturating_add((cost - left).div_ceil(meter.fuel_per_unit));
    Err(Stop::Limit { limit: Limit::Fuel, allowed, used }.into())
}

/// `invoke` of the WIT interface `host`, with its texts borrowed from the guest's memory.
pub(crate) fn invoke<T: Metered>(
    store: &mut StoreContextMut<'_, T>,
    ability: &wasmtime::component::WasmStr,
    args: &wasmtime::component::WasmStr,
) -> wasmtime::Result<Result<String, String>> {
    let bytes = ability.to_str(&*store)?.len() + args.to_str(&*store)?.len();
    store.data_mut().meter_mut().admit(bytes)?;
    charge(store, HOST_CALL_FUEL, bytes)?;

    // The texts are borrowed from the store, so the host must stand outside of it while it answers.
    let mut host = std::mem::replace(&mut store.data_mut().meter_mut().host, Box::new(NoHost));
    let asked = Instant::now();
    let answer = {
        let (ability, args) = (ability.to_str(&*store)?, args.to_str(&*store)?);
        host.invoke(&ability, &args)
    };
    let meter = store.data_mut().meter_mut();
    meter.waiting += asked.elapsed();
    meter.host = host;

    let bytes = answer.as_ref().map_or_else(String::len, String::len);
    meter.accept(bytes)?;
    charge(store, 0, bytes)?;
    Ok(answer)
}

/// What a line of log costs of [`Limits::log_bytes`] beside its text.
const LOG_LINE_BYTES: u64 = 64;

/// `log` of the WIT interface `host`.
pub(crate) fn log<T: Metered>(
    store: &mut StoreContextMut<'_, T>,
    line: &wasmtime::component::WasmStr,
) -> wasmtime::Result<()> {
    let bytes = line.to_str(&*store)?.len();
    charge(store, HOST_CALL_FUEL, bytes)?;
    store.data().meter().check_cancelled()?;
    let line = line.to_str(&*store)?.into_owned();
    store.data_mut().meter_mut().log(&line);
    Ok(())
}

/// `now-ns` and `random` of the WIT interface `host`. They are counted like other host calls.
pub(crate) fn ask<T: Metered>(
    store: &mut StoreContextMut<'_, T>,
    ask: impl FnOnce(&mut dyn Host) -> u64,
) -> wasmtime::Result<u64> {
    store.data_mut().meter_mut().admit(0)?;
    charge(store, HOST_CALL_FUEL, 0)?;
    Ok(store.data_mut().meter_mut().wait_for(ask))
}

/// The memories and tables of an instance, and the heap on which the engine keeps the exceptions that were thrown.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    allowed: u64,
    total: u64,
    pub(crate) peak: u64,
    /// What the guest would have had, when it asked for too much.
    denied: Option<u64>,
}

impl Memory {
    /// Whether there is room for a part of it to become larger.
    fn grow(&mut self, current: usize, desired: usize) -> bool {
        let total = self.total.saturating_sub(current as u64).saturating_add(desired as u64);
        if total > self.allowed {
            self.denied = Some(total);
            return false;
        }
        self.total = total;
        self.peak = self.peak.max(total);
        true
    }

    /// Why the call failed, when it did fail and had been denied memory before.
    ///
    /// A script can catch Lua's "not enough memory" and go on; when it then ends well, nothing exceeded the limit, and
    /// when it does not, this was the cause.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.denied.map(|used| Stop::Limit { limit: Limit::Memory, allowed: self.allowed, used })
    }

    /// For a guest that ran out of memory without asking for more.
    pub(crate) fn exhausted(&self) -> Stop {
        self.stop().unwrap_or(Stop::Limit { limit: Limit::Memory, allowed: self.allowed, used: self.total })
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.memory.grow(current, desired))
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        // Called for a denied growth as well; else the pool or the machine has no more.
        if self.memory.denied.is_none() {
            tracing::warn!(error = format!("{error:#}"), "the memory of a tool cannot grow");
            self.memory.denied = Some(self.memory.total);
        }
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let bytes = |elements: usize| elements.saturating_mul(TABLE_ELEMENT_BYTES);
        Ok(self.memory.grow(bytes(current), bytes(desired)))
    }

    fn instances(&self) -> usize {
        MAX_PARTS
    }

    fn memories(&self) -> usize {
        MAX_PARTS
    }

    fn tables(&self) -> usize {
        MAX_PARTS
    }
}
