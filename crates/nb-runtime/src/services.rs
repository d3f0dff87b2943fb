//! What the engine is given. Each of them can be replaced in a test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use nb_egress::Egress;
pub use nb_native::Runner;
use nb_sandbox::{Limits, Sandbox};
use nb_store::Store;
use serde::{Deserialize, Serialize};

use crate::models::prices::PriceList;

/// Everything outside of the engine that it works with.
#[derive(Clone)]
pub struct Services {
    /// Durable records.
    pub store: Store,
    /// Runs scripts and components.
    pub sandbox: Sandbox,
    /// Starts the processes of the tools that say `sandboxed: false`.
    pub native: Runner,
    /// The only way out to the network.
    pub egress: Egress,
    /// Time and randomness.
    pub world: Arc<dyn World>,
    /// Shows notifications.
    pub notifier: Arc<dyn Notifier>,
    /// Values of secrets, by name.
    pub secrets: Arc<dyn Secrets>,
    /// Files and folders of the daemon itself: no folder that a tool may read leads to one of them.
    pub own_paths: Arc<[PathBuf]>,
    /// The limits of a tool call that no manifest sets: time, output, host calls, log.
    pub limits: Limits,
    /// What models cost that say it nowhere else.
    pub prices: PriceList,
}

/// Time and randomness.
#[async_trait]
pub trait World: Send + Sync {
    /// The time of day.
    fn now(&self) -> DateTime<Utc>;
    /// Uniformly random bits.
    fn random(&self) -> u64;
    /// Returns when the time of day is `at` or later.
    async fn sleep_until(&self, at: DateTime<Utc>);
}

/// The real world.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealWorld;

#[async_trait]
impl World for RealWorld {
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn random(&self) -> u64 {
        // The low half of a ULID is 80 random bits.
        (ulid::Ulid::generate().random() & u128::from(u64::MAX)) as u64
    }

    async fn sleep_until(&self, at: DateTime<Utc>) {
        // A clock that is set during a long sleep is noticed at the next look.
        const LOOK: Duration = Duration::from_secs(30);
        while let Ok(left) = (at - Utc::now()).to_std() {
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }
}

/// A message for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// Who sends it.
    pub agent: String,
    /// In which run.
    pub run: String,
    /// One line.
    pub title: String,
    /// The text.
    pub body: String,
    /// How loud.
    pub priority: Priority,
}

/// How loud a notification is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Can wait.
    Low,
    /// As usual.
    #[default]
    Normal,
    /// Should be seen.
    High,
    /// Stays until it is dismissed.
    Urgent,
}

impl Priority {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }
}

/// Shows notifications on a desktop.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Shows it now, or says in a sentence why it cannot be shown. Must return within a few seconds.
    async fn show(&self, notification: &Notification) -> Result<(), String>;
}

/// Values of secrets.
pub trait Secrets: Send + Sync {
    /// The value of the secret with that name.
    ///
    /// # Errors
    /// A sentence: why there is none that can be used, and what to do.
    fn read(&self, name: &str) -> Result<String, String>;
    /// The same, where it does not matter why there is none.
    fn value(&self, name: &str) -> Option<String> {
        self.read(name).ok()
    }
    /// The value of a variable of the daemon's environment.
    fn variable(&self, name: &str) -> Option<String>;
}
