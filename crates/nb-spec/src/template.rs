//! `{{…}}` in the arguments of a step.
//!
//! A string that is nothing but one reference takes the value with its JSON type; inside a longer string a value is its
//! text. Values are data: what comes out is never expanded again. A name that leads nowhere is an error, never left in
//! the text.

use serde_json::Value;

use crate::condition::as_text;

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Reference(String),
}

/// A dotted path that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{{{{{0}}}}}` names nothing that exists here")]
pub struct UnknownName(pub String);

fn pieces(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((reference, tail)) = after.split_once("}}") else { break };
        if !before.is_empty() {
            found.push(Piece::Text(before.to_owned()));
        }
        found.push(Piece::Reference(reference.trim().to_owned()));
        rest = tail;
    }
    if !rest.is_empty() {
        found.push(Piece::Text(rest.to_owned()));
    }
    found
}

/// Every reference in `value`, in its strings at any depth (not in the keys of mappings).
pub fn references(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => pieces(text)
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Reference(path) => Some(path),
                Piece::Text(_) => None,
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(map) => map.values().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// Whether a string in `value` opens a reference and does not close it.
pub fn is_unclosed(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            pieces(text).iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains("{{")))
        }
        Value::Array(items) => items.iter().any(is_unclosed),
        Value::Object(map) => map.values().any(is_unclosed),
        _ => false,
    }
}

/// Fills in every reference. `resolve` gives the value of a dotted path.
pub fn expand(value: &Value, resolve: &dyn Fn(&str) -> Option<Value>) -> Result<Value, UnknownName> {
    let find = |path: &str| resolve(path).ok_or_else(|| UnknownName(path.to_owned()));
    Ok(match value {
        Value::String(text) => {
            let pieces = pieces(text);
            if let [Piece::Reference(path)] = pieces.as_slice() {
                return find(path);
            }
            let mut filled = String::with_capacity(text.len());
            for piece in pieces {
                match piece {
                    Piece::Text(text) => filled.push_str(&text),
                    Piece::Reference(path) => filled.push_str(&as_text(&find(&path)?)),
                }
            }
            Value::String(filled)
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| expand(item, resolve)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, item)| Ok((key.clone(), expand(item, resolve)?)))
                .collect::<Result<_, _>>()?,
        ),
        other => other.clone(),
    })
}

/// Follows a path into JSON: keys of mappings, numbers for lists.
pub fn lookup<'v, 'p>(value: &'v Value, path: impl Iterator<Item = &'p str>) -> Option<&'v Value> {
    let mut value = value;
    for part in path {
        value = match value {
            Value::Object(map) => map.get(part)?,
            Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(template: Value) -> Result<Value, UnknownName> {
        let scope = json!({"n": 3, "city": "Rome", "evil": "{{n}}", "check-prs": {"output": [{"id": 7}]}});
        expand(&template, &|path| lookup(&scope, path.split('.')).cloned())
    }

    #[test]
    fn a_value_that_is_the_whole_string_keeps_its_type() {
        assert_eq!(
            filled(json!({"a": ["{{n}}", "{{ check-prs.output }}"]})),
            Ok(json!({"a": [3, [{"id": 7}]]}))
        );
    }

    #[test]
    fn inside_a_longer_string_a_value_is_its_text() {
        assert_eq!(filled(json!("{{city}}: {{n}} {{check-prs.output.0}}")), Ok(json!("Rome: 3 {\"id\":7}")));
    }

    #[test]
    fn values_are_never_expanded_again() {
        assert_eq!(filled(json!("{{evil}}!")), Ok(json!("{{n}}!")));
    }

    #[test]
    fn an_unknown_name_is_an_error_and_never_left_in_the_text() {
        assert_eq!(filled(json!("x {{nope.y}}")), Err(UnknownName("nope.y".to_owned())));
        assert_eq!(filled(json!("{{}}")), Err(UnknownName(String::new())));
    }

    #[test]
    fn a_reference_that_is_not_closed_is_noticed() {
        assert!(is_unclosed(&json!({"a": ["{{n}} {{ b"]})));
        assert!(!is_unclosed(&json!("{{n}} and { { }} are fine")));
    }
}
