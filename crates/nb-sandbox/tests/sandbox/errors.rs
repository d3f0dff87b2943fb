//! Where an error is, in both languages, and what is told about it.

use crate::common::{fennel, lua};
use nb_sandbox::{ScriptErrorKind, ToolError};

/// The first line of what is shown: without the line of the source, and without a hint.
fn place_and_message(error: &ToolError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_lua_error_has_the_tools_name_and_line() {
    for (source, message) in [
        ("\n\nerror('boom')", "test.lua:3: boom"),
        ("local x\n\nreturn x.y", "test.lua:3:8: attempt to index a nil value (local 'x')"),
        ("error('no position', 0)", "test.lua:1: no position"),
        ("\nerror({message = 'in a table'})", "test.lua:2: in a table"),
        ("\nerror({code = 3})", "test.lua:2: {\"code\":3}"),
        ("\nerror({{1, 'two'}, json.null})", "test.lua:2: [[1,\"two\"],null]"),
        ("error()", "test.lua:1: nil"),
        ("\nerror(setmetatable({}, {__tostring = function() return 'own' end}))", "test.lua:2: own"),
        ("\ncoroutine.wrap(function()\n error('inner')\nend)()", "test.lua:3: inner"),
        ("error('\\xff')", "test.lua:1: \u{fffd}"),
    ] {
        assert_eq!(place_and_message(&lua(source).error()), message, "{source}");
    }
}

#[test]
fn a_fennel_error_has_the_fennel_line() {
    let function = "(fn count [list]\n  (var n 0)\n  (each [_ x (ipairs list)]\n    (set n (+ n\n              x.size)))\n  n)\n\n(count [{:size 1}\n        {:size nil}])";
    let error = fennel(function).named("count.fnl").error();
    assert!(error.to_string().starts_with("count.fnl:4: attempt to perform arithmetic"), "{error}");

    let with_macro = "(macro twice [x]\n  `(do ,x\n       ,x))\n\n(local y 1)\n(twice\n  (error\n    :late))";
    assert!(
        fennel(with_macro).error().to_string().starts_with("test.fnl:7: late"),
        "{}",
        fennel(with_macro).error()
    );

    let in_the_middle = "(local a 1)\n(local b nil)\n(local c\n  (+ a b))\n(local d 4)\nd";
    let error = fennel(in_the_middle).error().to_string();
    let shown = "test.fnl:4:8: attempt to perform arithmetic on a nil value (local 'b')\n  4 |   (+ a b))\n    |        ^";
    assert_eq!(error, shown);

    let matching = "(match [1 2]\n  [a b]\n  (let [t nil]\n    (t.x\n      a)))";
    let error = fennel(matching).error().to_string();
    assert!(error.starts_with("test.fnl:4:6: attempt to index a nil value"), "{error}");
}

#[test]
fn a_call_of_a_method_and_a_literal_that_is_set_have_their_own_line() {
    for (source, start) in [
        ("(var x nil)\n(set x.y 1)", "test.fnl:2:6: attempt to index a nil value (local 'x')"),
        ("(local s nil)\n\n\n(s:nomethod 1)\nnil", "test.fnl:4:2: attempt to index a nil value (local 's')"),
        ("(local s {})\n(fn f []\n  (s:nomethod 1)\n  2)\n(f)", "test.fnl:3:6: attempt to call a nil value"),
        ("(fn f [t]\n  (set t.name \"x\")\n  t)\n(f nil)", "test.fnl:2:8: attempt to index a nil value"),
        (
            "(local cfg {:a 1})\n(when cfg.a\n  (set cfg.b.c 1))\n2",
            "test.fnl:3:12: attempt to index a nil value (field 'b')",
        ),
        ("(var x nil)\n(set (. x :y) nil)", "test.fnl:2"),
        ("(var x nil)\n(set [x.y x.z] [1 2])", "test.fnl:2"),
        ("(let [x nil]\n  (print 1)\n  (: (or x false) (.. :a :b) 1)\n  3)", "test.fnl:3"),
    ] {
        let shown = fennel(source).error().to_string();
        assert!(shown.starts_with(start), "{source}: {shown}");
    }
    let error = fennel("(local log nb.log)\n(print \"a\")\n(log:warn \"x\")\n2").error().to_string();
    assert_eq!(
        error,
        "test.fnl:3:6: attempt to call a nil value (method 'warn')\n  3 | (log:warn \"x\")\n    |      ^\n\
         hint: `nb.log` has no `warn`. It has `error`, `info`."
    );
    let module = "(local m {})\n(fn m.go [t]\n  (set t.x.y :z)\n  t)\nm";
    let error = fennel("(local m (require :m))\n(m.go {})").module("m.fnl", module).error();
    assert!(error.to_string().starts_with("tools/lib/m.fnl:3:10: "), "{error}");
}

#[test]
fn a_source_that_is_no_program_says_where() {
    assert_eq!(
        lua("return 1\n+").compile_error().to_string(),
        "test.lua:2:2: unexpected symbol near <eof>\n  2 | +\n    |  ^"
    );
    for (source, start) in [
        ("(let [x 1]\n  (+ x 1)", "test.fnl:2:10: Parse error: expected closing delimiter"),
        ("\n(let [x]\n  x)", "test.fnl:2:6: Compile error: expected even number of name/value bindings"),
        ("(local x 1)\n\n(fn)", "test.fnl:3:1: Compile error: expected parameters"),
        ("(print \"a\n", "test.fnl:2:1: Parse error"),
        ("(macro m [] (error :inside))\n(m)", "test.fnl:2:1: Compile error: inside"),
        ("\n\n(require-macros :files)", "test.fnl:3:1: Compile error: files module not found"),
    ] {
        let error = fennel(source).compile_error();
        assert!(error.to_string().starts_with(start), "{source}: {error}");
        let ToolError::Script(error) = error else { panic!("{error}") };
        assert_eq!(error.kind, ScriptErrorKind::Syntax);
    }
}

#[test]
fn a_table_without_a_json_form_is_told_as_lua_tells_it() {
    let message = lua("error({print})").script_error().message;
    assert!(message.starts_with("table: 0x"), "{message}");
    let deep = "local t = {} for _ = 1, 200 do t = {t} end error(t)";
    assert!(lua(deep).script_error().message.starts_with("table: 0x"));
}

#[test]
fn a_field_of_nil_is_told_with_its_path() {
    let error = lua("return parameters.name.first").with(r#"{"parameters": {}}"#).error().to_string();
    assert!(error.ends_with("\nhint: `parameters.name` is nil, so it has no `first`."), "{error}");
}

#[test]
fn a_byte_order_mark_and_a_line_that_starts_a_program_move_no_position() {
    for head in ["\u{feff}", "#!/usr/bin/env lua\n", "\u{feff}#!/usr/bin/env lua\n", "#!/usr/bin/lua [[\n"] {
        let line = 1 + head.matches('\n').count();
        let error = lua(&format!("{head}local x return x.y")).error();
        assert_eq!(
            place_and_message(&error),
            format!("test.lua:{line}:16: attempt to index a nil value (local 'x')")
        );
        assert!(error.to_string().contains(" | local x return x.y\n"), "{error}");
        assert_eq!(lua(&format!("{head}return 7")).result(), "7");
    }
    assert_eq!(lua("#!/usr/bin/lua").result(), "null");
    assert_eq!(lua("return require('m')").module("m.lua", "\u{feff}#!lua\nreturn 8").result(), "8");
    let error = fennel("\u{feff}#!/usr/bin/fennel\n(error :x)").error();
    assert!(place_and_message(&error).starts_with("test.fnl:2"), "{error}");
    assert_eq!(fennel("\u{feff}(+ 1 2)").result(), "3");
}

#[test]
fn the_traceback_names_the_calls() {
    let source = "local function inner()\n  error('x')\nend\nlocal function outer()\n  inner()\n  return 1\nend\nouter()";
    let error = lua(source).script_error();
    assert_eq!(error.position.unwrap().line, 2);
    assert_eq!(
        error.traceback,
        "[C]: in function 'error'\ntest.lua:2: in upvalue 'inner'\ntest.lua:5: in local 'outer'\ntest.lua:8: in main chunk"
    );
}

#[test]
fn a_long_name_is_told_whole() {
    let name = format!("{}.lua", "long".repeat(40));
    assert_eq!(place_and_message(&lua("\nerror('x')").named(&name).error()), format!("{name}:2: x"));
    assert_eq!(
        place_and_message(&lua("return (").named(&name).compile_error()),
        format!("{name}:1:9: unexpected symbol near <eof>")
    );
    let name = format!("{}.fnl", "long".repeat(40));
    assert_eq!(place_and_message(&fennel("\n(error :x)").named(&name).error()), format!("{name}:2: x"));
}

#[test]
fn a_large_message_is_cut() {
    let message = lua("error(('x'):rep(1000000))").script_error().message;
    assert!(message.len() < 5000 && message.ends_with('…'), "{}", message.len());
}

#[test]
fn a_name_that_is_not_in_the_sandbox_gets_a_hint() {
    let error = lua("local home = os.getenv('HOME')").error().to_string();
    let (place, hint) = error.split_once("\nhint: ").unwrap();
    assert_eq!(
        place,
        "test.lua:1:14: attempt to index a nil value (global 'os')\n  1 | local home = os.getenv('HOME')\n    |              ^"
    );
    assert!(hint.contains("`os.getenv` is not in the sandbox"), "{hint}");
    for (source, word) in [
        ("return io.open('x')", "nb.kv"),
        ("return paramters.name", "`parameters`"),
        ("return string.trim('x')", "string"),
        ("return require('x')", "tools/lib"),
    ] {
        let error = lua(source).error().to_string();
        assert!(error.contains("\nhint: ") && error.contains(word), "{source}: {error}");
    }
    let error = fennel("(local home\n  (os.getenv :HOME))\nhome").error().to_string();
    assert!(
        error.starts_with("test.fnl:2:") && error.contains("`os.getenv` is not in the sandbox"),
        "{error}"
    );
}

#[test]
fn an_ability_asked_for_by_the_name_of_its_function_gets_a_hint() {
    let asking = lua("nb.call('kv.get', {key = 'a'})");
    let error = asking.answering(|name, _| Err(format!("there is no ability `{name}` here"))).script_error();
    assert_eq!(error.hint.as_deref(), Some("The ability is `kv.read`; `nb.kv.get` is short for it."));
}

#[test]
fn a_traceback_of_long_names_is_cut() {
    let name = "x".repeat(20_000);
    let source = format!(
        "local t = {{}} function t.{name}(n) if n == 0 then error('in it') end local r = t.{name}(n - 1) return r end
         local x = t.{name}(30) return 1"
    );
    let error = lua(&source).script_error();
    assert!(error.traceback.len() < 5000 && error.traceback.ends_with('…'), "{}", error.traceback.len());
    assert!(error.to_string().len() < 5000, "{}", error.to_string().len());
}

#[test]
fn a_loop_over_nothing_and_a_name_that_macros_do_not_have_get_a_hint() {
    for script in [
        lua("for _, v in ipairs(parameters.items) do end"),
        fennel("(each [_ v (ipairs parameters.items)] v)"),
    ] {
        let error = script.with("{\"parameters\": {}}").script_error();
        assert_eq!(
            error.hint.as_deref(),
            Some("The loop goes over the value in `ipairs`, which is nil and must be a table."),
            "{error}"
        );
    }
    let error = fennel("(macro m [] (os.getenv :HOME)) (m)").compile_error().to_string();
    assert!(error.contains("hint: `os.getenv`") || error.contains("hint: `os`"), "{error}");
}
