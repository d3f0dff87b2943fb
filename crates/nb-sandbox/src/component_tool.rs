//! Tools that are components of their own, in whatever language they were written.
//!
//! They have an engine of their own: what a component of somebody else needs (memories, tables, instances) does not
//! fit into the pool that is measured for the guest.

use std::fmt;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker, TypedFunc};

use crate::error::{SandboxError, ToolError};
use crate::guest::{self, Failure, HOST_INTERFACE, Ran, RunArguments};
use crate::instance::Instance;
use crate::meter::Metered;
use crate::patience::Patience;
use crate::plain_files;
use crate::script_error::ScriptErrorKind;
use crate::wasi::Wasi;
use crate::wit_words;

/// A component of the world `tool` in `guest-lua/wit`, compiled. Cloning it is cheap.
#[derive(Clone)]
pub struct ComponentTool(Arc<Inner>);

struct Inner {
    file: Arc<str>,
    instance: InstancePre<Wasi>,
    run: ComponentExportIndex,
    /// What its `run` is, in words.
    found: String,
}

impl fmt::Debug for ComponentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComponentTool({})", self.file())
    }
}

impl ComponentTool {
    pub(crate) fn link(file: &str, component: &Component) -> Result<Self, SandboxError> {
        let engine = component.engine();
        let unusable = |error: wasmtime::Error| refused(file, format!("{error:#}"));
        for (import, _) in component.component_type().imports(engine) {
            // Of an interface, and not a type that the world names again.
            if import.contains('/') && import != HOST_INTERFACE && !is_wasi(import) {
                return Err(refused(file, format!("it imports `{import}`; {}", instead_of(import))));
            }
        }
        if component.get_export_index(None, "compile").is_some() {
            return Err(refused(file, IS_INTERPRETER));
        }
        let mut linker = Linker::new(engine);
        guest::define_host(&mut linker).map_err(unusable)?;
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(unusable)?;
        plain_files::define(&mut linker).map_err(unusable)?;
        let instance = linker.instantiate_pre(component).map_err(unusable)?;
        let run = component.get_export_index(None, "run");
        let run =
            run.ok_or_else(|| refused(file, format!("it exports no function `run: {}`", wit_words::RUN)))?;
        let found =
            component.component_type().get_export(engine, "run").map(|export| wit_words::item(&export.ty));
        let found = found.unwrap_or_default();
        Ok(Self(Arc::new(Inner { file: file.into(), instance, run, found })))
    }

    /// The tool's file, which errors carry.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.0.instance.engine()
    }

    /// Makes an instance, so that a wrong type, or a start that does not end, is known before the first call.
    pub(crate) fn check(&self, instance: &mut Instance<'_, Wasi>) -> Result<(), SandboxError> {
        let made = instance.give_fuel().and_then(|()| {
            let patience = Patience::of(instance.store.data());
            patience.wait_for(self.0.instance.instantiate_async(&mut instance.store))?
        });
        let made = instance.judge("its start", &[], made.map(Ok));
        let made = made.map_err(|error| refused(self.file(), start_failed(&error)))?;
        let run: wasmtime::Result<Run> = made.get_typed_func(&mut instance.store, self.0.run);
        run.map(drop).map_err(|error| {
            let (found, expected) = (&self.0.found, wit_words::RUN);
            // Where the words are the same, a record inside of them differs.
            let more = if *found == expected { format!(" ({error:#})") } else { String::new() };
            refused(
                self.file(),
                format!("its `run` is {found}; that of the world `tool` is {expected}{more}"),
            )
        })
    }

    pub(crate) fn call(&self, instance: &mut Instance<'_, Wasi>, variables: &str) -> wasmtime::Result<Ran> {
        instance.give_fuel()?;
        let patience = Patience::of(instance.store.data());
        let ran: wasmtime::Result<Ran> = patience.wait_for(async {
            let made = self.0.instance.instantiate_async(&mut instance.store).await?;
            let run: Run = made.get_typed_func(&mut instance.store, self.0.run)?;
            Ok(run.call_async(&mut instance.store, (&[], variables)).await?.0)
        })?;
        let ran = ran?;
        if let Ok(answer) = &ran {
            // Before anybody looks at it.
            instance.store.data().meter().check_output(answer.len())?;
        }
        Ok(ran.and_then(require_json))
    }
}

/// In one line. A limit is that of the trial, which no key raises.
fn start_failed(error: &ToolError) -> String {
    let told = error.to_string();
    let first = told.lines().next().unwrap_or_default();
    match error {
        ToolError::Limit { .. } => format!("{first}; that is what a component may use up to start"),
        _ => first.to_owned(),
    }
}

type Run = TypedFunc<RunArguments<'static>, (Ran,)>;

/// Why a file cannot be a tool.
pub(crate) fn refused(file: &str, message: impl Into<String>) -> SandboxError {
    SandboxError::Tool { file: file.into(), message: message.into() }
}

/// Tells a component from what else a file may be, by its first bytes: a mark, a version and a layer.
pub(crate) fn require_component(file: &str, wasm: &[u8]) -> Result<(), SandboxError> {
    if wasm.starts_with(b"\0asm\x0d\0\x01\0") {
        Ok(())
    } else if wasm.starts_with(b"\0asm\x01\0\0\0") {
        Err(refused(
            file,
            "it is a WebAssembly module, and not a component; `wasm-tools component new` makes one of a module that \
             was built for the world `tool`",
        ))
    } else {
        Err(refused(file, "it is not a WebAssembly component"))
    }
}

/// Of the world `interpreter`, such as the guest itself: it would take scripts, and there would be nobody to compile them.
const IS_INTERPRETER: &str = "it is an interpreter and no tool: it exports `compile`. Scripts need none of their own; \
                              name their file with `source`";

/// The packages of WASI 0.2 that are linked.
const WASI_PACKAGES: [&str; 6] = ["cli", "clocks", "filesystem", "io", "random", "sockets"];

fn is_wasi(import: &str) -> bool {
    WASI_PACKAGES.iter().any(|package| {
        import.strip_prefix("wasi:").is_some_and(|rest| rest.starts_with(&format!("{package}/")))
    })
}

/// What to do about an import that there is not.
fn instead_of(import: &str) -> String {
    if import.starts_with("wasi:http/") {
        return format!(
            "a tool has no wasi:http: it sends requests with the ability `http.fetch`, through `invoke` of {HOST_INTERFACE}"
        );
    }
    format!("a tool has {HOST_INTERFACE}, and of WASI 0.2 the packages {}", WASI_PACKAGES.join(", "))
}

/// Of the kind that those who read it take: not too deep, with numbers that have a value.
fn require_json(answer: String) -> Ran {
    match serde_json::from_str::<serde_json::Value>(&answer) {
        Ok(_) => Ok(answer),
        Err(error) => Err(Failure {
            kind: ScriptErrorKind::Value,
            message: format!("the answer is not JSON: {error}"),
            position: None,
            traceback: String::new(),
        }),
    }
}
