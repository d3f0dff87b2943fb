//! Waits for the next slot of any schedule.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use futures_util::FutureExt;
use futures_util::stream::{self, FuturesUnordered, StreamExt};
use nb_runtime::Engine;
use tokio::sync::Notify;

use crate::agenda::Agenda;
use crate::bus::open_runs;
use crate::line::{AFTER_FAILURE, AHEAD, Line};
use crate::schedule::Schedule;

/// So many schedules start their runs at once; they share the store's commits.
const AT_ONCE: usize = 64;
/// So often the clock is compared with what it said before: nothing tells that it was set back.
const LOOK: std::time::Duration = std::time::Duration::from_secs(60);

/// Runs the schedules of an engine's agents.
pub struct Scheduler {
    engine: Engine,
    zone: Tz,
    /// The agents changed.
    changed: Arc<Notify>,
}

/// A schedule as long as nothing about it changes: its agent and trigger, the package's digest, and since when the
/// agent runs.
type Key = (String, String, String, DateTime<Utc>);

#[derive(Default)]
struct Lines {
    by_key: HashMap<Key, Arc<Line>>,
    agenda: Agenda<Key>,
    /// When the agents must be looked at again, because a schedule could not be read.
    retry_at: Option<DateTime<Utc>>,
}

impl Lines {
    async fn plan(&mut self) {
        for (key, line) in &self.by_key {
            self.agenda.set(key.clone(), line.wake_at().await);
        }
    }
}

impl Scheduler {
    /// A scheduler; `changed` is notified when the agents change.
    pub fn new(engine: Engine, zone: Tz, changed: Arc<Notify>) -> Self {
        Self { engine, zone, changed }
    }

    /// Runs for ever.
    pub async fn run(self) {
        let mut lines = self.collect(Lines::default()).await;
        let mut ends = FuturesUnordered::new();
        let mut looks = tokio::time::interval_at(tokio::time::Instant::now() + LOOK, LOOK);
        let mut looked_at = self.now();
        loop {
            let due = lines.agenda.take(self.now());
            let due: Vec<_> =
                due.into_iter().filter_map(|key| Some((lines.by_key.get(&key).cloned()?, key))).collect();
            stream::iter(&due).for_each_concurrent(AT_ONCE, |(line, _)| line.attend()).await;
            for (line, key) in due {
                lines.agenda.set(key.clone(), line.wake_at().await);
                let engine = &self.engine;
                ends.extend(line.to_watch().await.map(|run| async move {
                    // Whatever came of it, the slot that waits is looked at again.
                    let _ = engine.finished(&run).await;
                    key
                }));
            }
            // A long time that is caught up with has nothing to wait for.
            tokio::task::yield_now().await;
            let wake_at = lines.agenda.first().into_iter().chain(lines.retry_at).min();
            tokio::select! {
                () = self.sleep_until(wake_at) => {
                    if lines.retry_at.is_some_and(|at| at <= self.now()) {
                        lines = self.collect(lines).await;
                    }
                }
                Some(key) = ends.next() => {
                    let ended = std::iter::from_fn(|| ends.next().now_or_never().flatten());
                    for key in std::iter::once(key).chain(ended) {
                        lines.agenda.set(key, Some(self.now()));
                    }
                }
                _ = looks.tick() => {
                    if looked_at - self.now() > AHEAD {
                        lines.plan().await;
                    }
                    looked_at = self.now();
                }
                () = self.changed.notified() => lines = self.collect(lines).await,
            }
        }
    }

    async fn sleep_until(&self, at: Option<DateTime<Utc>>) {
        match at {
            Some(at) => self.engine.services().world.sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    fn now(&self) -> DateTime<Utc> {
        self.engine.services().world.now()
    }

    /// The schedules of the agents that may be woken now. What was known of a schedule is kept.
    async fn collect(&self, mut known: Lines) -> Lines {
        let mut lines = Lines::default();
        let mut open = None;
        let running = self.engine.agents().running();
        for schedule in running.iter().flat_map(|agent| Schedule::of(agent, self.zone)) {
            let row = &schedule.agent.row;
            let key = (row.name.clone(), schedule.trigger.clone(), row.digest.clone(), row.state_since);
            if let Some(line) = known.by_key.remove(&key) {
                lines.by_key.insert(key, line);
                continue;
            }
            let open = open.get_or_insert_with(|| open_runs(&self.engine));
            match Line::read(self.engine.clone(), schedule, open) {
                Ok(line) => {
                    lines.by_key.insert(key, Arc::new(line));
                }
                Err(error) => {
                    let (agent, trigger, ..) = key;
                    tracing::error!(agent, trigger, "schedule is not read: {error}");
                    lines.retry_at = Some(self.now() + AFTER_FAILURE);
                }
            }
        }
        for line in known.by_key.values() {
            line.retire().await;
        }
        lines.plan().await;
        lines
    }
}
