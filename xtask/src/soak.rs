//! `cargo xtask soak`: many calls of the sandbox, and whether the last cost what the first did.

use std::path::{Path, PathBuf};

use crate::shell::{self, cargo, root};

/// What a soak is told.
struct Options {
    calls: u64,
    threads: u64,
    out: PathBuf,
}

/// Runs the soak; an error when memory or time is not flat.
pub(crate) fn run(args: &[&str]) -> Result<(), String> {
    let Options { calls, threads, out } = parse(args)?;
    let mut command = cargo(&["bench", "--quiet", "--package", "nb-sandbox", "--bench", "soak", "--"]);
    shell::run(command.arg(calls.to_string()).arg(threads.to_string()).arg(out))
}

fn parse(args: &[&str]) -> Result<Options, String> {
    let mut options = Options { calls: 1_000_000, threads: 1, out: root().join("target/soak.svg") };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().copied().ok_or_else(|| format!("{arg} needs a value"));
        match *arg {
            "--threads" => options.threads = number(value()?)?,
            // The benchmark runs in the folder of its crate.
            "--out" => {
                options.out = std::path::absolute(Path::new(value()?)).map_err(|error| error.to_string())?
            }
            calls => options.calls = number(calls)?,
        }
    }
    Ok(options)
}

fn number(text: &str) -> Result<u64, String> {
    match text.replace(['_', ','], "").parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is no number from 1 on")),
        Ok(number) => Ok(number),
    }
}
