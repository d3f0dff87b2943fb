//! Modules: the files below `tools/lib` that the tools of an agent can `require`.

use std::collections::BTreeMap;

use crate::files::Files;
use crate::problem::Problems;
use crate::tool::Lang;

/// Where they are.
const FOLDER: &str = "tools/lib/";
/// The most modules of an agent; a compiled tool counts them in a byte.
const MAX_MODULES: usize = 254;

/// A file below `tools/lib`.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// What it is required by: its path below `tools/lib` with dots, without the ending and without a last `init`.
    pub name: String,
    /// Its language, by its ending.
    pub lang: Lang,
    /// Its path in the package.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Finds all modules, in the order of their files.
pub(crate) fn find(files: &Files, problems: &mut Problems) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    let mut by_name: BTreeMap<String, String> = BTreeMap::new();
    for (file, bytes) in files.iter() {
        let Some((path, lang)) = file.strip_prefix(FOLDER).and_then(Lang::of_file) else { continue };
        let Ok(text) = std::str::from_utf8(bytes) else {
            problems.error(file, None, "is not UTF-8 text");
            continue;
        };
        let path = path.strip_suffix("/init").unwrap_or(path);
        if path.is_empty() || path.split('/').any(|part| part.is_empty() || part.contains('.')) {
            problems.error(file, None, "a module's name has no dots: they stand for folders in `require`");
            continue;
        }
        let name = path.replace('/', ".");
        if let Some(other) = by_name.insert(name.clone(), file.to_owned()) {
            problems.error(
                file,
                None,
                format!("is the module `{name}`, and so is {other}; one of them must go"),
            );
            continue;
        }
        modules.push(Module { name, lang, file: file.to_owned(), text: text.to_owned() });
    }
    if modules.len() > MAX_MODULES {
        let message = format!("holds {} modules; at most {MAX_MODULES} are allowed", modules.len());
        problems.error(FOLDER, None, message);
        modules.truncate(MAX_MODULES);
    }
    modules
}
