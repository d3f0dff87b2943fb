//! A script with its modules as one text, which a person can write and a fuzzer can change.
//!
//! A line `=== name.lua` or `=== name.fnl` begins a file. The first file is the script, the others are modules. What
//! stands in front of the first such line is a Lua script.

use std::mem;

use nb_sandbox::{Lang, Module, Source};

const HEADING: &str = "=== ";

/// Never fails: any text is some program, most of them wrong.
pub fn parse(text: &str) -> (Source, Vec<Module>) {
    let mut files = Vec::new();
    let (mut heading, mut body) = ("script.lua", String::new());
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(HEADING) {
            Some(next) => {
                files.push((heading, mem::take(&mut body)));
                // No file has such a name.
                heading = next.split('\0').next().unwrap_or_default().trim_end();
            }
            None => body.push_str(line),
        }
    }
    files.push((heading, body));
    if text.starts_with(HEADING) {
        files.remove(0);
    }

    let mut sources = files.into_iter().map(|(heading, body)| {
        let lang = if heading.ends_with(".fnl") { Lang::Fennel } else { Lang::Lua };
        (heading, lang, body)
    });
    let (name, lang, body) = sources.next().expect("there is always one file");
    let script = Source::new(lang, name, body);
    let modules = sources.map(|(name, lang, body)| {
        let required_by = name.rsplit_once('.').map_or(name, |(stem, _)| stem).replace('/', ".");
        Module { name: required_by.into(), source: Source::new(lang, format!("tools/lib/{name}"), body) }
    });
    (script, modules.collect())
}
