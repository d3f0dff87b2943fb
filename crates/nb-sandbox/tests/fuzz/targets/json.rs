//! JSON in both directions, compared with serde_json: the variables, the result, what the host is sent and what it
//! answers.
//!
//! The input is the text of a value. What the guest does otherwise, it is documented to do: an object's member that is
//! `null` is not there, integers beyond 64 bits become floats, and there is nothing infinite.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use nb_sandbox::{Chunk, Lang, Limits, ScriptError, ScriptErrorKind, Source, ToolError};
use serde_json::{Number, Value, json};

use super::host::{Answers, Seen};
use super::watch::{self, no_crash, sandbox};

const MAX_BYTES: usize = 16 << 10;

/// The longest number that the guest reads, in characters.
const MAX_NUMBER: usize = 512;

pub fn run(input: &[u8]) {
    if input.len() > MAX_BYTES {
        return;
    }
    let text = String::from_utf8_lossy(input);
    variables_are_what_serde_json_reads(&text);
    variables_are_what_serde_json_reads(&format!(r#"{{"v":{text}}}"#));
    the_host_is_sent_what_was_read(&text);
    an_answer_is_what_serde_json_reads(&text);
    a_refusal_is_kept_word_for_word(&text);
    a_text_is_decoded_and_encoded(&text);
    only_utf8_leaves_the_guest(input);
}

/// What serde_json makes of a text.
enum Read {
    Value(Value),
    Invalid,
    /// The two may differ: serde_json refuses what is too large for a float, and reads numbers of any length.
    Unclear,
}

fn read(text: &str) -> Read {
    let longest =
        text.split(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).map(str::len).max();
    if longest > Some(MAX_NUMBER) {
        return Read::Unclear;
    }
    match serde_json::from_str(text) {
        Ok(value) => Read::Value(without_null(value)),
        Err(error) => {
            let error = error.to_string();
            let unclear = ["number out of range", "recursion limit exceeded"];
            if unclear.iter().any(|what| error.contains(what)) { Read::Unclear } else { Read::Invalid }
        }
    }
}

fn without_null(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(without_null).collect(),
        Value::Object(members) => {
            let there = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(key, value)| (key, without_null(value))).collect())
        }
        other => other,
    }
}

fn variables_are_what_serde_json_reads(text: &str) {
    let (outcome, _) = run_script("return v", text, Answers::default());
    match read(text) {
        Read::Value(Value::Object(mut members)) => {
            let value = members.shift_remove("v").unwrap_or_default();
            assert_same(&parsed(outcome, text), &value, text);
        }
        Read::Value(_) | Read::Invalid => {
            let error = script_error(outcome, text);
            assert_eq!(error.kind, ScriptErrorKind::Value, "{text}");
            assert!(
                error.message.starts_with("the variables are not a JSON object: "),
                "{text}: {}",
                error.message
            );
        }
        Read::Unclear => drop(outcome),
    }
}

fn the_host_is_sent_what_was_read(text: &str) {
    let variables = format!(r#"{{"v":{text}}}"#);
    let (outcome, seen) = run_script("return nb.call('echo', {v = v})", &variables, Answers::default());
    // A key of the text may take the place of `nb`.
    if let Read::Value(value @ Value::Object(_)) = read(&variables)
        && value.as_object().is_some_and(|members| members.keys().all(|key| key == "v"))
    {
        assert_same(&parsed(outcome, text), &value, text);
        assert_same(&serde_json::from_str(&seen.asked[0]).unwrap(), &value, text);
    }
}

fn an_answer_is_what_serde_json_reads(text: &str) {
    let answers = Answers { invoke: [Ok(text.to_owned())].into(), ..Answers::default() };
    let (outcome, _) = run_script("return nb.call('echo')", "{}", answers);
    match read(text) {
        Read::Value(value) => assert_same(&parsed(outcome, text), &value, text),
        Read::Invalid => {
            let error = script_error(outcome, text);
            assert_eq!(error.kind, ScriptErrorKind::Runtime, "{text}");
            assert!(
                error.message.starts_with("the host's answer is not JSON: "),
                "{text}: {}",
                error.message
            );
        }
        Read::Unclear => drop(outcome),
    }
}

fn a_refusal_is_kept_word_for_word(text: &str) {
    let answers = Answers { invoke: [Err(text.to_owned())].into(), ..Answers::default() };
    let (outcome, _) = run_script("local _, why = pcall(nb.call, 'echo') return why", "{}", answers);
    assert_eq!(parsed(outcome, text), json!(text));
}

fn a_text_is_decoded_and_encoded(text: &str) {
    let script =
        "local read, value = pcall(json.decode, text) return {read, text, read and json.encode(value)}";
    let (outcome, _) = run_script(script, &json!({ "text": text }).to_string(), Answers::default());
    match read(text) {
        Read::Value(value) => {
            let answer = parsed(outcome, text);
            assert_eq!((&answer[0], &answer[1]), (&json!(true), &json!(text)));
            assert_same(&serde_json::from_str(answer[2].as_str().unwrap()).unwrap(), &value, text);
        }
        Read::Invalid => assert_eq!(parsed(outcome, text), json!([false, text, false])),
        Read::Unclear => drop(outcome),
    }
}

fn only_utf8_leaves_the_guest(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(1 << 10)];
    let variables = json!({ "bytes": bytes }).to_string();
    let run = |script: &str| {
        let script = format!("local s = string.char(table.unpack(bytes)) {script}");
        run_script(&script, &variables, Answers::default()).0
    };
    let expected = std::str::from_utf8(bytes);
    for (script, expected) in
        [("return s", expected.map(|s| json!(s))), ("return {[s] = s}", expected.map(|s| json!({ s: s })))]
    {
        let outcome = run(script);
        match expected {
            Ok(expected) => assert_eq!(parsed(outcome, script), expected),
            Err(_) => assert_eq!(script_error(outcome, script).kind, ScriptErrorKind::Value),
        }
    }
    script_error(run("print(s) error(s, 0)"), "error");
}

/// Runs a script that is compiled once.
fn run_script(script: &str, variables: &str, answers: Answers) -> (Result<String, ToolError>, Seen) {
    static CHUNKS: LazyLock<Mutex<HashMap<String, Chunk>>> = LazyLock::new(Mutex::default);
    let chunk = CHUNKS
        .lock()
        .unwrap()
        .entry(script.to_owned())
        .or_insert_with(|| {
            sandbox().compile(&Source::new(Lang::Lua, "json.lua", script), &[]).expect("the script compiles")
        })
        .clone();
    // Enough for all that the input can hold: what fails here does so because of the text.
    let limits = Limits { fuel: 1_000_000, wall: Duration::from_secs(5), ..watch::limits() };
    watch::run_within(limits, chunk, variables, answers)
}

fn parsed(outcome: Result<String, ToolError>, text: &str) -> Value {
    let json = outcome.unwrap_or_else(|error| panic!("{text}: {error}"));
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{text}: gave {json}: {error}"))
}

fn script_error(outcome: Result<String, ToolError>, text: &str) -> ScriptError {
    match outcome {
        Err(ToolError::Script(error)) => *error,
        Err(other) => {
            no_crash(&other);
            panic!("{text}: {other}");
        }
        Ok(json) => panic!("{text}: gave {json}"),
    }
}

fn assert_same(given: &Value, expected: &Value, text: &str) {
    assert!(same(given, expected), "{text}: gave {given}, expected {expected}");
}

fn same(given: &Value, expected: &Value) -> bool {
    match (given, expected) {
        (Value::Number(given), Value::Number(expected)) => same_number(given, expected),
        (Value::Array(given), Value::Array(expected)) => {
            given.len() == expected.len()
                && given.iter().zip(expected).all(|(given, expected)| same(given, expected))
        }
        (Value::Object(given), Value::Object(expected)) => {
            given.len() == expected.len()
                && expected.iter().all(|(key, value)| given.get(key).is_some_and(|given| same(given, value)))
        }
        _ => given == expected,
    }
}

fn same_number(given: &Number, expected: &Number) -> bool {
    // Lua's integers have 64 bits and a sign, and there is one zero among them.
    if let Some(expected) = expected.as_i64() {
        return given.as_i64() == Some(expected);
    }
    let (Some(float), Some(expected)) = (given.as_f64(), expected.as_f64()) else { return false };
    // serde_json reads a float fast, but not always to the last bit.
    let near = (float - expected).abs() <= 4.0 * f64::EPSILON * expected.abs() + f64::MIN_POSITIVE;
    near && (given.is_f64() || expected == 0.0)
}
