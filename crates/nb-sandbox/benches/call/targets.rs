//! What the design demands, and whether it is so.

use std::time::Duration;

use crate::guest::Throughput;
use crate::measure::{Figures, ratio};
use crate::table;

/// What the targets are about.
pub struct Measured {
    pub fennel: Figures,
    pub throughput: Throughput,
    pub native_fennel: Duration,
    pub native_state: Duration,
    pub compute: f64,
    pub neighbours: f64,
}

impl Measured {
    /// Prints each target with its figure.
    pub fn judge(&self) {
        let Self { fennel, throughput, native_fennel, native_state, compute, neighbours } = self;
        let gain = throughput.two_threads / throughput.one_thread;
        let to_fennel = ratio(*native_fennel, fennel.p50);
        let to_state = ratio(*native_state, fennel.p50);
        let micros = Duration::from_micros;
        let times = table::times;

        table::part("Targets", &["target", "measured", ""]);
        let judge = |what: &str, target: &str, measured: String, met: bool| {
            table::row(what, &[target, &measured, if met { "met" } else { "MISSED" }]);
        };
        judge("Fennel tool, p50", "≤ 12 µs", table::time(fennel.p50), fennel.p50 <= micros(12));
        judge("Fennel tool, p99", "≤ 30 µs", table::time(fennel.p99), fennel.p99 <= micros(30));
        let calls = table::count(throughput.two_threads);
        judge("calls/s on two threads", "≥ 110,000", calls, throughput.two_threads >= 110_000.0);
        judge("two threads to one", "≥ 1.8 ×", times(gain), gain >= 1.8);
        judge(
            "faster than a native state with Fennel (p50)",
            "≥ 350 ×",
            times(to_fennel),
            to_fennel >= 350.0,
        );
        judge("faster than a bare native state (p50)", "> 1 ×", times(to_state), to_state > 1.0);
        judge("Lua that computes, to native (geometric mean)", "≤ 2 ×", times(*compute), *compute <= 2.0);
        judge("50 calls beside one that spins, to alone", "≤ 2 ×", times(*neighbours), *neighbours <= 2.0);
    }
}
