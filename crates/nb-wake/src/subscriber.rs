//! One subscription: reads the log at its own pace and wakes its agent.

use std::sync::Arc;

use chrono::Duration;
use futures_util::FutureExt;
use futures_util::future::select_all;
use nb_runtime::{Actor, Engine, RunRequest, StartError, Started, Target};
use nb_spec::trigger::OnEvent;
use nb_store::{EventRow, LedgerKey, RunRow, StoreError};
use serde_json::{Map, json};
use tokio::sync::watch;

use crate::pages::Pages;

/// So many runs of one subscription go on at once; further events wait in the log. One tool call may publish thousands
/// of events, and each of their runs takes memory from its start on.
pub const MAX_IN_FLIGHT: usize = 8;
/// A cursor that passed this many events without a match is written, so that a restart reads little again.
const UNWRITTEN: u64 = 1000;
/// After a failure of the store the subscription is looked at again so much later.
const AFTER_FAILURE: Duration = Duration::seconds(5);

pub(crate) struct Subscriber {
    engine: Engine,
    pages: Arc<Pages>,
    /// The last event of the log.
    head: watch::Receiver<u64>,
    agent: String,
    id: String,
    trigger: OnEvent,
    /// The last event that it has dealt with.
    cursor: u64,
    /// The cursor as the store knows it.
    written: u64,
    /// The runs that it started, as long as they go on.
    runs: Vec<String>,
}

impl Subscriber {
    /// `open` are the runs that a start before this one has left.
    pub(crate) fn new(
        engine: Engine,
        pages: Arc<Pages>,
        head: watch::Receiver<u64>,
        agent: &str,
        id: String,
        trigger: OnEvent,
        open: &[RunRow],
    ) -> Self {
        let own = |run: &&RunRow| {
            let by_event = matches!(serde_json::from_value(run.actor.clone()), Ok(Actor::Event { .. }));
            run.agent == agent && run.task.as_ref() == Some(&trigger.chain) && by_event
        };
        let runs = open.iter().filter(own).map(|run| run.id.clone()).collect();
        Self { engine, pages, head, agent: agent.to_owned(), id, trigger, cursor: 0, written: 0, runs }
    }

    /// Serves the subscription until it is gone.
    pub(crate) async fn serve(mut self) {
        loop {
            match self.engine.services().store.cursor(&self.id) {
                Ok(Some(cursor)) => {
                    (self.cursor, self.written) = (cursor, cursor);
                    break;
                }
                // Uninstalled a moment ago.
                Ok(None) => return,
                Err(error) => self.pause(&error).await,
            }
        }
        loop {
            match self.catch_up().await {
                Ok(()) => {
                    let cursor = self.cursor;
                    if self.head.wait_for(|last| *last > cursor).await.is_err() {
                        return;
                    }
                }
                Err(error) => self.pause(&error).await,
            }
        }
    }

    async fn pause(&self, error: &StoreError) {
        tracing::error!(subscription = self.id, "events are not delivered: {error}");
        let world = &self.engine.services().world;
        world.sleep_until(world.now() + AFTER_FAILURE).await;
    }

    /// Deals with all events that there are.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        loop {
            self.room().await;
            let last = *self.head.borrow_and_update();
            let page = self.pages.after(self.cursor)?;
            if page.is_empty() {
                self.cursor = self.cursor.max(last);
                return self.write_cursor();
            }
            let after = self.cursor;
            for event in page.iter().filter(|event| event.seq > after) {
                if self.trigger.matches(&event.name, &event.data) {
                    if !self.has_room() {
                        // The page is not held while it waits.
                        break;
                    }
                    self.wake(event).await?;
                    self.written = event.seq;
                }
                self.cursor = event.seq;
            }
            self.write_cursor()?;
            // A long log without a match has nothing else to wait for, and the others are served in the same task.
            tokio::task::yield_now().await;
        }
    }

    fn write_cursor(&mut self) -> Result<(), StoreError> {
        if self.cursor - self.written >= UNWRITTEN {
            self.engine.services().store.advance_cursor(&self.id, self.cursor)?;
            self.written = self.cursor;
        }
        Ok(())
    }

    fn has_room(&mut self) -> bool {
        let engine = &self.engine;
        self.runs.retain(|run| engine.is_in_flight(run));
        self.runs.len() < MAX_IN_FLIGHT
    }

    /// Waits until one more run may start.
    async fn room(&mut self) {
        while !self.has_room() {
            // Whatever came of it.
            let _ = select_all(self.runs.iter().map(|run| self.engine.finished(run).boxed())).await;
        }
    }

    async fn wake(&mut self, event: &EventRow) -> Result<(), StoreError> {
        let mut context = Map::new();
        let shown = json!({
            "name": event.name, "data": event.data, "source": event.source, "id": event.id, "seq": event.seq, "at": event.at,
        });
        context.insert("event".to_owned(), shown);
        let request = RunRequest {
            agent: self.agent.clone(),
            target: Target::Task(self.trigger.chain.clone()),
            params: self.trigger.params.clone(),
            context,
            actor: Actor::Event { name: event.name.clone(), seq: event.seq },
            depth: event.depth + 1,
            ledger: LedgerKey::Event { subscriber: self.id.clone(), seq: event.seq },
        };
        match self.engine.start(request).await {
            Ok(Started::Run(run)) => {
                self.runs.push(run);
                Ok(())
            }
            Ok(Started::Already(_)) => Ok(()),
            Err(StartError::Store(error)) => Err(error),
            // The event stays unread: the next start of the daemon delivers it.
            Err(StartError::Shutdown) => std::future::pending().await,
            Err(error) => {
                tracing::warn!(agent = self.agent, event = event.name, seq = event.seq, "not woken: {error}");
                // A chain that was cut is on record as a failed run, in one transaction with the cursor.
                if !matches!(error, StartError::Depth(_)) {
                    self.engine.services().store.advance_cursor(&self.id, event.seq)?;
                }
                Ok(())
            }
        }
    }
}
