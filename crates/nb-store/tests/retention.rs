//! What is old is forgotten, and nothing that is still needed.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use common::*;
use nb_store::{AgentRow, AgentState, Begun, EventRow, InboxRow, LedgerKey, RunFilter, RunRow, RunStatus};
use serde_json::json;

#[test]
fn old_runs_are_forgotten_with_their_records_and_open_ones_stay() {
    let (dir, store) = store();
    for n in 0..1200 {
        let begun = RunRow { created_at: at(n), ..run(&format!("run_{n:04}")) };
        let first = [started(), json!({"text": "x".repeat(if n == 3 { 9000 } else { 1 })})];
        store.begin_run(&LedgerKey::Slot(slot(n)), &begun, &first).unwrap();
        let ended = RunRow { status: RunStatus::Completed, finished_at: Some(at(n + 10)), ..begun };
        if n != 5 {
            store.update_run(&ended).unwrap();
        }
    }
    assert_eq!(store.forget_runs_before(at(1110)).unwrap(), 1099, "0 to 1099, but for the open one");
    assert_eq!(store.forget_runs_before(at(1110)).unwrap(), 0);
    drop(store);

    let store = open(dir.path());
    let listed = |agent: Option<&str>| {
        let filter = RunFilter { agent: agent.map(str::to_owned), limit: 5000, before: None };
        store.runs(&filter).unwrap().into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(None).len(), 101);
    assert_eq!(listed(None), listed(Some("hello")));
    assert_eq!(store.run("run_1099").unwrap(), None);
    assert!(store.run("run_1100").unwrap().is_some());
    assert!(store.run_events("run_0003", 0, 9).unwrap().is_empty());
    assert_eq!(store.run_events("run_0005", 0, 9).unwrap().len(), 2);
    assert_eq!(store.unfinished().unwrap().len(), 1);
    let again = store.begin_run(&LedgerKey::Slot(slot(7)), &run("run_x"), &[]).unwrap();
    assert_eq!(again, Begun::Already(Some("run_0007".to_owned())), "its slot stays decided");
}

#[test]
fn a_run_that_ended_late_is_kept_as_long_as_its_end_is_young() {
    let (_dir, store) = store();
    let long = RunRow { status: RunStatus::Failed, finished_at: Some(at(500)), ..run("run_1") };
    store.begin_run(&LedgerKey::None, &long, &[]).unwrap();
    assert_eq!(store.forget_runs_before(at(500)).unwrap(), 0);
    assert_eq!(store.forget_runs_before(at(501)).unwrap(), 1);
}

#[test]
fn old_events_are_forgotten_unless_a_running_agent_has_not_read_them() {
    let (dir, store) = store();
    for n in 1..=1200 {
        store.publish(&EventRow { at: at(n), ..event("tick") }).unwrap();
    }
    store.put_agent(&agent("hello")).unwrap();
    store.put_agent(&AgentRow { state: AgentState::Stopped, ..agent("idle") }).unwrap();
    store.set_cursor("hello/alerts", 600).unwrap();
    store.set_cursor("idle/alerts", 1).unwrap();
    assert_eq!(store.forget_events_before(at(100)).unwrap(), 99);
    assert_eq!(store.forget_events_before(at(9999)).unwrap(), 501, "up to the cursor");
    assert_eq!(store.events(0, 1).unwrap().remove(0).seq, 601);

    store.set_cursor("hello/alerts", 1200).unwrap();
    assert_eq!(store.forget_events_before(at(9999)).unwrap(), 599, "but for the newest");
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.publish(&event("tick")).unwrap(), 1201, "the numbers go on");
}

#[test]
fn an_old_event_after_a_younger_one_is_forgotten_as_well() {
    let (_dir, store) = store();
    for second in [5000, 1, 2, 6000] {
        store.publish(&EventRow { at: at(second), ..event("tick") }).unwrap();
    }
    assert_eq!(store.forget_events_before(at(100)).unwrap(), 2, "the clock was set back after the first");
    assert_eq!(store.events(0, 9).unwrap().iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn old_slots_are_forgotten_but_for_the_last_of_each_trigger() {
    let (_dir, store) = store();
    let of = |trigger: &str, second| nb_store::SlotKey { trigger: trigger.to_owned(), ..slot(second) };
    for second in 0..1200 {
        store.record_skip(&of("daily", second), "missed", at(second)).unwrap();
    }
    for second in [1, 2] {
        store.record_skip(&of("daily-2", second), "missed", at(second)).unwrap();
    }
    assert_eq!(store.forget_slots_before(at(1000)).unwrap(), 1001);
    let times = |trigger: &str| -> Vec<_> {
        store.slots("hello", trigger, 9999).unwrap().into_iter().map(|slot| slot.at).collect()
    };
    assert_eq!((times("daily").len(), times("daily").last()), (200, Some(&at(1000))));
    assert_eq!(times("daily-2"), [at(2)]);
    assert_eq!(store.forget_slots_before(at(9999)).unwrap(), 199);
    assert_eq!(store.last_slot("hello", "daily").unwrap().unwrap().at, at(1199));
}

#[test]
fn old_notifications_are_forgotten() {
    let (_dir, store) = store();
    for second in 0..1200 {
        store.put_inbox(&InboxRow { at: at(second), ..notification("hello") }).unwrap();
    }
    assert_eq!(store.forget_inbox_before(at(1100)).unwrap(), 1100);
    assert_eq!(store.count_inbox().unwrap(), 100);
    assert_eq!(store.inbox(200).unwrap().pop().unwrap().at, at(1100));
}
