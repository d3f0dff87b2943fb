//! Tools: what a model or a chain's step can call.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::document::Document;
use crate::files::Files;
use crate::permission::known_abilities;
use crate::problem::Problems;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Lua 5.4.
    Lua,
    /// Fennel, which compiles to Lua.
    Fennel,
}

/// An entry of `tools:` in a manifest, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolEntry {
    /// What it is called by.
    pub name: String,
    /// What it is for; a model decides by it.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of its parameters.
    pub parameters: Option<Value>,
    /// Lua source.
    pub lua: Option<String>,
    /// Fennel source.
    pub fennel: Option<String>,
    /// A file of the package: `*.lua` or `*.fnl`.
    pub source: Option<String>,
    /// A WebAssembly component of the package.
    pub component: Option<String>,
}

pub(crate) const TOOL_KEYS: &[&str] =
    &["name", "description", "parameters", "lua", "fennel", "source", "component"];

/// A tool with its source at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// What it is called by.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its parameters; an object without properties when none is given.
    pub parameters: Value,
    /// Its language.
    pub lang: Lang,
    /// The file that holds the source, for messages.
    pub file: String,
    /// The source. An inline one is preceded by empty lines, so that line numbers are those of the file.
    pub source: String,
}

impl ToolEntry {
    /// Finds the tool's source and checks the entry. `path` is its place in the manifest.
    pub(crate) fn resolve(
        &self,
        path: &str,
        document: &Document<'_>,
        files: &Files,
        problems: &mut Problems,
    ) -> Option<Tool> {
        let mut fail = |key: &str, message: String| {
            document.error(problems, &format!("{path}.{key}"), format!("tool `{}`: {message}", self.name));
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(allowed) {
            fail("name", "a name has 1 to 64 letters, digits, `-`, `_` or `.`".to_owned());
            return None;
        }
        if known_abilities().any(|ability| ability == self.name) {
            fail(
                "name",
                "an ability has this name; a step that says `ability:` would be ambiguous".to_owned(),
            );
            return None;
        }
        if self.parameters.as_ref().is_some_and(|schema| !schema.is_object()) {
            fail("parameters", "`parameters` is a JSON Schema, so a mapping".to_owned());
        }
        let given = [&self.lua, &self.fennel, &self.source, &self.component];
        if given.iter().filter(|source| source.is_some()).count() != 1 {
            fail("name", "needs exactly one of `lua`, `fennel`, `source` and `component`".to_owned());
            return None;
        }
        if self.component.is_some() {
            fail(
                "component",
                "WebAssembly components cannot be tools in this version; use Lua or Fennel".to_owned(),
            );
            return None;
        }
        let (lang, file, source) = if let Some(name) = &self.source {
            let lang = match name.rsplit_once('.') {
                Some((_, "lua")) => Lang::Lua,
                Some((_, "fnl")) => Lang::Fennel,
                _ => {
                    fail("source", format!("`{name}` must end in .lua or .fnl"));
                    return None;
                }
            };
            let Some(bytes) = files.get(name) else {
                fail("source", format!("there is no file `{name}`"));
                return None;
            };
            let Ok(text) = std::str::from_utf8(bytes) else {
                fail("source", format!("`{name}` is not UTF-8 text"));
                return None;
            };
            (lang, name.clone(), text.to_owned())
        } else {
            let (key, lang) = if self.lua.is_some() { ("lua", Lang::Lua) } else { ("fennel", Lang::Fennel) };
            let text = self.lua.as_ref().or(self.fennel.as_ref())?;
            let before = document.content_line(&format!("{path}.{key}")).unwrap_or(1) - 1;
            (lang, document.file().to_owned(), "\n".repeat(before) + text)
        };
        let parameters = self.parameters.clone().unwrap_or_else(|| json!({"type": "object"}));
        let (name, description) = (self.name.clone(), self.description.clone());
        Some(Tool { name, description, parameters, lang, file, source })
    }
}
