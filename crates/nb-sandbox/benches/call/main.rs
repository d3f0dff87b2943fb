//! What a fresh sandboxed call costs, beside native Lua and beside other kinds of isolation, from one run.
//!
//! `cargo bench -p nb-sandbox` prints a table; every time is of single calls, from the clock before to the clock after.
//!
//! # Layout
//! - `guest`: calls in the sandbox; `tool.wat` is a tool that is a component
//! - `native`: the same Lua without a sandbox
//! - `compute`: both, for programs that compute
//! - `others`: how a tool is isolated elsewhere
//! - `targets`: what the design demands
//! - `measure`, `table`: statistics and print

#![allow(clippy::expect_used, reason = "a benchmark that cannot run has nothing else to say")]
#![allow(clippy::print_stdout, reason = "the output of a benchmark")]

#[path = "../common/mod.rs"]
mod common;
mod compute;
/// The engine's settings are no part of the library's interface, but those of `instantiate only` must be the same.
#[path = "../../src/engine.rs"]
#[allow(unused, reason = "one of its engines is not measured by itself, and its tests do not run here")]
mod engine;
mod guest;
mod measure;
mod native;
mod others;
mod table;
mod targets;

/// What `engine` looks for in its crate.
mod error {
    pub use nb_sandbox::SandboxError;
}
/// As `error`.
mod limits {
    pub use nb_sandbox::MAX_MEMORY_BYTES;
}

use std::time::Duration;

use nb_sandbox::{Sandbox, SandboxConfig};

use crate::measure::{Figures, ratio, time};

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = SandboxConfig { cache_dir: Some(folder.path().to_path_buf()), max_concurrent: 8 };
    let start = || Sandbox::new(&config).expect("the sandbox starts");
    let compiled = time(|| drop(start()));
    let cached = time(|| drop(start()));
    let sandbox = start();
    let at_start = common::resident_bytes();

    let fennel = guest::fresh_calls(&sandbox);
    let throughput = guest::throughput(&sandbox);
    let compute = compute::compute(&sandbox);
    let neighbours = guest::neighbours();
    guest::stopped(&sandbox);
    let at_end = common::resident_bytes();

    table::part("The process", &["measured"]);
    table::row("start: the guest is compiled to machine code", &[table::time(compiled)]);
    table::row("start: the guest comes from the cache", &[table::time(cached)]);
    table::row("resident memory after the start", &[table::mebibytes(at_start)]);
    table::row("resident memory after all calls above", &[table::mebibytes(at_end)]);

    let (native_fennel, native_state) = instead(fennel);
    targets::Measured { fennel, throughput, native_fennel, native_state, compute, neighbours }.judge();
}

/// Prints what a call costs without this sandbox; answers native Lua with and without Fennel.
fn instead(fennel: Figures) -> (Duration, Duration) {
    let row = |what: &str, p50: Duration, p99: Option<Duration>| {
        let to_ours = table::times(ratio(p50, fennel.p50));
        table::row(what, &[table::time(p50), p99.map(table::time).unwrap_or_default(), to_ours]);
    };
    table::part("Instead of a sandboxed call", &["p50", "p99", "to Fennel"]);
    let (with_fennel, state) = (native::fennel_tool(), native::new_state());
    row("native Lua: new state, load Fennel, evaluate the tool", with_fennel.p50, Some(with_fennel.p99));
    row("native Lua: new state only", state.p50, Some(state.p99));
    row("wasmtime: compile our guest, instantiate, `return 1 + 1`", others::compile_guest_per_call(), None);
    let tiny = others::compile_tiny_module_per_call();
    row("wasmtime: compile a module that is only `1 + 1`, run it", tiny.p50, Some(tiny.p99));
    match others::python_process() {
        Some(python) => row("a process: python3 -c 'print(1 + 1)'", python.p50, Some(python.p99)),
        None => table::note("python3 is not installed."),
    }
    table::note("The last column is to the compiled Fennel tool in the sandbox (p50 to p50).");
    (with_fennel.p50, state.p50)
}
