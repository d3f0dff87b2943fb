//! The fuzz targets for a few seconds each: the seeds in `fuzz/seeds`, and changes of them that are the same each time.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod mutation;
mod targets;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use mutation::Mutation;

#[test]
fn bytes_that_are_no_chunk_do_not_harm_the_host() {
    run("chunk", 3_000, targets::chunk::run);
}

#[test]
fn any_source_is_compiled_or_refused() {
    run("compile", 1_000, targets::compile::run);
}

#[test]
fn json_means_in_the_guest_what_it_means_elsewhere() {
    run("json", 1_500, targets::json::run);
}

#[test]
fn whatever_a_component_answers_the_host_reads_it_or_refuses_it() {
    run("component", 3_000, targets::component::run);
}

/// Runs a target with each seed, and with so many inputs that are made of them.
fn run(name: &str, changed: usize, target: fn(&[u8])) {
    let seeds = seeds(name);
    for (file, seed) in &seeds {
        try_input(target, seed, file);
    }
    let mut mutation = Mutation::new(1);
    for number in 0..changed {
        let (file, seed) = &seeds[mutation.below(seeds.len())];
        let (_, other) = &seeds[mutation.below(seeds.len())];
        let input = mutation.of(seed, other);
        try_input(target, &input, &format!("{file}, change {number}"));
    }
}

fn try_input(target: fn(&[u8]), input: &[u8], origin: &str) {
    if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| target(input))) {
        eprintln!("the input was {origin}: {}", input.escape_ascii());
        panic::resume_unwind(panic);
    }
}

/// In the order of their names, so that each run is the same.
fn seeds(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
    let mut seeds: Vec<_> = fs::read_dir(&folder)
        .expect("the seeds are there")
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), fs::read(&path).unwrap())
        })
        .collect();
    seeds.sort();
    seeds
}
