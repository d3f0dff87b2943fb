//! limits_hold: no tool outlives what it was given, and the error names the limit and both figures.

use std::time::{Duration, Instant};

use crate::c_component::plain;
use crate::common::{component, fennel, lua};
use nb_sandbox::{CancelFlag, Limit, ToolError};

#[test]
fn an_endless_loop_ends_out_of_fuel() {
    assert_eq!(lua("while true do end").exceeds(Limit::Fuel).0, 1_000_000);
    fennel("(while true nil)").exceeds(Limit::Fuel);
    let error = lua("while true do end").named("hello.lua").limits(|l| l.fuel = 1000).error();
    assert_eq!(
        error.to_string(),
        "hello.lua: out of fuel: 1000 allowed, 1000 used\n\
         hint: a loop or a recursion may not end; otherwise raise `fuel_limit` and `resources.max_fuel` in the \
         manifest; the smaller counts"
    );
    let Some(tool) = plain() else { return };
    assert_eq!(component(tool, "spin").exceeds(Limit::Fuel).0, 1_000_000);
}

#[test]
fn an_ordinary_script_uses_little_fuel() {
    let (finished, _) = lua("local s = 0 for i = 1, 10000 do s = s + i end return s").run();
    assert_eq!(finished.outcome.unwrap(), "50005000");
    assert!(finished.usage.fuel < 20_000, "{:?}", finished.usage);
}

#[test]
fn a_pattern_that_backtracks_ends_out_of_fuel() {
    lua("return ('a'):rep(30):find(('a?'):rep(30) .. ('a'):rep(30))").exceeds(Limit::Fuel);
    fennel("(string.find (string.rep :a 30) (.. (string.rep :a? 30) (string.rep :a 30)))")
        .exceeds(Limit::Fuel);
}

#[test]
fn a_limit_cannot_be_caught() {
    lua("while true do pcall(function() while true do end end) end").exceeds(Limit::Fuel);
    fennel("(while true (pcall (fn [] (while true nil))))").exceeds(Limit::Fuel);
    lua("while true do pcall(error, 'x') end").exceeds(Limit::Fuel);
    lua("while true do pcall(nb.call, 'x') end").exceeds(Limit::HostCalls);
    lua("local co = coroutine.wrap(function() while true do end end) pcall(co) return 1")
        .exceeds(Limit::Fuel);
    lua("setmetatable({}, {__gc = function() while true do end end}) collectgarbage() return 1")
        .exceeds(Limit::Fuel);
    lua("return xpcall(function() while true do end end, function() return 1 end)").exceeds(Limit::Fuel);
}

#[test]
fn errors_that_are_caught_for_ever_do_not_pile_up() {
    let (finished, _) =
        lua("for i = 1, 100000 do pcall(error, 'x') end return 1").limits(|l| l.fuel = u64::MAX).run();
    assert_eq!(finished.outcome.unwrap(), "1");
    assert!(finished.usage.peak_memory_bytes < 8 << 20, "{:?}", finished.usage);
}

#[test]
fn memory_without_end_is_stopped_with_both_figures() {
    for source in [
        "return ('x'):rep(1e9)",
        "local t = {} while true do t[#t + 1] = {1, 2, 3} end",
        "local s = 'x' while true do s = s .. s end",
        "local ok, e = pcall(string.rep, 'x', 1e9) error(e)",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "return table.concat({('x'):rep(4e7), ('y'):rep(4e7)})",
    ] {
        let (allowed, used) = lua(source).limits(|l| l.fuel = u64::MAX).exceeds(Limit::Memory);
        assert_eq!(allowed, 64 << 20, "{source}");
        assert!(used > allowed, "{source}: {used}");
    }
    fennel("(var t []) (while true (table.insert t [1 2 3]))")
        .limits(|l| l.fuel = u64::MAX)
        .exceeds(Limit::Memory);
    fennel("(string.rep :x 1000000000)").exceeds(Limit::Memory);
    let error = lua("return ('x'):rep(1e9)").limits(|l| l.memory_bytes = 8 << 20).error().to_string();
    assert!(error.starts_with("test.lua: out of memory: 8388608 bytes allowed, "), "{error}");
    assert!(
        error.contains(" asked for\nhint: raise `memory_limit_mb` and `resources.max_memory_mb`"),
        "{error}"
    );
    let error = lua("return ('x'):rep(1e9)").limits(|l| l.memory_bytes = u64::MAX).error().to_string();
    assert!(error.ends_with("\nhint: this is the most that a tool can have; keep less at a time"), "{error}");
    let Some(tool) = plain() else { return };
    let (allowed, used) = component(tool, "allocate").limits(|l| l.fuel = u64::MAX).exceeds(Limit::Memory);
    assert!(allowed == 64 << 20 && used > allowed, "{used}");
}

#[test]
fn a_script_may_catch_a_memory_error_and_go_on() {
    assert_eq!(lua("return pcall(string.rep, 'x', 1e9)").result(), "false");
    let Some(tool) = plain() else { return };
    assert_eq!(component(tool, "allocate and go on").limits(|l| l.fuel = u64::MAX).result(), "1");
}

#[test]
fn less_memory_than_the_guest_needs_is_a_limit_as_well() {
    lua("return 1").limits(|l| l.memory_bytes = 1 << 20).exceeds(Limit::Memory);
    // The least that a manifest may say is enough to begin with.
    assert_eq!(lua("return 1").limits(|l| l.memory_bytes = 2 << 20).result(), "1");
    lua("return 1").limits(|l| l.memory_bytes = 0).exceeds(Limit::Memory);
    let Some(tool) = plain() else { return };
    component(tool, "echo").limits(|l| l.memory_bytes = 64 << 10).exceeds(Limit::Memory);
}

#[test]
fn variables_larger_than_the_memory_are_a_memory_error() {
    let variables = format!(r#"{{"parameters": "{}"}}"#, "x".repeat(16 << 20));
    lua("return 1").with(variables).limits(|l| l.memory_bytes = 8 << 20).exceeds(Limit::Memory);
}

#[test]
fn recursion_without_end_is_an_error_of_the_script() {
    for (source, expected) in [
        ("local function f() return 1 + f() end return f()", "stack overflow"),
        (
            "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x",
            "C stack overflow",
        ),
        ("local function f(s) return (s:gsub('.', f)) end return f('x')", "C stack overflow"),
        ("local function f() return pcall(f) end return select('#', f())", ""),
        ("return load(('('):rep(1000) .. '1' .. (')'):rep(1000))", ""),
        ("local function f(a, b) return table.sort({1, 2, 3}, f) end f()", "C stack overflow"),
        ("local function f() return coroutine.wrap(f)() end f()", "C stack overflow"),
        (
            "local t = setmetatable({}, {}) getmetatable(t).__tostring = function(t) return tostring(t) end print(t)",
            "C stack overflow",
        ),
        ("local function f() error(setmetatable({}, {__tostring = f})) end f()", ""),
    ] {
        match lua(source).limits(|l| l.fuel = 100_000_000).run().0.outcome {
            Ok(_) => assert_eq!(expected, "", "{source}"),
            Err(ToolError::Script(error)) => {
                let message = error.message;
                assert!(message.contains(expected), "{source}: {message}")
            }
            Err(ToolError::Limit { limit: Limit::Memory, .. }) => {}
            Err(error) => panic!("{source}: {error:?}"),
        }
    }
    let error = fennel("(fn f [] (+ 1 (f)))\n(f)").limits(|l| l.fuel = 100_000_000).error();
    assert!(error.to_string().starts_with("test.fnl:1: stack overflow"), "{error}");
    let Some(tool) = plain() else { return };
    let error = component(tool, "recurse").limits(|l| l.fuel = u64::MAX).error();
    assert!(matches!(error, ToolError::Crashed { .. }), "{error:?}");
}

#[test]
fn nested_sources_do_not_overflow_the_compiler() {
    let deep = format!("return {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let error = lua(&deep).compile_error().to_string();
    assert_eq!(error, "test.lua: C stack overflow");
    let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(!fennel(&deep).compile_error().to_string().is_empty());
}

#[test]
fn a_macro_without_end_is_stopped() {
    let error = fennel("(macro forever [] (while true nil))\n(forever)").compile_error();
    assert!(matches!(error, ToolError::Limit { limit: Limit::Fuel, compiling: true, .. }), "{error:?}");
    let error = error.to_string();
    assert!(error.starts_with("test.fnl: out of fuel while compiling: "), "{error}");
    assert!(error.contains("the budget for compiling") && !error.contains("fuel_limit"), "{error}");
}

#[test]
fn each_limit_names_the_key_that_raises_it() {
    for (script, key) in [
        (lua("while true do end"), "`fuel_limit` and `resources.max_fuel` in the manifest"),
        (lua("return ('x'):rep(1e9)"), "`memory_limit_mb` and `resources.max_memory_mb` in the manifest"),
        (
            lua("while true do end").limits(|l| (l.fuel, l.wall) = (u64::MAX, Duration::from_millis(20))),
            "`limits.wall_ms` in the daemon's config.yaml",
        ),
        (
            lua("return ('x'):rep(2000)").limits(|l| l.output_bytes = 1000),
            "`limits.output_bytes` in the daemon's config.yaml",
        ),
        (lua("nb.time()").limits(|l| l.host_calls = 0), "`limits.host_calls` in the daemon's config.yaml"),
        (
            lua("nb.call('x', {s = ('x'):rep(2000)})").limits(|l| l.host_bytes = 1000),
            "`limits.host_bytes` in the daemon's config.yaml",
        ),
    ] {
        let error = script.error().to_string();
        assert!(error.split_once("\nhint: ").is_some_and(|(_, hint)| hint.contains(key)), "{error}");
    }
}

#[test]
fn what_a_call_hands_over_at_once_is_bounded_before_it_is_copied() {
    let large = |l: &mut nb_sandbox::Limits| {
        (l.output_bytes, l.host_bytes, l.log_bytes, l.fuel) = (1000, 1000, 1000, u64::MAX);
    };
    for source in ["return ('x'):rep(4e6)", "nb.call('x', {('x'):rep(4e6)})", "print(('x'):rep(4e6))"] {
        assert_eq!(lua(source).limits(large).exceeds(Limit::Message).0, 1000 + (1 << 20), "{source}");
    }
    let error = lua("return ('x'):rep(4e6)").limits(large).error().to_string();
    assert!(
        error.contains("too much data handed over at once: 1049576 bytes allowed, more asked for\n"),
        "{error}"
    );
    let Some(tool) = plain() else { return };
    component(tool, "large").and("size", 4 << 20).limits(large).exceeds(Limit::Message);
    component(tool, "fail large").and("size", 4 << 20).limits(large).exceeds(Limit::Message);
}

#[test]
fn printing_without_end_ends_out_of_fuel_with_a_cut_log() {
    let endless = plain().map(|tool| component(tool, "log").and("line", "a line").and("times", -1));
    let scripts = [lua("while true do print('a line') end"), fennel("(while true (print))")];
    for script in scripts.into_iter().chain(endless) {
        let (finished, seen) = script.limits(|l| l.log_bytes = 1000).run();
        assert!(matches!(finished.outcome, Err(ToolError::Limit { limit: Limit::Fuel, .. })));
        let bytes: usize = seen.lines.iter().map(String::len).sum();
        assert!(bytes < 1100, "{bytes}");
        assert!(seen.lines.last().unwrap().ends_with("bytes of log dropped"));
    }
}

#[test]
fn a_flood_of_host_calls_is_stopped_before_the_host_is_asked() {
    let flood = plain().map(|tool| component(tool, "invoke").and("times", -1));
    let scripts = [lua("while true do nb.call('x') end"), fennel("(while true (nb.kv.get :k))")];
    for script in scripts.into_iter().chain(flood) {
        let (finished, seen) = script.limits(|l| l.host_calls = 10).run();
        let error = finished.outcome.unwrap_err().to_string();
        assert!(error.contains(": too many host calls: 10 allowed, 11 used\n"), "{error}");
        assert_eq!(seen.asked.len(), 10);
    }
    lua("while true do nb.time() end").limits(|l| l.host_calls = 10).exceeds(Limit::HostCalls);
    fennel("(while true (nb.time))").limits(|l| l.host_calls = 10).exceeds(Limit::HostCalls);
    let Some(tool) = plain() else { return };
    component(tool, "ask the clock").limits(|l| l.host_calls = 10).exceeds(Limit::HostCalls);
}

#[test]
fn data_for_the_host_is_limited_in_each_direction() {
    let (finished, seen) = lua("nb.call('x', {s = ('x'):rep(2000)})").limits(|l| l.host_bytes = 1000).run();
    let error = finished.outcome.unwrap_err().to_string();
    let told = "test.lua: too much data exchanged with the host: 1000 bytes allowed, 2009 used\n";
    assert!(error.starts_with(told), "{error}");
    assert!(seen.asked.is_empty());
    let large = || format!(r#""{}""#, "x".repeat(2000));
    lua("nb.call('x')")
        .answering(move |_, _| Ok(large()))
        .limits(|l| l.host_bytes = 1000)
        .exceeds(Limit::HostBytes);
    fennel("(nb.kv.set :k (string.rep :x 2000))").limits(|l| l.host_bytes = 1000).exceeds(Limit::HostBytes);
    fennel("(nb.kv.get :k)")
        .answering(move |_, _| Ok(large()))
        .limits(|l| l.host_bytes = 1000)
        .exceeds(Limit::HostBytes);
    let Some(tool) = plain() else { return };
    let invoke = || component(tool, "invoke").limits(|l| l.host_bytes = 1000);
    invoke().and("size", 2000).exceeds(Limit::HostBytes);
    invoke().answering(move |_, _| Ok(large())).exceeds(Limit::HostBytes);
}

#[test]
fn host_calls_cost_fuel_by_their_bytes() {
    let fuel = |size: usize| {
        let answer = format!(r#""{}""#, "x".repeat(size));
        lua("nb.call('x') return 1").answering(move |_, _| Ok(answer.clone())).run().0.usage.fuel
    };
    assert!(fuel(1_000_000) > fuel(10) + 2 * 1_000_000 / 128);
    let answer = format!(r#""{}""#, "x".repeat(1 << 20));
    lua("nb.call('x')")
        .answering(move |_, _| Ok(answer.clone()))
        .limits(|l| l.fuel = 10_000)
        .exceeds(Limit::Fuel);
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let error = lua("return ('x'):rep(2000)").limits(|l| l.output_bytes = 1000).error().to_string();
    assert!(
        error.starts_with("test.lua: the result is too large: 1000 bytes allowed, 2002 used\n"),
        "{error}"
    );
    fennel("(string.rep (string.rep :x 1000) 2000)").exceeds(Limit::Output);
    lua("return {('x'):rep(500)}").limits(|l| l.output_bytes = 504).result();
    let Some(tool) = plain() else { return };
    component(tool, "large").and("size", 2 << 20).limits(|l| l.fuel = u64::MAX).exceeds(Limit::Output);
    component(tool, "large").and("size", 1000).limits(|l| l.output_bytes = 1000).result();
}

#[test]
fn running_is_limited_and_waiting_is_not() {
    let endless = |l: &mut nb_sandbox::Limits| {
        l.fuel = u64::MAX;
        l.wall = Duration::from_millis(50);
    };
    let (allowed, used) = lua("while true do end").limits(endless).exceeds(Limit::WallClock);
    assert_eq!(allowed, 50);
    assert!((50..500).contains(&used), "{used}");
    fennel("(while true (pcall #nil))").limits(endless).exceeds(Limit::WallClock);
    if let Some(tool) = plain() {
        component(tool, "spin").limits(endless).exceeds(Limit::WallClock);
    }

    // The host takes longer than the wall clock allows; it is busy, because a test must not sleep.
    let (allowed, taken) = (Duration::from_millis(400), Duration::from_millis(600));
    let busy = move |_: &str, _: &str| {
        let start = Instant::now();
        while start.elapsed() < taken {}
        Ok("1".to_owned())
    };
    let component = plain().map(|tool| component(tool, "invoke"));
    for script in [lua("return nb.call('slow')"), fennel("(nb.call :slow)")].into_iter().chain(component) {
        let (finished, _) = script.answering(busy).limits(|l| l.wall = allowed).run();
        assert_eq!(finished.outcome.unwrap(), "1");
        assert!(finished.usage.waiting >= taken);
        assert!(finished.usage.running < allowed, "{:?}", finished.usage);
    }
}

#[test]
fn a_call_is_cancelled_within_100_ms() {
    let component = plain().map(|tool| component(tool, "wait, then spin"));
    let scripts = [lua("nb.call('x') while true do end"), fennel("(nb.call :x) (while true nil)")];
    for script in scripts.into_iter().chain(component) {
        let cancel = CancelFlag::default();
        let (started, asked) = std::sync::mpsc::channel();
        let script = script.limits(|l| l.fuel = u64::MAX).cancelled_by(&cancel).answering(move |_, _| {
            started.send(()).unwrap();
            Ok("null".into())
        });
        let call = std::thread::spawn(move || script.error());
        asked.recv().unwrap();
        let cancelled = Instant::now();
        cancel.cancel();
        assert!(matches!(call.join().unwrap(), ToolError::Cancelled { .. }));
        assert!(cancelled.elapsed() < Duration::from_millis(100), "{:?}", cancelled.elapsed());
    }
}

#[test]
fn a_cancelled_call_asks_its_host_nothing_more() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    let component = plain().map(|tool| component(tool, "invoke"));
    for script in [lua("nb.call('x')"), fennel("(nb.call :x)")].into_iter().chain(component) {
        let (finished, seen) = script.cancelled_by(&cancel).run();
        assert!(matches!(finished.outcome, Err(ToolError::Cancelled { .. })), "{:?}", finished.outcome);
        assert!(seen.asked.is_empty());
    }
}
