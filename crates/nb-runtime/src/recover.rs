//! After a crash: what becomes of the runs that had not ended.

use nb_store::{RunRow, StoreError};

use crate::ability::may_repeat;
use crate::engine::Engine;
use crate::error::{RunError, StartError};
use crate::record::RunEvent;
use crate::task_run::Recorded;

/// How many events are read at once.
const PAGE: usize = 1000;

/// What the record of an unfinished run says.
#[derive(Debug, Default, PartialEq)]
struct Found {
    recorded: Recorded,
    /// The ability, or the tool outside of the sandbox, whose effect may have happened since the last result.
    in_doubt: Option<String>,
}

impl Engine {
    /// Goes on with every run that had not ended, or records why it cannot go on. Call it once, after the agents are
    /// loaded. Gives how many were resumed and how many were closed.
    pub async fn recover(&self) -> Result<(usize, usize), StoreError> {
        let (mut resumed, mut closed) = (0, 0);
        for mut run in self.services().store.unfinished()? {
            let found = read_record(self, &run)?;
            let refusal = match self.agents().runnable(&run.agent) {
                Err(StartError::NoAgent(_)) => Err("its agent was removed".to_owned()),
                Err(error) => Err(error.to_string()),
                Ok(agent) if agent.row.digest != run.digest => {
                    Err("its agent was replaced by another version".to_owned())
                }
                Ok(agent) => match &found.in_doubt {
                    Some(ability) => {
                        Err(format!("`{ability}` had begun and may have taken effect; run it again if not"))
                    }
                    None => Ok(agent),
                },
            };
            match refusal {
                Ok(agent) => {
                    let reason = "the daemon was started again".to_owned();
                    let event = RunEvent::Resumed { reason }.stamped(self.services().world.now());
                    self.services().store.append(&run.id, &event)?;
                    self.resume(run, agent, found.recorded);
                    resumed += 1;
                }
                Err(why) => {
                    self.end(&mut run, Err(RunError::Interrupted(why))).await?;
                    closed += 1;
                }
            }
        }
        self.services().store.commit().await?;
        Ok((resumed, closed))
    }
}

fn read_record(engine: &Engine, run: &RunRow) -> Result<Found, StoreError> {
    let mut found = Found::default();
    let mut after = 0;
    loop {
        let page = engine.services().store.run_events(&run.id, after, PAGE)?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        after = *last;
        for (_, stored) in &page {
            if let Some(event) = RunEvent::read(stored) {
                found.take(event);
            }
        }
    }
}

impl Found {
    fn take(&mut self, event: RunEvent) {
        match event {
            RunEvent::StepFinished { step, status, output, reason, .. } => {
                self.recorded.results.insert(step, (status, output, reason));
                self.in_doubt = None;
            }
            // What a step did before it failed is known to have failed; the next attempt begins afresh.
            RunEvent::StepRetry { step, attempt, next_at, .. } => {
                self.recorded.retries.insert(step, (attempt, next_at));
                self.in_doubt = None;
            }
            RunEvent::HostBegun { ability, args } if !may_repeat(&ability, &args) => {
                self.in_doubt = Some(ability)
            }
            // What it did outside of the sandbox is in no record.
            RunEvent::ToolStarted { tool, unsandboxed: true, .. } => self.in_doubt = Some(tool),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::StepStatus;
    use serde_json::{Value, json};

    fn begun() -> RunEvent {
        RunEvent::HostBegun { ability: "http.fetch".to_owned(), args: json!({"method": "POST"}) }
    }

    fn finished(step: &str) -> RunEvent {
        RunEvent::StepFinished {
            step: step.to_owned(),
            status: StepStatus::Succeeded,
            output: json!(1),
            reason: None,
            ms: 1.0,
        }
    }

    fn found(events: Vec<RunEvent>) -> Found {
        events.into_iter().fold(Found::default(), |mut found, event| {
            found.take(event);
            found
        })
    }

    #[test]
    fn a_step_with_a_result_is_not_in_doubt() {
        let found = found(vec![begun(), finished("a")]);
        assert_eq!(found.in_doubt, None);
        assert_eq!(found.recorded.results["a"], (StepStatus::Succeeded, json!(1), None::<String>));
    }

    #[test]
    fn what_may_be_repeated_is_not_in_doubt() {
        let get = RunEvent::HostBegun {
            ability: "http.fetch".to_owned(),
            args: json!({"url": "https://a.example"}),
        };
        let notify = RunEvent::HostBegun { ability: "notify.user".to_owned(), args: json!({"message": "m"}) };
        assert_eq!(found(vec![get.clone(), notify.clone()]).in_doubt, None);
        assert_eq!(found(vec![begun(), get, notify]).in_doubt.as_deref(), Some("http.fetch"));
    }

    #[test]
    fn a_tool_outside_of_the_sandbox_is_not_called_twice() {
        let started =
            |unsandboxed| RunEvent::ToolStarted { tool: "pay".to_owned(), input: Value::Null, unsandboxed };
        assert_eq!(found(vec![started(true)]).in_doubt.as_deref(), Some("pay"));
        assert_eq!(found(vec![started(true), finished("a")]).in_doubt, None);
        assert_eq!(found(vec![started(false)]).in_doubt, None);
    }

    #[test]
    fn an_effect_without_a_result_is_in_doubt() {
        let log = RunEvent::Log { level: "info".to_owned(), message: String::new() };
        let call = RunEvent::HostCall {
            ability: "http.fetch".to_owned(),
            args: None,
            output: Some(Value::Null),
            error: None,
            ms: 1.0,
        };
        assert_eq!(found(vec![finished("a"), begun(), call, log]).in_doubt.as_deref(), Some("http.fetch"));
    }
}
