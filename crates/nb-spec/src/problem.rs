//! What is wrong with a file, where, and what to do about it.

use std::collections::HashSet;
use std::fmt;

/// The most problems that are kept: more than a person reads at once. A file can be made to have any number of them.
const MAX_KEPT: usize = 200;

/// Whether a problem keeps the agent from loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The agent loads; the person should know.
    Warning,
    /// The agent does not load.
    Error,
}

/// One finding in one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

/// What was found, in the order of the files: the first 200 problems, and how many more there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    kept: Vec<Problem>,
    seen: HashSet<Problem>,
    /// How many were not kept, and the problem that says so.
    more: usize,
    rest: Option<Box<Problem>>,
}

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
        if self.seen.contains(&problem) {
            return;
        }
        if !self.is_full() {
            self.seen.insert(problem.clone());
            self.kept.push(problem);
            return;
        }
        self.more += 1;
        let severity = self.rest.as_ref().map_or(severity, |rest| rest.severity.max(severity));
        let message = format!("and {} more", self.more);
        self.rest = Some(Box::new(Problem { severity, file: problem.file, line: None, message }));
    }

    /// True when further problems are only counted: no hint needs to be looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= MAX_KEPT
    }

    /// True when at least one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// The problems in order. The last one of many says how many more there are.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.kept.iter().chain(self.rest.as_deref())
    }

    /// True when nothing was found.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl fmt::Display for Problems {
    /// One problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_problem_is_kept_once() {
        let mut problems = Problems::default();
        for _ in 0..3 {
            problems.error("a", Some(1), "x");
            problems.warning("a", Some(1), "x");
        }
        assert_eq!(problems.to_string(), "a:1: x\na:1: warning: x");
    }

    #[test]
    fn of_many_problems_the_last_line_counts_the_rest() {
        let mut problems = Problems::default();
        for line in 0..100_000 {
            problems.warning("a", Some(line), "x");
        }
        assert!(!problems.has_errors());
        problems.error("b", None, "y");
        assert!(problems.has_errors(), "an error counts even when it is not kept");
        assert_eq!(problems.iter().count(), MAX_KEPT + 1);
        assert!(problems.to_string().ends_with("\na:199: warning: x\nb: and 99801 more"));
    }
}
