//! `kill -9` at any moment loses nothing that was acknowledged.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::*;
use nb_store::{Begun, RunFilter, Store};
use serde_json::json;

/// Where the child finds its store; unset in an ordinary run of the tests.
const DIR: &str = "NB_STORE_CRASH_DIR";
const ROUND: &str = "NB_STORE_CRASH_ROUND";
const ROUNDS: u64 = 20;

/// Not a test of its own: the process that is killed. Writes until then, and prints what was committed.
#[test]
fn the_process_that_is_killed() {
    let (Ok(dir), Ok(round)) = (std::env::var(DIR), std::env::var(ROUND)) else { return };
    let store = open(Path::new(&dir));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (store, round) = (&store, &round);
            scope.spawn(move || write_for_ever(store, &format!("{round}_{thread}")));
        }
    });
}

fn write_for_ever(store: &Store, name: &str) {
    for n in 0.. {
        let run = run(&format!("run_{name}_{n:06}"));
        let id = format!("{name}_{n}");
        assert_eq!(
            store.begin_run(&delivery(&id, n), &run, &[started(), started()]).unwrap(),
            Begun::Started
        );
        let appended =
            store.append(&run.id, &json!({"text": "x".repeat(if n % 7 == 0 { 9000 } else { 100 })}));
        let event = store.publish(&event(&id)).unwrap();
        let count = store.kv_increment("counts", name, 1).unwrap();
        store.commit_blocking().unwrap();
        // One write per line: the reader sees it whole, or as the last and unfinished line.
        let line = format!("ack {} {id} {} {event} {count}\n", run.id, appended.unwrap());
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    }
}

#[derive(Debug)]
struct Acknowledged {
    run: String,
    delivery: String,
    last_run_event: u64,
    event: u64,
    count: i64,
}

impl Acknowledged {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split_once("ack ")?.1.split(' ');
        Some(Self {
            run: words.next()?.to_owned(),
            delivery: words.next()?.to_owned(),
            last_run_event: words.next()?.parse().ok()?,
            event: words.next()?.parse().ok()?,
            count: words.next()?.parse().ok()?,
        })
    }
}

fn spawn(dir: &Path, round: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_killed", "--nocapture"])
        .env(DIR, dir)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads what the child acknowledges, kills it after `limit` of them, and reads what it still said before it died.
/// The child does not stop at an acknowledgement, so the kill meets it anywhere.
fn acknowledged_until_killed(mut child: Child, limit: usize) -> Vec<Acknowledged> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        acknowledged.extend(Acknowledged::parse(&line));
        line.clear();
        if acknowledged.len() == limit {
            child.kill().unwrap();
        }
    }
    assert!(!child.wait().unwrap().success(), "it ended by itself");
    acknowledged
}

#[test]
fn record_survives() {
    let dir = tempfile::tempdir().unwrap();
    let mut all: Vec<Acknowledged> = Vec::new();
    for round in 0..ROUNDS {
        // 1 to 120 records, in an order without a pattern.
        let limit = 1 + (round * 7919 + 13) % 120;
        all.extend(acknowledged_until_killed(spawn(dir.path(), round), limit as usize));
        check(&open(dir.path()), &all);
    }
    assert!(all.len() as u64 >= ROUNDS);
}

fn check(store: &Store, acknowledged: &[Acknowledged]) {
    let events = store.events(0, usize::MAX).unwrap();
    assert!(
        events.iter().map(|event| event.seq).eq(1..=store.last_event_seq()),
        "a number is missing or doubled"
    );
    let mut seen = HashSet::new();
    for record in acknowledged {
        assert!(seen.insert(record.event), "{record:?}: its event number was given twice");
        let event = events.get(record.event as usize - 1).unwrap();
        assert_eq!(event.name, record.delivery);
        assert_eq!(store.delivery("/hook/hello", &record.delivery).unwrap().unwrap().run, record.run);
        assert!(store.run(&record.run).unwrap().is_some(), "{record:?}: the run is gone");
        let (round, _) = record.delivery.rsplit_once('_').unwrap();
        let count = store.kv_get("counts", round).unwrap().unwrap().as_i64().unwrap();
        assert!(count >= record.count, "{record:?}: the count is {count}");
        let run_events = store.run_events(&record.run, 0, usize::MAX).unwrap();
        assert_eq!(run_events.len() as u64, record.last_run_event);
    }

    // Of what was not acknowledged, a run is there with its ledger row and its first events, or not at all.
    let runs = store.runs(&RunFilter { limit: usize::MAX, ..RunFilter::default() }).unwrap();
    for run in &runs {
        let events = store.run_events(&run.id, 0, 10).unwrap();
        assert!(events.iter().map(|(seq, _)| *seq).eq(1..=events.len() as u64));
        assert!(events.len() >= 2, "{}: only {} of its first events", run.id, events.len());
        let id = run.id.strip_prefix("run_").unwrap();
        let (name, n) = id.rsplit_once('_').unwrap();
        let id = format!("{name}_{}", n.parse::<i64>().unwrap());
        assert_eq!(store.delivery("/hook/hello", &id).unwrap().unwrap().run, run.id);
        let again = store.begin_run(&delivery(&id, 0), &common::run("run_again"), &[]).unwrap();
        assert_eq!(again, Begun::Already(Some(run.id.clone())));
    }
    assert_eq!(store.unfinished().unwrap().len(), runs.len());
}
