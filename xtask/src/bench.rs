//! `cargo xtask bench`: the project's figures, each beside what a user would use instead.

use crate::shell::{self, cargo};

/// A part, the crate that measures it, and in words.
const PARTS: &[(&str, &str, &str)] = &[
    ("sandbox", "nb-sandbox", "tool calls, beside native Lua and other kinds of isolation"),
    ("store", "nb-store", "durable records"),
    ("provider", "nb-provider", "streamed answers of language models, beside a provider's own client"),
    ("daemon", "nb-tests", "the daemon and nbctl as whole processes, beside Python"),
];

/// Measures one part or all.
pub(crate) fn run(part: Option<&str>) -> Result<(), String> {
    if let Some(part) = part
        && !PARTS.iter().any(|(name, ..)| *name == part)
    {
        let names: Vec<&str> = PARTS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("there is no part `{part}`; the parts are {}", names.join(", ")));
    }
    for (name, package, words) in PARTS.iter().filter(|(name, ..)| part.is_none_or(|part| part == *name)) {
        println!("== {name}: {words}");
        if *name == "daemon" {
            shell::run(&mut cargo(&["build", "--release", "--package", "nanobotd", "--package", "nbctl"]))?;
        }
        shell::run(&mut cargo(&["bench", "--quiet", "--package", package]))?;
    }
    Ok(())
}
