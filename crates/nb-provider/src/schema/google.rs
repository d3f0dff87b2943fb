//! Parameters as Google takes them: a part of OpenAPI's schemas.
//!
//! Source: Gemini API reference, "Schema".

use serde_json::{Map, Value, json};

use crate::ProviderId;
use crate::chat::Tool;
use crate::error::ProviderError;

use super::references::MOST;

/// What a schema may say there. The rest is left out: it narrows what is allowed, and the arguments are checked against
/// the schema as it was written.
const KNOWN: [&str; 18] = [
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
];

/// The schema in Google's words; None when there are no parameters, because an object without properties is refused.
pub(crate) fn subset(tool: &Tool) -> Result<Option<Value>, ProviderError> {
    let schema = super::written_out(ProviderId::Google, tool)?;
    let mut left = MOST;
    let written = converted(&schema, "", &mut left).map_err(|reason| {
        let reason = format!("{reason}, which cannot be written for this provider");
        super::refused(ProviderId::Google, tool, &reason)
    })?;
    let empty = written.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    Ok((!empty).then_some(written))
}

fn converted(schema: &Value, place: &str, left: &mut usize) -> Result<Value, String> {
    // What stands around a choice is written into each of its schemas.
    *left = left.checked_sub(1).ok_or("are too large with their choices written out")?;
    let mut map = match schema {
        Value::Object(map) => map.clone(),
        // `true` allows everything.
        Value::Bool(true) => return Ok(json!({"type": "string"})),
        other => return Err(format!("have {other} as a schema{}", at(place))),
    };
    let mut nullable = false;
    let choices = choices(&mut map, &mut nullable);
    nullable |= map.get("nullable") == Some(&json!(true));
    if !choices.is_empty() {
        let mut written = Vec::new();
        for choice in choices {
            match converted(&within(&map, nullable, choice), place, left)? {
                Value::Object(mut choice) => match choice.shift_remove("anyOf") {
                    Some(Value::Array(inner)) => written.extend(inner),
                    _ => written.push(Value::Object(choice)),
                },
                other => written.push(other),
            }
        }
        // Refused with anything beside it.
        return Ok(json!({"anyOf": written}));
    }
    enumeration(&mut map, &mut nullable);
    let kind = map.get("type").and_then(Value::as_str).map(str::to_owned);
    let mut written = Map::new();
    for (key, value) in map {
        if !KNOWN.contains(&key.as_str()) || !is_for(&key, kind.as_deref()) {
            continue;
        }
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties: Result<Map<_, _>, String> = properties
                    .iter()
                    .map(|(name, item)| {
                        Ok((name.clone(), converted(item, &format!("{place}.{name}"), left)?))
                    })
                    .collect();
                Value::Object(properties?)
            }
            ("items", Value::Array(_)) => {
                return Err(format!("have a list of schemas as `items`{}", at(place)));
            }
            ("items", item) => converted(&item, &format!("{place}[]"), left)?,
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
    without_unknown(&mut written);
    Ok(Value::Object(written))
}

/// Puts together what holds at once, and takes out the schemas of the choice that is left: several, or none. Null is no
/// choice there, and one schema is none either.
fn choices(map: &mut Map<String, Value>, nullable: &mut bool) -> Vec<Value> {
    let is_null = |schema: &Value| {
        schema.get("type") == Some(&json!("null")) || schema.get("const") == Some(&Value::Null)
    };
    loop {
        together(map);
        if let Some(value) = map.shift_remove("const") {
            map.insert("enum".to_owned(), json!([value]));
        }
        if let Some(choices) = map.shift_remove("oneOf") {
            map.entry("anyOf").or_insert(choices);
        }
        if let Some(Value::Array(mut kinds)) = map.get("type").cloned() {
            map.shift_remove("type");
            *nullable |= kinds.iter().any(|kind| kind == "null");
            kinds.retain(|kind| kind != "null");
            match kinds.as_slice() {
                [only] => drop(map.insert("type".to_owned(), only.clone())),
                _ => {
                    let kinds = kinds.iter().map(|kind| json!({"type": kind})).collect();
                    map.entry("anyOf").or_insert(Value::Array(kinds));
                }
            }
        }
        let Some(Value::Array(mut choices)) = map.shift_remove("anyOf") else { return Vec::new() };
        *nullable |= choices.iter().any(is_null);
        choices.retain(|choice| !is_null(choice));
        if choices.len() != 1 {
            return choices;
        }
        map.insert("allOf".to_owned(), Value::Array(choices));
    }
}

/// A schema of a choice with what stands around the choice.
fn within(around: &Map<String, Value>, nullable: bool, choice: Value) -> Value {
    let Value::Object(choice) = choice else { return choice };
    let mut whole = around.clone();
    if choice.contains_key("title") {
        whole.shift_remove("title");
    }
    merge(&mut whole, choice);
    if nullable {
        whole.insert("nullable".to_owned(), json!(true));
    }
    Value::Object(whole)
}

/// `allOf` put together into the schema around it.
fn together(map: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = map.shift_remove("allOf") else { return };
    for part in parts {
        let Value::Object(mut part) = part else { continue };
        together(&mut part);
        merge(map, part);
    }
}

/// Takes in another schema that holds as well. Where both say something, ours stays.
fn merge(map: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (map.get_mut(&key), value) {
            (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs),
            (Some(Value::Array(ours)), Value::Array(theirs)) if key == "required" => ours.extend(theirs),
            (Some(Value::String(ours)), Value::String(theirs)) if key == "description" && *ours != theirs => {
                *ours = format!("{ours} {theirs}");
            }
            (Some(_), _) => {}
            (None, value) => drop(map.insert(key, value)),
        }
    }
}

/// Whether a word says something about values of a type. Beside another type it is refused.
fn is_for(key: &str, kind: Option<&str>) -> bool {
    let Some(kind) = kind else { return true };
    match key {
        "properties" | "required" | "minProperties" | "maxProperties" => kind == "object",
        "items" | "minItems" | "maxItems" => kind == "array",
        "enum" | "minLength" | "maxLength" | "pattern" => kind == "string",
        "minimum" | "maximum" => matches!(kind, "integer" | "number"),
        _ => true,
    }
}

/// Requires only properties that are described: others are refused.
fn without_unknown(written: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = written.shift_remove("required") else { return };
    let properties = written.get("properties").and_then(Value::as_object);
    let mut known: Vec<Value> = Vec::new();
    for name in required {
        let described =
            name.as_str().is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)));
        if described && !known.contains(&name) {
            known.push(name);
        }
    }
    if !known.is_empty() {
        written.insert("required".to_owned(), Value::Array(known));
    }
}

/// Only texts can be enumerated: other values are told in the description.
fn enumeration(map: &mut Map<String, Value>, nullable: &mut bool) {
    let Some(Value::Array(values)) = map.get("enum") else { return };
    let kept: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
    *nullable |= kept.len() < values.len();
    if kept.is_empty() {
        map.shift_remove("enum");
        return;
    }
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
