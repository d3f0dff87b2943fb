//! Why a run fails, and why one does not start.

use nb_sandbox::ToolError;
use nb_store::StoreError;

/// Why a run, or a call within it, failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A script failed or went over a limit.
    #[error("tool `{tool}`: {cause}")]
    Tool {
        /// The tool.
        tool: String,
        /// Where in its file, and why; or which limit, with both figures.
        cause: ToolError,
    },
    /// The permission was not asked for, or not granted.
    #[error("{0}")]
    Permission(String),
    /// No such ability in this version.
    #[error("there is no ability `{0}` here")]
    NoAbility(String),
    /// The arguments do not fit the schema.
    #[error("{what}: {reason}")]
    Arguments {
        /// The ability or tool.
        what: String,
        /// What does not fit.
        reason: String,
    },
    /// An ability was tried and failed.
    #[error("{ability}: {reason}")]
    Ability {
        /// Its name.
        ability: String,
        /// What went wrong.
        reason: String,
    },
    /// A step failed.
    #[error("step `{step}`: {reason}")]
    Step {
        /// The step's id.
        step: String,
        /// Why.
        reason: String,
    },
    /// A reference in a step leads nowhere.
    #[error("{0}")]
    Reference(String),
    /// The run was ended from outside.
    #[error("cancelled: {0}")]
    Cancelled(String),
    /// The daemon leaves; the run goes on after the next start.
    #[error("the daemon is stopping")]
    Shutdown,
    /// It was interrupted, and cannot go on.
    #[error("interrupted: {0}")]
    Interrupted(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A panic. What it says is in the daemon's log.
    #[error(
        "the daemon has a fault: a part of it gave up during this run, and its log says where; please report it"
    )]
    Fault,
    /// A bug of ours.
    #[error("internal: {0}")]
    Internal(String),
}

/// Why a run did not start. Nothing was recorded, but for [`StartError::Depth`].
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No agent with that name.
    #[error("there is no agent `{0}`")]
    NoAgent(String),
    /// The agent is stopped.
    #[error("agent `{0}` is stopped")]
    Stopped(String),
    /// It is installed and does not load.
    #[error("agent `{agent}` does not load: {reason}")]
    Broken {
        /// The agent.
        agent: String,
        /// Why.
        reason: String,
    },
    /// The agent has no such task or tool.
    #[error("{0}")]
    NoTarget(String),
    /// The parameters do not suit.
    #[error("{0}")]
    Parameters(String),
    /// A chain of wake-ups is too long. A person must be able to see that: a failed run is on disk.
    #[error("a chain of wake-ups was cut at depth {0}: each run woke the next one")]
    Depth(u32),
    /// The daemon is leaving.
    #[error("the daemon is stopping")]
    Shutdown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
