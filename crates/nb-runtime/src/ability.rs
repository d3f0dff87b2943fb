//! What an ability is, and the single way to call one.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use async_trait::async_trait;
use jsonschema::Validator;
use nb_spec::document::nearest;
use serde_json::Value;

use crate::abilities;
use crate::abilities::mismatch::mismatches;
use crate::engine::RunContext;
use crate::error::RunError;
use crate::policy::{Decision, Scopes, decide};
use crate::record::{RunEvent, kept, kept_text};

/// A named power of the host, behind the permission of the same name.
#[async_trait]
pub trait Ability: Send + Sync {
    /// The name, which is also the permission.
    fn name(&self) -> &'static str;

    /// JSON Schema of the arguments. They are checked before `invoke`.
    fn schema(&self) -> Value;

    /// Whether a permission for it can be narrowed, as in `http.fetch:*.example.com`. Where it cannot, a permission with
    /// a scope gives nothing: the ability would take it for more than was granted.
    fn has_scopes(&self) -> bool {
        false
    }

    /// What a call changes, given its arguments.
    fn effect(&self, args: &Value) -> Effect;

    /// Whether a call leaves the machine, and so counts against the agent's calls of the hour.
    fn leaves_machine(&self) -> bool {
        false
    }

    /// Whether the effect of such a call may happen twice: after a crash that left it in doubt, it is called again.
    fn may_repeat(&self, args: &Value) -> bool {
        self.effect(args) == Effect::None
    }

    /// Whether it ends by itself, within 100 ms, when its run is cancelled. Others are dropped where they are; such a one
    /// puts down what it has done.
    fn heeds_cancel(&self) -> bool {
        false
    }

    /// Does it. Permission, schema and limits were checked, and a call with an effect is on record. Must end by itself:
    /// what waits has a deadline. The error is a sentence for the author of the tool.
    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String>;
}

/// What an ability changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it can be repeated after a crash.
    None,
    /// Records of the store, which survive a crash in the order in which they were written.
    Stored,
    /// The world outside: the intention is on disk first.
    Outside,
}

/// A call of an ability.
pub struct AbilityCall<'a> {
    /// The run that calls.
    pub run: &'a Arc<RunContext>,
    /// Where it may be used.
    pub scopes: Scopes,
    /// What of the run calls.
    pub caller: Caller,
}

/// What of a run calls an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A step of a task.
    Step,
    /// A tool, which holds a place among the tools that run at once.
    Tool,
}

/// What an ability gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// A value.
    Value(Value),
    /// The task ends here, as a success, with this result.
    Stop(Value),
}

struct Registered {
    ability: Box<dyn Ability>,
    schema: OnceLock<Validator>,
}

fn registry() -> &'static [Registered] {
    static REGISTRY: OnceLock<Vec<Registered>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        abilities::all().into_iter().map(|ability| Registered { ability, schema: OnceLock::new() }).collect()
    })
}

/// The names of the abilities that exist.
pub fn names() -> impl Iterator<Item = &'static str> {
    registry().iter().map(|registered| registered.ability.name())
}

/// Whether a call that a crash left in doubt may be made again. Arguments that the record holds abridged do not fit
/// their schema: what was to be done is not known, so it is not done again.
pub(crate) fn may_repeat(name: &str, args: &Value) -> bool {
    let found = registry().iter().find(|registered| registered.ability.name() == name);
    found.is_some_and(|registered| registered.check(args).is_ok() && registered.ability.may_repeat(args))
}

/// Calls an ability for a run. There is no other way to call one.
pub async fn invoke(
    run: &Arc<RunContext>,
    caller: Caller,
    name: &str,
    args: Value,
) -> Result<Reply, RunError> {
    let registered = registry().iter().find(|registered| registered.ability.name() == name);
    let registered = registered.ok_or_else(|| unknown(name))?;
    let decision = match decide(run.agent.name(), &run.agent.grants, name) {
        Decision::Allow(Scopes::Limited(scopes)) if !registered.ability.has_scopes() => {
            let scopes = scopes.join(", ");
            Decision::Deny(format!(
                "permission `{name}` was granted for {scopes} only, and it has no scopes; ask for `{name}`"
            ))
        }
        decision => decision,
    };
    let scopes = match decision {
        Decision::Allow(scopes) => scopes,
        Decision::Deny(reason) => {
            let decision = "deny".to_owned();
            run.record(&RunEvent::PolicyDecided {
                ability: name.to_owned(),
                decision,
                reason: reason.clone(),
            })?;
            return Err(RunError::Permission(reason));
        }
    };
    let ability = registered.ability.as_ref();
    registered.check(&args)?;
    let failed = |reason: String| RunError::Ability { ability: name.to_owned(), reason: kept_text(reason) };

    let effect = ability.effect(&args);
    let mut repeated_args = Some(kept(&args));
    if ability.leaves_machine()
        && let Err(error) = run.count_outside_call().map_err(failed)
    {
        // Before `host.begun`: a call that never began leaves no effect in doubt.
        let event = RunEvent::HostCall {
            ability: name.to_owned(),
            args: repeated_args,
            output: None,
            error: Some(error.to_string()),
            ms: 0.0,
        };
        run.record(&event)?;
        return Err(error);
    }
    if effect != Effect::None {
        let args = repeated_args.take().unwrap_or_default();
        run.record(&RunEvent::HostBegun { ability: name.to_owned(), args })?;
    }
    if effect == Effect::Outside {
        run.engine.services().store.commit().await?;
    }
    let begun = Instant::now();
    let call = AbilityCall { run, scopes, caller };
    let result = if ability.heeds_cancel() {
        let result = ability.invoke(&call, args).await.map_err(failed);
        // What was broken off is no failure of its own.
        if result.is_err() { run.check_cancelled().and(result) } else { result }
    } else {
        tokio::select! {
            result = ability.invoke(&call, args) => result.map_err(failed),
            () = run.cancel.cancelled() => Err(run.cancelled()),
        }
    };
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let (output, error) = match &result {
        Ok(Reply::Value(value) | Reply::Stop(value)) => (Some(kept(value)), None),
        Err(error) => (None, Some(error.to_string())),
    };
    run.record(&RunEvent::HostCall { ability: name.to_owned(), args: repeated_args, output, error, ms })?;
    result
}

fn unknown(name: &str) -> RunError {
    match nearest(name, names()) {
        Some(meant) => RunError::Ability {
            ability: name.to_owned(),
            reason: format!("there is no such ability; did you mean `{meant}`?"),
        },
        None => RunError::NoAbility(name.to_owned()),
    }
}

impl Registered {
    fn check(&self, args: &Value) -> Result<(), RunError> {
        let name = self.ability.name();
        let fail = |reason: String| RunError::Arguments { what: name.to_owned(), reason };
        let schema = match self.schema.get() {
            Some(schema) => schema,
            None => {
                let schema = jsonschema::validator_for(&self.ability.schema())
                    .map_err(|error| fail(error.to_string()))?;
                self.schema.get_or_init(|| schema)
            }
        };
        let found = mismatches(schema, args);
        if found.is_empty() { Ok(()) } else { Err(fail(found)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_abilities_are_those_that_can_be_granted() {
        let mut names: Vec<&str> = names().collect();
        names.sort_unstable();
        assert_eq!(names, nb_spec::permission::known_abilities().collect::<Vec<_>>());
    }

    #[test]
    fn every_ability_has_a_valid_schema() {
        for registered in registry() {
            let schema = jsonschema::validator_for(&registered.ability.schema());
            assert!(schema.is_ok(), "{}", registered.ability.name());
        }
    }

    #[test]
    fn every_ability_has_a_test_of_its_own() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/abilities");
        let files = std::fs::read_dir(folder).unwrap();
        let tests: String =
            files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        for name in names() {
            let wanted = format!("fn {}_", name.replace('.', "_"));
            assert!(tests.contains(&wanted), "tests/abilities has no test that begins with `{wanted}`");
        }
    }
}
