//! Where an error is, in both languages.

use nb_sandbox::ScriptErrorKind;

use crate::common::{fennel, lua};

#[test]
fn a_lua_error_has_the_tools_name_and_line() {
    for (source, message) in [
        ("\n\nerror('boom')", "test.lua:3: boom"),
        ("local x\n\nreturn x.y", "test.lua:3: attempt to index a nil value (local 'x')"),
        ("error('no position', 0)", "test.lua:1: no position"),
        ("\nerror({message = 'in a table'})", "test.lua:2: in a table"),
        ("error()", "test.lua:1: nil"),
        ("\nerror(setmetatable({}, {__tostring = function() return 'own' end}))", "test.lua:2: own"),
        ("\ncoroutine.wrap(function()\n error('inner')\nend)()", "test.lua:3: inner"),
        ("error('\\xff')", "test.lua:1: \u{fffd}"),
    ] {
        let error = lua(source).fails_here();
        assert!(error.starts_with(message), "{source}: {error}");
    }
}

#[test]
fn a_recursion_without_end_is_an_error() {
    let script = lua("local function f() return f() + 1 end\nf()").limits(|limits| {
        limits.fuel = u64::MAX;
        limits.memory_bytes = 256 << 20;
    });
    let error = script.fails();
    assert!(error.starts_with("test.lua:1: stack overflow"), "{error}");
}

#[test]
fn a_fennel_error_has_the_fennel_line() {
    let with_macro = "(macro twice [x]\n  `(do ,x\n       ,x))\n\n(local y 1)\n(twice\n  (error\n    :late))";
    let error = fennel(with_macro).fails();
    assert_eq!(error, "test.fnl:7: late");
    let in_the_middle = "(local a 1)\n(local b nil)\n(local c\n  (+ a b))\n(local d 4)\nd";
    let error = fennel(in_the_middle).fails();
    assert_eq!(error, "test.fnl:4: attempt to perform arithmetic on a nil value (local 'b')");
}

#[test]
fn a_call_of_a_method_and_a_literal_that_is_set_have_their_own_line() {
    for (source, line) in [
        ("(var x nil)\n(set x.y 1)", 2),
        ("(local log nb.log)\n(print \"a\")\n(log:warn \"x\")\n2", 3),
        ("(local cfg {:a 1})\n(when cfg.a\n  (set cfg.b.c 1))\n2", 3),
    ] {
        let error = fennel(source).script_error();
        assert_eq!(error.position.map(|position| position.line), Some(line), "{source}");
    }
}

#[test]
fn a_source_that_is_no_program_says_where() {
    assert_eq!(lua("return 1\n+").fails(), "test.lua:2: unexpected symbol near <eof>");
    for (source, start) in [
        ("(let [x 1]\n  (+ x 1)", "test.fnl:2: Parse error: expected closing delimiter"),
        ("\n(let [x]\n  x)", "test.fnl:2: Compile error: expected even number of name/value bindings"),
        ("(local x 1)\n\n(fn)", "test.fnl:3: Compile error: expected parameters"),
        ("(print \"a\n", "test.fnl:2: Parse error"),
        ("(macro m [] (error :inside))\n(m)", "test.fnl:2: Compile error"),
        ("\n\n(require-macros :files)", "test.fnl:3: Compile error"),
    ] {
        let error = fennel(source).fails_here();
        assert!(error.starts_with(start), "{source}: {error}");
    }
}

#[test]
fn an_error_of_compiling_fennel_has_a_column() {
    let error = fennel("(local x 1)\n\n(print (fn))").script_error();
    assert_eq!(error.position.and_then(|position| position.column), Some(8));
}

#[test]
fn the_traceback_names_the_calls_and_none_of_ours() {
    let source = "local function inner()\n  error('x')\nend\nlocal function outer()\n  inner()\n  return 1\nend\nouter()";
    let error = lua(source).script_error();
    assert_eq!(error.position.unwrap().line, 2);
    assert_eq!(
        error.traceback,
        "[C]: in function 'error'\ntest.lua:2: in upvalue 'inner'\ntest.lua:5: in local 'outer'\ntest.lua:8: in main chunk"
    );

    let error = lua("local value = nb.kv.get('k')").answering(|_, _| Err("no".into())).script_error();
    assert_eq!(error.traceback, "[C]: in field 'get'\ntest.lua:1: in main chunk");

    let within = "local ok, text = pcall(function() return (debug.traceback('x')) end) error(text, 0)";
    let error = lua(within).script_error();
    assert!(error.message.contains("pcall") && error.traceback.ends_with("test.lua:1: in main chunk"));
}

#[test]
fn a_long_name_is_told_whole() {
    let name = format!("{}.lua", "long".repeat(40));
    let error = lua("\nerror('x')").named(&name).script_error();
    assert_eq!(error.position.unwrap().file, name);
    let error = lua("return (").named(&name).fails();
    assert!(error.starts_with(&format!("{name}:1: unexpected symbol near <eof>")), "{error}");
    let name = format!("{}.fnl", "long".repeat(40));
    assert_eq!(fennel("\n(error :x)").named(&name).script_error().position.unwrap().file, name);
}

#[test]
fn a_large_message_is_cut() {
    let message = lua("error(('x'):rep(1000000))").script_error().message;
    assert!(message.len() < 5000 && message.ends_with('…'), "{}", message.len());
}

#[test]
fn an_error_of_an_error_value_is_told_instead() {
    let source = "error(setmetatable({}, {__tostring = function()\n error('again') end}))";
    assert_eq!(lua(source).fails(), "test.lua:2: again");
}

#[test]
fn an_error_shows_its_line() {
    let error = lua("\nlocal x = nil + 1").script_error();
    assert_eq!((error.kind, error.excerpt.as_deref()), (ScriptErrorKind::Runtime, Some("local x = nil + 1")));
    assert_eq!(lua("return (").script_error().kind, ScriptErrorKind::Syntax);
    assert_eq!(lua("return print").script_error().kind, ScriptErrorKind::Value);
}
