//! JSON Schemas of tools, as each provider takes them.

mod definitions;
mod flat;
mod google;
mod references;

use serde_json::{Map, Value, json};

use crate::ProviderId;
use crate::chat::Tool;
use crate::error::{ErrorKind, ProviderError};

pub(crate) use definitions::definitions;
pub(crate) use google::subset;

use flat::flat;
use references::inlined;

/// The schema for a provider that takes JSON Schema: as it was written, but for what that provider refuses.
pub(crate) fn parameters(provider: ProviderId, tool: &Tool) -> Result<Value, ProviderError> {
    let schema = object(provider, tool)?;
    match provider {
        ProviderId::Openai => flat(&schema).and_then(for_openai),
        ProviderId::Anthropic => flat(&schema),
        _ => return Ok(schema),
    }
    .map(Value::Object)
    .map_err(|reason| refused(provider, tool, &reason))
}

/// At the top OpenAI refuses what is no plain object, and an object without `properties`.
fn for_openai(mut schema: Map<String, Value>) -> Result<Map<String, Value>, String> {
    if let Some(word) = ["not", "enum", "const"].into_iter().find(|word| schema.contains_key(*word)) {
        return Err(format!("have `{word}` at their top, which the provider does not take"));
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    Ok(schema)
}

/// The schema with its references written out, and without a choice at its top.
fn written_out(provider: ProviderId, tool: &Tool) -> Result<Value, ProviderError> {
    let schema = object(provider, tool)?;
    let written = inlined(&schema).and_then(|schema| flat(&schema));
    written.map(Value::Object).map_err(|reason| refused(provider, tool, &reason))
}

/// The schema as it was written: an object with properties, or none.
fn object(provider: ProviderId, tool: &Tool) -> Result<Value, ProviderError> {
    let refused = |reason: String| {
        refused(provider, tool, &reason)
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

/// The error of a tool whose parameters, as the second half of the sentence says, cannot be sent.
fn refused(provider: ProviderId, tool: &Tool, reason: &str) -> ProviderError {
    let message = format!("tool `{}`: its parameters {reason}", tool.name);
    ProviderError::new(provider, ErrorKind::Request, message)
}
