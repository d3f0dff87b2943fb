//! Core module → component, and the component with its memory as `init` leaves it.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wasmtime::component::Linker;
use wasmtime::{Config, Engine, Store};
use wasmtime_wizer::Wizer;
use wit_component::ComponentEncoder;

use crate::error::BuildError;

/// Wraps a core module that carries the type of its world.
pub fn encode(core: &[u8]) -> Result<Vec<u8>, BuildError> {
    let encode = || ComponentEncoder::default().validate(true).debug_names(false).module(core)?.encode();
    encode().map_err(|error| failed("make a component of the core module", format!("{error:#}")))
}

/// Runs `init` once and returns the component with the memory that it left, so that no call has to initialise:
/// loading Fennel's compiler takes longer than most tools run.
pub fn prepare(component: &[u8]) -> Result<Vec<u8>, BuildError> {
    let refused =
        |error: wasmtime::Error| failed("prepare the memory of the component", format!("{error:#}"));
    let mut config = Config::new();
    config.wasm_component_model(true).wasm_exceptions(true);
    let engine = Engine::new(&config).map_err(refused)?;
    let mut store = Store::new(&engine, ());
    let mut wizer = Wizer::new();
    // The export stays, because the component's type names it.
    wizer.init_func("init").keep_init_func(true);
    let run = wizer.run_component(&mut store, component, async |store, component| {
        let mut linker = Linker::new(component.engine());
        linker.define_unknown_imports_as_traps(component)?;
        linker.instantiate_async(store, component).await
    });
    // Nothing in it waits: there is no timer, no other task, and the host's functions trap.
    let prepared = match pin!(run).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(prepared) => prepared,
        Poll::Pending => {
            return Err(failed("prepare the memory of the component", "it waits for something".into()));
        }
    };
    prepared.map(|(component, _)| component).map_err(refused)
}

fn failed(what: &'static str, message: String) -> BuildError {
    BuildError::Component { what, message }
}
