//! Hands the event log to the agents that subscribed.
//!
//! The log is the queue: a slow subscriber reads it later and holds nothing up. Its cursor moves in the same
//! transaction as the run that an event starts, so a crash neither loses nor doubles a wake-up.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use nb_runtime::{Actor, Engine, Installed, RunRequest, StartError, Started, Target};
use nb_spec::trigger::OnEvent;
use nb_store::{EventRow, LedgerKey, StoreError};
use serde_json::{Map, json};
use tokio::sync::Notify;

use crate::schedule::trigger_names;

/// So many events are read at once.
const PAGE: usize = 256;
/// So many subscribers are served at once; they share the store's commits.
const AT_ONCE: usize = 64;
/// A cursor that passed this many events without a match is written, so that a restart reads little again.
const UNWRITTEN: u64 = 1000;

/// Wakes agents by events.
pub struct Bus {
    engine: Engine,
    changed: Arc<Notify>,
}

struct Subscriber {
    agent: Arc<Installed>,
    id: String,
    trigger: OnEvent,
    /// The last event that it has dealt with.
    cursor: u64,
    /// The cursor as the store knows it.
    written: u64,
}

/// The subscriptions of an agent, each with the name under which its cursor is kept.
fn subscriptions(agent: &Arc<Installed>) -> Vec<(String, OnEvent)> {
    let events = &agent.spec.manifest.triggers.events;
    let names = trigger_names(events.iter().map(|trigger| trigger.chain.as_str()));
    names.into_iter().zip(events).map(|(name, on)| (format!("{}/{name}", agent.name()), on.clone())).collect()
}

/// Lets the subscriptions of an agent begin with the next event. `again` moves those that began before as well: the
/// agent was stopped, and what happened meanwhile does not wake it.
pub(crate) fn begin_subscriptions(
    engine: &Engine,
    agent: &Arc<Installed>,
    again: bool,
) -> Result<(), StoreError> {
    let store = &engine.services().store;
    let last = store.last_event_seq();
    for (id, _) in subscriptions(agent) {
        if again || store.cursor(&id)?.is_none() {
            store.set_cursor(&id, last)?;
        }
    }
    Ok(())
}

impl Bus {
    /// A bus; `changed` is notified when the agents change.
    pub fn new(engine: Engine, changed: Arc<Notify>) -> Self {
        Self { engine, changed }
    }

    /// Runs for ever.
    pub async fn run(self) {
        let mut log = self.engine.services().store.watch();
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            let mut subscribers = match self.collect() {
                Ok(subscribers) => subscribers,
                Err(error) => {
                    tracing::error!("subscriptions are not read: {error}");
                    Vec::new()
                }
            };
            let mut seen = subscribers.iter().map(|subscriber| subscriber.cursor).min();
            loop {
                log.mark_unchanged();
                match self.deliver(&mut subscribers, &mut seen).await {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(error) => tracing::error!("the event log is not read: {error}"),
                }
                tokio::select! {
                    _ = log.changed() => {}
                    () = &mut changed => break,
                }
            }
        }
    }

    fn collect(&self) -> Result<Vec<Subscriber>, StoreError> {
        let store = &self.engine.services().store;
        let mut subscribers = Vec::new();
        for agent in self.engine.agents().running() {
            for (id, trigger) in subscriptions(&agent) {
                let cursor = store.cursor(&id)?.unwrap_or_else(|| store.last_event_seq());
                subscribers.push(Subscriber {
                    agent: Arc::clone(&agent),
                    id,
                    trigger,
                    cursor,
                    written: cursor,
                });
            }
        }
        Ok(subscribers)
    }

    /// Delivers the next page of the log. False when there was none.
    async fn deliver(
        &self,
        subscribers: &mut Vec<Subscriber>,
        seen: &mut Option<u64>,
    ) -> Result<bool, StoreError> {
        let Some(after) = *seen else { return Ok(false) };
        let page = self.engine.services().store.events(after, PAGE)?;
        let Some(last) = page.last().map(|event| event.seq) else { return Ok(false) };
        let page = &page;
        let serving = stream::iter(std::mem::take(subscribers)).map(|mut subscriber| async move {
            let result = self.serve(&mut subscriber, page).await;
            (subscriber, result)
        });
        let (served, results): (Vec<_>, Vec<_>) = serving.buffer_unordered(AT_ONCE).unzip().await;
        *subscribers = served;
        results.into_iter().collect::<Result<(), StoreError>>()?;
        *seen = Some(last);
        Ok(true)
    }

    async fn serve(&self, subscriber: &mut Subscriber, page: &[EventRow]) -> Result<(), StoreError> {
        for event in page.iter().filter(|event| event.seq > subscriber.cursor).collect::<Vec<_>>() {
            if subscriber.trigger.matches(&event.name, &event.data) {
                self.wake(subscriber, event).await?;
                subscriber.written = event.seq;
            }
            subscriber.cursor = event.seq;
        }
        if subscriber.cursor - subscriber.written >= UNWRITTEN {
            self.engine.services().store.set_cursor(&subscriber.id, subscriber.cursor)?;
            subscriber.written = subscriber.cursor;
        }
        Ok(())
    }

    async fn wake(&self, subscriber: &Subscriber, event: &EventRow) -> Result<(), StoreError> {
        let mut context = Map::new();
        let shown = json!({
            "name": event.name, "data": event.data, "source": event.source, "id": event.id, "seq": event.seq, "at": event.at,
        });
        context.insert("event".to_owned(), shown);
        let request = RunRequest {
            agent: subscriber.agent.name().to_owned(),
            target: Target::Task(subscriber.trigger.chain.clone()),
            params: subscriber.trigger.params.clone(),
            context,
            actor: Actor::Event { name: event.name.clone(), seq: event.seq },
            depth: event.depth + 1,
            ledger: LedgerKey::Event { subscriber: subscriber.id.clone(), seq: event.seq },
        };
        match self.engine.start(request).await {
            Ok(Started::Run(_) | Started::Already(_)) => Ok(()),
            Err(StartError::Store(error)) => Err(error),
            // The event stays unread: the next start of the daemon delivers it.
            Err(StartError::Shutdown) => std::future::pending().await,
            // On record as a failed run, in one transaction with the cursor.
            Err(error @ StartError::Depth(_)) => {
                tracing::warn!(
                    agent = subscriber.agent.name(),
                    event = event.name,
                    seq = event.seq,
                    "not woken: {error}"
                );
                Ok(())
            }
            Err(error) => {
                tracing::warn!(
                    agent = subscriber.agent.name(),
                    event = event.name,
                    seq = event.seq,
                    "not woken: {error}"
                );
                self.engine.services().store.set_cursor(&subscriber.id, event.seq)
            }
        }
    }
}
