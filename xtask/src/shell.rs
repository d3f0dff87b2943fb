//! Runs programs and says what it does.

use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// `cargo` with these arguments, in the root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a program with this process's own output.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{} {}", command.get_program().display(), join(command));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}")),
        Err(error) => Err(format!("`{shown}` cannot be run: {error}")),
    }
}

/// Runs a program with its output in a file. False when it failed.
pub(crate) fn run_into(command: &mut Command, log: &Path) -> Result<bool, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", log.display());
    let file = File::create(log).map_err(failed)?;
    let errors = file.try_clone().map_err(failed)?;
    let status = command.stdin(Stdio::null()).stdout(file).stderr(errors).status();
    status
        .map(|status| status.success())
        .map_err(|error| format!("{}: {error}", command.get_program().display()))
}

fn join(command: &Command) -> String {
    command.get_args().map(|arg| arg.display().to_string()).collect::<Vec<_>>().join(" ")
}

/// Where a program lies, when it is installed.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(program)).find(|path| path.is_file())
}

fn paint(text: &str, code: &str) -> String {
    let plain = !std::io::stdout().is_terminal()
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain { text.to_owned() } else { format!("\x1b[{code}m{text}\x1b[0m") }
}

/// As it should be.
pub(crate) fn green(text: &str) -> String {
    paint(text, "32")
}

/// Worth a look.
pub(crate) fn yellow(text: &str) -> String {
    paint(text, "33")
}

/// Wrong.
pub(crate) fn red(text: &str) -> String {
    paint(text, "31")
}
