//! A tool ends at its limits, whatever it does against that.

use std::thread;
use std::time::{Duration, Instant};

use nb_sandbox::{CancelFlag, Limit, ToolError};

use crate::common::{fennel, lua};

#[test]
fn an_endless_loop_ends_by_fuel() {
    for source in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do coroutine.wrap(function() end)() end",
        "xpcall(function() while true do end end, function() while true do end end)",
        "return tostring(setmetatable({}, {__tostring = function() while true do end end}))",
        "error(setmetatable({}, {__tostring = function() while true do end end}))",
    ] {
        lua(source).exceeds(Limit::Fuel);
    }
    assert_eq!(fennel("(while true nil)").exceeds(Limit::Fuel).0, 1_000_000);
    assert!(matches!(lua("while true do end").evaluate(), Err(ToolError::Limit { limit: Limit::Fuel, .. })));
}

#[test]
fn fuel_counts_the_instructions_of_the_script_alone() {
    let sum = "local n = 0 for i = 1, 100000 do n = n + i end return n";
    let used = |script: crate::common::Script| script.run().0.usage.fuel;
    assert!((200_000..210_000).contains(&used(lua(sum))), "{}", used(lua(sum)));
    assert_eq!(used(fennel("(+ 1 1)")), 1_000, "a step that was begun counts, and compiling is not charged");
    assert_eq!(used(lua(sum)), used(lua(sum)));
}

#[test]
fn a_script_that_ends_well_never_used_more_fuel_than_it_had() {
    for fuel in [1, 10, 999, 1_000, 1_001, 1_500, 1_999, 2_000, 2_001, 10_000] {
        // Few instructions, and nearly all that are allowed.
        for source in ["return 1".to_owned(), format!("for i = 1, {} do end return 1", fuel.max(20) - 20)] {
            let (finished, _) = lua(&source).limits(|limits| limits.fuel = fuel).run();
            let used = finished.usage.fuel;
            assert!(
                finished.outcome.is_err() || (1..=fuel).contains(&used),
                "{used} used of {fuel}: {source}"
            );
        }
    }
    let ends_well = lua("for i = 1, 1400 do end return 1").limits(|limits| limits.fuel = 1_500);
    assert_eq!(ends_well.run().0.usage.fuel, 1_500);
}

#[test]
fn a_file_that_would_grow_too_large_is_an_error_of_the_tool() {
    let script = "local file = assert(io.tmpfile())
        file:setvbuf('no')
        assert(file:seek('set', 1 << 30))
        local _, reason = file:write('x')
        return reason";
    assert_eq!(lua(script).result(), "\"File too large\"");
}

fn without_fuel_limit(source: &str) -> crate::common::Script {
    lua(source).limits(|limits| {
        limits.fuel = u64::MAX;
        limits.wall = Duration::from_millis(300);
    })
}

#[test]
fn the_wall_clock_ends_what_fuel_does_not() {
    // Lua counts no instructions while it closes a variable because of a hook, nor in a finalizer.
    for source in [
        "local x <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
        "setmetatable({}, {__gc = function() while true do end end}) collectgarbage()",
    ] {
        lua(source).limits(|limits| limits.wall = Duration::from_millis(300)).exceeds(Limit::WallClock);
    }
    without_fuel_limit("while true do pcall(function() end) end").exceeds(Limit::WallClock);
    without_fuel_limit("('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))").exceeds(Limit::WallClock);
}

#[test]
fn the_wall_clock_does_not_run_while_the_host_answers() {
    // The host answers when more time has passed than the call has.
    let script = lua("return nb.call('slow')").answering(|_, _| {
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_millis(2500) {
            thread::yield_now();
        }
        Ok("1".into())
    });
    assert_eq!(script.limits(|limits| limits.wall = Duration::from_secs(2)).result(), "1");
}

#[test]
fn memory_is_limited() {
    for source in [
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "return ('x'):rep(1 << 30)",
        "local s = 'x' while true do s = s .. s end",
        "return json.decode('[' .. ('[],'):rep(2000000) .. '1]')",
    ] {
        let (allowed, _) = lua(source).limits(|limits| limits.fuel = u64::MAX).exceeds(Limit::Memory);
        assert_eq!(allowed, 64 << 20);
    }
    let error = lua("return ('x'):rep(1 << 30)").error().to_string();
    let told =
        "test.lua: out of memory: 67108864 bytes allowed, 67108864 used\nhint: raise `memory_limit_mb`";
    assert!(error.starts_with(told), "{error}");
    let caught = "local ok, why = pcall(string.rep, 'x', 1 << 30) return {ok, why}";
    assert_eq!(lua(caught).result(), r#"[false,"not enough memory"]"#);
    assert!(lua("local s = ('x'):rep(8 << 20) return #s").run().0.usage.peak_memory_bytes > 8 << 20);
}

#[test]
fn the_budget_of_compiling_is_not_the_tools() {
    let error = fennel("(macro forever [] (while true nil))\n(forever)").evaluate().unwrap_err();
    assert!(matches!(error, ToolError::Limit { limit: Limit::Fuel, compiling: true, .. }), "{error:?}");
    assert!(!error.to_string().contains("fuel_limit"), "{error}");
    let error = lua("while true do end").evaluate().unwrap_err();
    assert!(matches!(error, ToolError::Limit { limit: Limit::Fuel, compiling: false, .. }), "{error:?}");
}

#[test]
fn a_json_text_is_limited() {
    let script = lua("return ('x'):rep(65 << 20)").limits(|limits| limits.memory_bytes = 256 << 20);
    assert_eq!(script.fails(), "test.lua: a JSON text has at most 67108864 bytes");
}

#[test]
fn the_result_is_limited() {
    let script = lua("return ('x'):rep(1000)").limits(|limits| limits.output_bytes = 100);
    assert_eq!(script.exceeds(Limit::Output), (100, 1002));
    let (finished, _) = lua("return ('x'):rep(1000)").run();
    assert_eq!(finished.usage.output_bytes, 1002);
}

#[test]
fn host_calls_and_their_bytes_are_limited_and_cannot_be_caught() {
    let endless = "while true do pcall(nb.kv.get, 'k') end";
    assert_eq!(lua(endless).limits(|limits| limits.host_calls = 10).exceeds(Limit::HostCalls), (10, 11));
    let endless = "while true do pcall(nb.call, 'a', {('x'):rep(100)}) end";
    lua(endless).limits(|limits| limits.host_bytes = 1000).exceeds(Limit::HostBytes);
    let at_once = "pcall(nb.call, 'a', {('x'):rep(2000)}) return 1";
    lua(at_once).limits(|limits| limits.host_bytes = 1000).exceeds(Limit::HostBytes);
    let received =
        lua("pcall(nb.call, 'a') return 1").answering(|_, _| Ok(format!("\"{}\"", "x".repeat(2000))));
    received.limits(|limits| limits.host_bytes = 1000).exceeds(Limit::HostBytes);
    lua("nb.time() return 1").limits(|limits| limits.host_calls = 0).exceeds(Limit::HostCalls);
}

#[test]
fn the_log_is_cut_and_says_how_much_is_missing() {
    let flood = "for i = 1, 100 do print(('x'):rep(99)) end";
    let lines = lua(flood).limits(|limits| limits.log_bytes = 1000).lines();
    assert_eq!(lines.len(), 7, "each line costs 64 bytes beside its text");
    assert_eq!(lines.last().unwrap(), "… 9400 bytes of log dropped");
}

#[test]
fn a_flood_of_output_stops_neither_the_tool_nor_the_daemon() {
    let (finished, seen) = lua("os.execute('yes | head -c 20000000') return 'done'").run();
    assert_eq!(finished.outcome.unwrap(), r#""done""#);
    assert!(seen.lines.last().unwrap().ends_with(" bytes of log dropped"), "{:?}", seen.lines.last());
    let (finished, _) = lua("for i = 1, 100 do io.write(('x'):rep(100000)) end return 'done'").run();
    assert_eq!(finished.outcome.unwrap(), r#""done""#);
    without_fuel_limit("os.execute('yes')").exceeds(Limit::WallClock);
}

#[test]
fn a_cancelled_call_ends() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    let error = lua("return 1").cancelled_by(&cancel).error();
    assert_eq!(error, ToolError::Cancelled { tool: "test.lua".into() });

    // Cancelled by the call's own first line, so that it is known to run.
    for source in ["print('runs') while true do end", "print('runs') os.execute('sleep 600')"] {
        let cancel = CancelFlag::default();
        let flag = cancel.clone();
        let script = lua(source).cancelled_by(&cancel).on_line(move |_| flag.cancel());
        let error = script.limits(|limits| limits.fuel = u64::MAX).error();
        assert_eq!(error, ToolError::Cancelled { tool: "test.lua".into() });
    }
}
