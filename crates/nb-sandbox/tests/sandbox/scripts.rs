//! What scripts see, and what they give back.

use crate::common::{fennel, lua};

#[test]
fn a_script_returns_its_first_value_as_json() {
    assert_eq!(lua("return 1 + 1, 'more'").result(), "2");
    assert_eq!(fennel("(+ 1 1)").result(), "2");
    assert_eq!(fennel("(values :first :second)").result(), r#""first""#);
    assert_eq!(lua("local x = 1").result(), "null");
    assert_eq!(lua("").result(), "null");
    assert_eq!(fennel("").result(), "null");
}

#[test]
fn each_variable_is_a_global() {
    let variables = r#"{"parameters": {"name": "Ada", "tags": ["a", "b"]}, "count": 3}"#;
    assert_eq!(
        lua("return parameters.name .. #parameters.tags .. count").with(variables).result(),
        r#""Ada23""#
    );
    assert_eq!(fennel("(let [{:name n} parameters] (.. n count))").with(variables).result(), r#""Ada3""#);
}

#[test]
fn variables_that_are_not_an_object_are_refused() {
    for variables in ["", "[]", "1", "{", r#"{"a": 1} x"#, r#"{"a": "\ud800"}"#] {
        let error = lua("return 1").with(variables).error().to_string();
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
        let got = lua("return json.decode(parameters)")
            .with(format!(r#"{{"parameters": {}}}"#, quote(json)))
            .result();
        assert_eq!(got, json.replace('\u{0}', "\\u0000"));
    }
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn what_is_not_json_is_an_error_and_not_a_crash() {
    for text in
        ["", "nul", "01", "1.", "-", "\"a", "[1,]", "{\"a\"}", "\"\\x\"", "\"\u{1}\"", "1 2", "+1", "NaN"]
    {
        let error =
            lua("return json.decode(parameters)").with(format!(r#"{{"parameters": {}}}"#, quote(text)));
        assert!(error.error().to_string().contains("this is not JSON"), "{text}");
    }
    let deep = "[".repeat(100_000);
    let error = lua("return json.decode(parameters)").with(format!(r#"{{"parameters": "{deep}"}}"#)).error();
    assert!(error.to_string().contains("too deep"), "{error}");
}

#[test]
fn a_result_without_json_form_says_what_and_where() {
    for (source, message) in [
        ("return print", "test.lua: a function cannot be written as JSON"),
        ("return {a = {1, print}}", "test.lua: a function cannot be written as JSON (at .a[2])"),
        ("return 0/0", "test.lua: a number that is not finite cannot be written as JSON"),
        ("return '\\xff'", "test.lua: a string that is not UTF-8 cannot be written as JSON"),
        (
            "return {a = {['\\xff'] = 1}}",
            "test.lua: a table with the key \"\u{fffd}\", which is not UTF-8, cannot be written as JSON (at .a)",
        ),
        ("return coroutine.create(print)", "test.lua: a coroutine cannot be written as JSON"),
        (
            "local t = {}; t.t = t; return t",
            "test.lua: a table that is nested too deep, in more than 128 levels, or in itself, cannot be written as \
             JSON (at .t.t.t.t.t.t.t.t…)",
        ),
    ] {
        assert_eq!(lua(source).error().to_string(), message, "{source}");
    }
}

#[test]
fn tables_become_arrays_or_objects() {
    assert_eq!(lua("return {1, 2}").result(), "[1,2]");
    assert_eq!(lua("return {}").result(), "{}");
    assert_eq!(lua("return json.array()").result(), "[]");
    assert_eq!(lua("return {[tostring(10)] = 'x'}").result(), r#"{"10":"x"}"#);
    assert_eq!(lua("local t = json.decode('[]') t.a = 1 return t").result(), r#"{"a":1}"#);
    assert_eq!(lua("return {json.null}").result(), "[null]");
    assert_eq!(lua("return tostring(json.null)").result(), r#""null""#);
}

#[test]
fn a_table_that_is_neither_array_nor_object_is_an_error_that_names_the_key() {
    let advice = "; an array has the keys 1 to n (`json.null` fills a gap), and an object has texts (`tostring(key)` \
                  makes one of a number)";
    for (table, what) in [
        ("{1, nil, 3}", "a table with the key 3 and without the key 2"),
        ("{[10] = 'x'}", "a table with the key 10 and without the key 1"),
        ("{[0] = 'x', 'y'}", "a table with the key 0"),
        ("{'x', b = 1, a = 2}", "a table with both the key 1 and the key \"a\""),
        ("{[true] = 1}", "a table with the key true"),
        ("{x = 1, [1.5] = 1}", "a table with the key 1.5"),
        ("{1, [print] = 1}", "a table with a function as a key"),
        ("{[json.null] = 1, [{}] = 1}", "a table with a table as a key"),
        ("{[7] = 1, ['\\n\\xff'] = 2}", "a table with both the key 7 and the key \"?\u{fffd}\""),
    ] {
        let error = lua(&format!("return {table}")).error().to_string();
        assert_eq!(error, format!("test.lua: {what} cannot be written as JSON{advice}"), "{table}");
        let error = lua(&format!("return {{list = {table}}}")).error().to_string();
        assert_eq!(
            error,
            format!("test.lua: {what} cannot be written as JSON (at .list){advice}"),
            "{table}"
        );
    }
    for (table, what) in [
        ("{a = 1}", "a table with the key \"a\""),
        ("{1, nil, 3}", "a table with the key 3 and without the key 2"),
        ("{1, a = 1}", "a table with both the key 1 and the key \"a\""),
        ("{[1.5] = 1}", "a table with the key 1.5"),
    ] {
        let error = lua(&format!("return json.array({table})")).script_error().message;
        assert_eq!(
            error,
            format!("{what} is no array; an array has the keys 1 to n, without a gap"),
            "{table}"
        );
    }
}

#[test]
fn json_decode_refuses_what_is_no_json_text() {
    for (text, message) in [
        ("'[1e400]'", "this is not JSON: a number is larger than a double can be (byte 2)"),
        ("'-' .. ('9'):rep(400)", "this is not JSON: a number is larger than a double can be (byte 1)"),
        ("'[\"a\\xff\"]'", "this is not JSON: it is not UTF-8 (byte 4)"),
        ("5", "bad argument #1 to 'decode' (string expected, got number)"),
        ("nil", "bad argument #1 to 'decode' (string expected, got nil)"),
        ("{}", "bad argument #1 to 'decode' (string expected, got table)"),
        (
            "('['):rep(129) .. (']'):rep(129)",
            "this is not JSON: the nesting is too deep, at most 128 levels are read (byte 129)",
        ),
    ] {
        assert_eq!(lua(&format!("return json.decode({text})")).script_error().message, message, "{text}");
    }
}

#[test]
fn an_argument_that_a_function_of_nb_would_lose_is_refused() {
    for (call, message) in [
        (
            "nb.http.fetch('http://a.test/', {method = 'POST'})",
            "bad argument #2 to 'fetch' (it takes only an address, or one table with `url`, `method` and the like)",
        ),
        (
            "nb.http.fetch({url = 'http://a.test/'}, 'POST')",
            "bad argument #2 to 'fetch' (it takes only one table)",
        ),
        ("nb.log.info('a', 'b')", "bad argument #2 to 'info' (it takes only a message)"),
        ("nb.log.error('a', nil, 'b')", "bad argument #2 to 'error' (it takes only a message)"),
        (
            "nb.notify('a', 'b', 'high', 'c')",
            "bad argument #4 to 'notify' (it takes only a title, a body and a priority)",
        ),
        ("nb.notify({title = 'a'}, 'b')", "bad argument #2 to 'notify' (it takes only one table)"),
        ("nb.kv.get('a', 'b')", "bad argument #2 to 'get' (it takes only a key)"),
        (
            "nb.kv.list('a', 'b', 10)",
            "bad argument #3 to 'list' (it takes a prefix and a key to go on after)",
        ),
        ("nb.kv.set('a', 1, 2)", "bad argument #3 to 'set' (it takes only a key and a value)"),
        ("nb.kv.delete('a', 'b')", "bad argument #2 to 'delete' (it takes only a key)"),
        ("nb.kv.increment('a', 1, 2)", "bad argument #3 to 'increment' (it takes only a key and a number)"),
        (
            "nb.kv.compare_and_set('a', 1, 2, 3)",
            "bad argument #4 to 'compare_and_set' (it takes only a key, the expected value and the new one)",
        ),
        ("nb.event.publish('a', {}, 1)", "bad argument #3 to 'publish' (it takes only a name and data)"),
        ("nb.call('a', {}, 1)", "bad argument #3 to 'call' (it takes only an ability and a table)"),
        ("nb.time(1)", "bad argument #1 to 'time' (it takes nothing)"),
        ("nb.log:info('a')", "calling 'info' on bad self (it takes only a message)"),
    ] {
        let (finished, seen) = lua(&format!("local x = {call}")).run();
        assert_eq!(seen.asked, [], "{call}");
        let shown = finished.outcome.unwrap_err().to_string();
        assert!(shown.lines().next().is_some_and(|line| line.ends_with(message)), "{call}: {shown}");
    }
    assert_eq!(lua("nb.kv.get('a', nil) nb.time(nil)").result(), "null");
}

#[test]
fn the_fields_of_a_table_are_the_hosts_to_check() {
    let asked = |source: &str| lua(source).run().1.asked.remove(0);
    for fields in [r#"{"message":"m"}"#, r#"{"foo":1}"#, "{}"] {
        let call = |name: &str| format!("{name}(json.decode('{fields}'))");
        assert_eq!(asked(&call("nb.notify")), ("notify.user".to_owned(), fields.to_owned()));
        assert_eq!(asked(&call("nb.http.fetch")), ("http.fetch".to_owned(), fields.to_owned()));
    }
}

#[test]
fn a_table_is_logged_as_json() {
    let (_, seen) = lua(
        "nb.log.info({a = {1}}) nb.log.error(setmetatable({}, {__tostring = function() return 'own' end}))",
    )
    .run();
    let asked: Vec<&str> = seen.asked.iter().map(|(_, args)| &**args).collect();
    assert_eq!(asked, [r#"{"message":{"a":[1]}}"#, r#"{"message":"own"}"#]);
    let error = lua("nb.log.info({f = print})").script_error();
    assert_eq!(error.message, "a function cannot be written as JSON (at .f)");
}

#[test]
fn what_reaches_outside_is_absent() {
    for name in [
        "os",
        "io",
        "package",
        "require",
        "debug",
        "dofile",
        "loadfile",
        "string.dump",
        "loadstring",
        "unpack",
        "fennel.eval",
        "fennel.compileString",
        "warn",
    ] {
        assert_eq!(lua(&format!("return {name} == nil")).result(), "true", "{name}");
    }
}

#[test]
fn the_globals_are_these_and_no_others() {
    let keys = "local keys = {} for key in pairs(_G) do keys[#keys + 1] = key end table.sort(keys)
                return table.concat(keys, ' ')";
    assert_eq!(
        lua(keys).result().trim_matches('"'),
        "_G _VERSION assert collectgarbage coroutine error fennel getmetatable ipairs json load math nb next pairs \
         pcall print rawequal rawget rawlen rawset select setmetatable string table tonumber tostring type utf8 xpcall"
    );
    let view = "local keys = {} for key in pairs(fennel) do keys[#keys + 1] = key end return keys";
    assert_eq!(lua(view).result(), r#"["view"]"#);
}

#[test]
fn fennel_view_writes_a_value_as_text() {
    assert_eq!(fennel("(fennel.view {:a [1 2.5 :b]})").result(), r#""{:a [1 2.5 \"b\"]}""#);
}

#[test]
fn integers_are_written_whole() {
    assert_eq!(
        lua("return math.mininteger .. ' ' .. math.maxinteger .. ' ' .. 0 .. ' ' .. -7").result(),
        r#""-9223372036854775808 9223372036854775807 0 -7""#
    );
}

#[test]
fn load_takes_text_and_never_a_binary_chunk() {
    assert_eq!(lua("return load('return 1 + 1')()").result(), "2");
    assert_eq!(lua("return load('return x', 'c', 'bt', {x = 5})()").result(), "5");
    assert_eq!(
        lua(r#"local f, e = load("\27Lua", "c", "b") return e"#).result(),
        r#""attempt to load a binary chunk (mode is 't')""#
    );
}

#[test]
fn a_source_may_hold_anything() {
    assert_eq!(lua("return [==[ ]] ]==] .. '\0' .. '\\xe9\\xff' == ' ]] \\0\\xe9\\xff'").result(), "true");
    assert_eq!(fennel("(length \"]] \u{0} ]=] é\")").result(), "11");
    let source = "return parameters";
    for text in ["]]", "]=]", "\u{0}", "\u{10FFFF}", "\u{feff}", "'\"\\"] {
        let json = quote(text);
        let result = lua(source).with(format!(r#"{{"parameters": {json}}}"#)).result();
        assert_eq!(serde_json::from_str::<String>(&result).unwrap(), text);
    }
    assert_eq!(lua("return 1").named("]] \u{0} é.lua").result(), "1");
    assert_eq!(fennel("1").named("]] \" .fnl").result(), "1");
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
    let asked: Vec<String> = seen.asked.iter().map(|(ability, args)| format!("{ability} {args}")).collect();
    assert_eq!(
        asked,
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
    let error =
        lua("\nlocal x = nb.kv.get('k')").answering(|_, _| Err("kv.read was not granted".into())).error();
    assert_eq!(error.to_string(), "test.lua:2: kv.read was not granted\n  2 | local x = nb.kv.get('k')");
    let caught = lua("return select(2, pcall(nb.kv.get, 'k'))").answering(|_, _| Err("no".into())).result();
    assert_eq!(caught, r#""no""#);
}

#[test]
fn print_goes_to_the_log() {
    let (_, seen) = lua("print('a', 1, nil, '\\xff') print()").run();
    assert_eq!(seen.lines, ["a\t1\tnil\t\u{fffd}", ""]);
}

#[test]
fn the_log_is_cut_and_says_how_much_is_missing() {
    let (finished, seen) =
        lua("for i = 1, 100 do print(('x'):rep(99)) end").limits(|l| l.log_bytes = 1000).run();
    finished.outcome.unwrap();
    assert_eq!(seen.lines.len(), 7, "each line costs 64 bytes beside its text");
    assert_eq!(seen.lines.last().unwrap(), "… 9400 bytes of log dropped");
}

#[test]
fn time_and_randomness_are_the_hosts() {
    assert_eq!(lua("return math.floor(nb.time())").result(), "1700000000");
    let source = "return {math.random(1000000), math.random(1000000)}";
    assert_eq!(lua(source).result(), lua(source).result());
    assert_eq!(lua(source).run().0.usage.host_calls, 2);
    assert_eq!(lua("math.randomseed(42) return math.random(100)").run().0.usage.host_calls, 0);
}

#[test]
fn an_error_of_math_random_names_it() {
    for (call, message) in [
        ("math.random('a')", "bad argument #1 to 'random' (number expected, got string)"),
        ("math.random(2, 1)", "bad argument #1 to 'random' (interval is empty)"),
        ("math.random(1, 2, 3)", "wrong number of arguments"),
        ("math.randomseed({})", "bad argument #1 to 'randomseed' (number expected, got table)"),
    ] {
        assert_eq!(lua(&format!("local x = {call}")).script_error().message, message, "{call}");
    }
}
