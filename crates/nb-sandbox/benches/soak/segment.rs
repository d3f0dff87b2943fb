//! Segments of the soak: what is measured, and how two tenths are compared.

use std::thread;
use std::time::Instant;

use nb_sandbox::Sandbox;

use crate::common;
use crate::kind::{Deck, Kind};

/// A hundredth of the calls. Times are in microseconds, memory in MiB.
#[derive(Clone, Copy)]
pub struct Segment {
    pub memory: f64,
    pub small_p50: f64,
    pub small_p99: f64,
    pub all_p99: f64,
}

/// A figure of a segment, with its name, its unit and the way to it.
pub type Figure = (&'static str, &'static str, fn(&Segment) -> f64);

pub const FIGURES: [Figure; 4] = [
    ("resident memory", "MiB", |segment| segment.memory),
    ("successful small calls, p50", "µs", |segment| segment.small_p50),
    ("successful small calls, p99", "µs", |segment| segment.small_p99),
    ("all calls, p99", "µs", |segment| segment.all_p99),
];

/// The median of a figure: a segment in which the machine was busy with something else does not count.
pub fn median(segments: &[Segment], of: fn(&Segment) -> f64) -> f64 {
    let mut values: Vec<f64> = segments.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// A thread's calls. Its room is kept from segment to segment: what measures memory must not grow.
pub struct Worker {
    deck: Deck,
    small: Vec<u32>,
    all: Vec<u32>,
}

impl Worker {
    pub fn new(kinds: &[Kind], seed: u64) -> Self {
        Self { deck: Deck::new(kinds, seed), small: Vec::new(), all: Vec::new() }
    }

    fn work(&mut self, sandbox: &Sandbox, kinds: &[Kind], calls: usize) {
        self.small.clear();
        self.all.clear();
        for _ in 0..calls {
            let kind = &kinds[self.deck.draw()];
            let start = Instant::now();
            kind.call(sandbox);
            let nanoseconds = u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX);
            self.all.push(nanoseconds);
            if kind.small {
                self.small.push(nanoseconds);
            }
        }
    }
}

/// Lets all workers make their calls at the same time, and measures them.
pub fn run(workers: &mut [Worker], sandbox: &Sandbox, kinds: &[Kind], calls_each: usize) -> Segment {
    thread::scope(|scope| {
        for worker in &mut *workers {
            scope.spawn(|| worker.work(sandbox, kinds, calls_each));
        }
    });
    let memory = common::resident_bytes() as f64 / f64::from(1 << 20);
    let sorted = |of: fn(&Worker) -> &[u32]| {
        let mut durations: Vec<u32> = workers.iter().flat_map(of).copied().collect();
        durations.sort_unstable();
        durations
    };
    let percentile = |sorted: &[u32], percent| {
        sorted.get(sorted.len() * percent / 100).map_or(0.0, |time| f64::from(*time) / 1e3)
    };
    let (small, all) = (sorted(|worker| &worker.small), sorted(|worker| &worker.all));
    Segment {
        memory,
        small_p50: percentile(&small, 50),
        small_p99: percentile(&small, 99),
        all_p99: percentile(&all, 99),
    }
}
