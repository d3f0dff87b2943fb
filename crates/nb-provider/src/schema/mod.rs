//! JSON Schemas of tools, as each provider takes them.

mod definitions;
mod google;
mod references;

use serde_json::{Map, Value, json};

use crate::ProviderId;
use crate::chat::Tool;
use crate::error::{ErrorKind, ProviderError};

pub(crate) use definitions::definitions;
pub(crate) use google::subset;

/// The schema as it was written, for providers that take JSON Schema: an object with properties, or none.
pub(crate) fn object(provider: ProviderId, tool: &Tool) -> Result<Value, ProviderError> {
    let refused = |reason: String| {
        let message = format!("tool `{}`: its parameters {reason}", tool.name);
        ProviderError::new(provider, ErrorKind::Request, message)
            .hinting("parameters are a JSON Schema of an object: {type: object, properties: {…}}")
    };
    match &tool.parameters {
        None | Some(Value::Null) => Ok(json!({"type": "object", "properties": {}})),
        Some(Value::Object(schema)) => match schema.get("type") {
            Some(Value::String(kind)) if kind == "object" => Ok(Value::Object(schema.clone())),
            None => {
                let mut typed = Map::new();
                typed.insert("type".to_owned(), json!("object"));
                typed.extend(schema.clone());
                Ok(Value::Object(typed))
            }
            Some(other) => Err(refused(format!("are of type {other}, and must be an object"))),
        },
        Some(other) => Err(refused(format!("are {other}, and must be a JSON Schema"))),
    }
}

/// For providers that take JSON Schema, but no choice between schemas at its top: `allOf` is put together, of `anyOf` and
/// `oneOf` all properties are offered and only those that every one requires are required. The tool's own check of its
/// arguments is against the schema as it was written.
pub(crate) fn without_top_choice(provider: ProviderId, tool: &Tool) -> Result<Value, ProviderError> {
    let Value::Object(mut schema) = object(provider, tool)? else {
        return object(provider, tool);
    };
    for (key, all) in [("allOf", true), ("anyOf", false), ("oneOf", false)] {
        let Some(Value::Array(choices)) = schema.shift_remove(key) else { continue };
        let mut common: Option<Vec<Value>> = None;
        let mut properties = match schema.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        for choice in &choices {
            if choice.get("$ref").is_some() {
                let message = format!(
                    "tool `{}`: its parameters have `$ref` in a top `{key}`, which the provider does not take",
                    tool.name
                );
                return Err(ProviderError::new(provider, ErrorKind::Request, message)
                    .hinting("write the properties out in one object"));
            }
            for (name, property) in choice.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                properties.entry(name).or_insert_with(|| property.clone());
            }
            let required: Vec<Value> =
                choice.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            common = Some(match common {
                None => required,
                Some(before) if all => before.into_iter().chain(required).collect(),
                Some(before) => before.into_iter().filter(|name| required.contains(name)).collect(),
            });
        }
        let mut required = match schema.shift_remove("required") {
            Some(Value::Array(required)) => required,
            _ => Vec::new(),
        };
        for name in common.unwrap_or_default() {
            if !required.contains(&name) {
                required.push(name);
            }
        }
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
    }
    Ok(Value::Object(schema))
}
