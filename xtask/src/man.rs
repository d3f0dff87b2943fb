//! `cargo xtask man`.

use crate::shell::{cargo, run as shell_run};

/// Writes man pages and completions: both come from the definitions of the command lines.
pub(crate) fn run(dir: &str) -> Result<(), String> {
    let dir = std::path::absolute(dir).map_err(|error| format!("{dir}: {error}"))?;
    std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    for package in ["nbctl", "nanobotd"] {
        let example = format!("{package}-man");
        let mut command = cargo(&["run", "--quiet", "--package", package, "--example", &example, "--"]);
        shell_run(command.arg(&dir))?;
    }
    println!("wrote {}", dir.display());
    Ok(())
}
