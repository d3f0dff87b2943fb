//! Hands the event log to the agents that subscribed.
//!
//! The log is the queue: each subscriber reads it at its own pace and holds nobody up. Its cursor moves in the same
//! transaction as the run that an event starts, so a crash neither loses nor doubles a wake-up.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::future::{AbortHandle, abortable};
use futures_util::stream::{FuturesUnordered, StreamExt};
use nb_runtime::{Engine, Installed};
use nb_spec::trigger::OnEvent;
use nb_store::{RunRow, StoreError};
use tokio::sync::{Notify, watch};

use crate::pages::Pages;
use crate::schedule::trigger_names;
use crate::subscriber::Subscriber;

/// Wakes agents by events.
pub struct Bus {
    engine: Engine,
    changed: Arc<Notify>,
}

/// A subscription as long as nothing about it changes: its name, the package's digest, and since when the agent runs.
type Key = (String, String, DateTime<Utc>);

/// The subscriptions of an agent, each with the name under which its cursor is kept.
fn subscriptions(agent: &Arc<Installed>) -> Vec<(String, OnEvent)> {
    let events = &agent.spec.manifest.triggers.events;
    let names = trigger_names(events.iter().map(|trigger| trigger.chain.as_str()));
    names.into_iter().zip(events).map(|(name, on)| (format!("{}/{name}", agent.name()), on.clone())).collect()
}

/// Lets the subscriptions of an agent begin with the next event. `again` moves those that began before as well: the
/// agent was stopped, and what happened meanwhile does not wake it. The cursors of subscriptions that the agent does
/// not have any more are forgotten: one that comes back with a later build begins anew.
pub(crate) fn begin_subscriptions(
    engine: &Engine,
    agent: &Arc<Installed>,
    again: bool,
) -> Result<(), StoreError> {
    let store = &engine.services().store;
    let last = store.last_event_seq();
    let ids: Vec<String> = subscriptions(agent).into_iter().map(|(id, _)| id).collect();
    store.keep_cursors(agent.name(), &ids)?;
    for id in ids {
        let began = match store.cursor(&id) {
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(subscription = id, "begins with the next event: {error}");
                false
            }
            cursor => cursor?.is_some(),
        };
        if again || !began {
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
        let store = &self.engine.services().store;
        let mut log = store.watch();
        let head = watch::Sender::new(store.last_event_seq());
        let pages = Arc::new(Pages::new(store.clone()));
        let mut known: HashMap<Key, AbortHandle> = HashMap::new();
        let mut serving = FuturesUnordered::new();
        loop {
            for (key, subscriber) in self.collect(&mut known, &pages, &head) {
                let (served, handle) = abortable(subscriber.serve());
                serving.push(served);
                known.insert(key, handle);
            }
            loop {
                tokio::select! {
                    () = self.changed.notified() => break,
                    _ = log.changed() => {
                        let last = store.last_event_seq();
                        head.send_if_modified(|head| std::mem::replace(head, last) != last);
                    }
                    // One that was ended below; the others are never done.
                    Some(_) = serving.next() => {}
                }
            }
        }
    }

    /// The subscriptions that are not served yet. Ends the serving of those that are gone; all are served in one task,
    /// so they do nothing more from here on.
    fn collect(
        &self,
        known: &mut HashMap<Key, AbortHandle>,
        pages: &Arc<Pages>,
        head: &watch::Sender<u64>,
    ) -> Vec<(Key, Subscriber)> {
        let mut found: HashMap<Key, (Arc<Installed>, OnEvent)> = HashMap::new();
        for agent in self.engine.agents().running() {
            for (id, trigger) in subscriptions(&agent) {
                let key = (id, agent.row.digest.clone(), agent.row.state_since);
                found.insert(key, (Arc::clone(&agent), trigger));
            }
        }
        known.retain(|key, handle| {
            let stays = found.contains_key(key);
            if !stays {
                handle.abort();
            }
            stays
        });
        found.retain(|key, _| !known.contains_key(key));
        if found.is_empty() {
            return Vec::new();
        }
        let open = open_runs(&self.engine);
        let subscribe = |(key, (agent, trigger)): (Key, (Arc<Installed>, OnEvent))| {
            let (engine, pages) = (self.engine.clone(), Arc::clone(pages));
            let subscriber =
                Subscriber::new(engine, pages, head.subscribe(), agent.name(), key.0.clone(), trigger, &open);
            (key, subscriber)
        };
        found.into_iter().map(subscribe).collect()
    }
}

/// The runs without an end: a restart goes on with them.
pub(crate) fn open_runs(engine: &Engine) -> Vec<RunRow> {
    engine.services().store.unfinished().unwrap_or_else(|error| {
        tracing::error!("unfinished runs are not read: {error}");
        Vec::new()
    })
}
