//! How a command ended, and what is expected of that.

use std::fmt;
use std::process::Output;

use serde_json::Value;

/// A command that has ended. Each expectation gives it back, so that they stand in a chain.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its words.
    pub command: String,
    /// Its exit code; none after a signal.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Ended {
    /// A command and what came of it.
    pub fn new(command: String, output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            command,
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Expects exit code 0.
    #[track_caller]
    pub fn success(self) -> Self {
        self.exits(0)
    }

    /// Expects this exit code.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        assert_ne!(code, 0);
        self.exits(code)
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Expects a text in stdout.
    #[track_caller]
    pub fn stdout_contains(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "stdout does not say {text:?}: {self}");
        self
    }

    /// Expects a text in stderr.
    #[track_caller]
    pub fn stderr_contains(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "stderr does not say {text:?}: {self}");
        self
    }

    /// Stdout as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// The words after `error: ` on stderr.
    #[track_caller]
    pub fn error(&self) -> &str {
        let found = self.stderr.lines().find_map(|line| line.strip_prefix("error: "));
        found.unwrap_or_else(|| panic!("no error is told: {self}"))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or_else(|| "by a signal".to_owned(), |code| code.to_string());
        write!(f, "{}\nexit {code}\n--- stdout\n{}--- stderr\n{}", self.command, self.stdout, self.stderr)
    }
}
