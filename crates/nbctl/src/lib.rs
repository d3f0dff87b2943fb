//! The control command: what a person types to install, run and watch agents.
//!
//! It asks the daemon through `nb-api` and does nothing by itself but work on local files: keys and packages.
//!
//! # Layout
//!
//! - `cli`: the command line and its global options.
//! - `commands`: one file per family of commands; a new command is a file and its line in the list there.
//! - `demo`: the main job from end to end, in a throw-away home.
//! - `context`: what every command is given: the client, the folders, the output.
//! - `places`: which daemon is meant.
//! - `output`: the answer, as JSON or as text.
//! - `page`, `table`, `text`, `time`: text for people.
//! - `error`: what went wrong, what to do, and the exit code.
//!
//! # Invariants
//!
//! - With `--json` stdout carries exactly one JSON document, or one a line for endless answers; an error is one JSON
//!   line on stderr: `{"error": {"kind": …, "message": …, "hint": …}}`, and stdout stays empty. A run that failed is
//!   both: the run on stdout, the error on stderr.
//! - Text from agents and packages never reaches a terminal with control characters in it.
//! - Prompts and notes go to stderr, and only when it is a terminal.
//! - Exit codes: 0 done, 1 failed, 2 usage, 130 cancelled or interrupted by a signal. A reader that closes stdout is no
//!   failure.

#![warn(clippy::print_stderr)]

mod cli;
mod commands;
mod context;
mod demo;
mod error;
mod output;
mod page;
mod places;
mod table;
mod text;
mod time;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::Cli;
use crate::context::Context;
use crate::error::Error;

/// The whole command line: the source of the help, the completions and the man pages.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Carries out one command line (with the program's name first) and gives the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return parse_failure(&error, args.iter().any(|arg| arg == "--json")),
    };
    let json = cli.globals.json;
    match carry_out(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error, json),
    }
}

fn carry_out(cli: Cli) -> Result<(), Error> {
    // One thread: starting a second one costs more than a request takes.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    let context = Context::new(&cli.globals);
    let result = runtime.block_on(async {
        // The command comes first: until it waits for something, Ctrl-C ends the process as it ends any other.
        tokio::select! {
            biased;
            result = cli.command.run(&context) => result,
            Ok(()) = interrupted() => Err(match context.waits_for.get() {
                Some(run) => Error::GoesOn { run: run.clone() },
                None if context.asked_to_run.get().is_some() => Error::MayGoOn,
                None => Error::Cancelled,
            }),
        }
    });
    // A prompt may still wait for its line; that must not keep the process.
    runtime.shutdown_background();
    result
}

/// Returns at SIGINT, which Ctrl-C sends, and at SIGTERM.
async fn interrupted() -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => interrupt,
        _ = terminate.recv() => Ok(()),
    }
}

fn report(error: &Error, json: bool) -> ExitCode {
    let text = if json { error.json() } else { error.text(output::is_colourful(&io::stderr())) };
    // A terminal shows `^C` first, in the line where the cursor is.
    let begins_a_line = matches!(error, Error::GoesOn { .. }) && !json && io::stderr().is_terminal();
    let text = if begins_a_line { format!("\n{text}") } else { text };
    // Nobody is left to tell when stderr is closed.
    let _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(error.exit_code())
}

/// Help and version are answers; everything else is a usage error, said in clap's own words.
fn parse_failure(error: &clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() || !json {
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let message = error.render().to_string();
    report(&Error::usage(message.trim().trim_start_matches("error: ")), true)
}

/// Whether a person can be asked: the question is seen and the answer can be typed.
fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
