//! The component, its interface, and how the host's functions are given to it.
//!
//! The types below are those of `guest-lua/wit/tool.wit`, name for name; the engine compares them with the
//! component's when it is loaded.

use wasmtime::StoreContextMut;
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentType, InstancePre, Lift, Linker, Lower, TypedFunc, WasmStr,
};

use crate::error::SandboxError;
use crate::meter::{self, Meter, Metered};
use crate::script_error::{Position, ScriptErrorKind};
use crate::source;

/// The committed guest component.
const COMPONENT: &[u8] = include_bytes!("../../../guest-lua/guest.wasm");

/// The name of the interface through which a tool asks its host. The guest imports no other.
pub(crate) const HOST_INTERFACE: &str = "nanobot:sandbox/host@0.2.0";

/// The sha256 that was committed with the component, in hexadecimal.
pub const COMPONENT_SHA256: &str = {
    let file = include_str!("../../../guest-lua/guest.wasm.sha256");
    file.split_at(64).0
};

/// The guest component: Lua, Fennel, and the tables that scripts see.
pub fn component() -> &'static [u8] {
    COMPONENT
}

#[derive(Debug, Clone, Copy, ComponentType, Lower)]
#[component(enum)]
#[repr(u8)]
pub(crate) enum Lang {
    #[component(name = "lua")]
    Lua,
    #[component(name = "fennel")]
    Fennel,
}

impl From<source::Lang> for Lang {
    fn from(lang: source::Lang) -> Self {
        match lang {
            source::Lang::Lua => Self::Lua,
            source::Lang::Fennel => Self::Fennel,
        }
    }
}

#[derive(Debug, ComponentType, Lift)]
#[component(record)]
pub(crate) struct Failure {
    pub(crate) kind: ScriptErrorKind,
    pub(crate) message: String,
    pub(crate) position: Option<Position>,
    pub(crate) traceback: String,
}

/// The most bytes of each text of an error: a record is to hold it, and a person to read it. A script makes a traceback
/// as long as it wants by the names of its functions.
const MAX_ERROR_TEXT: usize = 4096;

impl Failure {
    /// Cuts its texts.
    pub(crate) fn shortened(mut self) -> Self {
        let file = self.position.as_mut().map(|position| &mut position.file);
        for text in [&mut self.message, &mut self.traceback].into_iter().chain(file) {
            // The guest cuts its messages itself, and marks that with three bytes more.
            if text.len() > MAX_ERROR_TEXT + '…'.len_utf8() {
                text.truncate(text.floor_char_boundary(MAX_ERROR_TEXT));
                text.push('…');
            }
        }
        self
    }
}

#[derive(Debug, Clone, Copy, ComponentType, Lower)]
#[component(record)]
pub(crate) struct Source<'a> {
    pub(crate) lang: Lang,
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

#[derive(Debug, Clone, Copy, ComponentType, Lower)]
#[component(record)]
pub(crate) struct Module<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: Source<'a>,
}

impl<'a> From<&'a source::Source> for Source<'a> {
    fn from(source: &'a source::Source) -> Self {
        Self { lang: source.lang.into(), file: &source.file, text: &source.text }
    }
}

impl<'a> From<&'a source::Module> for Module<'a> {
    fn from(module: &'a source::Module) -> Self {
        Self { name: &module.name, source: (&module.source).into() }
    }
}

pub(crate) type CompileArguments<'a> = (Source<'a>, &'a [Module<'a>]);
pub(crate) type Compiled = Result<Vec<u8>, Failure>;
pub(crate) type RunArguments<'a> = (&'a [u8], &'a str);
pub(crate) type Ran = Result<String, Failure>;

/// A component whose imports are given, ready to be instantiated.
pub(crate) struct Guest {
    instance: InstancePre<Meter>,
    compile: ComponentExportIndex,
    run: ComponentExportIndex,
}

impl Guest {
    pub(crate) fn link(component: &Component) -> Result<Self, SandboxError> {
        let unusable = |error: wasmtime::Error| SandboxError::Component(format!("{error:#}"));
        let mut linker = Linker::new(component.engine());
        define_host(&mut linker).map_err(unusable)?;
        let instance = linker.instantiate_pre(component).map_err(unusable)?;
        let export = |name| {
            let missing = || SandboxError::Component(format!("it exports no function `{name}`"));
            component.get_export_index(None, name).ok_or_else(missing)
        };
        Ok(Self { compile: export("compile")?, run: export("run")?, instance })
    }

    /// A fresh instance, ready to compile.
    pub(crate) fn compile_function(
        &self,
        mut store: StoreContextMut<'_, Meter>,
    ) -> wasmtime::Result<TypedFunc<CompileArguments<'_>, (Compiled,)>> {
        let instance = self.instance.instantiate(&mut store)?;
        instance.get_typed_func(&mut store, self.compile)
    }

    /// A fresh instance, ready to run.
    pub(crate) fn run_function(
        &self,
        mut store: StoreContextMut<'_, Meter>,
    ) -> wasmtime::Result<TypedFunc<RunArguments<'_>, (Ran,)>> {
        let instance = self.instance.instantiate(&mut store)?;
        instance.get_typed_func(&mut store, self.run)
    }
}

/// Gives a component the interface `host`.
pub(crate) fn define_host<T: Metered>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut host = linker.instance(HOST_INTERFACE)?;
    host.func_wrap("invoke", |mut store: StoreContextMut<'_, T>, (ability, args): (WasmStr, WasmStr)| {
        Ok((meter::invoke(&mut store, &ability, &args)?,))
    })?;
    host.func_wrap("log", |mut store: StoreContextMut<'_, T>, (line,): (WasmStr,)| {
        meter::log(&mut store, &line)
    })?;
    host.func_wrap("now-ns", |mut store: StoreContextMut<'_, T>, (): ()| {
        Ok((meter::ask(&mut store, |host| host.now_ns())?,))
    })?;
    host.func_wrap("random", |mut store: StoreContextMut<'_, T>, (): ()| {
        Ok((meter::ask(&mut store, |host| host.random())?,))
    })
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};
    use wasmtime::Engine;

    use super::*;

    #[test]
    fn the_component_is_the_one_whose_digest_was_committed() {
        assert_eq!(hex::encode(Sha256::digest(COMPONENT)), COMPONENT_SHA256);
    }

    #[test]
    fn the_component_imports_the_host_interface_and_nothing_else() {
        let engine = Engine::new(wasmtime::Config::new().wasm_exceptions(true)).unwrap();
        let component = Component::new(&engine, COMPONENT).unwrap();
        let component_type = component.component_type();
        let imports: Vec<&str> = component_type.imports(&engine).map(|(name, _)| name).collect();
        assert_eq!(imports, [HOST_INTERFACE]);
        let exports: Vec<&str> = component_type.exports(&engine).map(|(name, _)| name).collect();
        assert_eq!(exports, ["init", "compile", "run"]);
    }
}
