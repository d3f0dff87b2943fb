//! What is sent.

use serde_json::{Value, json};

use crate::ProviderId;
use crate::chat::{Chat, Message, ToolResult, Turn};
use crate::error::ProviderError;
use crate::names::Names;
use crate::schema;
use crate::section::Section;
use crate::tools;

/// The body of a request: the same for both services, with a stream and without.
pub(super) fn body(section: &Section, chat: &Chat, names: &Names) -> Result<Value, ProviderError> {
    let mut body = section.settings.clone();
    // Which interface is called says whether the answer is streamed.
    body.shift_remove("stream");
    let mut groups = tools::own(section, &mut body)?;
    if !chat.tools.is_empty() {
        let mut declared = Vec::new();
        for tool in &chat.tools {
            let mut declaration = json!({"name": names.to_wire(&tool.name), "description": tool.description});
            if let Some(parameters) = schema::subset(tool)? {
                declaration["parameters"] = parameters;
            }
            declared.push(declaration);
        }
        groups.push(json!({"functionDeclarations": declared}));
    }
    if groups.is_empty() {
        body.shift_remove("toolConfig");
    } else {
        body.insert("tools".to_owned(), Value::Array(groups));
        let allowed = body
            .get_mut("toolConfig")
            .and_then(|config| config.pointer_mut("/functionCallingConfig/allowedFunctionNames"));
        for name in allowed.and_then(Value::as_array_mut).into_iter().flatten() {
            tools::rename(name, names);
        }
    }
    if let Some(directive) = &chat.directive {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": directive}]}));
    }
    body.insert("contents".to_owned(), Value::Array(contents(chat, names)));
    Ok(Value::Object(body))
}

fn contents(chat: &Chat, names: &Names) -> Vec<Value> {
    let text = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let mut contents = Vec::new();
    if let Some(backdrop) = &chat.backdrop {
        // Context as a turn of its own, acknowledged, so that the person's first words stay apart from it.
        contents.push(text("user", backdrop));
        contents.push(text("model", "Understood."));
    }
    let mut called: Option<&Message> = None;
    for turn in &chat.turns {
        contents.push(match turn {
            Turn::User(content) => text("user", content),
            Turn::Model(message) if message.is_empty_for(ProviderId::Google) => continue,
            Turn::Model(message) => {
                called = Some(message);
                json!({"role": "model", "parts": model_parts(message, names)})
            }
            Turn::Results(results) => {
                let parts: Vec<Value> =
                    results.iter().map(|result| result_part(result, called, names)).collect();
                json!({"role": "user", "parts": parts})
            }
        });
    }
    contents
}

fn model_parts(message: &Message, names: &Names) -> Value {
    if let Some(native) = message.native_of(ProviderId::Google) {
        return native.clone();
    }
    let mut parts = Vec::new();
    if !message.text.is_empty() {
        parts.push(json!({"text": message.text}));
    }
    parts.extend(message.calls.iter().map(|call| {
        json!({"functionCall": {"name": names.to_wire(&call.name), "args": call.arguments.to_value()}})
    }));
    Value::Array(parts)
}

/// A result has the id of its call where Google gave one.
fn result_part(result: &ToolResult, called: Option<&Message>, names: &Names) -> Value {
    let mut response = json!({"name": names.to_wire(&result.name), "response": result.object()});
    let parts = called.and_then(|message| message.native_of(ProviderId::Google)).and_then(Value::as_array);
    let known = parts.into_iter().flatten().filter_map(|part| part.pointer("/functionCall/id"));
    if known.into_iter().any(|id| id == &json!(result.id)) {
        response["id"] = json!(result.id);
    }
    json!({"functionResponse": response})
}
