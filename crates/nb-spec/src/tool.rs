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

impl Lang {
    /// A file's path without its ending, and the language that the ending stands for.
    pub(crate) fn of_file(path: &str) -> Option<(&str, Self)> {
        match path.rsplit_once('.')? {
            (path, "lua") => Some((path, Self::Lua)),
            (path, "fnl") => Some((path, Self::Fennel)),
            _ => None,
        }
    }
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
    /// A WebAssembly component of the package, of the world `tool`.
    pub component: Option<String>,
    /// False for a script that runs on native Lua, in a process of its own.
    #[serde(default = "yes")]
    pub sandboxed: bool,
}

fn yes() -> bool {
    true
}

/// The largest component. It is compiled at install, which no fuel limits.
const MAX_COMPONENT_BYTES: usize = 32 << 20;

pub(crate) const TOOL_KEYS: &[&str] =
    &["name", "description", "parameters", "lua", "fennel", "source", "component", "sandboxed"];

/// A tool with its source at hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// What it is called by.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its parameters; an object without properties when none is given.
    pub parameters: Value,
    /// The file that holds it, for messages.
    pub file: String,
    /// What runs.
    pub code: Code,
}

/// What a tool runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Code {
    /// A script.
    Script {
        /// Its language.
        lang: Lang,
        /// The source. An inline one is preceded by empty lines, so that line numbers are those of the file.
        text: String,
        /// False when it runs on native Lua, with everything that the daemon's user may do.
        sandboxed: bool,
    },
    /// The bytes of a WebAssembly component.
    Component(Vec<u8>),
}

impl Tool {
    /// Whether it can reach no more than it was granted.
    pub fn is_sandboxed(&self) -> bool {
        !matches!(self.code, Code::Script { sandboxed: false, .. })
    }

    /// The bytes of its code.
    pub(crate) fn size(&self) -> usize {
        match &self.code {
            Code::Script { text, .. } => text.len(),
            Code::Component(bytes) => bytes.len(),
        }
    }
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
        let (file, code) = self.code(path, document, files, &mut fail)?;
        let parameters = self.parameters.clone().unwrap_or_else(|| json!({"type": "object"}));
        let (name, description) = (self.name.clone(), self.description.clone());
        Some(Tool { name, description, parameters, file, code })
    }

    /// The file with the tool's code, and the code.
    fn code(
        &self,
        path: &str,
        document: &Document<'_>,
        files: &Files,
        fail: &mut impl FnMut(&str, String),
    ) -> Option<(String, Code)> {
        let sandboxed = self.sandboxed;
        if let Some(name) = &self.component {
            let Some(bytes) = files.get(name) else {
                fail("component", format!("there is no file `{name}`"));
                return None;
            };
            if bytes.len() > MAX_COMPONENT_BYTES {
                fail("component", format!("`{name}` has more than {MAX_COMPONENT_BYTES} bytes"));
                return None;
            }
            if !sandboxed {
                fail(
                    "sandboxed",
                    "a component always runs in the sandbox; only scripts can leave it".to_owned(),
                );
                return None;
            }
            return Some((name.clone(), Code::Component(bytes.to_vec())));
        }
        if let Some(name) = &self.source {
            let Some((_, lang)) = Lang::of_file(name) else {
                fail(
                    "source",
                    format!(
                        "`{name}` must end in .lua or .fnl; a WebAssembly component is named by `component`"
                    ),
                );
                return None;
            };
            let Some(bytes) = files.get(name) else {
                fail("source", format!("there is no file `{name}`"));
                return None;
            };
            let Ok(text) = std::str::from_utf8(bytes) else {
                fail("source", format!("`{name}` is not UTF-8 text"));
                return None;
            };
            return Some((name.clone(), Code::Script { lang, text: text.to_owned(), sandboxed }));
        }
        let (key, lang) = if self.lua.is_some() { ("lua", Lang::Lua) } else { ("fennel", Lang::Fennel) };
        let text = self.lua.as_ref().or(self.fennel.as_ref())?;
        let before = document.content_line(&format!("{path}.{key}")).unwrap_or(1) - 1;
        let text = "\n".repeat(before) + text;
        Some((document.file().to_owned(), Code::Script { lang, text, sandboxed }))
    }
}
