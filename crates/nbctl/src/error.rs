//! What went wrong, what a person can do, and the exit code.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use nb_api::runs::RunView;
use nb_api::visible;
use nb_api::{ApiError, ErrorKind};
use nb_package::error::{KeyError, PackageError, SignatureError};
use nb_spec::{Problems, Severity};
use serde_json::{Value, json};

use crate::text::{self, Told};

/// Why a command did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The daemon refused, failed, or is not there; or the command line makes no sense.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A run that was waited for came to a bad end. The text is why.
    #[error("{}", run_failure(.0))]
    Run(Box<RunView>),
    /// The files of an agent have problems.
    #[error("the agent in {} has {}; nothing was built", dir.display(), text::count(errors(problems), "problem"))]
    Agent {
        /// The agent's folder.
        dir: PathBuf,
        /// All of them.
        problems: Problems,
    },
    /// A package cannot be built or read.
    #[error("{}", package_failure(path, source))]
    Package {
        /// The package or the folder.
        path: PathBuf,
        /// What is wrong with it.
        source: PackageError,
    },
    /// A package's signature does not count.
    #[error("{}: {source}", path.display())]
    Signature {
        /// The package.
        path: PathBuf,
        /// What is wrong with it.
        source: SignatureError,
    },
    /// A key cannot be made or used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file that the command line names cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// The answer cannot be written.
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    /// The system denies what every program needs.
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    /// Ctrl-C, or SIGTERM.
    #[error("cancelled")]
    Cancelled,
    /// The same when a run was asked for and its id is not known yet.
    #[error("the run may have begun")]
    MayGoOn,
    /// The same while a run was waited for.
    #[error("the run goes on in the daemon")]
    GoesOn {
        /// Its id.
        run: String,
    },
}

impl Error {
    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Api(ApiError::new(ErrorKind::Usage, message))
    }

    /// The same with what to do instead.
    pub fn usage_hint(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Api(ApiError::new(ErrorKind::Usage, message).hint(hint))
    }

    /// Something forbids it.
    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Api(ApiError::new(ErrorKind::Refused, message).hint(hint))
    }

    /// 0 done, 1 failed, 2 usage, 130 cancelled.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Api(error) => error.kind.exit_code(),
            Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Run(run) if run.status == "cancelled" => 130,
            Self::Cancelled | Self::MayGoOn | Self::GoesOn { .. } => 130,
            _ => 1,
        }
    }

    /// `error:` and `hint:` lines for people; empty when there is nobody to tell or nothing to say.
    pub fn text(&self, colour: bool) -> String {
        if self.is_silent() {
            return String::new();
        }
        if let (Self::GoesOn { .. } | Self::MayGoOn, Some(hint)) = (self, self.hint()) {
            return format!("{}\n", text::block(&format!("{self}; {hint}")));
        }
        let mut out = String::new();
        if let Self::Agent { problems, .. } = self {
            for problem in problems.iter() {
                let _ = writeln!(out, "{}", text::block(&problem.to_string()));
            }
        }
        let label = |word: &str, code: &str| {
            if colour { format!("\x1b[1;{code}m{word}:\x1b[0m") } else { format!("{word}:") }
        };
        let _ = writeln!(out, "{} {}", label("error", "31"), text::block(&self.to_string()));
        if let Some(hint) = self.hint() {
            let _ = writeln!(out, "{} {}", label("hint", "36"), text::block(&hint));
        }
        out
    }

    /// The same as one line of JSON.
    pub fn json(&self) -> String {
        if self.is_silent() {
            return String::new();
        }
        let mut error = json!({"kind": self.kind(), "message": self.to_string()});
        if let Some(hint) = self.hint() {
            error["hint"] = Value::String(hint);
        }
        if let Self::Agent { problems, .. } = self {
            error["problems"] = problems.iter().map(problem_json).collect();
        }
        visible::json(format!("{}\n", json!({ "error": error })))
    }

    fn is_silent(&self) -> bool {
        match self {
            Self::Cancelled => true,
            Self::Stdout(error) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Api(error) => error.kind,
            Self::Signature { .. } => ErrorKind::Refused,
            _ => ErrorKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Api(error) => error.hint.clone(),
            Self::GoesOn { run } => Some(format!("look: nbctl run-show {run}; end it: nbctl cancel {run}")),
            Self::MayGoOn => Some("look: nbctl runs".to_owned()),
            Self::Run(run) => Some(format!("`nbctl run-show {}` shows everything that happened", run.id)),
            _ => None,
        }
    }
}

fn errors(problems: &Problems) -> usize {
    problems.iter().filter(|problem| problem.severity == Severity::Error).count()
}

/// What failed in the file system names its path already.
fn package_failure(path: &Path, source: &PackageError) -> String {
    match source {
        PackageError::Files(_) | PackageError::Io { .. } => source.to_string(),
        _ => format!("{}: {source}", path.display()),
    }
}

fn run_failure(run: &RunView) -> String {
    match &run.error {
        Some(error) => {
            let told = Told::new(error);
            let below = told.below().map(|below| format!("\n{below}")).unwrap_or_default();
            format!("{}{below}\nrun {} of {} {}", told.first, run.id, run.agent, run.status)
        }
        None if !matches!(run.status.as_str(), "failed" | "cancelled") => format!(
            "the daemon stopped before run {} of {} had ended; after its next start it goes on, or ends as failed",
            run.id, run.agent
        ),
        None => format!("run {} of {} {}", run.id, run.agent, run.status),
    }
}

fn problem_json(problem: &nb_spec::Problem) -> Value {
    let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
    json!({"severity": severity, "file": problem.file, "line": problem.line, "message": problem.message})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_and_what_to_do() {
        let error = Error::usage_hint("there is no agent `helo`", "did you mean `hello`?");
        insta::assert_snapshot!(error.text(false), @"
        error: there is no agent `helo`
        hint: did you mean `hello`?
        ");
        insta::assert_snapshot!(error.json(), @r#"{"error":{"kind":"usage","message":"there is no agent `helo`","hint":"did you mean `hello`?"}}"#);
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn all_problems_of_an_agent_are_told() {
        let mut problems = Problems::default();
        problems.error("manifest.yaml", Some(3), "unknown key `nmae`; did you mean `name`?");
        problems.warning(
            "manifest.yaml",
            Some(9),
            "there is no ability `search.web` here; the permission grants nothing",
        );
        problems.error("chains/a.yaml", None, "is not UTF-8 text");
        let error = Error::Agent { dir: "hello".into(), problems };
        insta::assert_snapshot!(error.text(false), @"
        manifest.yaml:3: unknown key `nmae`; did you mean `name`?
        manifest.yaml:9: warning: there is no ability `search.web` here; the permission grants nothing
        chains/a.yaml: is not UTF-8 text
        error: the agent in hello has 2 problems; nothing was built
        ");
        assert!(error.json().contains(r#""line":3"#));
        assert_eq!(error.exit_code(), 1);
    }

    #[test]
    fn an_interrupted_wait_says_that_the_run_goes_on() {
        let error = Error::GoesOn { run: "run_1".to_owned() };
        insta::assert_snapshot!(error.text(true), @"the run goes on in the daemon; look: nbctl run-show run_1; end it: nbctl cancel run_1");
        insta::assert_snapshot!(error.json(), @r#"{"error":{"kind":"failed","message":"the run goes on in the daemon","hint":"look: nbctl run-show run_1; end it: nbctl cancel run_1"}}"#);
        assert_eq!(error.exit_code(), 130);
    }

    #[test]
    fn a_closed_stdout_is_no_failure_and_a_full_disk_is() {
        let closed = Error::Stdout(io::ErrorKind::BrokenPipe.into());
        assert_eq!((closed.exit_code(), closed.text(false).as_str(), closed.json().as_str()), (0, "", ""));
        let full = Error::Stdout(io::ErrorKind::StorageFull.into());
        assert_eq!(full.exit_code(), 1);
        assert!(full.text(false).starts_with("error: cannot write to stdout"));
    }
}
