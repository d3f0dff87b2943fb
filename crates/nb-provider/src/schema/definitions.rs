//! Parameters as Cohere takes them: a flat list of names with simple types, no JSON Schema.

use serde_json::{Map, Value, json};

use crate::ProviderId;
use crate::chat::Tool;
use crate::error::ProviderError;

/// `{name: {description, type, required}}`. What the types cannot say stands in the description: the model reads it, and
/// the arguments are checked against the schema as it was written.
pub(crate) fn definitions(tool: &Tool) -> Result<Value, ProviderError> {
    let schema = super::written_out(ProviderId::Cohere, tool)?;
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut found = Map::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let mut definition = Map::new();
        let (kind, told) = kind_of(property);
        let words = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let described = if told {
            format!("{words} JSON Schema: {}", without_description(property))
        } else {
            words.to_owned()
        };
        definition.insert("description".to_owned(), json!(described.trim()));
        definition.insert("type".to_owned(), json!(kind));
        definition.insert("required".to_owned(), json!(required.contains(&json!(name))));
        found.insert(name.clone(), Value::Object(definition));
    }
    Ok(Value::Object(found))
}

/// The type, and whether the schema says more than that.
fn kind_of(property: &Value) -> (String, bool) {
    let simple = |kind: &str| match kind {
        "string" => Some("str"),
        "integer" => Some("int"),
        "number" => Some("float"),
        "boolean" => Some("bool"),
        "array" => Some("list"),
        "object" => Some("dict"),
        _ => None,
    };
    let kinds: Vec<&str> = match property.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        _ => Vec::new(),
    };
    let kind = match kinds.as_slice() {
        [only] => simple(only),
        _ => None,
    };
    // `list` and `dict` may name what is in them where that is simple.
    let items =
        property.get("items").and_then(|items| items.get("type")).and_then(Value::as_str).and_then(simple);
    match (kind, items) {
        (Some("list"), Some(item)) if item != "list" && item != "dict" => {
            (format!("list[{item}]"), says_more(property, &["items"]))
        }
        (Some(kind), _) => (kind.to_owned(), says_more(property, &[])),
        (None, _) => ("str".to_owned(), true),
    }
}

fn says_more(property: &Value, said: &[&str]) -> bool {
    let keys = property.as_object().into_iter().flat_map(Map::keys);
    let plain = ["type", "description", "title"];
    keys.map(String::as_str).any(|key| !plain.contains(&key) && !said.contains(&key))
}

fn without_description(property: &Value) -> Value {
    let mut property = property.clone();
    if let Value::Object(map) = &mut property {
        map.shift_remove("description");
    }
    property
}
