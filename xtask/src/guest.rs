//! `cargo xtask guest`.

use crate::shell::{cargo, run as shell_run};

/// Builds the guest, or compares a fresh build with the committed one.
pub(crate) fn run(args: &[&str]) -> Result<(), String> {
    let mut command = cargo(&["run", "--quiet", "--package", "guest-build", "--"]);
    shell_run(command.args(args))
}
