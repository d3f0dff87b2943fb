//! The daemon.

use std::process::ExitCode;

use clap::Parser;
use nanobotd::cli::Cli;

fn main() -> ExitCode {
    nanobotd::daemon::main(Cli::parse())
}
