//! Calls in the sandbox.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use nb_sandbox::{CancelFlag, Lang, Limits, Program, Sandbox, SandboxConfig};
use wasmtime::Store;
use wasmtime::component::{Component, Linker};

use crate::common::{self, FENNEL_TOOL};
use crate::measure::{Figures, measure, median, ratio, time};
use crate::{engine, table};

const CALLS: usize = 20_000;

/// A component that answers 2, to see what a call of one costs by itself.
const COMPONENT_TOOL: &str = include_str!("tool.wat");

/// Runs a tool that works.
pub fn call(sandbox: &Sandbox, program: &Program, limits: &Limits) {
    let finished = common::call(sandbox, program.clone(), limits.clone(), CancelFlag::default());
    black_box(finished.outcome.expect("the tool works"));
}

pub fn compile(sandbox: &Sandbox, lang: Lang, source: &str) -> Program {
    common::compile(sandbox, lang, source).into()
}

/// Prints what a call costs; answers the figures of the compiled Fennel tool.
pub fn fresh_calls(sandbox: &Sandbox) -> Figures {
    let limits = Limits::default();
    let of = |program: &Program, calls| measure(calls, || call(sandbox, program, &limits));
    let fennel = compile(sandbox, Lang::Fennel, FENNEL_TOOL);

    table::part("A fresh sandboxed call, all limits and accounting on", &["p50", "p99"]);
    table::figures("instantiate only", instantiate_only());
    table::figures("Lua `return 1 + 1`", of(&compile(sandbox, Lang::Lua, "return 1 + 1"), CALLS));
    let fennel_figures = of(&fennel, CALLS);
    table::figures("compiled Fennel tool", fennel_figures);
    let talkative = FENNEL_TOOL.replace("(greet ", "(for [i 1 100] (nb.call :x {:a i}))\n(greet ");
    table::figures(
        "the same with 100 host calls",
        of(&compile(sandbox, Lang::Fennel, &talkative), CALLS / 4),
    );
    for (what, elements) in [("1 MB", 10_000), ("20 MB", 250_000)] {
        let source = format!("local t = {{}} for i = 1, {elements} do t[i] = {{i}} end return #t");
        let large = Limits { fuel: u64::MAX, ..Limits::default() };
        call(sandbox, &compile(sandbox, Lang::Lua, &source), &large);
        table::figures(&format!("compiled Fennel tool, after a call that used {what}"), of(&fennel, CALLS));
    }
    let wasm = wat::parse_str(COMPONENT_TOOL).expect("it is WAT");
    let component = sandbox.load_component("tool.wasm", &wasm).expect("it is a tool");
    table::figures("a tool that is a component (WASI at hand, no pool)", of(&component.into(), CALLS / 4));
    table::figures(
        "translate the Fennel tool (three lines, done once)",
        measure(200, || drop(black_box(compile(sandbox, Lang::Fennel, FENNEL_TOOL)))),
    );
    fennel_figures
}

/// Of a call what the engine does: the same component in an engine with the same settings, but nothing runs.
fn instantiate_only() -> Figures {
    let engine = engine::pooled(8).expect("the engine starts");
    let component = Component::new(&engine, nb_sandbox::component()).expect("it compiles");
    let mut linker = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&component).expect("it has imports");
    let prepared = linker.instantiate_pre(&component).expect("it links");
    measure(CALLS, || {
        let mut store = Store::new(&engine, ());
        store.set_fuel(u64::MAX).expect("the engine counts fuel");
        store.set_epoch_deadline(1);
        black_box(prepared.instantiate(&mut store).expect("there is a place"));
    })
}

/// Calls per second of the Fennel tool.
#[derive(Default)]
pub struct Throughput {
    pub one_thread: f64,
    pub two_threads: f64,
    /// What the machine gives a second thread at that time: a loop that shares nothing.
    pub machine: f64,
}

/// Prints and answers the calls per second.
pub fn throughput(sandbox: &Sandbox) -> Throughput {
    const ROUNDS: usize = 7;
    let fennel = compile(sandbox, Lang::Fennel, FENNEL_TOOL);
    let calls = || (0..CALLS).for_each(|_| call(sandbox, &fennel, &Limits::default()));
    let apart = || {
        let spin = |state: u64, step: u64| black_box(state.wrapping_mul(6_364_136_223_846_793_005) ^ step);
        black_box((0..CALLS as u64 * 10_000).fold(1, spin));
    };
    let mut best = Throughput::default();
    let (mut one_apart, mut two_apart) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        best.one_thread = best.one_thread.max(rate(1, &calls));
        best.two_threads = best.two_threads.max(rate(2, &calls));
        one_apart = one_apart.max(rate(1, &apart));
        two_apart = two_apart.max(rate(2, &apart));
    }
    best.machine = two_apart / one_apart;
    table::part("Calls of the Fennel tool per second", &["calls/s", "to one"]);
    table::row("one thread", &[table::count(best.one_thread), table::times(1.0)]);
    let gain = table::times(best.two_threads / best.one_thread);
    table::row("two threads", &[table::count(best.two_threads), gain]);
    table::row("a loop that shares nothing, on two threads", &["", &table::times(best.machine)]);
    table::note(&format!(
        "Each is the best of {ROUNDS} rounds of {} calls a thread; the rounds alternate.",
        table::count(CALLS as f64)
    ));
    best
}

/// How often a second so many threads do [`CALLS`] calls each.
fn rate(threads: usize, work: &(impl Fn() + Sync)) -> f64 {
    let duration = time(|| {
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    });
    (CALLS * threads) as f64 / duration.as_secs_f64()
}

/// Prints what one call that spins costs 50 others at the same time; answers the ratio to their time alone.
pub fn neighbours() -> f64 {
    const OTHERS: usize = 50;
    let config = SandboxConfig { max_concurrent: 64, ..SandboxConfig::default() };
    let sandbox = Sandbox::new(&config).expect("the sandbox starts");
    let work = compile(&sandbox, Lang::Lua, "local s = 0 for i = 1, 100000 do s = s + i end return s");
    let spin = compile(&sandbox, Lang::Lua, "while true do end");
    let limits = Limits::default();
    let others = || {
        time(|| {
            thread::scope(|scope| {
                for _ in 0..OTHERS {
                    scope.spawn(|| (0..10).for_each(|_| call(&sandbox, &work, &limits)));
                }
            });
        })
    };
    let beside_one_that_spins = || {
        let cancel = CancelFlag::default();
        thread::scope(|scope| {
            let endless = Limits { fuel: u64::MAX, wall: Duration::from_secs(60), ..Limits::default() };
            scope.spawn(|| common::call(&sandbox, spin.clone(), endless, cancel.clone()));
            let taken = others();
            cancel.cancel();
            taken
        })
    };
    others();
    let best = |once: &dyn Fn() -> Duration| (0..5).map(|_| once()).min().unwrap_or_default();
    let (alone, beside) = (best(&others), best(&beside_one_that_spins));
    let ratio = ratio(beside, alone);
    table::part("50 calls at once, ten times 100,000 steps each", &["all done", "to alone"]);
    table::row("alone", &[table::time(alone), table::times(1.0)]);
    table::row("beside one that spins", &[table::time(beside), table::times(ratio)]);
    ratio
}

/// Prints how soon two tools that exceed a limit end.
pub fn stopped(sandbox: &Sandbox) {
    let run = |source: &str, limits: Limits| {
        let program = compile(sandbox, Lang::Lua, source);
        let mut error = String::new();
        let duration = median(3, || {
            let finished = common::call(sandbox, program.clone(), limits.clone(), CancelFlag::default());
            error = finished.outcome.expect_err("the tool exceeds a limit").to_string();
        });
        (table::time(duration), error)
    };
    let fuel = 5_000_000_000 / nb_sandbox::FUEL_PER_UNIT;
    let (spun, out_of_fuel) = run("while true do end", Limits { fuel, ..Limits::default() });
    let (asked, out_of_memory) = run("return #string.rep('x', 1e9)", Limits::default());
    table::part("Stopped by a limit", &["after"]);
    table::row("`while true do end` with 5 G Wasm instructions of fuel", &[spun]);
    table::note(&out_of_fuel);
    table::row("`string.rep('x', 1e9)` under 64 MiB", &[asked]);
    table::note(&out_of_memory);
}
