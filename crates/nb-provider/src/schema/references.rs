//! `$ref` inside of one schema, written out.

use serde_json::{Map, Value};

/// How deep schemas may be when their references are written out.
const DEEPEST: usize = 32;
/// How many values the written-out schema may have: references to references can multiply without end.
const MOST: usize = 10_000;

/// The schema without `$ref`, `$defs` and `definitions`.
///
/// # Errors
/// The second half of a sentence: it refers to itself, to another document, or to nothing.
pub(crate) fn inlined(schema: &Value) -> Result<Value, String> {
    let mut left = MOST;
    let mut written = resolved(schema, schema, &mut Vec::new(), 0, &mut left)?;
    if let Value::Object(map) = &mut written {
        map.shift_remove("$defs");
        map.shift_remove("definitions");
    }
    Ok(written)
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
            if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                if followed.iter().any(|before| before == reference) {
                    return Err(format!("refer to themselves (`{reference}`)"));
                }
                let pointer = reference.strip_prefix('#');
                let target = pointer
                    .and_then(|pointer| root.pointer(pointer))
                    .ok_or_else(|| format!("refer to `{reference}`, which is not in them"))?;
                followed.push(reference.to_owned());
                let mut target = resolved(target, root, followed, depth + 1, left)?;
                followed.pop();
                // Words beside a reference are about this place.
                if let Value::Object(target) = &mut target {
                    for (key, value) in map.iter().filter(|(key, _)| *key != "$ref") {
                        target.insert(key.clone(), value.clone());
                    }
                }
                return Ok(target);
            }
            let mut written = Map::new();
            for (key, item) in map {
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
