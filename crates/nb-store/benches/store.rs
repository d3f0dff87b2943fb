//! What the store costs: `cargo bench -p nb-store`. Prints p50, p99 and the longest time per operation.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::*;
use nb_store::Store;
use serde_json::json;

fn main() {
    let (_dir, store) = store();
    println!("{:<44} {:>10} {:>10} {:>10} {:>12}", "operation", "p50", "p99", "longest", "per second");

    measure("begin_run + commit, one caller", 1, 500, &store, |store, thread, n| {
        begin(store, &format!("a{thread}_{n}"));
    });
    measure("begin_run + commit, 16 callers", 16, 100, &store, |store, thread, n| {
        begin(store, &format!("b{thread:02}_{n}"));
    });
    measure("publish + commit, 64 callers", 64, 100, &store, |store, _, _| {
        store.publish(&event("a")).unwrap();
        store.commit_blocking().unwrap();
    });
    measure("append", 1, 5_000, &store, |store, _, n| {
        store.append(&format!("run_a0_{}", n % 500), &json!({"type": "log", "n": n})).unwrap();
    });
    measure("kv_set", 1, 5_000, &store, |store, _, n| {
        store.kv_set("bench", &format!("key{}", n % 500), &json!({"n": n})).unwrap();
    });
    // Each transaction is written to the disk in the background; what follows must not pay for these.
    store.commit_blocking().unwrap();
    measure("kv_get", 1, 20_000, &store, |store, _, n| {
        store.kv_get("bench", &format!("key{}", n % 500)).unwrap();
    });
    std::thread::scope(|scope| {
        let writers = scope.spawn(|| {
            measure("begin_run + commit, 4 callers, while reading", 4, 100, &store, |store, thread, n| {
                begin(store, &format!("c{thread}_{n}"));
            });
        });
        measure("kv_get, while 4 callers begin runs", 1, 20_000, &store, |store, _, n| {
            store.kv_get("bench", &format!("key{}", n % 500)).unwrap();
        });
        writers.join().unwrap();
    });
}

fn begin(store: &Store, id: &str) {
    store.begin_run(&delivery(id, 0), &run(&format!("run_{id}")), &[started()]).unwrap();
    store.commit_blocking().unwrap();
}

fn measure(
    name: &str,
    threads: usize,
    count: usize,
    store: &Store,
    work: impl Fn(&Store, usize, usize) + Sync,
) {
    let begin = Instant::now();
    let timed = |thread| {
        let one = |n| {
            let start = Instant::now();
            work(store, thread, n);
            start.elapsed()
        };
        (0..count).map(one).collect::<Vec<Duration>>()
    };
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let timed = &timed;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || timed(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let rate = times.len() as f64 / begin.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |percent: usize| {
        times.get((times.len() * percent / 100).min(times.len() - 1)).copied().unwrap_or_default()
    };
    println!("{name:<44} {:>10.1?} {:>10.1?} {:>10.1?} {rate:>12.0}", at(50), at(99), at(100));
}
