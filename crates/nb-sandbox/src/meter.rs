//! Counting what a call uses, and stopping it.

use std::time::{Duration, Instant};

use wasmtime::{ResourceLimiter, StoreContextMut, UpdateDeadline};

use crate::host::{CancelFlag, Host, NoHost};
use crate::limits::{FUEL_PER_UNIT, Limit, Limits, MAX_MEMORY_BYTES};

/// What asking the host costs, in WebAssembly instructions: about what the way there and back takes.
const HOST_CALL_FUEL: u64 = 8 * FUEL_PER_UNIT;

/// What a byte costs that goes to the host or comes from there: it is checked and copied once.
const HOST_BYTE_FUEL: u64 = 2;

/// Elements of a table. The guest's holds its functions and does not grow.
const MAX_TABLE_ELEMENTS: usize = 100_000;

/// Why the host ends a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    #[error("{limit}")]
    Limit { limit: Limit, allowed: u64, used: u64 },
    #[error("cancelled")]
    Cancelled,
}

/// What the store of a call carries.
pub(crate) struct Meter {
    host: Box<dyn Host + Send>,
    limits: Limits,
    cancel: CancelFlag,
    started: Instant,
    pub(crate) waiting: Duration,
    pub(crate) host_calls: u64,
    sent: u64,
    received: u64,
    logged: u64,
    log_dropped: u64,
    pub(crate) memory: Memory,
}

impl Meter {
    pub(crate) fn new(host: Box<dyn Host + Send>, limits: Limits, cancel: CancelFlag) -> Self {
        let memory = Memory { allowed: limits.memory_bytes.min(MAX_MEMORY_BYTES), ..Memory::default() };
        Self {
            host,
            limits,
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

    pub(crate) fn running(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.waiting)
    }

    /// Runs at every tick of the clock, while the guest runs.
    pub(crate) fn tick(&self) -> Result<UpdateDeadline, Stop> {
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
        Ok(UpdateDeadline::Continue(1))
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

    pub(crate) fn check_output(&self, bytes: usize) -> Result<(), Stop> {
        within(Limit::Output, self.limits.output_bytes, bytes as u64)
    }

    /// Ends the call's log and gives the host back.
    pub(crate) fn into_host(mut self) -> Box<dyn Host + Send> {
        if self.log_dropped > 0 {
            self.host.log(&format!("… {} bytes dropped", self.log_dropped));
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
fn charge(store: &mut StoreContextMut<'_, Meter>, flat: u64, bytes: usize) -> wasmtime::Result<()> {
    let cost = (bytes as u64).saturating_mul(HOST_BYTE_FUEL).saturating_add(flat);
    let left = store.get_fuel()?;
    store.set_fuel(left.saturating_sub(cost))?;
    if left >= cost {
        return Ok(());
    }
    let allowed = store.data().limits.fuel;
    let used = allowed.saturating_add((cost - left).div_ceil(FUEL_PER_UNIT));
    Err(Stop::Limit { limit: Limit::Fuel, allowed, used }.into())
}

/// `invoke` of the WIT interface `host`, with its texts borrowed from the guest's memory.
pub(crate) fn invoke(
    store: &mut StoreContextMut<'_, Meter>,
    ability: &wasmtime::component::WasmStr,
    args: &wasmtime::component::WasmStr,
) -> wasmtime::Result<Result<String, String>> {
    let bytes = ability.to_str(&*store)?.len() + args.to_str(&*store)?.len();
    store.data_mut().admit(bytes)?;
    charge(store, HOST_CALL_FUEL, bytes)?;

    // The texts are borrowed from the store, so the host must stand outside of it while it answers.
    let mut host = std::mem::replace(&mut store.data_mut().host, Box::new(NoHost));
    let asked = Instant::now();
    let answer = {
        let (ability, args) = (ability.to_str(&*store)?, args.to_str(&*store)?);
        host.invoke(&ability, &args)
    };
    let meter = store.data_mut();
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
pub(crate) fn log(
    store: &mut StoreContextMut<'_, Meter>,
    line: &wasmtime::component::WasmStr,
) -> wasmtime::Result<()> {
    let bytes = line.to_str(&*store)?.len();
    charge(store, HOST_CALL_FUEL, bytes)?;
    let meter = store.data_mut();
    meter.check_cancelled()?;
    // With what the record needs for each line, so that a flood of empty lines has an end as well.
    let size = bytes as u64 + LOG_LINE_BYTES;
    if meter.log_dropped > 0 || meter.logged + size > meter.limits.log_bytes {
        meter.log_dropped = meter.log_dropped.saturating_add(bytes as u64 + 1);
        return Ok(());
    }
    meter.logged += size;
    let line = line.to_str(&*store)?.into_owned();
    store.data_mut().wait_for(|host| host.log(&line));
    Ok(())
}

/// `now-ns` and `random` of the WIT interface `host`. They are counted like other host calls.
pub(crate) fn ask(
    store: &mut StoreContextMut<'_, Meter>,
    ask: impl FnOnce(&mut dyn Host) -> u64,
) -> wasmtime::Result<u64> {
    store.data_mut().admit(0)?;
    charge(store, HOST_CALL_FUEL, 0)?;
    Ok(store.data_mut().wait_for(ask))
}

/// The memory of an instance, and the heap on which the engine keeps the exceptions that were thrown.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    allowed: u64,
    total: u64,
    pub(crate) peak: u64,
    /// What the guest would have had, when it asked for too much.
    denied: Option<u64>,
}

impl Memory {
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
        let memory = &mut self.memory;
        let total = memory.total.saturating_sub(current as u64).saturating_add(desired as u64);
        if total > memory.allowed {
            memory.denied = Some(total);
            return Ok(false);
        }
        memory.total = total;
        memory.peak = memory.peak.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        // Called for a denied growth as well; else the pool or the machine has no more.
        if self.memory.denied.is_none() {
            tracing::warn!(error = format!("{error:#}"), "the memory of a tool cannot grow");
            self.memory.denied = Some(self.memory.total);
        }
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}
