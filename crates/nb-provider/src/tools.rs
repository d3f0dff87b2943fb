//! Tools in the body of a request.

use serde_json::{Map, Value, json};

use crate::chat::Tool;
use crate::error::ProviderError;
use crate::names::Names;
use crate::schema;
use crate::section::Section;

/// Takes the list `tools` of one's own out of the settings.
///
/// # Errors
/// [`crate::ErrorKind::Setup`] when it is no list.
pub(crate) fn own(section: &Section, body: &mut Map<String, Value>) -> Result<Vec<Value>, ProviderError> {
    match body.shift_remove("tools") {
        None => Ok(Vec::new()),
        Some(Value::Array(own)) => Ok(own),
        Some(_) => Err(section.fail("provider.settings.tools must be a list")),
    }
}

/// A tool in the words of OpenAI, which others took over.
pub(crate) fn function(section: &Section, tool: &Tool, names: &Names) -> Result<Value, ProviderError> {
    Ok(json!({"type": "function", "function": {
        "name": names.to_wire(&tool.name),
        "description": tool.description,
        "parameters": schema::parameters(section.provider, tool)?,
    }}))
}

/// Changes the name of a tool in a setting into the one on the wire.
pub(crate) fn rename(name: &mut Value, names: &Names) {
    if let Some(real) = name.as_str() {
        *name = json!(names.to_wire(real));
    }
}
