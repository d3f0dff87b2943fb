//! A home whose schedules and events wake agents.

use std::time::Duration;

use nb_store::RunRow;
use nb_wake::{Config, Wake};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::common::Home;

pub struct Awake {
    pub home: Home,
    pub wake: Wake,
    tasks: [JoinHandle<()>; 2],
}

impl Awake {
    /// Begins as a daemon does: the subscriptions first, then scheduler and bus.
    pub fn new(home: Home) -> Self {
        let wake = Wake::new(home.engine.clone(), &config());
        for agent in home.engine.agents().running() {
            wake.begin(&agent, false).unwrap();
        }
        let tasks = wake.spawn();
        Self { home, wake, tasks }
    }

    /// Stops everything where it is, and gives what a new start finds.
    pub async fn ended(self) -> Home {
        for task in self.tasks {
            task.abort();
            let _ = task.await;
        }
        self.home.engine.shut_down(Duration::ZERO).await;
        self.home.restarted()
    }

    /// A new start of the daemon.
    pub async fn restarted(self) -> Self {
        let home = self.ended().await;
        home.engine.recover().await.unwrap();
        Self::new(home)
    }

    /// Waits until an agent has so many runs that have ended, and gives them all.
    pub async fn until_ended(&self, agent: &str, count: usize) -> Vec<RunRow> {
        let runs = || self.home.runs(agent);
        let ended = || runs().iter().filter(|run| run.status.is_final()).count();
        self.home
            .until(&format!("{count} runs of {agent}, there are {}", ended()), || ended() >= count)
            .await;
        runs()
    }
}

pub fn config() -> Config {
    Config { timezone: chrono_tz::UTC, webhook_rate: 100 }
}

/// What each run gave.
pub fn outputs(runs: &[RunRow]) -> Vec<Value> {
    runs.iter().map(|run| run.output.clone().unwrap_or_default()).collect()
}
