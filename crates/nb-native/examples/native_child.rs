//! A program that does nothing but run native tools: what the daemon's own program becomes for each of them.

use std::process::ExitCode;

fn main() -> ExitCode {
    nb_native::child()
}
