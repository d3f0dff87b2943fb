//! Waits for the next slot of any schedule, and starts its run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use chrono_tz::Tz;
use futures_util::StreamExt;
use futures_util::stream;
use nb_runtime::{Actor, Engine, RunRequest, StartError, Started, Target};
use nb_spec::trigger::Overlap;
use nb_store::{LedgerKey, RunRow, SlotKey, StoreError};
use serde_json::{Map, json};
use tokio::sync::{Mutex, Notify};

use crate::schedule::Schedule;
use crate::slots::{Verdict, due};

/// So many schedules start their runs at once; they share the store's commits.
const AT_ONCE: usize = 64;
/// So many slots of one schedule wait for their turn in memory.
const MAX_WAITING: usize = 1000;
/// After a failure of the store the schedule is looked at again so much later.
const AFTER_FAILURE: Duration = Duration::seconds(5);

/// Runs the schedules of an engine's agents.
pub struct Scheduler {
    engine: Engine,
    zone: Tz,
    /// The agents changed, or a run ended that a slot waits for.
    changed: Arc<Notify>,
}

/// A schedule and what is known of its slots. Survives a change of other agents.
struct Line {
    schedule: Schedule,
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

type Key = (String, String, String, DateTime<Utc>);

impl Scheduler {
    /// A scheduler; `changed` is notified when the agents change.
    pub fn new(engine: Engine, zone: Tz, changed: Arc<Notify>) -> Self {
        Self { engine, zone, changed }
    }

    /// Runs for ever.
    pub async fn run(self) {
        let mut lines: HashMap<Key, Arc<Line>> = HashMap::new();
        loop {
            let changed = self.changed.notified();
            lines = self.collect(lines);
            let mut heap: BinaryHeap<Reverse<(DateTime<Utc>, Key)>> = BinaryHeap::new();
            for (key, line) in &lines {
                let wake_at = self.wake_at(line).await;
                heap.extend(wake_at.map(|at| Reverse((at, key.clone()))));
            }
            tokio::pin!(changed);
            loop {
                let now = self.now();
                let mut ready = Vec::new();
                while heap.peek().is_some_and(|Reverse((at, _))| *at <= now) {
                    let Some(Reverse((_, key))) = heap.pop() else { break };
                    ready.extend(lines.get(&key).map(|line| (key, Arc::clone(line))));
                }
                stream::iter(&ready).for_each_concurrent(AT_ONCE, |(_, line)| self.attend(line)).await;
                for (key, line) in ready {
                    let wake_at = self.wake_at(&line).await;
                    heap.extend(wake_at.map(|at| Reverse((at, key))));
                }
                let sleep = async {
                    match heap.peek() {
                        Some(Reverse((at, _))) => self.engine.services().world.sleep_until(*at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = sleep => {}
                    () = &mut changed => break,
                }
            }
        }
    }

    fn now(&self) -> DateTime<Utc> {
        self.engine.services().world.now()
    }

    /// The schedules of the agents that may be woken now. What was known of a schedule is kept.
    fn collect(&self, mut known: HashMap<Key, Arc<Line>>) -> HashMap<Key, Arc<Line>> {
        let running = self.engine.agents().running();
        let open = self.engine.services().store.unfinished().unwrap_or_else(|error| {
            tracing::error!("unfinished runs are not read: {error}");
            Vec::new()
        });
        let schedules = running.iter().flat_map(|agent| Schedule::of(agent, self.zone));
        schedules
            .filter_map(|schedule| {
                let row = &schedule.agent.row;
                let key = (row.name.clone(), schedule.trigger.clone(), row.digest.clone(), row.state_since);
                let line = match known.remove(&key) {
                    Some(line) => line,
                    None => Arc::new(self.line(schedule, &open)?),
                };
                Some((key, line))
            })
            .collect()
    }

    fn line(&self, schedule: Schedule, open: &[RunRow]) -> Option<Line> {
        let last = match self.engine.services().store.last_slot(schedule.agent.name(), &schedule.trigger) {
            Ok(last) => last,
            Err(error) => {
                tracing::error!(
                    agent = schedule.agent.name(),
                    trigger = schedule.trigger,
                    "schedule is not read: {error}"
                );
                return None;
            }
        };
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
            retry_at: None,
        };
        Some(Line { schedule, progress: Mutex::new(progress) })
    }

    /// When the schedule must be looked at next.
    async fn wake_at(&self, line: &Line) -> Option<DateTime<Utc>> {
        let progress = line.progress.lock().await;
        if let Some(retry_at) = progress.retry_at {
            return Some(retry_at);
        }
        if !progress.waiting.is_empty() && !self.is_busy(&progress) {
            return Some(self.now());
        }
        if progress.waiting.len() >= MAX_WAITING {
            return None;
        }
        line.schedule.next_after(progress.seen).map(|slot| slot + line.schedule.offset)
    }

    fn is_busy(&self, progress: &Progress) -> bool {
        progress.last_run.as_ref().is_some_and(|run| self.engine.is_in_flight(run))
    }

    /// Decides the slots that are due, and starts those that run.
    async fn attend(&self, line: &Line) {
        let mut progress = line.progress.lock().await;
        progress.retry_at = None;
        if let Err(error) = self.decide(&line.schedule, &mut progress).await {
            tracing::error!(
                agent = line.schedule.agent.name(),
                trigger = line.schedule.trigger,
                "schedule: {error}"
            );
            progress.retry_at = Some(self.now() + AFTER_FAILURE);
        }
    }

    async fn decide(&self, schedule: &Schedule, progress: &mut Progress) -> Result<(), StoreError> {
        let now = self.now() - schedule.offset;
        let next = |after| schedule.next_after(after);
        for (slot, verdict) in due(next, progress.seen, now, schedule.missed, schedule.window) {
            let turn = match (verdict, schedule.overlap) {
                (Verdict::Skip(reason), _) => Turn::Skip(reason),
                (Verdict::Run { missed: true }, _) | (_, Overlap::Queue) => Turn::AfterPrevious,
                (_, Overlap::Allow) => Turn::AtOnce,
                (_, Overlap::Cancel) => Turn::InsteadOfPrevious,
                (_, Overlap::Skip) if self.is_busy(progress) || !progress.waiting.is_empty() => {
                    let previous = progress.last_run.as_deref().unwrap_or("before it");
                    Turn::Skip(format!("the run {previous} was still going on (overlap: skip)"))
                }
                (_, Overlap::Skip) => Turn::AfterPrevious,
            };
            if progress.waiting.len() >= MAX_WAITING {
                // Undecided and unseen: they count as missed when those before them have run.
                self.watch(progress);
                return Ok(());
            }
            progress.waiting.push_back((slot, turn));
            progress.seen = slot;
            self.take_turns(schedule, progress).await?;
        }
        // What is older than the window was skipped as a whole.
        progress.seen = progress.seen.max(now - schedule.window);
        self.take_turns(schedule, progress).await?;
        self.watch(progress);
        Ok(())
    }

    /// Looks at the slots that wait again when the run before them has ended.
    fn watch(&self, progress: &mut Progress) {
        if !progress.waiting.is_empty() && progress.watched != progress.last_run {
            progress.watched.clone_from(&progress.last_run);
            let (engine, changed, run) =
                (self.engine.clone(), Arc::clone(&self.changed), progress.last_run.clone());
            tokio::spawn(async move {
                // Whatever came of it, the slot that waits is looked at again.
                let _ = engine.finished(&run.unwrap_or_default()).await;
                changed.notify_one();
            });
        }
    }

    /// Brings the slots that wait into the ledger, as far as their turn has come.
    async fn take_turns(&self, schedule: &Schedule, progress: &mut Progress) -> Result<(), StoreError> {
        while let Some((slot, turn)) = progress.waiting.front().cloned() {
            match turn {
                Turn::Skip(reason) => self.skip(schedule, slot, &reason)?,
                Turn::AfterPrevious if self.is_busy(progress) => break,
                Turn::AfterPrevious | Turn::AtOnce => self.start(schedule, progress, slot).await?,
                Turn::InsteadOfPrevious => {
                    if let Some(previous) = progress.last_run.clone() {
                        self.engine.cancel(&previous, "the next slot of its schedule came (overlap: cancel)");
                        self.engine.finished(&previous).await?;
                    }
                    self.start(schedule, progress, slot).await?;
                }
            }
            progress.waiting.pop_front();
        }
        Ok(())
    }

    fn skip(&self, schedule: &Schedule, slot: DateTime<Utc>, reason: &str) -> Result<(), StoreError> {
        let key =
            SlotKey { agent: schedule.agent.name().to_owned(), trigger: schedule.trigger.clone(), at: slot };
        self.engine.services().store.record_skip(&key, reason, self.now()).map(drop)
    }

    async fn start(
        &self,
        schedule: &Schedule,
        progress: &mut Progress,
        slot: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let agent = schedule.agent.name().to_owned();
        let mut context = Map::new();
        context
            .insert("trigger".to_owned(), json!({"kind": "schedule", "name": schedule.trigger, "at": slot}));
        let request = RunRequest {
            agent: agent.clone(),
            target: Target::Task(schedule.chain.clone()),
            params: schedule.params.clone(),
            context,
            actor: Actor::Schedule { trigger: schedule.trigger.clone(), at: slot },
            depth: 0,
            ledger: LedgerKey::Slot(SlotKey { agent, trigger: schedule.trigger.clone(), at: slot }),
        };
        match self.engine.start(request).await {
            Ok(Started::Run(run)) => progress.last_run = Some(run),
            Ok(Started::Already(_)) => {}
            // The slot stays undecided, and those after it with it: the next start of the daemon decides them.
            Err(StartError::Shutdown) => std::future::pending().await,
            Err(StartError::Store(error)) => return Err(error),
            Err(error) => self.skip(schedule, slot, &error.to_string())?,
        }
        Ok(())
    }
}

fn is_slot_of(run: &RunRow, trigger: &str) -> bool {
    matches!(serde_json::from_value(run.actor.clone()), Ok(Actor::Schedule { trigger: found, .. }) if found == trigger)
}
