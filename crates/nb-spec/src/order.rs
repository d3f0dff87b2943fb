//! The order of a chain's steps.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Document;
use crate::problem::Problems;
use crate::task::Step;

/// The most steps of a circle that its error names.
const MAX_NAMED: usize = 10;

/// Where each id stands first.
pub(crate) struct Places<'a>(BTreeMap<&'a str, usize>);

impl<'a> Places<'a> {
    pub(crate) fn new(ids: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator) -> Self {
        // From the end, so that the first of a name stays.
        Self(ids.enumerate().rev().map(|(place, id)| (id, place)).collect())
    }

    pub(crate) fn of(&self, id: &str) -> Option<usize> {
        self.0.get(id).copied()
    }
}

/// The steps in an order in which each comes after what it depends on; the order of the file where that leaves a choice.
/// Kahn, "Topological sorting of large networks" (1962), with the waiting steps in the order of the file.
pub(crate) fn order(steps: Vec<Step>, document: &Document<'_>, problems: &mut Problems) -> Option<Vec<Step>> {
    let places = Places::new(steps.iter().map(|step| step.id.as_str()));
    let mut missing = vec![0_usize; steps.len()];
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    for (place, step) in steps.iter().enumerate() {
        let needed: BTreeSet<usize> = step.depends_on.iter().filter_map(|id| places.of(id)).collect();
        missing[place] = needed.len();
        needed.into_iter().for_each(|needed| dependants[needed].push(place));
    }
    let mut ready: BTreeSet<usize> = (0..steps.len()).filter(|place| missing[*place] == 0).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(place) = ready.pop_first() {
        order.push(place);
        for dependant in &dependants[place] {
            missing[*dependant] -= 1;
            if missing[*dependant] == 0 {
                ready.insert(*dependant);
            }
        }
    }
    if order.len() < steps.len() {
        let left = steps.iter().zip(&missing).filter(|(_, missing)| **missing > 0);
        let mut circle: Vec<&str> = left.map(|(step, _)| step.id.as_str()).take(MAX_NAMED + 1).collect();
        if let Some(last) = circle.get_mut(MAX_NAMED) {
            *last = "…";
        }
        let message = format!("steps depend on each other in a circle: {}", circle.join(", "));
        document.error(problems, "steps", message);
        return None;
    }
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    Some(order.into_iter().filter_map(|place| steps[place].take()).collect())
}
