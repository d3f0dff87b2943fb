//! A clock that moves when a test says so.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, Duration, Utc};
use nb_runtime::services::World;
use tokio::sync::watch;

use super::PATIENCE;

/// A time of the first day of the test's clock.
pub fn at(time: &str) -> DateTime<Utc> {
    format!("2026-01-01T{time}Z").parse().unwrap()
}

/// Begins at midnight. Random bits are counted up.
pub struct FakeWorld {
    now: watch::Sender<DateTime<Utc>>,
    /// The times that somebody sleeps until.
    sleepers: watch::Sender<Vec<DateTime<Utc>>>,
    random: AtomicU64,
}

impl Default for FakeWorld {
    fn default() -> Self {
        let now = watch::Sender::new(at("00:00:00"));
        Self { now, sleepers: watch::Sender::default(), random: AtomicU64::new(0) }
    }
}

impl FakeWorld {
    pub fn time(&self) -> DateTime<Utc> {
        *self.now.borrow()
    }

    pub fn set(&self, now: DateTime<Utc>) {
        self.now.send_replace(now);
    }

    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now += by);
    }

    /// Waits until somebody sleeps until `time`: whoever it is has done what was to be done before.
    pub async fn asleep_until(&self, time: DateTime<Utc>) {
        let mut sleepers = self.sleepers.subscribe();
        let wait = sleepers.wait_for(|sleepers| sleepers.contains(&time));
        let found = tokio::time::timeout(PATIENCE, wait).await.map(drop);
        found.unwrap_or_else(|_| panic!("nobody sleeps until {time}, but {:?}", self.sleepers.borrow()));
    }
}

#[async_trait]
impl World for FakeWorld {
    fn now(&self) -> DateTime<Utc> {
        self.time()
    }

    fn random(&self) -> u64 {
        self.random.fetch_add(1, Ordering::Relaxed)
    }

    async fn sleep_until(&self, time: DateTime<Utc>) {
        let _asleep = Asleep::new(&self.sleepers, time);
        let _ = self.now.subscribe().wait_for(|now| *now >= time).await;
    }
}

/// In the list of sleepers as long as it lives.
struct Asleep<'a>(&'a watch::Sender<Vec<DateTime<Utc>>>, DateTime<Utc>);

impl<'a> Asleep<'a> {
    fn new(sleepers: &'a watch::Sender<Vec<DateTime<Utc>>>, time: DateTime<Utc>) -> Self {
        sleepers.send_modify(|sleepers| sleepers.push(time));
        Self(sleepers, time)
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|sleepers| {
            let own = sleepers.iter().position(|time| *time == self.1);
            own.map(|index| sleepers.swap_remove(index));
        });
    }
}
