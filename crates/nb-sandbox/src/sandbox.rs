//! Compile and run.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use wasmtime::{AsContextMut, Engine, PoolingAllocationConfig};

use crate::call::{Call, Chunk, Finished, Program, Usage};
use crate::component_tool::{self, ComponentTool, refused};
use crate::deadline::GaveUp;
use crate::error::{SandboxError, ToolError};
use crate::guest::{self, Guest, component};
use crate::host::{CancelFlag, NoHost};
use crate::instance::Instance;
use crate::limits::{FUEL_PER_UNIT, Limits};
use crate::meter::Meter;
use crate::script_error::ScriptError;
use crate::slots::Slots;
use crate::source::{Module, Source};
use crate::wasi::Wasi;
use crate::{cache, engine, ticker};

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
    /// For components that are tools by themselves; started with the first one.
    components: OnceLock<Engine>,
    slots: Slots,
    max_concurrent: u32,
    cache_dir: Option<PathBuf>,
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
        let engine = engine::pooled(slots)?;
        let loaded = cache::load_guest(&engine, component(), config.cache_dir.as_deref());
        let [compiler, runner] = loaded.map_err(|error| SandboxError::Component(format!("{error:#}")))?;
        let (compiler, runner) = (Guest::link(&compiler)?, Guest::link(&runner)?);
        ticker::register(&engine)?;
        Ok(Self(Arc::new(Inner {
            engine,
            compiler,
            runner,
            components: OnceLock::new(),
            slots: Slots::new(slots),
            max_concurrent: slots,
            cache_dir: config.cache_dir.clone(),
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

    /// Translates a script with the modules that it requires by name; of `modules` no others become a part of it.
    ///
    /// This has a budget of its own: a tool is not charged for being compiled.
    ///
    /// # Errors
    /// [`SandboxError::Compile`] with the place when a source is no program of its language.
    pub fn compile(&self, source: &Source, modules: &[Module]) -> Result<Chunk, SandboxError> {
        let cancel = CancelFlag::default();
        let Some(slot) = self.0.slots.take(&cancel) else {
            return Err(ToolError::Cancelled { tool: source.file.to_string() }.into());
        };
        let meter = Meter::new(Box::new(NoHost), compile_budget(), cancel);
        let sources: Arc<[Source]> =
            std::iter::once(source).chain(modules.iter().map(|module| &module.source)).cloned().collect();
        let given: Vec<guest::Module<'_>> = modules.iter().map(guest::Module::from).collect();
        let mut instance = Instance::new(&self.0.engine, slot, meter);
        let compiled = instance.give_fuel().and_then(|()| {
            let compile = self.0.compiler.compile_function(instance.store.as_context_mut())?;
            Ok(compile.call(&mut instance.store, (source.into(), &given))?.0)
        });
        let judged = instance.judge(&source.file, &sources, compiled);
        let bytecode = judged.map_err(ToolError::while_compiling)?;
        Ok(Chunk { sources, bytecode: bytecode.into() })
    }

    /// Compiles a component that is a tool by itself, and checks that it is one.
    ///
    /// # Errors
    /// [`SandboxError::Tool`] when it is no component, is not of the world `tool`, imports what there is not, or takes
    /// longer than a minute to compile.
    pub fn load_component(&self, file: &str, wasm: &[u8]) -> Result<ComponentTool, SandboxError> {
        component_tool::require_component(file, wasm)?;
        let engine = self.component_engine()?;
        let component = cache::load_tool(engine, wasm, self.0.cache_dir.as_deref()).map_err(|error| {
            match error.downcast_ref::<GaveUp>() {
                Some(gave_up) => refused(file, gave_up.to_string()),
                None => refused(file, format!("it is damaged or cut off: {error:#}")),
            }
        })?;
        let tool = ComponentTool::link(file, &component)?;
        self.check(&tool)?;
        Ok(tool)
    }

    fn check(&self, tool: &ComponentTool) -> Result<(), SandboxError> {
        let cancel = CancelFlag::default();
        // Nobody cancels, and no folder is opened, so that both are there.
        let Some(slot) = self.0.slots.take(&cancel) else { return Ok(()) };
        let meter = Meter::new(Box::new(NoHost), compile_budget(), cancel).counting_instructions();
        let Ok(wasi) = Wasi::new(meter, &[]) else { return Ok(()) };
        tool.check(&mut Instance::new(tool.engine(), slot, wasi))
    }

    fn component_engine(&self) -> Result<&Engine, SandboxError> {
        if let Some(engine) = self.0.components.get() {
            return Ok(engine);
        }
        let engine = engine::on_demand()?;
        ticker::register(&engine)?;
        Ok(self.0.components.get_or_init(|| engine))
    }

    /// Runs a program in a fresh instance. This blocks; when all places are taken it waits for one.
    pub fn run(&self, call: Call) -> Finished {
        let Call { program, variables, limits, cancel, folders, host } = call;
        let file = program.file();
        let Some(slot) = self.0.slots.take(&cancel) else {
            let outcome = Err(ToolError::Cancelled { tool: file.to_owned() });
            return Finished { outcome, usage: Usage::default(), host };
        };
        let meter = Meter::new(host, limits, cancel);
        match &program {
            Program::Script(chunk) => {
                self.run_script(chunk, &variables, Instance::new(&self.0.engine, slot, meter))
            }
            Program::Component(tool) => match Wasi::new(meter.counting_instructions(), &folders) {
                Ok(wasi) => run_component(tool, &variables, Instance::new(tool.engine(), slot, wasi)),
                Err(failed) => {
                    let (meter, message) = *failed;
                    let outcome = Err(ToolError::Script(Box::new(ScriptError::new(file, message))));
                    Finished { outcome, usage: Usage::default(), host: meter.into_host() }
                }
            },
        }
    }

    fn run_script(&self, chunk: &Chunk, variables: &str, mut instance: Instance<'_, Meter>) -> Finished {
        let ran = instance.give_fuel().and_then(|()| {
            let run = self.0.runner.run_function(instance.store.as_context_mut())?;
            Ok(run.call(&mut instance.store, (&chunk.bytecode, variables))?.0)
        });
        let (outcome, usage, meter) = instance.conclude(chunk.file(), &chunk.sources, ran);
        Finished { outcome, usage, host: meter.into_host() }
    }
}

fn run_component(tool: &ComponentTool, variables: &str, mut instance: Instance<'_, Wasi>) -> Finished {
    let ran = tool.call(&mut instance, variables);
    let (outcome, usage, wasi) = instance.conclude(tool.file(), &[], ran);
    Finished { outcome, usage, host: wasi.into_meter().into_host() }
}

/// A large program of 10,000 lines takes a twentieth of it; a macro that never ends is stopped after some seconds.
fn compile_budget() -> Limits {
    Limits {
        fuel: (32 << 30) / FUEL_PER_UNIT,
        memory_bytes: 256 << 20,
        wall: Duration::from_secs(30),
        output_bytes: u64::MAX,
        host_calls: 0,
        host_bytes: 0,
        log_bytes: 0,
    }
}
