//! When each of many things must be looked at next.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use chrono::{DateTime, Utc};

/// At most one time for each key.
pub(crate) struct Agenda<K> {
    order: BTreeSet<(DateTime<Utc>, K)>,
    times: HashMap<K, DateTime<Utc>>,
}

impl<K> Default for Agenda<K> {
    fn default() -> Self {
        Self { order: BTreeSet::new(), times: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash + Ord> Agenda<K> {
    /// Replaces the time of a key.
    pub(crate) fn set(&mut self, key: K, at: Option<DateTime<Utc>>) {
        if let Some(old) = self.times.remove(&key) {
            self.order.remove(&(old, key.clone()));
        }
        if let Some(at) = at {
            self.times.insert(key.clone(), at);
            self.order.insert((at, key));
        }
    }

    /// The earliest time.
    pub(crate) fn first(&self) -> Option<DateTime<Utc>> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes the keys whose time has come.
    pub(crate) fn take(&mut self, now: DateTime<Utc>) -> Vec<K> {
        let mut due = Vec::new();
        while self.first().is_some_and(|at| at <= now) {
            let Some((_, key)) = self.order.pop_first() else { break };
            self.times.remove(&key);
            due.push(key);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_due_once_and_at_its_latest_time() {
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        let mut agenda = Agenda::default();
        for (key, second) in [("a", 5), ("b", 2), ("a", 3), ("c", 9), ("d", 1)] {
            agenda.set(key, Some(at(second)));
        }
        agenda.set("d", None);
        assert_eq!(agenda.first(), Some(at(2)));
        assert_eq!(agenda.take(at(5)), ["b", "a"]);
        assert!(agenda.take(at(8)).is_empty());
        assert_eq!(agenda.first(), Some(at(9)));
    }
}
