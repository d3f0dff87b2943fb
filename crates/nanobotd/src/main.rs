//! The daemon; and the process of a tool that runs outside of the sandbox.

use std::process::ExitCode;

use clap::Parser;
use nanobotd::cli::Cli;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == nb_native::CHILD_ARGUMENT) {
        return nb_native::child();
    }
    nanobotd::daemon::main(Cli::parse())
}
