//! JSON on its way into the guest, through `json.decode` and `json.encode`, and out again.
//!
//! `serde_json` says what is right; where the guest differs, `legitimate_differences_are_these` says how.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use nb_sandbox::{
    Call, CancelFlag, Chunk, Host, Lang, Limit, Limits, Sandbox, SandboxConfig, Source, ToolError,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(&SandboxConfig::default()).unwrap());

/// Gives its variable back.
static ECHO: LazyLock<Chunk> = LazyLock::new(|| compile("return value"));

/// Reads texts and writes them again; `false` for one that it refuses.
static REWRITE: LazyLock<Chunk> = LazyLock::new(|| {
    compile(
        "local rewritten = {}
        for i, text in ipairs(value) do
          local ok, again = pcall(function() return json.encode(json.decode(text)) end)
          rewritten[i] = ok and again
        end
        return rewritten",
    )
});

struct NoHost;

impl Host for NoHost {
    fn invoke(&mut self, ability: &str, _: &str) -> Result<String, String> {
        Err(format!("there is no {ability}"))
    }

    fn log(&mut self, _: &str) {}

    fn now_ns(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }
}

fn compile(source: &str) -> Chunk {
    SANDBOX.compile(&Source::new(Lang::Lua, "test.lua", source), &[]).unwrap()
}

/// Runs a script whose variable `value` is this JSON text.
fn run(chunk: &Chunk, value: &str, limits: Limits) -> Result<String, ToolError> {
    let call = Call {
        program: chunk.clone().into(),
        variables: format!(r#"{{"value":{value}}}"#),
        limits,
        cancel: CancelFlag::default(),
        folders: Vec::new(),
        host: Box::new(NoHost),
    };
    SANDBOX.run(call).outcome
}

fn result(chunk: &Chunk, value: &str) -> String {
    let limits = Limits { fuel: 100_000_000, output_bytes: 16 << 20, ..Limits::default() };
    run(chunk, value, limits).unwrap()
}

/// What comes of each text: what it is rewritten as, or nothing when it is refused.
fn rewritten(texts: &[String]) -> Vec<Option<String>> {
    let outcomes: Vec<Value> = serde_json::from_str(&result(&REWRITE, &json!(texts).to_string())).unwrap();
    outcomes.into_iter().map(|outcome| outcome.as_str().map(str::to_owned)).collect()
}

fn rewrite(text: &str) -> Option<String> {
    rewritten(&[text.to_owned()]).remove(0)
}

/// What a value is after it was Lua's: `null` in an object is no member, in an array it keeps its place.
fn through_lua(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(through_lua).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), through_lua(value))).collect())
        }
        other => other.clone(),
    }
}

/// Characters of each length in UTF-8, of each kind of escape, and any other.
fn any_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => any::<char>(),
        2 => prop::char::range('\0', '\x7f'),
        1 => prop::sample::select(vec!['"', '\\', '/', '\u{7f}', '\u{80}', '\u{7ff}', '\u{800}', '\u{2028}',
            '\u{d7ff}', '\u{e000}', '\u{feff}', '\u{ffff}', '\u{10000}', '\u{10ffff}']),
    ];
    vec(character, 0..12).prop_map(String::from_iter)
}

/// Any value. Its floats are eighths, which each decimal notation writes exactly: serde_json may read others with an
/// error in the last bit.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        2 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        2 => any::<i64>().prop_map(Value::from),
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, 1 << 53, (1 << 53) + 1, i64::MAX - 1, i64::MAX])
            .prop_map(Value::from),
        2 => any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        1 => Just(Value::from(-0.0)),
        3 => any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(8, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((prop_oneof![any_text(), "[0-9]{1,2}"], inner), 0..6)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// Writes a value in one of the many ways that JSON has; `style` decides.
fn write(value: &Value, style: &mut impl FnMut(usize) -> usize, out: &mut String) {
    let space = |style: &mut dyn FnMut(usize) -> usize| ["", "", "", " ", "\n", "\t", "\r\n "][style(7)];
    out.push_str(space(style));
    match value {
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(element, style, out);
            }
            out.push_str(space(style));
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(space(style));
                write_string(key, style, out);
                out.push_str(space(style));
                out.push(':');
                write(member, style, out);
            }
            out.push_str(space(style));
            out.push('}');
        }
        Value::String(text) => write_string(text, style, out),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap();
            out.push_str(&match style(4) {
                0 => format!("{number:?}"),
                1 => format!("{number:.5}"),
                2 => format!("{number:e}"),
                _ => format!("{number:E}").replace('E', "E+").replace("E+-", "E-0"),
            });
        }
        other => out.push_str(&other.to_string()),
    }
    out.push_str(space(style));
}

fn write_string(text: &str, style: &mut impl FnMut(usize) -> usize, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let short = match character {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '/' => Some("\\/"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            _ => None,
        };
        let must_be_escaped = character < ' ' || character == '"' || character == '\\';
        match (style(4), short) {
            (0 | 1, Some(short)) => out.push_str(short),
            (2 | 3, _) if !must_be_escaped => out.push(character),
            (upper, _) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&if upper == 0 {
                        format!("\\u{unit:04X}")
                    } else {
                        format!("\\u{unit:04x}")
                    });
                }
            }
        }
    }
    out.push('"');
}

/// A value and a text of it.
fn any_written() -> impl Strategy<Value = (Value, String)> {
    (any_value(), vec(any::<usize>(), 32)).prop_map(|(value, styles)| {
        let (mut text, mut next) = (String::new(), styles.iter().cycle());
        write(&value, &mut |choices| next.next().unwrap() % choices, &mut text);
        (value, text)
    })
}

/// A text that was JSON before some of its characters were changed.
fn any_damaged() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..3, prop::sample::select(DAMAGE.to_vec()));
    (any_written(), vec(change, 1..4)).prop_map(|((_, text), changes)| {
        let mut characters: Vec<char> = text.chars().collect();
        for (place, kind, character) in changes {
            let place = place.index(characters.len() + 1);
            match kind {
                0 => characters.insert(place, character),
                _ if place == characters.len() => {}
                1 => characters[place] = character,
                _ => drop(characters.remove(place)),
            }
        }
        characters.into_iter().collect()
    })
}

const DAMAGE: [char; 28] = [
    '[', ']', '{', '}', ',', ':', '"', '\\', '-', '+', '.', 'e', 'E', '0', '1', 'u', 'n', 't', 'x', ' ',
    '\n', '\0', '\u{1}', '\u{7f}', '\u{a0}', '\u{feff}', '/', '\'',
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_variable_comes_back_as_it_was(values in vec(any_value(), 1..10)) {
        let values = Value::from(values);
        let returned: Value = serde_json::from_str(&result(&ECHO, &values.to_string())).unwrap();
        prop_assert_eq!(returned, through_lua(&values));
    }

    #[test]
    fn a_text_is_the_same_value_after_decode_and_encode(written in vec(any_written(), 1..10)) {
        let (values, texts): (Vec<_>, Vec<_>) = written.into_iter().unzip();
        for ((value, text), rewritten) in values.iter().zip(&texts).zip(rewritten(&texts)) {
            let rewritten = rewritten.map(|text| serde_json::from_str::<Value>(&text).unwrap());
            prop_assert_eq!(rewritten, Some(through_lua(value)), "{}", text);
        }
    }

    #[test]
    fn a_float_comes_back_to_the_last_bit(bits in vec(any::<u64>(), 1..100)) {
        let floats: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|float| float.is_finite()).collect();
        let returned = result(&ECHO, &format!("[0.5{}]", floats.iter().map(|float| format!(",{float:?}")).collect::<String>()));
        let returned: Vec<&str> = returned.trim_matches(['[', ']']).split(',').skip(1).collect();
        prop_assert_eq!(returned.len(), floats.len());
        for (returned, float) in returned.into_iter().zip(floats) {
            prop_assert!(returned.contains(['.', 'e']), "{} looks like an integer", returned);
            prop_assert_eq!(returned.parse::<f64>().unwrap().to_bits(), float.to_bits(), "{}", float);
        }
    }

    #[test]
    fn what_is_refused_is_what_serde_json_refuses(texts in vec(any_damaged(), 1..20)) {
        for (text, rewritten) in texts.iter().zip(rewritten(&texts)) {
            match serde_json::from_str::<Value>(text) {
                Ok(value) => prop_assert!(rewritten.is_some(), "{} is {}", text, value),
                Err(error) => prop_assert_eq!(rewritten, None, "{}: {}", text, error),
            }
        }
    }
}

#[test]
fn legitimate_differences_are_these() {
    let serde = |text: &str| serde_json::from_str::<Value>(text).ok().map(|value| value.to_string());
    let some = |text: &str| Some(text.to_owned());

    // Lua's integers have 64 bits and a sign; what is larger is a float.
    assert_eq!(serde("9223372036854775808"), some("9223372036854775808"));
    assert_eq!(rewrite("9223372036854775808"), some("9.223372036854776e+18"));
    // An integer has no negative zero.
    assert_eq!(serde("-0"), some("-0.0"));
    assert_eq!(rewrite("-0"), some("0"));
    // A number has at most 512 characters.
    let long = format!("0.{}", "1".repeat(511));
    assert!(serde(&long).is_some());
    assert_eq!(rewrite(&long), None);
    assert!(rewrite(&long[..512]).is_some());
    // A `null` in an object is no member.
    assert_eq!(serde(r#"{"a":null}"#), some(r#"{"a":null}"#));
    assert_eq!(rewrite(r#"{"a":null}"#), some("{}"));
}

#[test]
fn what_is_easily_got_wrong_is_as_in_serde_json() {
    // The last of two members counts, also when it is `null`.
    assert_eq!(rewrite(r#"{"a":1,"a":2}"#).as_deref(), Some(r#"{"a":2}"#));
    assert_eq!(rewrite(r#"{"a":1,"a":null}"#).as_deref(), Some("{}"));
    for infinite in ["1e400", "-1e400", "[1e309]", &"9".repeat(400)] {
        assert!(serde_json::from_str::<Value>(infinite).is_err());
        assert_eq!(rewrite(infinite), None, "{infinite}");
    }
    // A script's text is any bytes.
    assert!(serde_json::from_slice::<Value>(b"\"\xff\"").is_err());
    let bytes = compile(r#"return {(pcall(json.decode, '"\xff"')), (pcall(json.encode, "\xff"))}"#);
    assert_eq!(result(&bytes, "null"), "[false,false]");
    for alone in [r#""\ud800""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud800x""#, r#""\udc00\ud800""#] {
        assert!(serde_json::from_str::<Value>(alone).is_err());
        assert_eq!(rewrite(alone), None, "{alone}");
    }
    for text in
        ["\u{feff}1", "", " ", "01", "1.", ".5", "+1", "NaN", "'a'", "[1,]", "{,}", "1 2", "\"\t\"", "// 1"]
    {
        assert!(serde_json::from_str::<Value>(text).is_err());
        assert_eq!(rewrite(text), None, "{text}");
    }
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn values_nest_128_deep_and_no_deeper() {
    let objects = |depth: usize| format!("{}{{}}{}", r#"{"a":"#.repeat(depth - 1), "}".repeat(depth - 1));
    for text in [nested(128), objects(128)] {
        assert_eq!(rewrite(&text).as_ref(), Some(&text));
    }
    for text in [nested(129), objects(129), nested(100_000), "[".repeat(100_000)] {
        assert_eq!(rewrite(&text), None);
    }
    // The object of the variables is one level.
    assert_eq!(result(&ECHO, &nested(127)), nested(127));
    let error = run(&ECHO, &nested(128), Limits::default()).unwrap_err().to_string();
    assert!(error.contains("the variables are not a JSON object: the nesting is too deep"), "{error}");

    let build = compile("local t = {} for _ = 2, value do t = {t} end return t");
    assert_eq!(result(&build, "128"), format!("{}{{}}{}", "[".repeat(127), "]".repeat(127)));
    let error = run(&build, "129", Limits::default()).unwrap_err().to_string();
    assert!(error.contains("nested too deep, in more than 128 levels"), "{error}");
    assert!(error.contains("(at [1][1][1][1][1][1][1][1]…)"), "{error}");
}

#[test]
fn a_result_has_the_size_that_is_allowed_and_no_more() {
    let limits = Limits { output_bytes: 1000, ..Limits::default() };
    let fill = compile(r#"return ("x"):rep(value)"#);
    assert_eq!(run(&fill, "998", limits.clone()).unwrap().len(), 1000);
    let error = run(&fill, "999", limits.clone()).unwrap_err();
    assert!(
        matches!(error, ToolError::Limit { limit: Limit::Output, allowed: 1000, used: 1001, .. }),
        "{error}"
    );
    // Counted as it is written: an escape has six bytes.
    let escape = compile(r#"return ("\1"):rep(value)"#);
    assert_eq!(run(&escape, "166", limits.clone()).unwrap().len(), 998);
    let error = run(&escape, "167", limits).unwrap_err();
    assert!(matches!(error, ToolError::Limit { limit: Limit::Output, used: 1004, .. }), "{error}");
}

#[test]
fn a_value_that_is_larger_than_the_memory_ends_the_call_cleanly() {
    let limits = Limits { memory_bytes: 8 << 20, ..Limits::default() };
    let large = json!(vec!["x".repeat(1 << 20); 12]).to_string();
    let error = run(&ECHO, &large, limits.clone()).unwrap_err();
    assert!(matches!(error, ToolError::Limit { limit: Limit::Memory, .. }), "{error}");
    let encode = compile(r#"local text = ("\1"):rep(value) return #json.encode({text, text, text})"#);
    let error = run(&encode, "1000000", Limits { fuel: 100_000_000, ..limits }).unwrap_err();
    assert!(matches!(error, ToolError::Limit { limit: Limit::Memory, .. }), "{error}");
}
