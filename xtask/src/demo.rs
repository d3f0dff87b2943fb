//! `cargo demo`.

use std::process::Command;

use crate::shell::{self, cargo, root};

/// Builds the release binaries and runs the demo with them.
pub(crate) fn run(args: &[&str]) -> Result<(), String> {
    shell::run(&mut cargo(&["build", "--release", "--package", "nanobotd", "--package", "nbctl"]))?;
    shell::run(Command::new(root().join("target/release/nbctl")).arg("demo").args(args))
}
