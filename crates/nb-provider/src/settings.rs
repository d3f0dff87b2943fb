//! Settings on their way to the wire: each goes out under its own name, what is null does not go out.

use serde_json::{Map, Value};

/// Keys whose values are schemas, where null is a value like others (`const: null`, `enum: [a, null]`).
const SCHEMAS: [&str; 8] = [
    "format",
    "input_schema",
    "json_schema",
    "parameters",
    "parametersJsonSchema",
    "responseJsonSchema",
    "responseSchema",
    "schema",
];

/// Leaves out what is null at any depth, and mappings and lists in which nothing else stood.
pub(crate) fn without_nulls(map: Map<String, Value>) -> Map<String, Value> {
    map.into_iter()
        .filter_map(|(key, value)| {
            let value =
                if SCHEMAS.contains(&key.as_str()) && !value.is_null() { value } else { pruned(value)? };
            Some((key, value))
        })
        .collect()
}

fn pruned(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(map) => {
            let had = !map.is_empty();
            let kept = without_nulls(map);
            (!had || !kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let had = !items.is_empty();
            let kept: Vec<Value> = items.into_iter().filter_map(pruned).collect();
            (!had || !kept.is_empty()).then_some(Value::Array(kept))
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_left_out_at_any_depth() {
        let settings = json!({
            "max_tokens": null, "temperature": 0.0, "tool_choice": {"type": "auto", "name": null},
            "metadata": {"user_id": null}, "stop": [null, "x"], "empty": {},
            "safetySettings": [{"category": "A", "method": null}, {"category": null}], "none": [null], "list": [],
            "tools": [{"input_schema": {"enum": ["a", null]}}],
            "response_format": {"type": "json_schema", "json_schema": {"schema": {"const": null}}},
            "responseSchema": null,
        });
        let Value::Object(settings) = settings else { unreachable!() };
        let expected = json!({
            "temperature": 0.0, "tool_choice": {"type": "auto"}, "stop": ["x"], "empty": {},
            "safetySettings": [{"category": "A"}], "list": [],
            "tools": [{"input_schema": {"enum": ["a", null]}}],
            "response_format": {"type": "json_schema", "json_schema": {"schema": {"const": null}}},
        });
        assert_eq!(Value::Object(without_nulls(settings)), expected);
    }
}
