//! What is written to a table is read back from it.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use common::*;
use nb_store::{AgentState, LedgerKey, RunFilter, RunStatus, StoreError};
use serde_json::json;

fn ids(runs: Vec<nb_store::RunRow>) -> Vec<String> {
    runs.into_iter().map(|run| run.id).collect()
}

#[test]
fn agents_are_listed_by_name_and_can_be_changed() {
    let (_dir, store) = store();
    store.put_agent(&agent("watch")).unwrap();
    store.put_agent(&agent("hello")).unwrap();
    let stopped = nb_store::AgentRow { state: AgentState::Stopped, ..agent("watch") };
    store.put_agent(&stopped).unwrap();

    assert_eq!(store.agents().unwrap(), [agent("hello"), stopped.clone()]);
    assert_eq!(store.agent("watch").unwrap(), Some(stopped));
    assert_eq!(store.agent("nobody").unwrap(), None);
}

#[test]
fn the_highest_serial_never_falls_and_outlives_the_agent() {
    let (_dir, store) = store();
    store.install(&agent("hello"), &serial("hello", 7)).unwrap();
    store.install(&agent("hello"), &serial("hello", 3)).unwrap();
    assert_eq!(store.highest_serial("key-a", "hello").unwrap(), Some(7));

    store.purge("hello", "hello").unwrap();
    assert_eq!(store.agent("hello").unwrap(), None);
    assert_eq!(store.highest_serial("key-a", "hello").unwrap(), Some(7));
    assert_eq!(store.highest_serial("key-b", "hello").unwrap(), None);
}

#[test]
fn removing_an_agent_leaves_its_data_and_every_other_agent() {
    let (_dir, store) = store();
    for name in ["hello", "hello2"] {
        store.put_agent(&agent(name)).unwrap();
        store.kv_set(name, "color", &json!("red")).unwrap();
        store.set_cursor(name, 3).unwrap();
        store.set_cursor(&format!("{name}/alerts"), 4).unwrap();
        let slot = nb_store::SlotKey { agent: name.to_owned(), ..slot(1) };
        store.record_skip(&slot, "stopped", at(1)).unwrap();
    }

    store.remove_agent("hello").unwrap();

    let left = |name: &str| {
        let agent = store.agent(name).unwrap().is_some();
        let cursors = [name.to_owned(), format!("{name}/alerts")].map(|name| store.cursor(&name).unwrap());
        let slots = store.slots(name, "daily", 10).unwrap().len();
        (agent, cursors, slots, store.kv_get(name, "color").unwrap())
    };
    assert_eq!(left("hello"), (false, [None, None], 0, Some(json!("red"))));
    assert_eq!(left("hello2"), (true, [Some(3), Some(4)], 1, Some(json!("red"))));

    store.purge("hello2", "hello2").unwrap();
    assert_eq!(left("hello2"), (false, [None, None], 0, None));
}

#[test]
fn runs_are_listed_newest_first_by_agent_and_by_page() {
    let (_dir, store) = store();
    for id in ["run_1", "run_2", "run_3", "run_4"] {
        let agent = if id == "run_3" { "watch" } else { "hello" };
        let run = nb_store::RunRow { agent: agent.to_owned(), ..run(id) };
        store.begin_run(&LedgerKey::None, &run, &[]).unwrap();
    }
    let list = |agent: Option<&str>, limit, before: Option<&str>| {
        let filter = RunFilter { agent: agent.map(str::to_owned), limit, before: before.map(str::to_owned) };
        ids(store.runs(&filter).unwrap())
    };

    assert_eq!(list(None, 10, None), ["run_4", "run_3", "run_2", "run_1"]);
    assert_eq!(list(None, 2, Some("run_4")), ["run_3", "run_2"]);
    assert_eq!(list(Some("hello"), 2, None), ["run_4", "run_2"]);
    assert_eq!(list(Some("hello"), 2, Some("run_2")), ["run_1"]);
    assert_eq!(list(Some("nobody"), 2, None), Vec::<String>::new());
}

#[test]
fn a_run_is_unfinished_until_it_has_a_final_status() {
    let (_dir, store) = store();
    for id in ["run_1", "run_2"] {
        store.begin_run(&LedgerKey::None, &run(id), &[]).unwrap();
    }
    let mut second = run("run_2");
    second.status = RunStatus::Paused;
    store.update_run(&second).unwrap();
    assert_eq!(ids(store.unfinished().unwrap()), ["run_1", "run_2"]);
    assert_eq!(store.count_unfinished().unwrap(), 2);

    second.status = RunStatus::Completed;
    second.output = Some(json!("done"));
    store.update_run(&second).unwrap();
    assert_eq!(ids(store.unfinished().unwrap()), ["run_1"]);
    assert_eq!(store.run("run_2").unwrap(), Some(second));
}

#[test]
fn a_record_is_numbered_from_1_without_gaps_also_after_reopening() {
    let (dir, store) = store();
    store.begin_run(&LedgerKey::None, &run("run_1"), &[started(), started()]).unwrap();
    store.begin_run(&LedgerKey::None, &run("run_10"), &[]).unwrap();
    assert_eq!(store.append("run_1", &json!({"type": "log"})).unwrap(), 3);
    drop(store);

    let store = open(dir.path());
    assert_eq!(store.append("run_1", &json!({"type": "finished"})).unwrap(), 4);
    assert_eq!(store.append("run_10", &started()).unwrap(), 1);
    let after = store.run_events("run_1", 2, 10).unwrap();
    assert_eq!(after, [(3, json!({"type": "log"})), (4, json!({"type": "finished"}))]);
    assert_eq!(store.run_events("run_1", 0, 1).unwrap(), [(1, started())]);
}

#[test]
fn unknown_runs_and_taken_ids_are_refused() {
    let (_dir, store) = store();
    let unknown = StoreError::UnknownRun("run_1".to_owned());
    assert_eq!(store.append("run_1", &started()).unwrap_err(), unknown);
    assert_eq!(store.update_run(&run("run_1")).unwrap_err(), unknown);

    store.begin_run(&LedgerKey::None, &run("run_1"), &[]).unwrap();
    let taken = store.begin_run(&LedgerKey::Slot(slot(1)), &run("run_1"), &[]).unwrap_err();
    assert_eq!(taken.to_string(), "a run run_1 exists already: begin each run under a new id");
    assert_eq!(store.last_slot("hello", "daily").unwrap(), None, "nothing of it is written");
}

#[test]
fn a_long_row_is_read_back_whole_and_leaves_nothing_behind() {
    let (dir, store) = store();
    let text = "x".repeat(100_000);
    store.begin_run(&LedgerKey::None, &run("run_1"), &[json!({"text": text})]).unwrap();
    store.append("run_1", &json!({"text": text, "more": true})).unwrap();
    store.kv_set("hello", "long", &json!(text)).unwrap();
    drop(store);

    let store = open(dir.path());
    let events = store.run_events("run_1", 0, 10).unwrap();
    assert_eq!(events, [(1, json!({"text": text})), (2, json!({"text": text, "more": true}))]);
    assert_eq!(store.kv_list("hello", "", None, 10).unwrap(), [("long".to_owned(), json!(text))]);
    store.kv_set("hello", "long", &json!(1)).unwrap();
    assert_eq!(store.kv_get("hello", "long").unwrap(), Some(json!(1)));
}

#[test]
fn events_are_numbered_across_restarts_and_cursors_stay() {
    let (dir, store) = store();
    assert_eq!(store.last_event_seq(), 0);
    assert_eq!(store.publish(&event("a")).unwrap(), 1);
    assert_eq!(store.publish(&event("b")).unwrap(), 2);
    assert_eq!(store.cursor("hello/alerts").unwrap(), None);
    store.set_cursor("hello/alerts", 1).unwrap();
    drop(store);

    let store = open(dir.path());
    assert_eq!(store.publish(&event("c")).unwrap(), 3);
    assert_eq!(store.last_event_seq(), 3);
    let after = store.events(store.cursor("hello/alerts").unwrap().unwrap(), 10).unwrap();
    let names: Vec<_> = after.iter().map(|event| (event.seq, event.name.as_str())).collect();
    assert_eq!(names, [(2, "b"), (3, "c")]);
    assert_eq!(store.events(0, 1).unwrap().len(), 1);
}

#[test]
fn a_cursor_advances_and_neither_comes_back_nor_goes_back() {
    let (_dir, store) = store();
    assert!(!store.advance_cursor("hello/alerts", 5).unwrap(), "there is none");
    assert_eq!(store.cursor("hello/alerts").unwrap(), None);
    store.set_cursor("hello/alerts", 3).unwrap();
    assert!(store.advance_cursor("hello/alerts", 5).unwrap());
    for seq in [5, 4] {
        assert!(!store.advance_cursor("hello/alerts", seq).unwrap());
    }
    assert_eq!(store.cursor("hello/alerts").unwrap(), Some(5));
}

#[test]
fn cursors_that_are_not_kept_are_forgotten() {
    let (_dir, store) = store();
    for id in ["hello/a", "hello/a-2", "hello/b", "hello2/a"] {
        store.set_cursor(id, 3).unwrap();
    }
    store.keep_cursors("hello", &["hello/a-2".to_owned(), "hello/new".to_owned()]).unwrap();
    let left = ["hello/a", "hello/a-2", "hello/b", "hello2/a", "hello/new"]
        .map(|id| store.cursor(id).unwrap().is_some());
    assert_eq!(left, [false, true, false, true, false]);
}

#[test]
fn old_deliveries_are_forgotten_and_younger_ones_kept() {
    let (_dir, store) = store();
    for second in 0..1200 {
        let id = format!("d{second}");
        let run = run(&format!("run_{second:04}"));
        store.begin_run(&delivery(&id, second), &run, &[]).unwrap();
    }
    assert_eq!(store.forget_deliveries_before(at(1199)).unwrap(), 1199);
    assert_eq!(store.forget_deliveries_before(at(1199)).unwrap(), 0);
    assert_eq!(store.delivery("/hook/hello", "d1198").unwrap(), None);
    let kept = store.delivery("/hook/hello", "d1199").unwrap().unwrap();
    assert_eq!((kept.run.as_str(), kept.at), ("run_1199", at(1199)));
}

#[test]
fn the_inbox_shows_the_newest_first() {
    let (dir, store) = store();
    assert_eq!(store.put_inbox(&notification("first")).unwrap(), 1);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.put_inbox(&notification("second")).unwrap(), 2);
    let titles: Vec<_> = store.inbox(10).unwrap().into_iter().map(|row| row.title).collect();
    assert_eq!(titles, ["second", "first"]);
    assert_eq!(store.count_inbox().unwrap(), 2);
    assert_eq!(store.inbox(1).unwrap().len(), 1);
}

#[test]
fn calls_are_counted_per_hour_from_many_threads() {
    let (_dir, store) = store();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| assert!(store.count_call("hello", 100).is_ok())));
        }
    });
    assert_eq!(store.count_call("hello", 100).unwrap(), 201);
    assert_eq!(store.count_call("hello", 101).unwrap(), 1);
    assert_eq!(store.count_call("hello", 100).unwrap(), 202, "the clock was set back a little");
    assert_eq!(store.count_call("hello", 500).unwrap(), 1);
    assert_eq!(store.count_call("hello", 100).unwrap(), 1, "old hours were dropped");
    assert_eq!(store.count_call("watch", 100).unwrap(), 1);
}

#[test]
fn observers_are_told_of_each_append_and_publish() {
    let (_dir, store) = store();
    let mut watch = store.watch();
    store.begin_run(&LedgerKey::None, &run("run_1"), &[]).unwrap();
    assert!(watch.has_changed().unwrap());
    watch.mark_unchanged();
    store.append("run_1", &started()).unwrap();
    assert!(watch.has_changed().unwrap());
    watch.mark_unchanged();
    store.publish(&event("a")).unwrap();
    assert!(watch.has_changed().unwrap());
    watch.mark_unchanged();
    store.kv_set("hello", "color", &json!("red")).unwrap();
    assert!(!watch.has_changed().unwrap());
}
