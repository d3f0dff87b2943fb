//! The chain file: `chains/NAME.yaml`, in both dialects that exist, lowered to a [`Task`].
//!
//! One dialect writes `args`, `output_key` and `condition`; the other `params`, `depends_on` and `{{step.output}}`. They
//! do not contradict each other, so a file may use both.

use std::collections::BTreeSet;

use chrono::Duration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::{Op, holds};
use crate::document::{Document, nearest};
use crate::order::{Places, order};
use crate::permission::{Permission, known_abilities};
use crate::problem::Problems;
use crate::task::{Callee, Condition, OnFailure, Parameter, Step, Task};
use crate::template;
use crate::timing::parse_period;

/// References that every step may make, whatever the chain declares. Nothing else may take these names.
const ALWAYS: &[&str] = &["input", "event", "webhook", "trigger", "secret"];
/// The most steps of a chain, and the most parameters.
const MAX_ENTRIES: usize = 1000;
const MAX_ATTEMPTS: u32 = 10;

const KEYS: &[&str] = &[
    "id",
    "name",
    "description",
    "params",
    "steps",
    "param_type",
    "type",
    "required",
    "default",
    "ability",
    "tool",
    "args",
    "output_key",
    "condition",
    "ref_key",
    "op",
    "value",
    "on_failure",
    "depends_on",
    "retry",
    "attempts",
    "delay",
    "backoff",
];

#[derive(Debug, Serialize, Deserialize)]
struct ChainFile {
    id: String,
    name: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    params: Vec<Parameter>,
    steps: Vec<StepEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StepEntry {
    id: String,
    ability: Option<String>,
    tool: Option<String>,
    #[serde(alias = "params", default)]
    args: Map<String, Value>,
    output_key: Option<String>,
    condition: Option<Condition>,
    on_failure: Option<FailureEntry>,
    #[serde(default)]
    depends_on: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum FailureEntry {
    Word(String),
    Retry { retry: RetryEntry },
}

#[derive(Debug, Serialize, Deserialize)]
struct RetryEntry {
    attempts: u32,
    #[serde(default = "one_second")]
    delay: String,
    #[serde(default = "doubling")]
    backoff: u32,
}

fn one_second() -> String {
    "1s".to_owned()
}

fn doubling() -> u32 {
    2
}

/// What a chain may call.
#[derive(Debug)]
pub struct Callable<'a> {
    /// The names of the agent's tools; `ability:` may name one of them as well.
    pub tools: BTreeSet<&'a str>,
    /// What the manifest asks for.
    pub permissions: &'a [Permission],
}

/// Reads a chain file.
pub fn read(document: &Document<'_>, callable: &Callable<'_>, problems: &mut Problems) -> Option<Task> {
    let chain: ChainFile = document.read(KEYS, problems)?;
    if chain.id.is_empty() || chain.id.len() > 64 || !chain.id.chars().all(is_id_char) {
        document.error(problems, "id", "a chain's id has 1 to 64 letters, digits, `-` and `_`");
    }
    for (key, entries) in [("steps", chain.steps.len()), ("params", chain.params.len())] {
        if entries > MAX_ENTRIES {
            let message = format!("a chain has at most {MAX_ENTRIES} {key}; this has {entries}");
            document.error(problems, key, message);
            return None;
        }
    }
    check_names(&chain, document, problems);
    let places = Places::new(chain.steps.iter().map(|entry| entry.id.as_str()));
    let mut steps: Vec<Step> = Vec::new();
    for (index, entry) in chain.steps.iter().enumerate() {
        if let Some(step) = entry.lower(index, &places, callable, document, problems) {
            steps.push(step);
        }
    }
    if chain.steps.is_empty() {
        document.error(problems, "steps", "a chain needs at least one step");
    }
    mark_fallbacks(&mut steps);
    let steps = order(steps, document, problems)?;
    check_fallbacks(&places, &steps, document, problems);
    check_references(&chain, &places, &steps, document, problems);
    for (index, parameter) in chain.params.iter().enumerate() {
        if let Some(default) = &parameter.default
            && parameter.param_type.accept(default).is_none()
        {
            let message = format!("the default of parameter `{}` is not of its type", parameter.name);
            document.error(problems, &format!("params.{index}.default"), message);
        }
    }
    let description =
        if chain.description.is_empty() { chain.name.unwrap_or_default() } else { chain.description };
    Some(Task {
        id: chain.id,
        description,
        parameters: chain.params,
        steps,
        file: document.file().to_owned(),
    })
}

fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// A parameter, step or output by the name of something that is always there would hide it, or be hidden.
fn check_names(chain: &ChainFile, document: &Document<'_>, problems: &mut Problems) {
    let params = chain
        .params
        .iter()
        .enumerate()
        .map(|(index, parameter)| ("params", index, "name", Some(&parameter.name)));
    let ids = chain.steps.iter().enumerate().map(|(index, step)| ("steps", index, "id", Some(&step.id)));
    let outputs = chain
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| ("steps", index, "output_key", step.output_key.as_ref()));
    for (list, index, key, name) in params.chain(ids).chain(outputs) {
        if let Some(name) = name.filter(|name| ALWAYS.contains(&name.as_str())) {
            let message = format!("`{name}` is a name that every chain has already; choose another");
            document.error(problems, &format!("{list}.{index}.{key}"), message);
        }
    }
}

impl Callable<'_> {
    fn check_ability(
        &self,
        step: &str,
        name: &str,
        path: &str,
        document: &Document<'_>,
        problems: &mut Problems,
    ) {
        if self.tools.contains(name) {
            return;
        }
        let known = Permission::parse(name).is_known();
        let asked = self.permissions.iter().any(|permission| permission.ability == name);
        if !asked && known {
            let message =
                format!("step `{step}` uses `{name}`, which the manifest's `permissions` do not list");
            document.error(problems, path, message);
        } else if !asked {
            let meant =
                || nearest(name, known_abilities()).or_else(|| nearest(name, self.tools.iter().copied()));
            let meant = if problems.is_full() { None } else { meant() };
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            document.error(
                problems,
                path,
                format!("step `{step}`: there is no ability or tool `{name}`{hint}"),
            );
        } else if !known {
            let message = format!("step `{step}`: there is no ability `{name}` here; the step will fail");
            document.warning(problems, path, message);
        }
    }
}

impl StepEntry {
    fn lower(
        &self,
        index: usize,
        places: &Places<'_>,
        callable: &Callable<'_>,
        document: &Document<'_>,
        problems: &mut Problems,
    ) -> Option<Step> {
        let path = format!("steps.{index}");
        if let (Some(ability), None) = (&self.ability, &self.tool) {
            callable.check_ability(&self.id, ability, &format!("{path}.ability"), document, problems);
        }
        let mut fail = |key: &str, message: String| {
            document.error(problems, &format!("{path}.{key}"), format!("step `{}`: {message}", self.id));
        };
        if self.id.is_empty() || !self.id.chars().all(is_id_char) {
            fail("id", "a step's id has letters, digits, `-` and `_`".to_owned());
        }
        if places.of(&self.id).is_some_and(|first| first < index) {
            fail("id", "another step has the same id".to_owned());
        }
        let call = match (&self.ability, &self.tool) {
            (Some(name), None) if callable.tools.contains(name.as_str()) => Callee::Tool(name.clone()),
            (Some(name), None) => Callee::Ability(name.clone()),
            (None, Some(name)) if callable.tools.contains(name.as_str()) => Callee::Tool(name.clone()),
            (None, Some(name)) => {
                fail("tool", format!("the agent has no tool `{name}`"));
                return None;
            }
            (None, None) | (Some(_), Some(_)) => {
                fail("id", "needs exactly one of `ability` and `tool`".to_owned());
                return None;
            }
        };
        let on_failure =
            match self.on_failure.as_ref().map_or(Ok(OnFailure::Abort), |entry| entry.lower(index, places)) {
                Ok(on_failure) => on_failure,
                Err(message) => {
                    fail("on_failure", message);
                    return None;
                }
            };
        for needed in &self.depends_on {
            if places.of(needed).is_none() {
                fail("depends_on", format!("there is no step `{needed}`"));
            }
        }
        Some(Step {
            id: self.id.clone(),
            call,
            args: Value::Object(self.args.clone()),
            output_key: self.output_key.clone(),
            condition: self.condition.clone(),
            on_failure,
            depends_on: self.depends_on.clone(),
            is_fallback: false,
        })
    }
}

impl FailureEntry {
    fn lower(&self, index: usize, places: &Places<'_>) -> Result<OnFailure, String> {
        match self {
            Self::Word(word) if word == "abort" => Ok(OnFailure::Abort),
            Self::Word(word) if word == "continue" => Ok(OnFailure::Continue),
            Self::Word(word) => match places.of(word) {
                None => Err(format!("`{word}` is neither abort, continue, a retry nor the id of a step")),
                Some(target) if target <= index => Err(format!("`{word}` does not come after this step")),
                Some(_) => Ok(OnFailure::GoTo(word.clone())),
            },
            Self::Retry { retry } if !(1..=MAX_ATTEMPTS).contains(&retry.attempts) => {
                Err(format!("retry: attempts must be 1 to {MAX_ATTEMPTS}; it is {}", retry.attempts))
            }
            Self::Retry { retry } if !(1..=10).contains(&retry.backoff) => {
                Err(format!("retry: backoff must be 1 to 10; it is {}", retry.backoff))
            }
            Self::Retry { retry } => {
                let delay = parse_period(&retry.delay).map_err(|reason| format!("retry: {reason}"))?;
                if delay > Duration::hours(1) {
                    return Err("retry: the delay is at most 1h".to_owned());
                }
                Ok(OnFailure::Retry { attempts: retry.attempts, delay, backoff: retry.backoff })
            }
        }
    }
}

fn mark_fallbacks(steps: &mut [Step]) {
    let targets: BTreeSet<String> = steps
        .iter()
        .filter_map(|step| match &step.on_failure {
            OnFailure::GoTo(target) => Some(target.clone()),
            _ => None,
        })
        .collect();
    for step in steps {
        step.is_fallback = targets.contains(&step.id);
    }
}

/// A fallback must run after its step in the order of execution as well, which `depends_on` may have changed.
fn check_fallbacks(places: &Places<'_>, steps: &[Step], document: &Document<'_>, problems: &mut Problems) {
    let mut before = BTreeSet::new();
    for step in steps {
        if let OnFailure::GoTo(target) = &step.on_failure
            && before.contains(target.as_str())
        {
            let index = places.of(&step.id).unwrap_or_default();
            let message =
                format!("step `{}`: `{target}` runs before this step, because of `depends_on`", step.id);
            document.error(problems, &format!("steps.{index}.on_failure"), message);
        }
        before.insert(step.id.as_str());
    }
}

/// Every `{{name}}` must lead to something that can exist when its step runs.
fn check_references(
    chain: &ChainFile,
    places: &Places<'_>,
    steps: &[Step],
    document: &Document<'_>,
    problems: &mut Problems,
) {
    let results: BTreeSet<&str> = steps
        .iter()
        .flat_map(|step| [Some(step.id.as_str()), step.output_key.as_deref()])
        .flatten()
        .collect();
    let mut known: BTreeSet<&str> = ALWAYS.iter().copied().collect();
    known.extend(chain.params.iter().map(|parameter| parameter.name.as_str()));
    for step in steps {
        let index = places.of(&step.id).unwrap_or_default();
        if template::is_unclosed(&step.args) {
            let message = format!("step `{}`: a `{{{{` has no `}}}}` after it", step.id);
            document.error(problems, &format!("steps.{index}.args"), message);
        }
        if let Some(Condition { op: Op::Matches, value: Value::String(pattern), .. }) = &step.condition
            && !pattern.contains("{{")
            && let Err(message) = holds(None, Op::Matches, &Value::String(pattern.clone()))
        {
            document.error(
                problems,
                &format!("steps.{index}.condition"),
                format!("step `{}`: {message}", step.id),
            );
        }
        let mut used: Vec<(&str, String)> =
            template::references(&step.args).into_iter().map(|reference| ("args", reference)).collect();
        if let Some(condition) = &step.condition {
            used.push(("condition", condition.ref_key.clone()));
            used.extend(
                template::references(&condition.value).into_iter().map(|reference| ("condition", reference)),
            );
        }
        for (key, reference) in used {
            let first = reference.split('.').next().unwrap_or_default();
            if !known.contains(first) {
                let later = results.contains(first);
                let why = if later {
                    "is the result of a later step"
                } else {
                    "is no parameter, step or output of this chain"
                };
                let message = format!("step `{}`: `{{{{{reference}}}}}`: `{first}` {why}", step.id);
                document.error(problems, &format!("steps.{index}.{key}"), message);
            }
        }
        known.insert(&step.id);
        known.extend(step.output_key.as_deref());
    }
}
