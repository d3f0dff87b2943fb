//! The handle that a daemon holds.

use std::sync::Arc;

use chrono_tz::Tz;
use nb_runtime::{Engine, Installed};
use nb_store::StoreError;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::bus::{Bus, begin_subscriptions};
use crate::scheduler::Scheduler;
use crate::webhooks::Webhooks;

/// What an operator decides.
#[derive(Debug, Clone)]
pub struct Config {
    /// The zone of schedules that name none.
    pub timezone: Tz,
    /// The most requests that each webhook path takes in a second.
    pub webhook_rate: u32,
}

/// Wakes the agents of one engine.
pub struct Wake {
    engine: Engine,
    timezone: Tz,
    webhooks: Webhooks,
    scheduler_changed: Arc<Notify>,
    bus_changed: Arc<Notify>,
}

impl Wake {
    /// Nothing is woken before [`Wake::spawn`].
    pub fn new(engine: Engine, config: &Config) -> Self {
        Self {
            webhooks: Webhooks::new(engine.clone(), config.webhook_rate),
            engine,
            timezone: config.timezone,
            scheduler_changed: Arc::default(),
            bus_changed: Arc::default(),
        }
    }

    /// Starts the scheduler and the bus. Abort the tasks to stop them.
    pub fn spawn(&self) -> [JoinHandle<()>; 2] {
        let scheduler =
            Scheduler::new(self.engine.clone(), self.timezone, Arc::clone(&self.scheduler_changed));
        let bus = Bus::new(self.engine.clone(), Arc::clone(&self.bus_changed));
        [tokio::spawn(scheduler.run()), tokio::spawn(bus.run())]
    }

    /// The webhooks.
    pub fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    /// The zone of schedules that name none.
    pub fn timezone(&self) -> Tz {
        self.timezone
    }

    /// To be called before an agent becomes visible to the engine: its subscriptions begin with the next event.
    /// `again` is true for an agent that was stopped and is started.
    pub fn begin(&self, agent: &Arc<Installed>, again: bool) -> Result<(), StoreError> {
        begin_subscriptions(&self.engine, agent, again)
    }

    /// To be called after agents were added, replaced, removed, started or stopped.
    pub fn agents_changed(&self) {
        self.webhooks.reload();
        self.scheduler_changed.notify_one();
        self.bus_changed.notify_one();
    }
}
