//! The providers' official SDKs, which the tests of nb-provider compare with: a virtual environment of Python in
//! `target/oracle`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::shell::{root, run_into, which, yellow};

const PINS: &str = "crates/nb-provider/tests/oracle/requirements.txt";
const TESTS: &str = "providers against their official SDKs";

/// Installs the SDKs when they are not there as they are pinned. Gives a line when they cannot be had; the tests that
/// need them say so as well.
pub(crate) fn install() -> Option<String> {
    let home = root().join("target/oracle");
    let pins = root().join(PINS);
    if is_installed(&home, &pins) {
        return None;
    }
    println!("installing the providers' SDKs into {} …", home.display());
    let reason = match which("python3") {
        Some(python) => fresh(&python, &home, &pins).err()?,
        None => "python3 is not installed".to_owned(),
    };
    println!("{} {TESTS}: {reason}", yellow("skipped:"));
    Some(format!("{TESTS}: {reason}"))
}

/// The copy of the pins is written last, so what was interrupted does not count.
fn is_installed(home: &Path, pins: &Path) -> bool {
    let same = fs::read(pins)
        .is_ok_and(|wanted| fs::read(home.join("requirements.txt")).is_ok_and(|noted| noted == wanted));
    // A newer Python leaves links behind that lead nowhere.
    same && Command::new(home.join("bin/python"))
        .args(["-c", ""])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn fresh(python: &Path, home: &Path, pins: &Path) -> Result<(), String> {
    if home.exists() {
        fs::remove_dir_all(home).map_err(|error| format!("{}: {error}", home.display()))?;
    }
    let logs = root().join("target/xtask");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let log = logs.join("oracle.log");
    if !run_into(Command::new(python).args(["-m", "venv"]).arg(home), &log)? {
        return Err(format!("no virtual environment could be made; {}", log.display()));
    }
    let mut pip = Command::new(home.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--timeout=20",
        "--retries=2",
    ])
    // Everything is pinned, and of one package the dependencies are not wanted.
    .args(["--no-deps", "--only-binary=:all:", "--requirement"])
    .arg(pins);
    if !run_into(&mut pip, &log)? {
        return Err(format!("the packages could not be installed; {}", log.display()));
    }
    let noted = home.join("requirements.txt");
    fs::copy(pins, &noted).map_err(|error| format!("{}: {error}", noted.display()))?;
    Ok(())
}
