//! `$ref` inside of one schema, written out.

use serde_json::{Map, Value};

/// How deep schemas may be when their references are written out.
const DEEPEST: usize = 32;
/// How many values a schema may have when it is written out: references to references can multiply without end.
pub(super) const MOST: usize = 10_000;

/// The schema without `$ref`, `$defs` and `definitions`.
///
/// # Errors
/// The second half of a sentence: it refers to itself, to another document, or to nothing.
pub(super) fn inlined(schema: &Value) -> Result<Value, String> {
    let mut left = MOST;
    let mut written = resolved(schema, schema, &mut Vec::new(), 0, &mut left)?;
    if let Value::Object(map) = &mut written {
        map.shift_remove("$defs");
        map.shift_remove("definitions");
    }
    Ok(written)
}

/// Where a reference leads.
///
/// # Errors
/// The second half of a sentence: out of the schema, or to nothing.
pub(super) fn target<'a>(reference: &str, root: &'a Value) -> Result<&'a Value, String> {
    let found = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    found.ok_or_else(|| {
        format!(
            "refer to `{reference}`, which is not in them: references must lead into the same schema (`#/…`)"
        )
    })
}

fn resolved(
    value: &Value,
    root: &Value,
    followed: &mut Vec<String>,
    depth: usize,
    left: &mut usize,
) -> Result<Value, String> {
    *left = left.checked_sub(1).ok_or("are too large with their references written out")?;
    if depth > DEEPEST {
        return Err("are nested too deep".to_owned());
    }
    match value {
        Value::Object(map) => {
            let mut written = Map::new();
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                if followed.iter().any(|before| before == reference) {
                    return Err(format!(
                        "refer to themselves (`{reference}`), which cannot be written for this provider"
                    ));
                }
                followed.push(reference.to_owned());
                let target = resolved(target(reference, root)?, root, followed, depth + 1, left)?;
                followed.pop();
                match target {
                    Value::Object(target) => written = target,
                    target if map.len() == 1 => return Ok(target),
                    _ => {}
                }
            }
            // What stands beside a reference is about this place.
            for (key, item) in map.iter().filter(|(key, item)| *key != "$ref" || !item.is_string()) {
                // Definitions are reached through references alone; values are no schemas.
                let kept = matches!(
                    key.as_str(),
                    "$defs" | "definitions" | "enum" | "const" | "default" | "examples"
                );
                let item = match item {
                    item if kept => item.clone(),
                    // Its keys are names that somebody chose, not words of schemas.
                    Value::Object(named) if key == "properties" => {
                        let named: Result<Map<_, _>, String> = named
                            .iter()
                            .map(|(name, item)| {
                                Ok((name.clone(), resolved(item, root, followed, depth + 1, left)?))
                            })
                            .collect();
                        Value::Object(named?)
                    }
                    item => resolved(item, root, followed, depth + 1, left)?,
                };
                written.insert(key.clone(), item);
            }
            Ok(Value::Object(written))
        }
        Value::Array(items) => {
            let items: Result<_, String> =
                items.iter().map(|item| resolved(item, root, followed, depth + 1, left)).collect();
            Ok(Value::Array(items?))
        }
        other => Ok(other.clone()),
    }
}
