//! What the tests of nb-provider compare with: the providers' official SDKs, a virtual environment of Python in
//! `target/oracle`, and a mock server, a package of node in `target/oracle/node`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::shell::{root, run_into, which, yellow};

const PINS: &str = "crates/nb-provider/tests/oracle/requirements.txt";
const TESTS: &str = "providers against their official SDKs";

/// The folder with what npm is to install.
const MOCK: &str = "crates/nb-provider/tests/mock";
const MOCK_TESTS: &str = "conversations with a mock server";
/// The package, and what it is pinned to with its digest.
const PACKAGE_FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs what is not there as it is pinned. Gives a line when something cannot be had; the tests that need it say so
/// as well.
pub(crate) fn install() -> Option<String> {
    // The environment of Python first: a new one clears the folder.
    let missing: Vec<String> = [sdks(), mock()].into_iter().flatten().collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

fn sdks() -> Option<String> {
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
    Some(skipped(TESTS, &reason))
}

fn mock() -> Option<String> {
    let home = root().join("target/oracle/node");
    let pins = root().join(MOCK);
    let wanted = fs::read(pins.join("package-lock.json"));
    if wanted.is_ok_and(|wanted| fs::read(home.join("installed.json")).is_ok_and(|noted| noted == wanted)) {
        return None;
    }
    println!("installing a mock server of the providers into {} …", home.display());
    let reason = match (which("node"), which("npm")) {
        (Some(_), Some(npm)) => fresh_mock(&npm, &home, &pins).err()?,
        (None, _) => "node is not installed".to_owned(),
        (_, None) => "npm is not installed".to_owned(),
    };
    Some(skipped(MOCK_TESTS, &reason))
}

fn skipped(tests: &str, reason: &str) -> String {
    println!("{} {tests}: {reason}", yellow("skipped:"));
    format!("{tests}: {reason}")
}

fn fresh_mock(npm: &Path, home: &Path, pins: &Path) -> Result<(), String> {
    if home.exists() {
        fs::remove_dir_all(home).map_err(|error| format!("{}: {error}", home.display()))?;
    }
    let logs = root().join("target/xtask");
    for folder in [home, &logs] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    for file in PACKAGE_FILES {
        let copied = fs::copy(pins.join(file), home.join(file));
        copied.map_err(|error| format!("{}: {error}", home.join(file).display()))?;
    }
    let log = logs.join("mock.log");
    let mut command = Command::new(npm);
    // What is pinned and nothing else; no program of a package runs while it is installed.
    command.args(["ci", "--ignore-scripts", "--engine-strict", "--no-audit", "--no-fund"]);
    command.args(["--fetch-timeout=20000", "--fetch-retries=2", "--prefix"]).arg(home).current_dir(home);
    if !run_into(&mut command, &log)? {
        return Err(format!("the package could not be installed; {}", log.display()));
    }
    // Written last, so what was interrupted does not count.
    let noted = home.join("installed.json");
    fs::copy(pins.join("package-lock.json"), &noted)
        .map_err(|error| format!("{}: {error}", noted.display()))?;
    Ok(())
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
