//! Lua that computes: what the sandbox takes beside native Lua.

use std::hint::black_box;

use mlua::Lua;
use nb_sandbox::{CancelFlag, Lang, Limits, Sandbox};

use crate::common;
use crate::guest;
use crate::measure::{medians, ratio};
use crate::table;

const ROUNDS: usize = 15;

/// Programs that a limit on time or memory would not touch, each of some milliseconds. They return a number that both
/// must agree about.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "fib(24)",
        "local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
         return fib(24)",
    ),
    (
        "loops: 1 M steps of integer and float arithmetic",
        "local n, x = 0, 1.0
         for i = 1, 1000 do for j = 1, 1000 do n = (n * 31 + i ~ j) & 0xffffff; x = x * 0.5 + j end end
         return n + x // 1",
    ),
    (
        "tables: fill 50,000 elements and sort them",
        "local t, seed = {}, 42
         for i = 1, 50000 do seed = (seed * 1103515245 + 12345) & 0x7fffffff; t[i] = seed end
         table.sort(t)
         return t[1] + t[25000] + t[50000]",
    ),
    (
        "strings: build, gsub, find",
        "local parts = {}
         for i = 1, 5000 do parts[#parts + 1] = 'key' .. i .. '=' .. i * 7 end
         local text, n = table.concat(parts, ';'):gsub('%d+', function(d) return d + 1 end)
         for key, value in text:gmatch('(%w+)=(%d+)') do if key:find('9', 1, true) then n = n + value end end
         return n",
    ),
    (
        "closures and method calls",
        "local Account = {}
         Account.__index = Account
         function Account.new() return setmetatable({balance = 0}, Account) end
         function Account:deposit(n) self.balance = self.balance + n; return self end
         local function adder(k) return function(n) return n + k end end
         local account = Account.new()
         for i = 1, 100000 do account:deposit(adder(i)(1)):deposit(-i) end
         return account.balance",
    ),
];

/// Errors that are caught; they are shown apart, because a Wasm exception is found by walking the stack.
const THROWS: u32 = 2_000;

/// Prints each program; answers the geometric mean of the ratios.
pub fn compute(sandbox: &Sandbox) -> f64 {
    table::part("Lua that computes (p50)", &["sandbox", "native", "ratio"]);
    let ratios = PROGRAMS.iter().map(|(what, source)| compare(sandbox, what, source, 1));
    let mean = (ratios.map(f64::ln).sum::<f64>() / PROGRAMS.len() as f64).exp();
    table::row("geometric mean of these ratios", &["", "", &table::times(mean)]);
    let throws = format!("for i = 1, {THROWS} do pcall(error, 'no') end return 1");
    compare(sandbox, "`pcall(error)`, for each error", &throws, THROWS);
    mean
}

fn compare(sandbox: &Sandbox, what: &str, source: &str, parts: u32) -> f64 {
    let limits = Limits { fuel: u64::MAX, ..Limits::default() };
    let program = guest::compile(sandbox, Lang::Lua, source);
    let lua = Lua::new();
    let function = lua.load(source).into_function().expect("it compiles");

    let answer = common::call(sandbox, program.clone(), limits.clone(), CancelFlag::default());
    let answer: f64 = answer.outcome.expect("it works").parse().expect("a number");
    assert_eq!(answer, function.call::<f64>(()).expect("it works"), "{what}");

    let in_sandbox = || guest::call(sandbox, &program, &limits);
    let native = || _ = black_box(function.call::<f64>(()).expect("it works"));
    let (in_sandbox, native) = medians(ROUNDS, in_sandbox, native);
    let ratio = ratio(in_sandbox, native);
    table::row(what, &[table::time(in_sandbox / parts), table::time(native / parts), table::times(ratio)]);
    ratio
}
