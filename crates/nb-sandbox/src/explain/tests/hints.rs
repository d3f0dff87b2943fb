//! Hints about names that are not there.

use super::Native;
use crate::explain::explain_native;
use crate::script_error::{Position, ScriptError};
use crate::source::{Lang, Source};

#[test]
fn a_name_that_is_not_in_the_sandbox_gets_a_hint() {
    let hints = [
        ("return os.getenv('X')", "`os.getenv` is not in the sandbox: a tool has no environment."),
        ("return os.time() - os.time()", "`os.time` is not in the sandbox: use `nb.time()`"),
        ("return os.time() - os.clock()", "`os` is not in the sandbox"),
        ("return os.setlocale('C')", "`os.setlocale` is not in the sandbox"),
        ("local os = os\nreturn os.date()", "`os.date` is not in the sandbox"),
        ("local io = io\nlocal function f() return io.open('x') end f()", "`io.open` is not in the sandbox"),
        ("return _G.os.exit()", "`os.exit` is not in the sandbox"),
        ("local f = io.open('x')", "`io.open` is not in the sandbox: a tool has no files."),
        ("for line in io.lines('x') do end", "`io.lines` is not in the sandbox: a tool has no files."),
        ("local f = string.dump(print)", "`string.dump` is not in the sandbox"),
        ("local dump = string.dump dump(print)", "`string.dump` is not in the sandbox"),
        ("debug.traceback()", "`debug.traceback` is not in the sandbox"),
        ("package.path = 'x'", "`package.path` is not in the sandbox"),
        ("local x = require('x')", "`require` finds the files under `tools/lib`"),
        ("local r = require\nr('x')", "`require` finds the files under `tools/lib`"),
        ("dofile('x')", "`dofile` is not in the sandbox: a tool has no files."),
        ("warn('x')", "`warn` is not in the sandbox: write to the tool's log"),
        ("return unpack({})", "`unpack` is `table.unpack` in Lua 5.4."),
        ("local unpack = unpack; return unpack({})", "`unpack` is `table.unpack` in Lua 5.4."),
        ("return table.getn({})", "`table.getn` is the operator `#`"),
        ("return bit.band(1, 2)", "`bit.band` is not in Lua 5.4: use the operators"),
        ("return math.pow(1, 2)", "`math.pow` is the operator `^`"),
        ("return math.rand(6)", "`math.rand` is `math.random` in Lua."),
        ("return params.name", "`params.name` is not there: what the tool was called with is `parameters`."),
        ("return #args", "`args` is not there"),
        ("return input.x.y", "`input.x` is not there"),
        ("return cjson.encode({})", "`cjson.encode` is not in the sandbox: use `json.encode`"),
    ];
    Native::new().check_hints(Lang::Lua, &hints);
    let hints = [
        ("(os.getenv :X)", "`os.getenv` is not in the sandbox"),
        ("(local os os)\n(os.time)", "`os.time` is not in the sandbox"),
        ("(let [time os.time] (time))", "`os.time` is not in the sandbox"),
        ("(local {: time} os)", "`os` is not in the sandbox"),
        ("(+ 1 params.count)", "what the tool was called with is `parameters`"),
        ("(require :x)", "`require` finds the files under `tools/lib`"),
    ];
    Native::new().check_hints(Lang::Fennel, &hints);
}

#[test]
fn a_misspelt_name_gets_the_nearest_one() {
    let hints = [
        ("return paramters.name", "There is no variable `paramters`. Did you mean `parameters`?"),
        ("return JSON.encode({})", "Did you mean `json`?"),
        ("local result = {}\nreturn reslt.x", "Did you mean `result`?"),
        ("local function helper(number) return numbr.x end helper(1)", "Did you mean `number`?"),
        ("tostrng(1)", "Did you mean `tostring`?"),
        ("nb.kv.put('a', 1)", "`nb.kv` has no `put`. It has `compare_and_set`, `delete`, `get`"),
        ("nb.kv.incremnt('a')", "`nb.kv` has no `incremnt`. Did you mean `nb.kv.increment`?"),
        ("nb.kvs.get('a')", "`nb` has no `kvs`. Did you mean `nb.kv`?"),
        ("local kv = nb.kv\nkv.put('a', 1)", "`nb.kv` has no `put`."),
        ("local kv = nb.kv\nlocal put = kv.put\nput('a', 1)", ""),
        ("local trim = string.lowr; trim('a')", "Did you mean `string.lower`?"),
        ("json.parse('1')", "`json` has no `parse`. It has `array`, `decode`, `encode`, `null`."),
        ("string.trim('a')", "`string.trim` is not in Lua: use `string.match"),
        ("_G.string.lowr('a')", "Did you mean `string.lower`?"),
    ];
    Native::new().check_hints(Lang::Lua, &hints);
    let hints = [
        ("(foo-bar 1)", "There is no variable `foo-bar`."),
        ("(local my-list [])\n(print my-lst.x)", "There is no variable `my-lst`. Did you mean `my-list`?"),
        ("(nb.kv.incremnt :a)", "Did you mean `nb.kv.increment`?"),
    ];
    Native::new().check_hints(Lang::Fennel, &hints);
}

#[test]
fn a_field_that_is_nil_is_named_with_what_it_is_a_part_of() {
    let hints = [
        ("return parameters.name.first", "`parameters.name` is nil, so it has no `first`."),
        ("local t = {} t.os.getenv('x')", "`t.os` is nil, so it has no `getenv`."),
        ("local t = {a = {}}\nreturn t.a.b.c.d", "`t.a.b` is nil, so it has no `c`."),
        ("local t = {} return t.a['b']", "`t.a` is nil."),
        ("local function f(t) return t.a.b end f({})", "`t.a` is nil, so it has no `b`."),
        ("local t = {} return t.a.x + t.a.y", ""),
        ("local t = {} return t.a + 1", ""),
        ("local t = {} t.a()", ""),
    ];
    Native::new().check_hints(Lang::Lua, &hints);
    let hints = [("(print parameters.name.first)", "`parameters.name` is nil, so it has no `first`.")];
    Native::new().check_hints(Lang::Fennel, &hints);
}

#[test]
fn native_lua_is_given_no_advice_about_the_sandbox_and_all_other() {
    let hint = |text: &str, message: &str| {
        let position = Some(Position { file: "t".into(), line: 1, column: None });
        let mut error = ScriptError { position, ..ScriptError::new("t", message) };
        explain_native(&mut error, &[Source::new(Lang::Lua, "t", text)]);
        error.hint.unwrap_or_default()
    };
    assert_eq!(
        hint("package.x.y()", "attempt to index a nil value (field 'x')"),
        "`package.x` is nil, so it has no `y`."
    );
    assert_eq!(hint("socket.tcp()", "attempt to index a nil value (global 'socket')"), "");
    assert!(
        hint("cjson.encode({})", "attempt to index a nil value (global 'cjson')")
            .contains("Did you mean `json`?")
    );
    assert_eq!(
        hint("unpack({})", "attempt to call a nil value (global 'unpack')"),
        "`unpack` is `table.unpack` in Lua 5.4."
    );
    let own = hint("local sandbox = {} sandbx.x()", "attempt to index a nil value (global 'sandbx')");
    assert_eq!(own, "There is no variable `sandbx`. Did you mean `sandbox`?");
}

#[test]
fn a_loop_over_no_iterator_gets_a_hint() {
    Native::new().check_hints(
        Lang::Lua,
        &[
            ("for k in {} do end", "`pairs(…)` or `ipairs(…)` behind `in`"),
            ("for k in pairs(nil) do end", "must be a table"),
        ],
    );
}

#[test]
fn what_is_the_scripts_own_gets_no_hint() {
    Native::new().check_hints(
        Lang::Lua,
        &[
            "frobnicate()",
            "local os = nil\nreturn os.time()",
            "local params\nreturn params.x",
            "local function f(os) return os.time() end f()",
            "local string = {}\nstring.trim('x')",
            "local os = os or nil\nreturn os.time()",
            "local t = {} t:getenv()",
            "error('os')",
            "error('attempt to index a nil value (field \\'os\\')')",
        ]
        .map(|text| (text, "")),
    );
}
