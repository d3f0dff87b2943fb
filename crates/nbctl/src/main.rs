//! The control command.

use std::process::ExitCode;

fn main() -> ExitCode {
    nbctl::run(std::env::args_os())
}
