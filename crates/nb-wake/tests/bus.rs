//! Events wake the agents that subscribed: each once, in order, whatever becomes of the others.

use std::sync::Arc;

use nb_runtime::Installed;
use nb_runtime::installed::Entry;
use nb_runtime::record::{RunEvent, status_of};
use nb_store::{AgentState, RunFilter, RunStatus};
use nb_wake::subscriber::MAX_IN_FLIGHT;
use serde_json::{Value, json};

use crate::awake::{Awake, outputs};
use crate::common::{AgentBuilder, Home, agent, at};

/// An agent that gives the number in the event's data.
fn subscriber(name: &str, events: Value) -> AgentBuilder {
    agent(name)
        .asks(&["flow.stop"])
        .set("triggers", json!({"events": events}))
        .chain("c", "steps: [{id: s, ability: flow.stop, args: {result: '{{event.data.n}}'}}]")
}

fn publish(home: &Home, name: &str, data: Value) -> u64 {
    home.engine.publish(name, data, "test", 0).unwrap()
}

/// The numbers of the events that woke an agent, in the order of the log.
async fn woken_by(awake: &Awake, agent: &str, count: usize) -> Vec<Value> {
    let mut runs = awake.until_ended(agent, count).await;
    runs.sort_by_key(|run| run.actor["seq"].as_u64());
    outputs(&runs)
}

#[tokio::test]
async fn an_event_wakes_by_name_wildcard_and_filter() {
    let home = Home::new();
    subscriber("exact", json!([{"on": "Weather.Alert", "chain": "c"}])).install(&home);
    subscriber("wild", json!([{"on": "weather.*", "chain": "c"}])).install(&home);
    let filter = json!({"place.city": ["Rome", "Oslo"], "level": 3});
    subscriber("picky", json!([{"on": "weather.alert", "chain": "c", "filter": filter}])).install(&home);
    let awake = Awake::new(home);
    publish(&awake.home, "weather.alert", json!({"n": 1, "level": 3, "place": {"city": "Rome"}}));
    publish(&awake.home, "weather.report", json!({"n": 2, "level": 3, "place": {"city": "Rome"}}));
    publish(&awake.home, "weatherAlert", json!({"n": 3, "level": 2, "place": {"city": "Rome"}}));
    publish(&awake.home, "weather.alert.red", json!({"n": 4}));
    publish(&awake.home, "weather.alert", json!({"n": 5, "level": 3, "place": {"city": "Oslo"}}));
    assert_eq!(woken_by(&awake, "exact", 3).await, [json!(1), json!(3), json!(5)]);
    assert_eq!(woken_by(&awake, "wild", 4).await, [json!(1), json!(2), json!(3), json!(5)]);
    assert_eq!(woken_by(&awake, "picky", 2).await, [json!(1), json!(5)]);
}

#[tokio::test]
async fn a_task_sees_the_whole_event() {
    let home = Home::new();
    subscriber("a", json!([{"on": "x.y", "chain": "all"}]))
        .chain("all", "steps: [{id: s, ability: flow.stop, args: {result: '{{event}}'}}]")
        .install(&home);
    let awake = Awake::new(home);
    awake.home.world.set(at("00:00:09"));
    publish(&awake.home, "x.y", json!([1]));
    let runs = awake.until_ended("a", 1).await;
    let mut event = outputs(&runs).remove(0);
    assert!(event["id"].take().as_str().unwrap().starts_with("evt_"));
    let expected = json!({"name": "x.y", "data": [1], "source": "test", "id": null, "seq": 1, "at": "2026-01-01T00:00:09Z"});
    assert_eq!(event, expected);
    assert_eq!((runs[0].depth, &runs[0].actor), (1, &json!({"by": "event", "name": "x.y", "seq": 1})));
}

#[tokio::test]
async fn events_wake_in_their_order() {
    let home = Home::new();
    subscriber("a", json!([{"on": "tick.*", "chain": "c"}])).install(&home);
    let awake = Awake::new(home);
    for n in 0..300 {
        publish(&awake.home, "tick.tock", json!({"n": n}));
    }
    let runs = awake.until_ended("a", 300).await;
    let expected: Vec<Value> = (0..300).map(Value::from).collect();
    assert_eq!(outputs(&runs), expected, "runs are listed in the order of their start");
}

/// Goes on for an hour of the test's clock, or until it is cancelled.
const LONG: &str = "steps: [{id: s, tool: fail, on_failure: {retry: {attempts: 2, delay: 1h}}}]";

/// The place of the event that woke an agent last.
fn last_woken(home: &Home, agent: &str) -> Option<u64> {
    let filter = RunFilter { agent: Some(agent.to_owned()), limit: 1, before: None };
    home.store().runs(&filter).unwrap().first()?.actor["seq"].as_u64()
}

#[tokio::test]
async fn a_flood_of_events_starts_few_runs_at_once_and_holds_nobody_up() {
    const EVENTS: u64 = 500;
    let most = MAX_IN_FLIGHT as u64;
    let home = Home::new();
    let on_tick = json!([{"on": "tick", "chain": "c"}]);
    subscriber("slow", on_tick.clone()).tool("fail", "error('no')").chain("c", LONG).install(&home);
    subscriber("quick", on_tick).install(&home);
    let awake = Awake::new(home);
    let home = &awake.home;
    for n in 0..EVENTS {
        publish(home, "tick", json!({"n": n}));
    }
    home.until("the quick one", || last_woken(home, "quick") == Some(EVENTS)).await;
    let mut woken = 0;
    while woken < EVENTS {
        let next = (woken + most).min(EVENTS);
        home.until("the next runs", || {
            let at_once = home.store().unfinished().unwrap().iter().filter(|run| run.agent == "slow").count();
            assert!(at_once <= MAX_IN_FLIGHT, "{at_once} after {woken}");
            last_woken(home, "slow") == Some(next)
        })
        .await;
        home.engine.cancel_agent("slow", "enough").await;
        woken = next;
    }
    for agent in ["slow", "quick"] {
        let runs = home.runs(agent);
        let seqs: Vec<_> = runs.iter().filter_map(|run| run.actor["seq"].as_u64()).collect();
        assert_eq!(seqs, (1..=EVENTS).collect::<Vec<_>>(), "{agent}: each once, in the order of the events");
    }
}

#[tokio::test]
async fn runs_that_a_restart_resumed_count_as_at_work() {
    let home = Home::new();
    let on_tick = json!([{"on": "tick", "chain": "c"}]);
    subscriber("slow", on_tick.clone()).tool("fail", "error('no')").chain("c", LONG).install(&home);
    subscriber("witness", on_tick).install(&home);
    let awake = Awake::new(home);
    for n in 0..20 {
        publish(&awake.home, "tick", json!({"n": n}));
    }
    woken_by(&awake, "witness", 20).await;
    assert_eq!(awake.home.runs("slow").len(), MAX_IN_FLIGHT);
    let awake = awake.restarted().await;
    publish(&awake.home, "tick", json!({"n": 20}));
    woken_by(&awake, "witness", 21).await;
    assert_eq!(awake.home.runs("slow").len(), MAX_IN_FLIGHT);
    awake.home.engine.cancel_agent("slow", "enough").await;
    awake.home.until("more", || awake.home.runs("slow").len() == 2 * MAX_IN_FLIGHT).await;
}

#[tokio::test]
async fn a_subscription_that_comes_back_begins_anew() {
    let home = Home::new();
    let on_tick = json!([{"on": "tick", "chain": "c"}]);
    subscriber("a", on_tick.clone()).install(&home);
    subscriber("witness", on_tick.clone()).install(&home);
    let awake = Awake::new(home);
    let upgrade = |events: Value, digest: &str| {
        let agent = subscriber("a", events).digest(digest).install(&awake.home);
        awake.wake.begin(&agent, false).unwrap();
        awake.wake.agents_changed();
    };
    publish(&awake.home, "tick", json!({"n": 1}));
    assert_eq!(woken_by(&awake, "a", 1).await, [json!(1)]);
    upgrade(json!([]), "sha256:02");
    publish(&awake.home, "tick", json!({"n": 2}));
    woken_by(&awake, "witness", 2).await;
    assert_eq!(awake.home.store().cursor("a/c").unwrap(), None);
    upgrade(on_tick, "sha256:03");
    publish(&awake.home, "tick", json!({"n": 3}));
    assert_eq!(woken_by(&awake, "a", 2).await, [json!(1), json!(3)]);
}

#[tokio::test]
async fn a_subscription_that_cannot_be_read_is_tried_again_and_holds_nobody_up() {
    let home = Home::new();
    let agent = subscriber("a", json!([{"on": "tick", "chain": "c"}])).install(&home);
    let awake = Awake::new(home);
    let mut row = agent.row.clone();
    // Longer than a key of the store may be.
    row.name = "x".repeat(300);
    awake.home.engine.agents().insert(Entry::Ready(Arc::new(Installed::new(row, agent.spec.clone()))));
    awake.wake.agents_changed();
    for (n, time, next) in [(1, "00:00:00", "00:00:05"), (2, "00:00:05", "00:00:10")] {
        awake.home.world.set(at(time));
        awake.home.world.asleep_until(at(next)).await;
        publish(&awake.home, "tick", json!({"n": n}));
        woken_by(&awake, "a", n).await;
    }
}

#[tokio::test]
async fn a_bus_that_does_not_know_yet_leaves_cursors_alone() {
    let home = Home::new();
    for name in ["gone", "stopped", "witness"] {
        subscriber(name, json!([{"on": "tick", "chain": "c"}])).install(&home);
    }
    let awake = Awake::new(home);
    awake.home.engine.agents().remove("gone");
    awake.home.store().remove_agent("gone").unwrap();
    awake.home.set_state("stopped", AgentState::Stopped);
    awake.home.store().set_cursor("stopped/c", 99).unwrap();
    publish(&awake.home, "tick", json!({"n": 1}));
    woken_by(&awake, "witness", 1).await;
    assert_eq!(awake.home.store().cursor("gone/c").unwrap(), None);
    assert_eq!(awake.home.store().cursor("stopped/c").unwrap(), Some(99));
}

#[tokio::test]
async fn a_restart_loses_no_event_and_doubles_none() {
    let home = Home::new();
    subscriber("a", json!([{"on": "tick", "chain": "c"}])).install(&home);
    let mut awake = Awake::new(home);
    let mut sent = Vec::new();
    for round in 0..5 {
        for n in 0..7 {
            let n = json!(round * 100 + n);
            publish(&awake.home, "tick", json!({"n": n}));
            publish(&awake.home, "of.no.interest", json!({"n": n}));
            sent.push(n);
        }
        // In the midst of it: what was read is on disk, what was not is read after the restart.
        awake.until_ended("a", round * 7 + 3).await;
        awake = awake.restarted().await;
    }
    assert_eq!(woken_by(&awake, "a", 35).await, sent);
    publish(&awake.home, "tick", json!({"n": "last"}));
    assert_eq!(woken_by(&awake, "a", 36).await.len(), 36);
}

#[tokio::test]
async fn what_happened_before_a_subscription_does_not_wake() {
    let home = Home::new();
    publish(&home, "tick", json!({"n": 1}));
    subscriber("a", json!([{"on": "tick", "chain": "c"}])).install(&home);
    let awake = Awake::new(home);
    publish(&awake.home, "tick", json!({"n": 2}));
    assert_eq!(woken_by(&awake, "a", 1).await, [json!(2)]);
}

#[tokio::test]
async fn a_slow_or_failing_subscriber_does_not_hold_up_the_others() {
    let home = Home::new();
    let on_tick = json!([{"on": "tick", "chain": "c"}]);
    let forever = "steps: [{id: s, tool: fail, on_failure: {retry: {attempts: 2}}}]";
    subscriber("a-slow", on_tick.clone()).tool("fail", "error('no')").chain("c", forever).install(&home);
    subscriber("b-gone", on_tick.clone()).install(&home);
    subscriber("c-failing", on_tick.clone()).granted(&[]).install(&home);
    subscriber("d-good", on_tick).install(&home);
    let awake = Awake::new(home);
    publish(&awake.home, "tick", json!({"n": 0}));
    woken_by(&awake, "b-gone", 1).await;
    // The bus does not know yet: starting its run is refused.
    awake.home.set_state("b-gone", AgentState::Stopped);
    for n in 1..=3 {
        publish(&awake.home, "tick", json!({"n": n}));
    }
    assert_eq!(woken_by(&awake, "d-good", 4).await, [json!(0), json!(1), json!(2), json!(3)]);
    let failed = awake.until_ended("c-failing", 4).await;
    assert!(failed.iter().all(|run| run.status == RunStatus::Failed));
    awake.home.until("slow runs", || awake.home.runs("a-slow").len() == 4).await;
    assert!(awake.home.runs("a-slow").iter().all(|run| awake.home.engine.is_in_flight(&run.id)));
    assert_eq!(awake.home.runs("b-gone").len(), 1);
    let last = awake.home.store().events(0, 99).unwrap().into_iter().rfind(|event| event.name == "tick");
    assert_eq!(awake.home.store().cursor("b-gone/c").unwrap(), last.map(|event| event.seq));
}

#[tokio::test]
async fn an_agent_can_watch_another_one() {
    let home = Home::new();
    subscriber("worker", json!([{"on": "work", "chain": "c"}])).granted(&[]).install(&home);
    let filter = json!({"agent": "worker"});
    subscriber("watcher", json!([{"on": "run.failed", "chain": "tell", "filter": filter}]))
        .asks(&["flow.stop", "notify.user"])
        .chain("tell", "steps: [{id: s, ability: notify.user, args: {message: '{{event.data.error}}'}}]")
        .install(&home);
    let awake = Awake::new(home);
    publish(&awake.home, "work", json!({"n": 1}));
    awake.until_ended("watcher", 1).await;
    let reason = "step `s`: permission `flow.stop` was not granted to worker; install it again and grant it";
    assert_eq!(awake.home.desktop.shown().remove(0).body, reason);
    awake.home.desktop.on_show(|_| Err("nobody is there".to_owned()));
    publish(&awake.home, "work", json!({"n": 1}));
    awake.until_ended("watcher", 2).await;
    assert_eq!(awake.home.store().inbox(9).unwrap().remove(0).body, reason);
}

#[tokio::test]
async fn what_happens_while_an_agent_is_stopped_does_not_wake_it() {
    let home = Home::new();
    for name in ["a", "witness"] {
        subscriber(name, json!([{"on": "tick", "chain": "c"}])).install(&home);
    }
    let awake = Awake::new(home);
    publish(&awake.home, "tick", json!({"n": 1}));
    assert_eq!(woken_by(&awake, "a", 1).await, [json!(1)]);
    awake.home.set_state("a", AgentState::Stopped);
    awake.wake.agents_changed();
    publish(&awake.home, "tick", json!({"n": 2}));
    woken_by(&awake, "witness", 2).await;
    let started = awake.home.set_state("a", AgentState::Running);
    awake.wake.begin(&started, true).unwrap();
    awake.wake.agents_changed();
    publish(&awake.home, "tick", json!({"n": 3}));
    assert_eq!(woken_by(&awake, "a", 2).await, [json!(1), json!(3)]);
}

#[tokio::test]
async fn a_chain_of_wake_ups_is_cut_at_depth_16_with_a_clear_record() {
    let home = Home::new();
    let events = json!([{"on": "go", "chain": "c"}, {"on": "run.*", "chain": "c"}]);
    let steps = "steps: [{id: s, ability: flow.stop, args: {}}]";
    subscriber("a", events).chain("c", steps).install(&home);
    let awake = Awake::new(home);
    publish(&awake.home, "go", Value::Null);
    let cut = |run: &nb_store::RunRow| run.status == RunStatus::Failed;
    awake.home.until("the cut", || awake.home.runs("a").iter().any(cut)).await;
    let runs = awake.home.runs("a");
    assert_eq!(runs.iter().map(|run| run.depth).collect::<Vec<_>>(), (1..=17).collect::<Vec<_>>());
    let last = runs.last().unwrap();
    let sentence = "a chain of wake-ups was cut at depth 16: each run woke the next one";
    assert_eq!((last.status, last.error.as_deref()), (RunStatus::Failed, Some(sentence)));
    assert_eq!(last.finished_at, Some(last.created_at));
    let record = awake.home.record(&last.id);
    assert!(matches!(record[..], [RunEvent::Started { .. }, RunEvent::Finished { .. }]), "{record:?}");
    assert_eq!(status_of(&record), Some(RunStatus::Failed));
    let events = awake.home.store().events(0, 99).unwrap();
    assert!(!events.iter().any(|event| event.name == "run.failed"), "that would wake the next one");
    assert_eq!(awake.home.store().cursor("a/c-2").unwrap(), Some(17), "dealt with, in the same transaction");
    assert!(awake.home.store().unfinished().unwrap().is_empty());
    let awake = awake.restarted().await;
    publish(&awake.home, "go", Value::Null);
    awake
        .home
        .until("the second cut", || awake.home.runs("a").iter().filter(|run| cut(run)).count() == 2)
        .await;
    assert_eq!(awake.home.runs("a").len(), 34, "the first cut is not repeated");
}
