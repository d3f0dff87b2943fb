//! Many calls that end in many ways: the last cost what the first did, and no memory is lost.
//!
//! `cargo xtask soak` gives this its arguments, CALLS THREADS FILE. Without them, as `cargo bench` starts it, it ends
//! at once.
//!
//! # Layout
//! - `kind`: the kinds of calls, their shares and their order
//! - `segment`: what is measured
//! - `chart`: the SVG file

#![allow(clippy::expect_used, reason = "a soak that cannot run has nothing else to say")]
#![allow(clippy::print_stdout, reason = "the output of a soak")]

mod chart;
#[path = "../common/mod.rs"]
mod common;
mod kind;
mod segment;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use nb_sandbox::{Sandbox, SandboxConfig};

use crate::kind::{DECK, Kind};
use crate::segment::{FIGURES, Segment, Worker, median};

/// Of the order of the calls.
const SEED: u64 = 20_250_101;

const SEGMENTS: usize = 100;
const TENTH: usize = SEGMENTS / 10;

/// How much the last tenth may differ from the first one.
const TOLERANCE_PERCENT: u32 = 10;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [calls, threads, file] = args.as_slice() else { return ExitCode::SUCCESS };
    let threads = threads.parse::<usize>().expect("a number of threads").max(1);
    let calls = calls.parse::<usize>().expect("a number of calls");
    // Whole decks, so that all segments have the same mix.
    let calls_each = calls.div_ceil(SEGMENTS * threads).next_multiple_of(DECK);
    let calls = calls_each * threads * SEGMENTS;

    let config = SandboxConfig { max_concurrent: 8, ..SandboxConfig::default() };
    let sandbox = Sandbox::new(&config).expect("the sandbox starts");
    let kinds = Kind::all(&sandbox);
    let mut workers: Vec<Worker> = (0..threads as u64).map(|n| Worker::new(&kinds, SEED + n)).collect();
    introduce(&kinds, &sandbox, calls, threads);

    // One more segment at the start, which is not recorded: the allocator and the caches are filled.
    segment::run(&mut workers, &sandbox, &kinds, calls_each);
    let start = Instant::now();
    let mut segments = Vec::with_capacity(SEGMENTS);
    line("calls", FIGURES.map(|(name, ..)| name.to_owned()));
    for number in 1..=SEGMENTS {
        segments.push(segment::run(&mut workers, &sandbox, &kinds, calls_each));
        if number % TENTH == 0 {
            let tenth = &segments[number - TENTH..];
            let cells = FIGURES.map(|(_, unit, of)| format!("{:.1} {unit}", median(tenth, of)));
            line(&grouped(calls / SEGMENTS * number), cells);
        }
    }
    println!("\nThis took {:.0} s.\n", start.elapsed().as_secs_f64());

    let passed = judge(&segments);
    let title = format!("{} sandboxed calls with mixed outcomes", grouped(calls));
    match chart::write(Path::new(file), &title, calls, &segments) {
        Ok(()) => println!("chart: {file}"),
        Err(error) => println!("the chart {file} cannot be written: {error}"),
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn introduce(kinds: &[Kind], sandbox: &Sandbox, calls: usize, threads: usize) {
    println!(
        "{} calls on {threads} thread(s), in an order from a seed; each must end as it is meant to:\n",
        grouped(calls)
    );
    println!("{:<30}{:>14}{:>14}", "", "share", "p50 alone");
    for kind in kinds {
        let share = kind.share as f64 * 100.0 / DECK as f64;
        println!("{:<30}{share:>12.1} %{:>11.1} µs", kind.name, alone(kind, sandbox));
    }
    println!(
        "\nEach figure below is the median of the {TENTH} segments of a tenth. Other work on the machine shows in p99.\n"
    );
}

/// What a kind costs when nothing else happens, in microseconds.
fn alone(kind: &Kind, sandbox: &Sandbox) -> f64 {
    let mut times = [0.0; 11];
    for time in &mut times {
        let start = Instant::now();
        kind.call(sandbox);
        *time = start.elapsed().as_secs_f64() * 1e6;
    }
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Compares the last tenth with the first, and says what came of it.
fn judge(segments: &[Segment]) -> bool {
    let (first, last) = (&segments[..TENTH], &segments[SEGMENTS - TENTH..]);
    println!("{:<30}{:>14}{:>14}{:>14}", "", "first tenth", "last tenth", "difference");
    let mut passed = true;
    for (name, unit, of) in FIGURES {
        let (before, after) = (median(first, of), median(last, of));
        let percent = (after / before - 1.0) * 100.0;
        let flat = percent.abs() <= f64::from(TOLERANCE_PERCENT);
        passed &= flat;
        let cells = [format!("{before:.1} {unit}"), format!("{after:.1} {unit}"), format!("{percent:+.1} %")];
        print!("{name:<30}");
        cells.iter().for_each(|cell| print!("{cell:>14}"));
        println!("  {}", if flat { "ok" } else { "NOT FLAT" });
    }
    println!("\n{}: ±{TOLERANCE_PERCENT} % is allowed.", if passed { "PASS" } else { "FAIL" });
    passed
}

fn line(calls: &str, cells: [String; FIGURES.len()]) {
    print!("{calls:>12}");
    cells.iter().for_each(|cell| print!("{cell:>30}"));
    println!();
}

/// A number with a comma between its thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}
