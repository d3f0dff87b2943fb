//! Programs, and the files that hold them.

use std::fs;
use std::path::{Path, PathBuf};

use nb_sandbox::{Lang, Module, Source};

/// A program of one file, and what is known to come of it.
pub struct Program {
    /// Where it stands: `lua/strings.lua: rep`.
    pub name: String,
    pub source: Source,
    /// What it gives in the guest and in native Lua, where that is known to differ.
    pub known: Option<Known>,
}

pub struct Known {
    pub guest: String,
    pub native: String,
}

impl Program {
    pub fn new(name: impl Into<String>, lang: Lang, text: impl Into<String>) -> Self {
        let file = if lang == Lang::Lua { "test.lua" } else { "test.fnl" };
        Self { name: name.into(), source: Source::new(lang, file, text.into()), known: None }
    }

    pub fn text(&self) -> &str {
        &self.source.text
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential").join(name)
}

/// The files of a folder with their languages, by name.
fn files(name: &str) -> Vec<(PathBuf, Lang)> {
    let entries = fs::read_dir(folder(name)).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let lang = match path.extension().and_then(|ending| ending.to_str()) {
                Some("lua") => Lang::Lua,
                Some("fnl") => Lang::Fennel,
                _ => panic!("{} is neither Lua nor Fennel", path.display()),
            };
            (path, lang)
        })
        .collect();
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    files
}

/// All programs of a folder.
pub fn read_folder(name: &str) -> Vec<Program> {
    files(name)
        .iter()
        .flat_map(|(path, lang)| {
            let file = format!("{name}/{}", path.file_name().unwrap().display());
            read(&file, *lang, &fs::read_to_string(path).unwrap(), name == "known")
        })
        .collect()
}

fn read(file: &str, lang: Lang, text: &str, known: bool) -> Vec<Program> {
    let comment = if lang == Lang::Lua { "--" } else { ";;" };
    let marker = format!("{comment}## ");
    let mut parts = text.split(&marker);
    let heading = parts.next().unwrap_or_default();
    assert!(
        heading.lines().all(|line| line.is_empty() || line.starts_with(comment)),
        "{file}: a program without a name"
    );
    parts
        .map(|part| {
            let (name, text) = part.split_once('\n').unwrap();
            let program = Program::new(format!("{file}: {name}"), lang, text);
            if known { with_known(program, comment) } else { program }
        })
        .collect()
}

/// Reads what is known from the comments at the start: why it differs, and what comes of it where.
fn with_known(program: Program, comment: &str) -> Program {
    let value = |key: &str| {
        let prefix = format!("{comment} {key}: ");
        let line = program.text().lines().find_map(|line| line.strip_prefix(&prefix));
        line.unwrap_or_else(|| panic!("{} has no line `{prefix}…`", program.name)).to_owned()
    };
    value("why");
    let known = Some(Known { guest: value("guest"), native: value("native") });
    Program { known, ..program }
}

/// The modules that each program can require.
pub fn modules() -> Vec<Module> {
    files("modules")
        .iter()
        .map(|(path, lang)| Module {
            name: path.file_stem().unwrap().to_str().unwrap().into(),
            source: Source::new(
                *lang,
                format!("tools/lib/{}", path.file_name().unwrap().display()),
                fs::read_to_string(path).unwrap(),
            ),
        })
        .collect()
}
