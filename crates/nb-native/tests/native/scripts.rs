//! What scripts see, and what they give back.

use crate::common::{fennel, lua};

#[test]
fn a_script_returns_its_first_value_as_json() {
    assert_eq!(lua("return 1 + 1, 'more'").result(), "2");
    assert_eq!(fennel("(values :first :second)").result(), r#""first""#);
    assert_eq!(lua("").result(), "null");
    assert_eq!(fennel("").result(), "null");
}

#[test]
fn each_variable_is_a_global() {
    let variables = r#"{"parameters": {"name": "Ada", "tags": ["a", "b"]}, "count": 3}"#;
    let source = "return parameters.name .. #parameters.tags .. count";
    assert_eq!(lua(source).with(variables).result(), r#""Ada23""#);
    assert_eq!(fennel("(let [{:name n} parameters] (.. n count))").with(variables).result(), r#""Ada3""#);
}

#[test]
fn variables_that_are_not_an_object_are_refused() {
    for variables in ["", "[]", "1", "{", r#"{"a": 1} x"#, r#"{"a": "\ud800"}"#] {
        let error = lua("return 1").with(variables).fails_here();
        assert!(error.contains("the variables are not a JSON object"), "{variables}: {error}");
    }
}

#[test]
fn json_survives_the_way_through_a_script() {
    for json in [
        "[]",
        "[[],{}]",
        "{}",
        "[1,2.5,-3,1e+300,0.1]",
        "9007199254740993",
        "-9223372036854775808",
        "1.0",
        r#""a\"\\\n\u0000é𝄞""#,
        "[null,1,null]",
        "true",
        r#"{"a":{"b":[{}]}}"#,
    ] {
        let quoted = serde_json::to_string(json).unwrap();
        let script = lua("return json.decode(parameters)").with(format!(r#"{{"parameters": {quoted}}}"#));
        assert_eq!(script.evaluate().unwrap(), json);
    }
}

#[test]
fn numbers_are_read_as_lua_reads_them_and_none_is_infinite() {
    let decode = |text: &str| lua(&format!("return tostring(json.decode('{text}'))")).evaluate().unwrap();
    assert_eq!(decode("-0"), r#""0""#);
    assert_eq!(decode("-0.0"), r#""-0.0""#);
    assert_eq!(decode("9223372036854775808"), r#""9.2233720368548e+18""#);
    let error = lua("return json.decode('1e400')").fails_here();
    assert_eq!(error, "test.lua:1: this is not JSON: a number is larger than a double can be (byte 1)");
}

#[test]
fn a_byte_order_mark_and_a_line_that_starts_a_program_move_no_position() {
    for head in ["\u{feff}", "#!/usr/bin/env lua\n", "\u{feff}#!/usr/bin/env lua\n"] {
        assert_eq!(lua(&format!("{head}return 7")).evaluate().unwrap(), "7");
        let line = 1 + head.matches('\n').count();
        let error = lua(&format!("{head}error('x')")).fails_here();
        assert_eq!(error, format!("test.lua:{line}: x"));
    }
    assert_eq!(fennel("\u{feff}(+ 1 2)").evaluate().unwrap(), "3");
}

#[test]
fn what_is_not_json_is_an_error_that_says_where() {
    for (text, message) in [
        ("", "a value was expected (byte 1)"),
        ("nul", "a value was expected (byte 1)"),
        ("01", "there is something after the value (byte 2)"),
        ("1.", "a number needs a digit after its point (byte 3)"),
        ("\"a", "a string is not closed (byte 3)"),
        ("[1,]", "a value was expected (byte 4)"),
        ("{\"a\"}", "a key needs a colon after it (byte 5)"),
        ("\"\\x\"", "a string has an unknown escape (byte 3)"),
        ("\"\\u12g4\"", "\\u needs four hexadecimal digits (byte 7)"),
        ("[[1", "an array is not closed (byte 4)"),
    ] {
        let quoted = serde_json::to_string(text).unwrap();
        let script = lua("return json.decode(parameters)").with(format!(r#"{{"parameters": {quoted}}}"#));
        let error = script.fails_here();
        assert!(error.starts_with(&format!("test.lua:1: this is not JSON: {message}")), "{text}: {error}");
    }
    let depth = |depth: usize| {
        let source = "return pcall(json.decode, ('['):rep(parameters) .. (']'):rep(parameters))";
        lua(source).with(format!(r#"{{"parameters": {depth}}}"#)).evaluate().unwrap()
    };
    assert_eq!((depth(128).as_str(), depth(129).as_str()), ("true", "false"));
}

#[test]
fn a_result_without_json_form_says_what_and_where() {
    for (source, message) in [
        ("return print", "test.lua: a function cannot be written as JSON"),
        ("return {a = {1, print}}", "test.lua: a function cannot be written as JSON (at .a[2])"),
        ("return 0/0", "test.lua: a number that is not finite cannot be written as JSON"),
        ("return '\\xff'", "test.lua: a string that is not UTF-8 cannot be written as JSON"),
        ("return io.stdout", "test.lua: a userdata cannot be written as JSON"),
        (
            "return {['\\xff'] = 1}",
            "test.lua: a table with the key \"\u{fffd}\", which is not UTF-8, cannot be written as JSON",
        ),
        (
            "local t = {}; t.t = t; return t",
            "test.lua: a table that is nested too deep, in more than 128 levels, or in itself, cannot be written as \
             JSON (at .t.t.t.t.t.t.t.t…)",
        ),
    ] {
        assert_eq!(lua(source).fails_here(), message, "{source}");
    }
}

#[test]
fn tables_become_arrays_or_objects() {
    for (value, text) in [
        ("{1, 2}", "[1,2]"),
        ("{}", "{}"),
        ("json.array()", "[]"),
        ("{['10'] = 'x'}", r#"{"10":"x"}"#),
        ("{json.null}", "[null]"),
        ("tostring(json.null)", r#""null""#),
    ] {
        assert_eq!(lua(&format!("return {value}")).evaluate().unwrap(), text);
    }
}

#[test]
fn a_native_script_has_files_programs_and_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let variables = format!(r#"{{"path": "{}"}}"#, folder.path().join("note").display());
    let source = "local file = assert(io.open(path, 'w'))
        file:write('kept')
        file:close()
        local back = io.open(path):read('a')
        local echo = io.popen('echo from a program'):read('l')
        return {back, echo, os.getenv('PATH') ~= nil, select(3, os.execute('exit 3'))}";
    assert_eq!(lua(source).with(variables).result(), r#"["kept","from a program",true,3]"#);
}

#[test]
fn a_native_script_has_the_whole_of_fennel() {
    assert_eq!(lua("return fennel.eval('(+ 1 2)')").result(), "3");
    assert_eq!(fennel("(fennel.view {:a [1 2.5 :b]})").result(), r#""{:a [1 2.5 \"b\"]}""#);
    assert_eq!(fennel("(let [f (require :fennel)] (= f fennel))").result(), "true");
}

#[test]
fn of_debug_there_is_a_traceback() {
    let source = "local function f() return debug.traceback('here') .. '' end\nreturn f()";
    let text = lua(source).evaluate().unwrap();
    assert!(text.starts_with(r#""here\nstack traceback:\n\ttest.lua:1: in function"#), "{text}");
    assert_eq!(lua("local n = 0 for _ in pairs(debug) do n = n + 1 end return n").evaluate().unwrap(), "1");
}

#[test]
fn the_host_is_asked_by_name_and_json() {
    let (finished, seen) = lua(
        "nb.kv.set('k', {x = true}) nb.kv.get('k') nb.kv.list('p') nb.kv.delete('k') nb.kv.increment('n')
         nb.kv.compare_and_set('k', nil, 2) nb.http.fetch('https://example.org') nb.log.info('i') nb.log.error({} ~= nil)
         nb.notify('t', 'b') nb.event.publish('e', {a = 1}) nb.call('x.y') nb.notify{message = 'm'}",
    )
    .run();
    finished.outcome.unwrap();
    assert_eq!(
        seen.asked,
        [
            r#"kv.write {"op":"set","key":"k","value":{"x":true}}"#,
            r#"kv.read {"op":"get","key":"k"}"#,
            r#"kv.read {"op":"list","prefix":"p"}"#,
            r#"kv.write {"op":"delete","key":"k"}"#,
            r#"kv.write {"op":"increment","key":"n","by":1}"#,
            r#"kv.write {"op":"compare_and_set","key":"k","expected":null,"value":2}"#,
            r#"http.fetch {"url":"https://example.org"}"#,
            r#"log.info {"message":"i"}"#,
            r#"log.error {"message":"true"}"#,
            r#"notify.user {"title":"t","body":"b"}"#,
            r#"event.publish {"name":"e","data":{"a":1}}"#,
            "x.y {}",
            r#"notify.user {"message":"m"}"#,
        ]
    );
    assert_eq!(finished.usage.host_calls, 13);
}

#[test]
fn an_answer_of_the_host_is_a_value_and_a_refusal_an_error_at_the_line() {
    assert_eq!(fennel("(. (nb.call :echo {:a [1 2]}) :a)").result(), "[1,2]");
    assert_eq!(lua("return nb.kv.get('k') == nil").answering(|_, _| Ok("null".into())).result(), "true");
    for source in ["\nlocal x = nb.kv.get('k')", "\nreturn nb.kv.get('k')"] {
        let script = lua(source).answering(|_, _| Err("kv.read was not granted".into()));
        assert_eq!(script.fails(), "test.lua:2: kv.read was not granted");
    }
    for caught in [
        "select(2, pcall(nb.kv.get, 'k'))",
        "select(2, xpcall(nb.kv.get, function(e) return e end, 'k'))",
        "select(2, coroutine.resume(coroutine.create(nb.kv.get), 'k'))",
    ] {
        let caught = lua(&format!("return {caught}")).answering(|_, _| Err("no".into())).evaluate();
        assert_eq!(caught.unwrap(), r#""no""#);
    }
    let bad = lua("nb.call('a')").answering(|_, _| Ok("{".into())).fails();
    assert!(
        bad.starts_with("test.lua:1: the host's answer is not JSON: a string was expected (byte 2)"),
        "{bad}"
    );
}

#[test]
fn a_wrong_argument_is_told_as_lua_tells_it() {
    for (source, message) in [
        ("nb.kv.get({})", "bad argument #1 to 'get' (string expected, got table)"),
        ("nb.kv.get()", "bad argument #1 to 'get' (string expected, got no value)"),
        ("nb.kv.set('k')", "bad argument #2 to 'set' (value expected)"),
        ("nb.call('a', 1)", "bad argument #2 to 'call' (table expected, got number)"),
        ("nb.kv.increment('a', {})", "bad argument #2 to 'increment' (number expected, got table)"),
        ("json.encode()", "bad argument #1 to 'encode' (value expected)"),
        ("nb.call('\\xff')", "bad argument #1 to 'call' (the ability's name is not UTF-8)"),
    ] {
        let error = lua(source).fails_here();
        assert!(error.starts_with(&format!("test.lua:1: {message}")), "{error}");
    }
}

#[test]
fn print_goes_to_the_log() {
    assert_eq!(lua("print('a', 1, nil, 1.0, '\\xff') print()").lines(), ["a\t1\tnil\t1.0\t\u{fffd}", ""]);
}

#[test]
fn what_a_tool_or_its_programs_write_goes_to_the_log() {
    let source = "io.write('one ', 'line\\n') os.execute('echo hi; echo bad >&2') io.stderr:write('last')";
    assert_eq!(lua(source).lines(), ["one line", "hi", "bad", "last"]);
    assert_eq!(lua("return io.read('a')").result(), r#""""#, "the standard input is empty");
}

#[test]
fn time_and_randomness_are_the_hosts() {
    assert_eq!(lua("return math.floor(nb.time())").result(), "1700000000");
    let source = "return {math.random(1000000), math.random(1000000)}";
    assert_eq!(lua(source).result(), lua(source).result());
    assert_eq!(lua(source).run().0.usage.host_calls, 2);
    assert_eq!(lua("math.randomseed(42) return math.random(100)").run().0.usage.host_calls, 0);
}
