//! Parameters as Google takes them: a part of OpenAPI's schemas.
//!
//! Source: Gemini API reference, "Schema".

use serde_json::{Map, Value, json};

use crate::ProviderId;
use crate::chat::Tool;
use crate::error::{ErrorKind, ProviderError};

use super::references::inlined;

/// What a schema may say there. The rest is left out: it narrows what is allowed, and the arguments are checked against
/// the schema as it was written.
const KNOWN: [&str; 19] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
];

/// The schema in Google's words; None when there are no parameters, because an object without properties is refused.
pub(crate) fn subset(tool: &Tool) -> Result<Option<Value>, ProviderError> {
    let schema = super::without_top_choice(ProviderId::Google, tool)?;
    let written = inlined(&schema).and_then(|schema| converted(&schema, "")).map_err(|reason| {
        let message = format!(
            "tool `{}`: its parameters {reason}, which cannot be written for this provider",
            tool.name
        );
        ProviderError::new(ProviderId::Google, ErrorKind::Request, message)
    })?;
    let empty = written.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    Ok((!empty).then_some(written))
}

fn converted(schema: &Value, place: &str) -> Result<Value, String> {
    let map = match schema {
        Value::Object(map) => map,
        // `true` allows everything.
        Value::Bool(true) => return Ok(json!({"type": "string"})),
        other => return Err(format!("have {other} as a schema{}", at(place))),
    };
    let mut map = map.clone();
    together(&mut map);
    if let Some(value) = map.shift_remove("const") {
        map.insert("enum".to_owned(), json!([value]));
    }
    if let Some(choices) = map.shift_remove("oneOf") {
        map.entry("anyOf").or_insert(choices);
    }
    let mut nullable = map.get("nullable") == Some(&json!(true));
    if let Some(Value::Array(kinds)) = map.get("type") {
        let (null, kinds): (Vec<Value>, Vec<Value>) = kinds.iter().cloned().partition(|kind| kind == "null");
        nullable |= !null.is_empty();
        match kinds.as_slice() {
            [only] => drop(map.insert("type".to_owned(), only.clone())),
            _ => {
                map.shift_remove("type");
                let choices: Vec<Value> = kinds.iter().map(|kind| json!({"type": kind})).collect();
                map.entry("anyOf").or_insert(Value::Array(choices));
            }
        }
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        let before = choices.len();
        choices.retain(|choice| choice.get("type") != Some(&json!("null")));
        nullable |= choices.len() < before;
    }
    enumeration(&mut map, &mut nullable);
    let mut written = Map::new();
    for (key, value) in map.into_iter().filter(|(key, _)| KNOWN.contains(&key.as_str())) {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties: Result<Map<_, _>, String> = properties
                    .iter()
                    .map(|(name, item)| Ok((name.clone(), converted(item, &format!("{place}.{name}"))?)))
                    .collect();
                Value::Object(properties?)
            }
            ("items", Value::Array(_)) => {
                return Err(format!("have a list of schemas as `items`{}", at(place)));
            }
            ("items", item) => converted(&item, &format!("{place}[]"))?,
            ("anyOf", Value::Array(choices)) => {
                let choices: Result<Vec<_>, String> =
                    choices.iter().map(|choice| converted(choice, place)).collect();
                Value::Array(choices?)
            }
            // Other formats of texts are refused.
            ("format", Value::String(format))
                if !matches!(
                    format.as_str(),
                    "enum" | "date-time" | "int32" | "int64" | "float" | "double"
                ) =>
            {
                continue;
            }
            (_, value) => value,
        };
        written.insert(key, value);
    }
    if nullable {
        written.insert("nullable".to_owned(), json!(true));
    }
    // Only a list has to say what is in it.
    if written.get("type") == Some(&json!("array")) && !written.contains_key("items") {
        written.insert("items".to_owned(), json!({"type": "string"}));
    }
    Ok(Value::Object(written))
}

/// `allOf` put together into the schema around it.
fn together(map: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = map.shift_remove("allOf") else { return };
    for part in parts {
        let Value::Object(mut part) = part else { continue };
        together(&mut part);
        for (key, value) in part {
            match (map.get_mut(&key), value) {
                (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs),
                (Some(Value::Array(ours)), Value::Array(theirs)) if key == "required" => ours.extend(theirs),
                (Some(_), _) => {}
                (None, value) => drop(map.insert(key, value)),
            }
        }
    }
}

/// Only texts can be enumerated: other values are told in the description.
fn enumeration(map: &mut Map<String, Value>, nullable: &mut bool) {
    let Some(Value::Array(values)) = map.get("enum") else { return };
    let kept: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
    *nullable |= kept.len() < values.len();
    if kept.iter().all(Value::is_string) {
        map.entry("type").or_insert(json!("string"));
        map.insert("enum".to_owned(), Value::Array(kept));
        return;
    }
    map.shift_remove("enum");
    let told = format!("One of: {}", Value::Array(kept.clone()));
    let words = map.get("description").and_then(Value::as_str).unwrap_or_default();
    map.insert("description".to_owned(), json!(format!("{words} {told}").trim()));
    if !map.contains_key("type") {
        let kind = match kept.first() {
            Some(Value::Number(number)) if number.is_i64() || number.is_u64() => "integer",
            Some(Value::Number(_)) => "number",
            Some(Value::Bool(_)) => "boolean",
            _ => "string",
        };
        map.insert("type".to_owned(), json!(kind));
    }
}

fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at `{}`", place.trim_start_matches('.')) }
}
