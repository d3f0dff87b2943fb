//! Statistics.

use std::time::{Duration, Instant};

/// Of single runs, from the clock before to the clock after.
#[derive(Clone, Copy)]
pub struct Figures {
    pub p50: Duration,
    pub p99: Duration,
}

/// Of many runs, after a tenth as many to warm up.
pub fn measure(times: usize, mut once: impl FnMut()) -> Figures {
    (0..times / 10).for_each(|_| once());
    let sorted = sorted((0..times).map(|_| time(&mut once)));
    Figures { p50: sorted[times / 2], p99: sorted[times * 99 / 100] }
}

/// Of few runs, after one to warm up: too few for a p99.
pub fn median(times: usize, mut once: impl FnMut()) -> Duration {
    once();
    sorted((0..times).map(|_| time(&mut once)))[times / 2]
}

/// The medians of two things that are done in turn, so that a slow minute of the machine is one for both.
pub fn medians(times: usize, mut first: impl FnMut(), mut second: impl FnMut()) -> (Duration, Duration) {
    let (firsts, seconds): (Vec<_>, Vec<_>) =
        (0..=times).map(|_| (time(&mut first), time(&mut second))).skip(1).unzip();
    (sorted(firsts)[times / 2], sorted(seconds)[times / 2])
}

pub fn time(once: impl FnOnce()) -> Duration {
    let start = Instant::now();
    once();
    start.elapsed()
}

fn sorted(durations: impl IntoIterator<Item = Duration>) -> Vec<Duration> {
    let mut durations: Vec<Duration> = durations.into_iter().collect();
    durations.sort_unstable();
    durations
}

/// How many times `this` is `that`.
pub fn ratio(this: Duration, that: Duration) -> f64 {
    this.as_secs_f64() / that.as_secs_f64()
}
