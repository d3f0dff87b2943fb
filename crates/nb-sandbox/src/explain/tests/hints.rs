//! Hints about names that are not there.

use super::Native;
use crate::source::Lang;

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
        ("return cjson.encode({})", "`cjson.encode` is not in the sandbox: use `json.encode`"),
    ];
    Native::new().check_hints(Lang::Lua, &hints);
    let hints = [
        ("(os.getenv :X)", "`os.getenv` is not in the sandbox"),
        ("(local os os)\n(os.time)", "`os.time` is not in the sandbox"),
        ("(let [time os.time] (time))", "`os.time` is not in the sandbox"),
        ("(local {: time} os)", "`os` is not in the sandbox"),
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
            "local function f(os) return os.time() end f()",
            "local string = {}\nstring.trim('x')",
            "local os = os or nil\nreturn os.time()",
            "local t = {} t.os.getenv('x')",
            "local t = {} t:getenv()",
            "local x = 1 return x.y.z",
            "error('os')",
            "error('attempt to index a nil value (field \\'os\\')')",
        ]
        .map(|text| (text, "")),
    );
}
