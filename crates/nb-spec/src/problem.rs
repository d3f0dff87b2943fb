//! What is wrong with a file, where, and what to do about it.

use std::fmt;

/// Whether a problem keeps the agent from loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The agent loads; the person should know.
    Warning,
    /// The agent does not load.
    Error,
}

/// One finding in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the agent loads all the same.
    pub severity: Severity,
    /// Path inside the agent's folder, such as `chains/report.yaml`.
    pub file: String,
    /// Line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        let warning = if self.severity == Severity::Warning { "warning: " } else { "" };
        write!(f, ": {warning}{}", self.message)
    }
}

/// Everything that was found, in the order of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds an error.
    pub fn error(&mut self, file: &str, line: Option<usize>, message: impl Into<String>) {
        self.push(Severity::Error, file, line, message.into());
    }

    /// Adds a warning.
    pub fn warning(&mut self, file: &str, line: Option<usize>, message: impl Into<String>) {
        self.push(Severity::Warning, file, line, message.into());
    }

    fn push(&mut self, severity: Severity, file: &str, line: Option<usize>, message: String) {
        let problem = Problem { severity, file: file.to_owned(), line, message };
        if !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// True when at least one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// The problems in order.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Problems {
    /// One problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
