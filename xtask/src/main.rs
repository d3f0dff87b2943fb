//! Developer commands: `cargo xtask COMMAND`.
//!
//! # Layout
//!
//! - `test`: everything that must pass, with its set-up in `packages` and `oracles`, which is a command as well.
//! - `demo`, `guest`, `man`: run what other crates do.
//! - `bench`: the figures of the README; `soak`: whether they stay.
//! - `shell`: runs programs and says what it does.

#![allow(clippy::print_stdout, reason = "the output of a developer's command")]

mod bench;
mod demo;
mod guest;
mod man;
mod oracles;
mod packages;
mod shell;
mod soak;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  test             install what the tests need, then check format and lints and run all tests
  oracles          install what the tests of nb-provider compare with: the providers' official SDKs
  demo             build the release binaries and run `nbctl demo`; also `cargo demo`
  guest [--check]  build the sandbox's guest from C; --check compares it with the committed one
  bench [PART]     print the project's figures; PART is sandbox, store, provider or daemon
  soak [CALLS] [--threads N] [--out FILE]
                   make a million calls (in steps of 100,000 a thread) with mixed outcomes; memory and
                   time must stay as they were; the chart goes to target/soak.svg
  man DIR          write man pages and shell completions into DIR";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["test"] => test::run(),
        ["oracles"] => oracles::install().map_or(Ok(()), Err),
        ["demo", ref rest @ ..] => demo::run(rest),
        ["guest"] => guest::run(&[]),
        ["guest", "--check"] => guest::run(&["--check"]),
        ["bench"] => bench::run(None),
        ["bench", part] => bench::run(Some(part)),
        ["soak", ref rest @ ..] => soak::run(rest),
        ["man", dir] => man::run(dir),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{} {message}", shell::red("error:"));
            ExitCode::FAILURE
        }
    }
}
