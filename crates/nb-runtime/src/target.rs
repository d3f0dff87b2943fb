//! What of an agent is to run, and whether that can be.

use nb_spec::task::Callee;
use serde_json::{Map, Value};

use crate::error::StartError;
use crate::installed::Installed;

/// What of the agent is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A task.
    Task(String),
    /// A tool, alone.
    Tool(String),
    /// The only task of an agent that has one, or else its only tool.
    Only,
}

impl Target {
    /// Whether a tool of it runs outside of the sandbox.
    pub(crate) fn is_unsandboxed(&self, agent: &Installed) -> bool {
        let leaves = |name: &String| agent.spec.tools.get(name).is_some_and(|tool| !tool.is_sandboxed());
        match self {
            Self::Tool(name) => leaves(name),
            Self::Task(id) => agent.spec.tasks.get(id).is_some_and(|task| {
                task.steps.iter().any(|step| matches!(&step.call, Callee::Tool(name) if leaves(name)))
            }),
            Self::Only => false,
        }
    }
}

/// The task or tool that is meant; `Only` becomes the one that there is.
pub(crate) fn choose(agent: &Installed, target: &Target) -> Result<Target, StartError> {
    let spec = &agent.spec;
    let names = |list: Vec<&String>| match list.len() {
        0 => "none".to_owned(),
        _ => list.into_iter().map(String::as_str).collect::<Vec<_>>().join(", "),
    };
    match target {
        Target::Task(id) if spec.tasks.contains_key(id) => Ok(target.clone()),
        Target::Task(id) => {
            let has = names(spec.tasks.keys().collect());
            Err(StartError::NoTarget(format!("agent `{}` has no task `{id}`; it has {has}", agent.name())))
        }
        Target::Tool(name) if spec.tools.contains_key(name) => Ok(target.clone()),
        Target::Tool(name) => {
            let has = names(spec.tools.keys().collect());
            Err(StartError::NoTarget(format!("agent `{}` has no tool `{name}`; it has {has}", agent.name())))
        }
        Target::Only => {
            let tasks: Vec<&String> = spec.tasks.keys().collect();
            let tools: Vec<&String> = spec.tools.keys().collect();
            match (&tasks[..], &tools[..]) {
                ([task], _) => Ok(Target::Task((*task).clone())),
                ([], [tool]) => Ok(Target::Tool((*tool).clone())),
                _ => Err(StartError::NoTarget(format!(
                    "name a task or a tool of agent `{}`: its tasks are {}; its tools are {}",
                    agent.name(),
                    names(tasks),
                    names(tools)
                ))),
            }
        }
    }
}

/// Checks the parameters of a task and fills in its defaults.
pub(crate) fn check_task(
    agent: &Installed,
    id: &str,
    params: &Map<String, Value>,
) -> Result<Map<String, Value>, StartError> {
    match agent.spec.tasks.get(id) {
        Some(task) => {
            task.check_parameters(params).map_err(|problems| StartError::Parameters(problems.join("; ")))
        }
        None => Ok(params.clone()),
    }
}
