//! Conditions of steps and of `flow.branch`.

use regex::RegexBuilder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most memory, in bytes, that a pattern of `matches` may compile to.
const PATTERN_BYTES: usize = 1 << 20;

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// The same value, or the same text when the types differ.
    Equals,
    /// The opposite of `equals`.
    NotEquals,
    /// A text contains the text, a list the item, a mapping the key.
    Contains,
    /// As numbers; a text that is a number counts as one.
    GreaterThan,
    /// As numbers.
    LessThan,
    /// Null, an empty text, list or mapping, or nothing at all.
    IsEmpty,
    /// The opposite of `is_empty`.
    IsNotEmpty,
    /// A regular expression finds something in the text.
    Matches,
}

/// Compares what a reference gave (`None` when it names nothing) with the value of the condition.
///
/// The error says in a sentence why the two cannot be compared.
pub fn holds(left: Option<&Value>, op: Op, right: &Value) -> Result<bool, String> {
    let left_or_null = left.unwrap_or(&Value::Null);
    Ok(match op {
        Op::Equals => equal(left_or_null, right),
        Op::NotEquals => !equal(left_or_null, right),
        Op::IsEmpty => is_empty(left_or_null),
        Op::IsNotEmpty => !is_empty(left_or_null),
        Op::GreaterThan => number(left_or_null)? > number(right)?,
        Op::LessThan => number(left_or_null)? < number(right)?,
        Op::Contains => match left_or_null {
            Value::Array(items) => items.iter().any(|item| equal(item, right)),
            Value::Object(map) => map.contains_key(&as_text(right)),
            other => as_text(other).contains(&as_text(right)),
        },
        Op::Matches => RegexBuilder::new(&as_text(right))
            .size_limit(PATTERN_BYTES)
            .build()
            .map_err(|error| format!("`{}` is not a regular expression: {error}", as_text(right)))?
            .is_match(&as_text(left_or_null)),
    })
}

fn equal(left: &Value, right: &Value) -> bool {
    left == right || as_text(left) == as_text(right)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn number(value: &Value) -> Result<f64, String> {
    let found = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| format!("{value} is not a number"))
}

/// A value as it stands inside a longer text: a string is itself, null is nothing, everything else is JSON.
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_operator_does_what_its_name_says() {
        let cases = [
            (json!("a"), Op::Equals, json!("a"), true),
            (json!(true), Op::Equals, json!("true"), true),
            (json!(1), Op::NotEquals, json!(2), true),
            (json!("rain in Rome"), Op::Contains, json!("Rome"), true),
            (json!(["a", "b"]), Op::Contains, json!("b"), true),
            (json!({"k": 1}), Op::Contains, json!("k"), true),
            (json!("10.5"), Op::GreaterThan, json!(10), true),
            (json!(3), Op::LessThan, json!("2"), false),
            (json!(""), Op::IsEmpty, json!(null), true),
            (json!(0), Op::IsNotEmpty, json!(null), true),
            (json!("v1.20"), Op::Matches, json!(r"^v\d+\."), true),
        ];
        for (left, op, right, expected) in cases {
            assert_eq!(holds(Some(&left), op, &right), Ok(expected), "{left} {op:?} {right}");
        }
        assert_eq!(holds(None, Op::IsEmpty, &json!(null)), Ok(true));
        assert!(holds(Some(&json!("x")), Op::GreaterThan, &json!(1)).unwrap_err().contains("not a number"));
        assert!(
            holds(Some(&json!("x")), Op::Matches, &json!("(")).unwrap_err().contains("regular expression")
        );
    }
}
