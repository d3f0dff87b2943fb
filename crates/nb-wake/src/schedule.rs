//! The schedules of all agents as one list.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};
use chrono_tz::Tz;
use nb_runtime::Installed;
use nb_spec::timing::Timing;
use nb_spec::trigger::{Missed, Overlap};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// A schedule of an agent that may be woken.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// The agent.
    pub agent: Arc<Installed>,
    /// Its name within the agent; see [`trigger_names`].
    pub trigger: String,
    /// The chain to run.
    pub chain: String,
    /// The chain's parameters.
    pub params: Map<String, Value>,
    /// When.
    pub timing: Timing,
    /// When, in words.
    pub in_words: String,
    /// What happens to slots that passed.
    pub missed: Missed,
    /// How far back `missed` looks.
    pub window: Duration,
    /// What happens while the previous run goes on.
    pub overlap: Overlap,
    /// How much later than its slot the run starts: stable per agent and trigger.
    pub offset: Duration,
}

impl Schedule {
    /// The schedules of an agent. They were checked when it was installed; one that does not read any more is left out.
    pub fn of(agent: &Arc<Installed>, default_zone: Tz) -> Vec<Self> {
        let scheduled = &agent.spec.manifest.triggers.scheduled;
        let names = trigger_names(scheduled.iter().map(|trigger| trigger.chain.as_str()));
        let build = |(trigger, name): (&nb_spec::trigger::Scheduled, String)| {
            let zone = trigger.timezone.clone().unwrap_or_else(|| default_zone.to_string());
            let in_words = match (&trigger.interval, &trigger.cron, &trigger.at) {
                (Some(interval), _, Some(at)) => format!("every {interval} at {at} {zone}"),
                (Some(interval), _, None) => format!("every {interval}"),
                (None, cron, _) => format!("cron {} {zone}", cron.as_deref().unwrap_or_default()),
            };
            Some(Self {
                timing: trigger.timing(default_zone).ok()?,
                window: trigger.catchup_window().ok()?,
                offset: offset(agent.name(), &name, trigger.jitter().ok()?),
                agent: Arc::clone(agent),
                trigger: name,
                chain: trigger.chain.clone(),
                params: trigger.params.clone(),
                in_words,
                missed: trigger.missed,
                overlap: trigger.overlap,
            })
        };
        scheduled.iter().zip(names).filter_map(build).collect()
    }

    /// From when on its slots count: the agent cannot have been woken before.
    pub fn begin(&self) -> DateTime<Utc> {
        self.agent.row.state_since.max(self.agent.row.installed_at)
    }

    /// The first slot strictly after `after`.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.timing.next_after(self.agent.row.installed_at, after)
    }
}

/// Triggers are called by the chain they run; the second one of the same chain is `chain-2`.
pub fn trigger_names<'a>(chains: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    chains
        .map(|chain| {
            let count = seen.entry(chain).or_default();
            *count += 1;
            if *count == 1 { chain.to_owned() } else { format!("{chain}-{count}") }
        })
        .collect()
}

fn offset(agent: &str, trigger: &str, jitter: Duration) -> Duration {
    let hash = Sha256::digest(format!("{agent}/{trigger}"));
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    let range = jitter.num_milliseconds().max(0).unsigned_abs();
    let ms = if range == 0 { 0 } else { u64::from_be_bytes(first) % range };
    Duration::milliseconds(i64::try_from(ms).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_trigger_of_the_same_chain_has_a_name_of_its_own() {
        assert_eq!(trigger_names(["a", "b", "a"].into_iter()), ["a", "b", "a-2"]);
    }

    #[test]
    fn jitter_is_stable_and_within_its_bound() {
        let jitter = Duration::seconds(30);
        assert_eq!(offset("a", "t", jitter), offset("a", "t", jitter));
        assert!(offset("a", "t", jitter) < jitter);
        assert_ne!(offset("a", "t", jitter), offset("b", "t", jitter));
        assert_eq!(offset("a", "t", Duration::zero()), Duration::zero());
    }
}
