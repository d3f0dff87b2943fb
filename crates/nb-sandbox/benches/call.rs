//! What a fresh sandboxed call costs, beside native Lua in the same run.
//!
//! `cargo bench -p nb-sandbox` prints a table; every figure is of single calls, from the clock before to the clock
//! after, with limits and accounting on.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run has nothing else to say")]

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use mlua::Lua;
use nb_sandbox::{Call, CancelFlag, Chunk, Host, Lang, Limits, Sandbox, SandboxConfig};

const FENNEL_COMPILER: &str = include_str!("../../../guest-lua/vendor/fennel.lua");
const FENNEL_TOOL: &str = "(fn greet [name] (.. \"Hello, \" name \"!\"))\n(greet parameters.name)";
const VARIABLES: &str = r#"{"parameters": {"name": "Ada"}}"#;
const FIB: &str =
    "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(24)";

struct Echo;

impl Host for Echo {
    fn invoke(&mut self, _ability: &str, args: &str) -> Result<String, String> {
        Ok(args.to_owned())
    }

    fn log(&mut self, _line: &str) {}

    fn now_ns(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }
}

struct Figures {
    p50: Duration,
    p99: Duration,
}

fn measure(times: usize, mut once: impl FnMut()) -> Figures {
    for _ in 0..times / 10 {
        once();
    }
    let mut durations: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            once();
            start.elapsed()
        })
        .collect();
    durations.sort_unstable();
    Figures { p50: durations[times / 2], p99: durations[times * 99 / 100] }
}

fn call(sandbox: &Sandbox, chunk: &Chunk, limits: &Limits) {
    let finished = sandbox.run(Call {
        chunk: chunk.clone(),
        variables: VARIABLES.to_owned(),
        limits: limits.clone(),
        cancel: CancelFlag::default(),
        host: Box::new(Echo),
    });
    black_box(finished.outcome.expect("the tool works"));
}

fn calls_per_second(sandbox: &Sandbox, chunk: &Chunk, threads: usize) -> f64 {
    const CALLS: usize = 50_000;
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..CALLS).for_each(|_| call(sandbox, chunk, &Limits::default())));
        }
    });
    (CALLS * threads) as f64 / start.elapsed().as_secs_f64()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

fn row(what: &str, figures: &Figures) {
    let micros = |duration: Duration| duration.as_nanos() as f64 / 1000.0;
    eprintln!("{what:<52} {:>10.1} µs {:>10.1} µs", micros(figures.p50), micros(figures.p99));
}

fn ratio(what: &str, this: Duration, to: Duration) {
    eprintln!("{what:<52} {:>10.2} ×", this.as_secs_f64() / to.as_secs_f64());
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = SandboxConfig { cache_dir: Some(folder.path().to_path_buf()), max_concurrent: 8 };
    let start = Instant::now();
    drop(Sandbox::new(&config).expect("the sandbox starts"));
    let cold = start.elapsed();
    let start = Instant::now();
    let sandbox = Sandbox::new(&config).expect("the sandbox starts");
    let warm = start.elapsed();

    let compile = |lang, source: &str| sandbox.compile(lang, "bench", source).expect("it compiles");
    let plain = compile(Lang::Lua, "return 1 + 1");
    let fennel = compile(Lang::Fennel, FENNEL_TOOL);
    let talkative = compile(Lang::Lua, "for i = 1, 100 do nb.call('x', {a = i}) end return 1");
    let fib = compile(Lang::Lua, FIB);
    let limits = Limits::default();
    let long = Limits { fuel: u64::MAX, ..Limits::default() };

    eprintln!("{:<52} {:>13} {:>13}", "", "p50", "p99");
    let lua_call = measure(20_000, || call(&sandbox, &plain, &limits));
    row("sandbox: fresh instance, `return 1 + 1`", &lua_call);
    let fennel_call = measure(20_000, || call(&sandbox, &fennel, &limits));
    row("sandbox: fresh instance, compiled Fennel tool", &fennel_call);
    row("sandbox: the same with 100 host calls", &measure(5_000, || call(&sandbox, &talkative, &limits)));
    row(
        "sandbox: compile the Fennel tool",
        &measure(200, || drop(black_box(compile(Lang::Fennel, FENNEL_TOOL)))),
    );
    let sandbox_fib = measure(100, || call(&sandbox, &fib, &long));
    row("sandbox: fib(24)", &sandbox_fib);

    let new_state = measure(2_000, || drop(black_box(Lua::new())));
    row("native:  new Lua state", &new_state);
    let with_fennel = measure(100, || {
        let lua = Lua::new();
        let module: mlua::Table = lua.load(FENNEL_COMPILER).eval().expect("Fennel loads");
        let eval: mlua::Function = module.get("eval").expect("Fennel evaluates");
        let parameters = lua.create_table().expect("a table");
        parameters.set("name", "Ada").expect("a name");
        lua.globals().set("parameters", parameters).expect("a global");
        black_box(eval.call::<String>(FENNEL_TOOL).expect("the tool works"));
    });
    row("native:  new Lua state + load Fennel + eval", &with_fennel);
    let lua = Lua::new();
    let function = lua.load(FIB).into_function().expect("it compiles");
    let native_fib = measure(100, || assert_eq!(function.call::<i64>(()).expect("it runs"), 46368));
    row("native:  fib(24)", &native_fib);

    eprintln!();
    ratio("native with Fennel / sandboxed Fennel (p50)", with_fennel.p50, fennel_call.p50);
    ratio("native new state / sandboxed Fennel (p50)", new_state.p50, fennel_call.p50);
    ratio("fib(24): sandbox / native (p50)", sandbox_fib.p50, native_fib.p50);
    eprintln!();
    let one = calls_per_second(&sandbox, &fennel, 1);
    let before = resident_kib();
    let two = calls_per_second(&sandbox, &fennel, 2);
    eprintln!("{:<52} {one:>10.0} calls/s", "throughput, 1 thread");
    eprintln!("{:<52} {two:>10.0} calls/s ({:.2} × one)", "throughput, 2 threads", two / one);
    for (what, tables) in [("1 MB", 10_000), ("20 MB", 300_000)] {
        let source = format!("local t = {{}} for i = 1, {tables} do t[i] = {{i}} end return #t");
        call(&sandbox, &compile(Lang::Lua, &source), &long);
        let after = measure(20_000, || call(&sandbox, &fennel, &limits));
        row(&format!("sandbox: the Fennel tool after one that used {what}"), &after);
    }
    eprintln!("{:<52} {:>10} KiB, after 100,000 more calls {} KiB", "resident", before, resident_kib());
    eprintln!(
        "{:<52} {:>10.1} ms compiled, {:.1} ms from the cache",
        "start",
        cold.as_secs_f64() * 1e3,
        warm.as_secs_f64() * 1e3
    );
}
