//! One schedule, and what is known of its slots.

use std::collections::VecDeque;

use chrono::{DateTime, Duration, Utc};
use nb_runtime::{Actor, Engine, RunRequest, StartError, Started, Target};
use nb_spec::trigger::{Missed, Overlap};
use nb_store::{LedgerKey, RunRow, SlotKey, StoreError};
use serde_json::{Map, json};
use tokio::sync::Mutex;

use crate::schedule::Schedule;
use crate::slots::{Verdict, due};

/// So many slots of one schedule wait for their turn in memory, and so many are decided in one go.
const MAX_WAITING: usize = 1000;
/// After a failure of the store the schedule is looked at again so much later.
pub(crate) const AFTER_FAILURE: Duration = Duration::seconds(5);
/// A decided slot that is further ahead of the clock than this was decided by a clock that was wrong.
pub(crate) const AHEAD: Duration = Duration::days(1);

/// A schedule at work. Survives a change of other agents.
pub(crate) struct Line {
    engine: Engine,
    schedule: Schedule,
    /// Since when its slots are waited for.
    watched: DateTime<Utc>,
    progress: Mutex<Progress>,
}

struct Progress {
    /// The last slot that was decided or waits.
    seen: DateTime<Utc>,
    /// The run of the last slot that started one.
    last_run: Option<String>,
    /// Slots that are not in the ledger yet. They reach it in their order: after a crash every slot up to its latest
    /// one counts as decided.
    waiting: VecDeque<(DateTime<Utc>, Turn)>,
    /// The run whose end is waited for.
    watched: Option<String>,
    /// The newest slot that was missed and is to run, and the slot of the last run: between them lies the catch-up.
    missed_up_to: Option<DateTime<Utc>>,
    started: Option<DateTime<Utc>>,
    /// Not before this time: the store failed.
    retry_at: Option<DateTime<Utc>>,
}

/// What is to become of a slot when all slots before it are in the ledger.
#[derive(Debug, Clone)]
enum Turn {
    /// It does not run, for this reason.
    Skip(String),
    /// It starts when the run before it has ended.
    AfterPrevious,
    /// It starts.
    AtOnce,
    /// It starts, and the run before it is cancelled.
    InsteadOfPrevious,
}

impl Progress {
    /// Whether a slot that was missed runs or waits.
    fn catches_up(&self) -> bool {
        self.missed_up_to.is_some_and(|up_to| self.started.is_none_or(|started| started <= up_to))
    }
}

impl Line {
    /// Reads what the ledger knows of a schedule. `open` are the runs without an end.
    pub(crate) fn read(engine: Engine, schedule: Schedule, open: &[RunRow]) -> Result<Self, StoreError> {
        let last = engine.services().store.last_slot(schedule.agent.name(), &schedule.trigger)?;
        let begin = schedule.begin();
        // After a restart the latest slot may have been skipped because an earlier one still runs: that one counts.
        let last_run = open
            .iter()
            .rev()
            .find(|run| run.agent == schedule.agent.name() && is_slot_of(run, &schedule.trigger));
        let progress = Progress {
            seen: last.as_ref().map_or(begin, |last| last.at.max(begin)),
            last_run: last_run.map(|run| run.id.clone()),
            waiting: VecDeque::new(),
            watched: None,
            missed_up_to: None,
            started: None,
            retry_at: None,
        };
        let watched = engine.services().world.now() - schedule.offset;
        Ok(Self { engine, schedule, watched, progress: Mutex::new(progress) })
    }

    /// When the schedule must be looked at next; none when only the end of a run can change anything.
    pub(crate) async fn wake_at(&self) -> Option<DateTime<Utc>> {
        let mut progress = self.progress.lock().await;
        self.correct(&mut progress);
        if let Some(retry_at) = progress.retry_at {
            return Some(retry_at);
        }
        if !progress.waiting.is_empty() && !self.is_busy(&progress) {
            return Some(self.now());
        }
        if progress.waiting.len() >= MAX_WAITING {
            return None;
        }
        self.schedule.next_after(progress.seen).map(|slot| slot + self.schedule.offset)
    }

    /// The run at whose end a slot's turn comes, once for each run.
    pub(crate) async fn to_watch(&self) -> Option<String> {
        let mut progress = self.progress.lock().await;
        if progress.waiting.is_empty() || progress.watched == progress.last_run {
            return None;
        }
        let run = progress.last_run.clone();
        progress.watched.clone_from(&run);
        run
    }

    /// Decides the slots that are due, and starts those that run.
    pub(crate) async fn attend(&self) {
        let mut progress = self.progress.lock().await;
        progress.retry_at = None;
        self.correct(&mut progress);
        if let Err(error) = self.decide(&mut progress).await {
            self.log(&error.to_string());
            progress.retry_at = Some(self.now() + AFTER_FAILURE);
        }
    }

    /// Records the slots that wait as skipped when the agent was stopped. Those of an agent that was replaced stay
    /// undecided: they are due for its next build. Those of one that is gone need nothing.
    pub(crate) async fn retire(&self) {
        let agent = &self.schedule.agent;
        let was_stopped = self.engine.agents().get(agent.name()).is_some_and(|entry| {
            entry.row().state_since != agent.row.state_since || entry.row().state != agent.row.state
        });
        if was_stopped {
            for (slot, turn) in self.progress.lock().await.waiting.drain(..) {
                let reason = match turn {
                    Turn::Skip(reason) => reason,
                    _ => "the agent was stopped".to_owned(),
                };
                if let Err(error) = self.skip(slot, &reason) {
                    self.log(&error.to_string());
                }
            }
        }
    }

    /// After a clock that was far ahead was set right, the schedule would be silent until that time comes. Slots that
    /// are in the ledger do not run again.
    fn correct(&self, progress: &mut Progress) {
        let now = self.now();
        if progress.seen - now > AHEAD {
            self.log(&format!(
                "slots are decided up to {}, but it is {now}: the clock was wrong then or is wrong now; the schedule goes on from now",
                progress.seen
            ));
            progress.seen = now;
        }
    }

    fn log(&self, problem: &str) {
        let (agent, trigger) = (self.schedule.agent.name(), &self.schedule.trigger);
        tracing::error!(agent, trigger, "schedule: {problem}");
    }

    fn now(&self) -> DateTime<Utc> {
        self.engine.services().world.now()
    }

    fn is_busy(&self, progress: &Progress) -> bool {
        progress.last_run.as_ref().is_some_and(|run| self.engine.is_in_flight(run))
    }

    async fn decide(&self, progress: &mut Progress) -> Result<(), StoreError> {
        let schedule = &self.schedule;
        self.take_turns(progress).await?;
        if progress.waiting.len() >= MAX_WAITING {
            return Ok(());
        }
        let now = self.now() - schedule.offset;
        let next = |after| schedule.next_after(after);
        let (missed, window) = (schedule.missed, schedule.window);
        for (slot, verdict) in due(next, progress.seen, self.watched, now, missed, window, MAX_WAITING) {
            let turn = match (verdict, schedule.overlap) {
                (Verdict::Skip(reason), _) => Turn::Skip(reason),
                (Verdict::Run { missed: true }, _) => {
                    progress.missed_up_to = Some(slot);
                    Turn::AfterPrevious
                }
                (_, Overlap::Queue) => Turn::AfterPrevious,
                (_, Overlap::Allow) => Turn::AtOnce,
                (_, Overlap::Cancel) => Turn::InsteadOfPrevious,
                // What is caught up with is no previous run that a slot could overlap: every slot runs.
                (_, Overlap::Skip) if missed == Missed::All && progress.catches_up() => Turn::AfterPrevious,
                (_, Overlap::Skip) if self.is_busy(progress) || !progress.waiting.is_empty() => {
                    let previous = progress.last_run.as_deref().unwrap_or("before it");
                    Turn::Skip(format!("the run {previous} was still going on (overlap: skip)"))
                }
                (_, Overlap::Skip) => Turn::AfterPrevious,
            };
            if progress.waiting.len() >= MAX_WAITING {
                // Undecided and unseen: they count as missed when those before them have run.
                break;
            }
            progress.waiting.push_back((slot, turn));
            progress.seen = slot;
            self.take_turns(progress).await?;
        }
        // What is older than the window was skipped as a whole.
        progress.seen = progress.seen.max(now - schedule.window);
        Ok(())
    }

    /// Brings the slots that wait into the ledger, as far as their turn has come.
    async fn take_turns(&self, progress: &mut Progress) -> Result<(), StoreError> {
        while let Some((slot, turn)) = progress.waiting.front().cloned() {
            match turn {
                Turn::Skip(reason) => self.skip(slot, &reason)?,
                Turn::AfterPrevious if self.is_busy(progress) => break,
                Turn::AfterPrevious | Turn::AtOnce => self.start(progress, slot).await?,
                Turn::InsteadOfPrevious => {
                    if let Some(previous) = progress.last_run.clone() {
                        self.engine.cancel(&previous, "the next slot of its schedule came (overlap: cancel)");
                        self.engine.finished(&previous).await?;
                    }
                    self.start(progress, slot).await?;
                }
            }
            progress.waiting.pop_front();
        }
        Ok(())
    }

    fn key(&self, slot: DateTime<Utc>) -> SlotKey {
        let Schedule { agent, trigger, .. } = &self.schedule;
        SlotKey { agent: agent.name().to_owned(), trigger: trigger.clone(), at: slot }
    }

    fn skip(&self, slot: DateTime<Utc>, reason: &str) -> Result<(), StoreError> {
        self.engine.services().store.record_skip(&self.key(slot), reason, self.now()).map(drop)
    }

    async fn start(&self, progress: &mut Progress, slot: DateTime<Utc>) -> Result<(), StoreError> {
        let schedule = &self.schedule;
        let mut context = Map::new();
        context
            .insert("trigger".to_owned(), json!({"kind": "schedule", "name": schedule.trigger, "at": slot}));
        let request = RunRequest {
            agent: schedule.agent.name().to_owned(),
            target: Target::Task(schedule.chain.clone()),
            params: schedule.params.clone(),
            context,
            actor: Actor::Schedule { trigger: schedule.trigger.clone(), at: slot },
            depth: 0,
            ledger: LedgerKey::Slot(self.key(slot)),
        };
        match self.engine.start(request).await {
            Ok(Started::Run(run)) => {
                progress.last_run = Some(run);
                progress.started = Some(slot);
            }
            Ok(Started::Already(_)) => {}
            // The slot stays undecided, and those after it with it: the next start of the daemon decides them.
            Err(StartError::Shutdown) => std::future::pending().await,
            Err(StartError::Store(error)) => return Err(error),
            Err(error) => self.skip(slot, &error.to_string())?,
        }
        Ok(())
    }
}

fn is_slot_of(run: &RunRow, trigger: &str) -> bool {
    matches!(serde_json::from_value(run.actor.clone()), Ok(Actor::Schedule { trigger: found, .. }) if found == trigger)
}
