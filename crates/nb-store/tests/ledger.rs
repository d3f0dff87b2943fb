//! One cause, one run.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use chrono::TimeDelta;
use common::*;
use nb_store::{Begun, DeliveryMark, LedgerKey, RunFilter, Store};

fn all_runs(store: &Store) -> usize {
    store.runs(&RunFilter { limit: 1000, ..RunFilter::default() }).unwrap().len()
}

#[test]
fn a_slot_starts_one_run() {
    let (_dir, store) = store();
    let key = LedgerKey::Slot(slot(60));
    assert_eq!(store.begin_run(&key, &run("run_1"), &[started()]).unwrap(), Begun::Started);
    let again = store.begin_run(&key, &run("run_2"), &[started()]).unwrap();
    assert_eq!(again, Begun::Already(Some("run_1".to_owned())));
    assert_eq!(store.run("run_2").unwrap(), None);
    assert!(store.run_events("run_2", 0, 10).unwrap().is_empty());

    let next = LedgerKey::Slot(slot(120));
    assert_eq!(store.begin_run(&next, &run("run_3"), &[]).unwrap(), Begun::Started);
    let slots = store.slots("hello", "daily", 10).unwrap();
    let runs: Vec<_> = slots.iter().map(|slot| (slot.at, slot.run.as_deref())).collect();
    assert_eq!(runs, [(at(120), Some("run_3")), (at(60), Some("run_1"))]);
    assert_eq!(store.last_slot("hello", "daily").unwrap().as_ref(), slots.first());
    assert_eq!(store.last_slot("hello", "dail").unwrap(), None);
}

#[test]
fn a_skipped_slot_does_not_run_and_a_run_slot_is_not_skipped() {
    let (_dir, store) = store();
    assert!(store.record_skip(&slot(60), "the agent was stopped", at(61)).unwrap());
    let begun = store.begin_run(&LedgerKey::Slot(slot(60)), &run("run_1"), &[]).unwrap();
    assert_eq!(begun, Begun::Already(None));

    store.begin_run(&LedgerKey::Slot(slot(120)), &run("run_1"), &[]).unwrap();
    assert!(!store.record_skip(&slot(120), "overlap", at(121)).unwrap());
    let slots = store.slots("hello", "daily", 10).unwrap();
    let skipped: Vec<_> = slots.iter().map(|slot| slot.skipped.as_deref()).collect();
    assert_eq!(skipped, [None, Some("the agent was stopped")]);
}

#[test]
fn a_delivery_starts_one_run() {
    let (_dir, store) = store();
    let begin = |id: &str| store.begin_run(&delivery("d1", 1), &run(id), &[started()]).unwrap();
    assert_eq!(begin("run_1"), Begun::Started);
    assert_eq!(begin("run_2"), Begun::Already(Some("run_1".to_owned())));
    assert_eq!(store.delivery("/hook/hello", "d1").unwrap().unwrap().run, "run_1");
}

#[test]
fn a_delivery_with_two_marks_is_a_repeat_by_either_of_them() {
    let (_dir, store) = store();
    let begin = |id: &str, body: &str, second, run_id: &str| {
        let marks = vec![
            DeliveryMark { id: id.to_owned(), lasts: None },
            DeliveryMark { id: body.to_owned(), lasts: Some(TimeDelta::seconds(300)) },
        ];
        let key = LedgerKey::Delivery { path: "/hook/hello".to_owned(), marks, at: at(second) };
        store.begin_run(&key, &run(run_id), &[]).unwrap()
    };
    let repeat_of = |run: &str| Begun::Already(Some(run.to_owned()));
    assert_eq!(begin("id-1", "body-a", 0, "run_1"), Begun::Started);
    assert_eq!(begin("id-2", "body-a", 299, "run_2"), repeat_of("run_1"));
    assert_eq!(begin("id-2", "body-a", -299, "run_2"), repeat_of("run_1"), "the clock was set back");
    assert_eq!(store.delivery("/hook/hello", "id-2").unwrap(), None, "nothing of a repeat is written");
    assert_eq!(begin("id-2", "body-a", 300, "run_2"), Begun::Started);
    assert_eq!(begin("id-3", "body-a", 599, "run_3"), repeat_of("run_2"), "the time counts from the last");
    assert_eq!(begin("id-1", "body-b", 10_000, "run_3"), repeat_of("run_1"), "an id is known for ever");

    assert_eq!(store.forget_deliveries_before(at(300)).unwrap(), 1, "only the first id is that old");
    assert_eq!(store.delivery("/hook/hello", "body-a").unwrap().unwrap().run, "run_2");
}

#[test]
fn an_event_starts_one_run_and_moves_the_cursor_with_it() {
    let (_dir, store) = store();
    let begin = |seq, id: &str| store.begin_run(&wake_up(seq), &run(id), &[]).unwrap();
    assert_eq!(begin(5, "run_0"), Begun::Already(None), "there is no such subscriber");
    assert_eq!(store.cursor("hello/alerts").unwrap(), None);
    store.set_cursor("hello/alerts", 0).unwrap();
    assert_eq!(begin(5, "run_1"), Begun::Started);
    assert_eq!(store.cursor("hello/alerts").unwrap(), Some(5));
    assert_eq!(begin(5, "run_2"), Begun::Already(Some("run_1".to_owned())));
    assert_eq!(begin(4, "run_3"), Begun::Already(None));
    assert_eq!(begin(9, "run_4"), Begun::Started);
    assert_eq!(store.cursor("hello/alerts").unwrap(), Some(9));
}

#[test]
fn no_cause_starts_as_many_runs_as_asked_for() {
    let (_dir, store) = store();
    for id in ["run_1", "run_2"] {
        assert_eq!(store.begin_run(&LedgerKey::None, &run(id), &[]).unwrap(), Begun::Started);
    }
    assert_eq!(all_runs(&store), 2);
}

#[test]
fn eight_threads_at_once_start_one_run_per_cause() {
    let (_dir, store) = store();
    store.set_cursor("hello/alerts", 0).unwrap();
    let causes: Vec<LedgerKey> = (1..=20)
        .flat_map(|n| [LedgerKey::Slot(slot(n)), delivery(&format!("d{n}"), n), wake_up(n.unsigned_abs())])
        .collect();
    let started_by = |thread: usize| {
        let begun = causes.iter().enumerate().map(|(cause, key)| {
            let run = run(&format!("run_{cause:03}_{thread}"));
            store.begin_run(key, &run, &[started()]).unwrap()
        });
        begun.filter(|begun| *begun == Begun::Started).count()
    };
    let started: usize = std::thread::scope(|scope| {
        let started_by = &started_by;
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || started_by(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(started, causes.len());
    assert_eq!(all_runs(&store), causes.len());
}
