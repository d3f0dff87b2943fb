//! Schemas without a choice at their top, for providers that take none there.

use serde_json::{Map, Value, json};

use super::references::target;

/// The most schemas that are put together: references can multiply them without end.
const MOST: usize = 500;

/// One object in place of `$ref`, `allOf`, `anyOf` and `oneOf` at the top of a schema. Of a choice all properties are
/// offered, and only those that every one requires are required: a tool checks its arguments against the schema as it
/// was written.
///
/// # Errors
/// The second half of a sentence.
pub(super) fn flat(schema: &Value) -> Result<Map<String, Value>, String> {
    let mut left = MOST;
    flattened(schema, schema, &mut left)
}

fn flattened(schema: &Value, root: &Value, left: &mut usize) -> Result<Map<String, Value>, String> {
    *left = left.checked_sub(1).ok_or("have too many schemas at their top, or refer to themselves there")?;
    // `true` allows everything, and says nothing.
    let mut flat = schema.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(reference)) = flat.shift_remove("$ref") {
        let target = flattened(target(&reference, root)?, root, left)?;
        take_in(&mut flat, &[target], true);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(parts)) = flat.shift_remove(word) else { continue };
        let parts: Result<Vec<_>, String> = parts.iter().map(|part| flattened(part, root, left)).collect();
        take_in(&mut flat, &parts?, word == "allOf");
    }
    Ok(flat)
}

/// Takes in the properties of parts which all hold, or one of which does. What they describe differently is described in
/// each way.
fn take_in(flat: &mut Map<String, Value>, parts: &[Map<String, Value>], all: bool) {
    let properties_of =
        |part: &Map<String, Value>| part.get("properties").and_then(Value::as_object).cloned();
    let required_of = |part: &Map<String, Value>| {
        part.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut properties = properties_of(flat).unwrap_or_default();
    let mut offered: Map<String, Value> = Map::new();
    for (name, property) in parts.iter().filter_map(properties_of).flatten() {
        if let Value::Array(ways) = offered.entry(name).or_insert_with(|| json!([]))
            && !ways.contains(&property)
        {
            ways.push(property);
        }
    }
    let word = if all { "allOf" } else { "anyOf" };
    for (name, mut ways) in offered {
        let property = match ways.as_array_mut().map(Vec::as_mut_slice) {
            Some([only]) => only.take(),
            _ => json!({word: ways}),
        };
        properties.entry(name).or_insert(property);
    }
    let mut required = required_of(flat);
    let theirs: Vec<Vec<Value>> = parts.iter().map(required_of).collect();
    for name in theirs.iter().flatten() {
        let counts = all || theirs.iter().all(|names| names.contains(name));
        if counts && !required.contains(name) {
            required.push(name.clone());
        }
    }
    flat.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        flat.insert("required".to_owned(), Value::Array(required));
    }
}
