//! An agent that is written down in a test.

use std::fs;
use std::path::Path;

/// The files of an agent under construction.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its name.
    pub name: String,
    version: String,
    permissions: Vec<String>,
    tools: String,
    more: String,
    files: Vec<(String, Vec<u8>)>,
}

impl Agent {
    /// Version 1.0.0, without permissions, tools or triggers.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            permissions: Vec::new(),
            tools: String::new(),
            more: String::new(),
            files: Vec::new(),
        }
    }

    /// One with a single tool `tool` in Lua.
    pub fn lua(name: &str, source: &str) -> Self {
        Self::new(name).tool("tool.lua", source)
    }

    /// Another name.
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// Another version.
    pub fn version(mut self, version: &str) -> Self {
        self.version = version.to_owned();
        self
    }

    /// Asks for these permissions.
    pub fn permissions(mut self, permissions: &[&str]) -> Self {
        self.permissions = permissions.iter().map(|permission| (*permission).to_owned()).collect();
        self
    }

    /// A tool in `tools/FILE`, named like the file.
    pub fn tool(self, file: &str, source: &str) -> Self {
        self.tool_with(file, source, "")
    }

    /// A tool with a schema of its parameters, as YAML in one line.
    pub fn tool_with(mut self, file: &str, source: &str, parameters: &str) -> Self {
        let name = file.split('.').next().unwrap();
        self.tools.push_str(&format!("  - name: {name}\n    source: tools/{file}\n"));
        if !parameters.is_empty() {
            self.tools.push_str(&format!("    parameters: {parameters}\n"));
        }
        self.file(&format!("tools/{file}"), source)
    }

    /// A tool as the manifest says it: the lines of its entry, the first one without its dash.
    pub fn tool_entry(mut self, entry: &str) -> Self {
        let lines: Vec<&str> = entry.lines().map(str::trim).collect();
        self.tools.push_str(&format!("  - {}\n", lines.join("\n    ")));
        self
    }

    /// A chain; `steps` is the YAML list of its steps, each beginning with `- `.
    pub fn chain(self, id: &str, steps: &str) -> Self {
        self.file(&format!("chains/{id}.yaml"), format!("id: {id}\nsteps:\n{steps}\n"))
    }

    /// Further lines of the manifest.
    pub fn yaml(mut self, lines: &str) -> Self {
        self.more.push_str(lines);
        self.more.push('\n');
        self
    }

    /// Any file.
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    /// The manifest.
    pub fn manifest(&self) -> String {
        let mut text = format!("name: {}\nversion: {}\n{}", self.name, self.version, self.more);
        if !self.permissions.is_empty() {
            text.push_str(&format!("permissions: {:?}\n", self.permissions));
        }
        if !self.tools.is_empty() {
            text.push_str(&format!("tools:\n{}", self.tools));
        }
        text
    }

    /// Writes the files into a folder.
    pub fn write(&self, dir: &Path) {
        let manifest = ("manifest.yaml".to_owned(), self.manifest().into_bytes());
        for (path, content) in self.files.iter().chain([&manifest]) {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }
}
