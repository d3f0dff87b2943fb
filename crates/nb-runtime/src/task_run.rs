//! The steps of a task, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use nb_spec::Task;
use nb_spec::condition::holds;
use nb_spec::task::{Callee, OnFailure, Step};
use serde_json::Value;

use crate::ability::{self, Caller, Reply};
use crate::engine::RunContext;
use crate::error::RunError;
use crate::record::{RunEvent, StepStatus, kept};
use crate::scope::Scope;
use crate::tool_run::call_tool;

/// What a record already holds of the steps: after a restart it is taken as it is.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Recorded {
    /// The results.
    pub(crate) results: BTreeMap<String, (StepStatus, Value, Option<String>)>,
    /// For a step without a result: its last attempt that failed, and when the next one begins.
    pub(crate) retries: BTreeMap<String, (u32, DateTime<Utc>)>,
}

enum StepResult {
    Done(StepStatus, Value, Option<String>),
    Stop(Value),
}

/// Carries out a task. Its result is the output of the last step that succeeded, or what `flow.stop` gave.
pub(crate) async fn run_task(
    run: &Arc<RunContext>,
    task: &Task,
    context: &Value,
    recorded: &Recorded,
) -> Result<Value, RunError> {
    let mut scope = Scope::new(context);
    let mut result = Value::Null;
    let mut index = 0;
    let mut reached_by_failure = false;
    while let Some(step) = task.steps.get(index) {
        index += 1;
        if step.is_fallback && !reached_by_failure {
            continue;
        }
        reached_by_failure = false;
        let outcome = match recorded.results.get(&step.id) {
            Some((StepStatus::Succeeded, output, _))
                if step.call == Callee::Ability("flow.stop".to_owned()) =>
            {
                StepResult::Stop(output.clone())
            }
            Some((status, output, reason)) => StepResult::Done(*status, output.clone(), reason.clone()),
            None => run_step(run, step, &scope, recorded.retries.get(&step.id)).await?,
        };
        let (status, output, reason) = match outcome {
            StepResult::Stop(value) => return Ok(value),
            StepResult::Done(status, output, reason) => (status, output, reason),
        };
        scope.keep(task, &step.id, output.clone());
        match (status, &step.on_failure) {
            (StepStatus::Succeeded, _) => result = output,
            (StepStatus::Skipped, _) | (StepStatus::Failed, OnFailure::Continue) => {}
            (StepStatus::Failed, OnFailure::GoTo(target)) => {
                // A chain loads only when the fallback comes after its step.
                index = task.steps.iter().position(|other| other.id == *target).unwrap_or(index).max(index);
                reached_by_failure = true;
            }
            (StepStatus::Failed, OnFailure::Abort | OnFailure::Retry { .. }) => {
                return Err(RunError::Step { step: step.id.clone(), reason: reason.unwrap_or_default() });
            }
        }
    }
    Ok(result)
}

/// Runs one step with its attempts and records its result. An error here ends the run whatever `on_failure` says.
async fn run_step(
    run: &Arc<RunContext>,
    step: &Step,
    scope: &Scope,
    retry: Option<&(u32, DateTime<Utc>)>,
) -> Result<StepResult, RunError> {
    let begun = Instant::now();
    let finish = |status: StepStatus, output: Value, reason: Option<String>| {
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let event = RunEvent::StepFinished {
            step: step.id.clone(),
            status,
            output: output.clone(),
            reason: reason.clone(),
            ms,
        };
        run.record(&event).map(|()| StepResult::Done(status, output, reason)).map_err(RunError::from)
    };
    match condition_holds(step, scope) {
        Ok(true) => {}
        Ok(false) => {
            return finish(StepStatus::Skipped, Value::Null, Some("its condition does not hold".to_owned()));
        }
        Err(reason) => return finish(StepStatus::Failed, Value::Null, Some(reason)),
    }
    let args = match arguments(step, scope) {
        Ok(args) => args,
        Err(error) => return finish(StepStatus::Failed, Value::Null, Some(error.to_string())),
    };
    let (attempts, delay, backoff) = match step.on_failure {
        OnFailure::Retry { attempts, delay, backoff } => (attempts, delay, backoff),
        _ => (1, TimeDelta::zero(), 1),
    };
    let call = match &step.call {
        Callee::Ability(name) | Callee::Tool(name) => name.clone(),
    };
    let mut pause = delay;
    let mut first = 1;
    if let Some((failed, next_at)) = retry {
        wait_until(run, *next_at).await?;
        first = failed + 1;
        pause = (0..*failed).fold(delay, |pause, _| longer(pause, backoff));
    }
    for attempt in first.. {
        run.check_cancelled()?;
        run.record(&RunEvent::StepStarted {
            step: step.id.clone(),
            call: call.clone(),
            args: kept(&args),
            attempt,
        })?;
        let result = match &step.call {
            Callee::Tool(name) => call_tool(run, name, args.clone()).await.map(Reply::Value),
            Callee::Ability(name) => ability::invoke(run, Caller::Step, name, args.clone()).await,
        };
        match result {
            Ok(Reply::Value(output)) => return finish(StepStatus::Succeeded, output, None),
            Ok(Reply::Stop(value)) => {
                finish(StepStatus::Succeeded, value.clone(), None)?;
                return Ok(StepResult::Stop(value));
            }
            Err(
                error @ (RunError::Cancelled(_)
                | RunError::Shutdown
                | RunError::Store(_)
                | RunError::Internal(_)),
            ) => {
                return Err(error);
            }
            Err(error) if attempt >= attempts => {
                return finish(StepStatus::Failed, Value::Null, Some(error.to_string()));
            }
            Err(error) => {
                let next_at = run.engine.services().world.now() + pause;
                run.record(&RunEvent::StepRetry {
                    step: step.id.clone(),
                    attempt,
                    error: error.to_string(),
                    next_at,
                })?;
                pause = longer(pause, backoff);
                wait_until(run, next_at).await?;
            }
        }
    }
    Err(RunError::Internal("a step without attempts".to_owned()))
}

/// At most a year, whatever the number of attempts.
fn longer(pause: TimeDelta, backoff: u32) -> TimeDelta {
    pause.checked_mul(i32::try_from(backoff).unwrap_or(1)).unwrap_or(TimeDelta::MAX).min(TimeDelta::days(365))
}

async fn wait_until(run: &RunContext, at: DateTime<Utc>) -> Result<(), RunError> {
    tokio::select! {
        () = run.engine.services().world.sleep_until(at) => Ok(()),
        () = run.cancel.cancelled() => Err(run.cancelled()),
    }
}

fn condition_holds(step: &Step, scope: &Scope) -> Result<bool, String> {
    let Some(condition) = &step.condition else { return Ok(true) };
    let right = scope.expand(&condition.value).map_err(|error| error.to_string())?;
    holds(scope.find(&condition.ref_key).as_ref(), condition.op, &right)
        .map_err(|reason| format!("condition: {reason}"))
}

/// The arguments with their references filled in. In a chain `flow.branch` names what it compares by `ref_key`.
fn arguments(step: &Step, scope: &Scope) -> Result<Value, RunError> {
    let mut args = scope.expand(&step.args)?;
    if step.call == Callee::Ability("flow.branch".to_owned())
        && let Value::Object(map) = &mut args
        && let Some(Value::String(path)) = map.remove("ref_key")
    {
        map.insert("left".to_owned(), scope.find(&path).unwrap_or_default());
    }
    Ok(args)
}
