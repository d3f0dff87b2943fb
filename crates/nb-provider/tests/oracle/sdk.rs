//! The program that asks the SDKs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The folder of this file.
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle")
}

/// The Python in which the SDKs are installed.
#[derive(Clone)]
pub struct Sdk(PathBuf);

impl Sdk {
    /// `$NB_ORACLE/bin/python`, or what `cargo xtask oracles` has installed. None, and a line that says so, when it is not
    /// there with the pinned versions.
    pub fn find() -> Option<Self> {
        if let Some(home) = std::env::var_os("NB_ORACLE") {
            let python = Path::new(&home).join("bin/python");
            assert!(python.exists(), "NB_ORACLE: there is no {}", python.display());
            return Some(Self(python));
        }
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracle");
        let wanted = fs::read(here().join("requirements.txt")).unwrap();
        if fs::read(home.join("requirements.txt")).is_ok_and(|noted| noted == wanted) {
            return Some(Self(home.join("bin/python")));
        }
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let line =
            format!("skipped: {test}: the official SDKs are not installed; `cargo xtask oracles` does it\n");
        // Not by a macro: the test runner shows what those print of failed tests alone.
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        None
    }

    /// Asks `main.py` and gives its answers, one for each question.
    pub async fn run(&self, arguments: &[&str], questions: Vec<Value>) -> Vec<Value> {
        let mut command = Command::new(&self.0);
        command
            .args(["-B", "-s"])
            .arg(here().join("sdk/main.py"))
            .args(arguments)
            // Keys, addresses and proxies of this machine would change what the SDKs do.
            .env_clear()
            .env("NO_PROXY", "*")
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let count = questions.len();
        let shown = arguments.join(" ");
        let output = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let writer = std::thread::spawn(move || {
                // It may end before it has read everything; its answers tell.
                for question in questions {
                    let _ = writeln!(stdin, "{question}");
                }
            });
            let output = child.wait_with_output().unwrap();
            writer.join().unwrap();
            output
        })
        .await
        .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "main.py {shown}: {}\n{errors}", output.status);
        let answers: Vec<Value> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers.len(), count, "main.py {shown}: {errors}");
        answers
    }
}
