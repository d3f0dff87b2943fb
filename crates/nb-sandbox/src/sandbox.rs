//! Compile and run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::{AsContextMut, Engine, PoolingAllocationConfig, Store, Trap};

use crate::call::{Call, Chunk, Finished, Lang, Usage};
use crate::error::{SandboxError, ScriptErrorKind, ToolError};
use crate::guest::{Guest, ScriptError, component};
use crate::host::{CancelFlag, NoHost};
use crate::limits::{FUEL_PER_UNIT, Limit, Limits};
use crate::meter::{Meter, Stop};
use crate::slots::{Slot, Slots};
use crate::ticker::{self, Running};
use crate::{cache, engine};

/// How a [`Sandbox`] is set up.
#[derive(Debug, Clone)]
pub struct SandboxConfig {
    /// Where the compiled component is kept from start to start; created with mode 0700. Without it each start
    /// compiles, which takes some hundred milliseconds.
    pub cache_dir: Option<PathBuf>,
    /// How many calls run at once, at least 1; more of them wait. Each place reserves 8 GiB of address space, no
    /// memory.
    pub max_concurrent: u32,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self { cache_dir: None, max_concurrent: 64 }
    }
}

/// Compiles and runs tools. Clones share everything.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    engine: Engine,
    compiler: Guest,
    runner: Guest,
    slots: Slots,
    max_concurrent: u32,
}

impl Sandbox {
    /// Starts the engine and loads the guest component.
    ///
    /// A cache that cannot be used is no error: the component is compiled, and a warning logged.
    ///
    /// # Errors
    /// [`SandboxError::Engine`] when this machine cannot run it, for example because the address space is limited.
    pub fn new(config: &SandboxConfig) -> Result<Self, SandboxError> {
        let slots = config.max_concurrent.max(1);
        let engine = engine::new(slots)?;
        let [compiler, runner] = cache::load(&engine, component(), config.cache_dir.as_deref())?;
        let (compiler, runner) = (Guest::link(&compiler)?, Guest::link(&runner)?);
        ticker::register(&engine)?;
        Ok(Self(Arc::new(Inner {
            engine,
            compiler,
            runner,
            slots: Slots::new(slots),
            max_concurrent: slots,
        })))
    }

    /// How many calls run at once; a further one waits on its thread.
    pub fn max_concurrent(&self) -> u32 {
        self.0.max_concurrent
    }

    /// Whether the kernel helps to reset the memory of a guest after a call (Linux 6.7 and newer). Without it calls
    /// take some 40 µs longer.
    pub fn resets_memory_fast() -> bool {
        PoolingAllocationConfig::is_pagemap_scan_available()
    }

    /// Translates a source text. `name` is the file's name, for error messages.
    ///
    /// This has a budget of its own: a tool is not charged for being compiled.
    ///
    /// # Errors
    /// [`SandboxError::Compile`] with the line when the source is no program of its language.
    pub fn compile(&self, lang: Lang, name: &str, source: &str) -> Result<Chunk, SandboxError> {
        // A large program of 10,000 lines takes a twentieth of it; a macro that never ends is stopped after some seconds.
        let budget = Limits {
            fuel: (32 << 30) / FUEL_PER_UNIT,
            memory_bytes: 256 << 20,
            wall: Duration::from_secs(30),
            output_bytes: u64::MAX,
            host_calls: 0,
            host_bytes: 0,
            log_bytes: 0,
        };
        let cancel = CancelFlag::default();
        let Some(slot) = self.0.slots.take(&cancel) else {
            return Err(ToolError::Cancelled { tool: name.into() }.into());
        };
        let mut instance =
            Instance::new(&self.0.engine, slot, Meter::new(Box::new(NoHost), budget.clone(), cancel));
        let compiled = instance.store.set_fuel(budget.fuel * FUEL_PER_UNIT).and_then(|()| {
            let compile = self.0.compiler.compile_function(instance.store.as_context_mut())?;
            Ok(compile.call(&mut instance.store, (lang.into(), name, source))?.0)
        });
        let bytecode = instance.judge(name, &budget, compiled)?;
        Ok(Chunk { name: name.into(), lang, bytecode: bytecode.into() })
    }

    /// Runs a chunk in a fresh instance. This blocks; when all places are taken it waits for one.
    pub fn run(&self, call: Call) -> Finished {
        let Call { chunk, variables, limits, cancel, host } = call;
        let Some(slot) = self.0.slots.take(&cancel) else {
            let outcome = Err(ToolError::Cancelled { tool: chunk.name.to_string() });
            return Finished { outcome, usage: Usage::default(), host };
        };
        let mut instance = Instance::new(&self.0.engine, slot, Meter::new(host, limits.clone(), cancel));
        let given = limits.fuel.saturating_mul(FUEL_PER_UNIT);
        let ran = instance.store.set_fuel(given).and_then(|()| {
            let run = self.0.runner.run_function(instance.store.as_context_mut())?;
            Ok(run.call(&mut instance.store, (&chunk.bytecode, &variables))?.0)
        });
        let ran = ran.and_then(|result| {
            if let Ok(json) = &result {
                instance.store.data().check_output(json.len())?;
            }
            Ok(result)
        });
        let outcome = instance.judge(&chunk.name, &limits, ran);
        let usage = instance.usage(given, outcome.as_ref().map_or(0, |json| json.len() as u64));
        Finished { outcome, usage, host: instance.finish() }
    }
}

/// A store for one instance, while it has a place in the pool.
struct Instance<'a> {
    // In this order: the store gives its memory back to the pool before the place is free again.
    store: Store<Meter>,
    _running: Running,
    _slot: Slot<'a>,
}

impl<'a> Instance<'a> {
    fn new(engine: &Engine, slot: Slot<'a>, meter: Meter) -> Self {
        let mut store = Store::new(engine, meter);
        store.limiter(|meter| meter);
        store.epoch_deadline_callback(|store| Ok(store.data().tick()?));
        store.set_epoch_deadline(1);
        Self { store, _running: Running::start(), _slot: slot }
    }

    /// Says why there is no result.
    fn judge<T>(
        &self,
        tool: &str,
        limits: &Limits,
        answer: wasmtime::Result<Result<T, ScriptError>>,
    ) -> Result<T, ToolError> {
        let memory = &self.store.data().memory;
        let stopped = |stop| match stop {
            Stop::Limit { limit, allowed, used } => {
                ToolError::Limit { tool: tool.into(), limit, allowed, used }
            }
            Stop::Cancelled => ToolError::Cancelled { tool: tool.into() },
        };
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) if error.kind == ScriptErrorKind::Memory => Err(stopped(memory.exhausted())),
            Ok(Err(error)) => Err(match memory.stop() {
                Some(stop) => stopped(stop),
                None => ToolError::Script {
                    kind: error.kind,
                    tool: tool.into(),
                    line: error.line,
                    message: error.message,
                    traceback: error.traceback,
                },
            }),
            Err(error) => Err(if let Some(stop) = error.downcast_ref::<Stop>() {
                stopped(*stop)
            } else if error.downcast_ref::<Trap>() == Some(&Trap::OutOfFuel) {
                stopped(Stop::Limit { limit: Limit::Fuel, allowed: limits.fuel, used: limits.fuel })
            } else if let Some(stop) = memory.stop() {
                stopped(stop)
            } else {
                ToolError::Crashed { tool: tool.into(), message: format!("{error:#}") }
            }),
        }
    }

    fn usage(&self, fuel_given: u64, output_bytes: u64) -> Usage {
        let meter = self.store.data();
        // It cannot fail: the engine counts fuel.
        let fuel_left = self.store.get_fuel().unwrap_or(0);
        Usage {
            fuel: fuel_given.saturating_sub(fuel_left).div_ceil(FUEL_PER_UNIT),
            peak_memory_bytes: meter.memory.peak,
            output_bytes,
            host_calls: meter.host_calls,
            running: meter.running(),
            waiting: meter.waiting,
        }
    }

    fn finish(self) -> Box<dyn crate::Host + Send> {
        let Self { store, _running, _slot } = self;
        store.into_data().into_host()
    }
}
