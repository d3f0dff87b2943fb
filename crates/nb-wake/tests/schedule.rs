//! Each slot of a schedule becomes one run, or a row that says why not.

use std::sync::Arc;

use chrono::Duration;
use nb_runtime::Installed;
use nb_runtime::installed::Entry;
use nb_runtime::record::RunEvent;
use nb_store::{AgentState, RunStatus};
use nb_wake::schedule::Schedule;
use serde_json::{Value, json};

use crate::awake::{Awake, outputs};
use crate::common::{AgentBuilder, Home, agent, at, task};

/// Ends at once and gives the time of its slot.
const TICK: &str = "steps: [{id: s, ability: flow.stop, args: {result: '{{trigger.at}}'}}]";

/// Goes on for an hour of the test's clock, or until it is cancelled.
const LONG: &str = "
steps:
  - id: s
    tool: fail
    on_failure: {retry: {attempts: 2, delay: 1h}}
";

/// An agent with one schedule: every ten minutes, side by side, and what `more` says.
fn scheduled(name: &str, chain: &str, more: Value) -> AgentBuilder {
    let mut schedule = json!({"chain": "c", "interval": "10m", "overlap": "allow"});
    for (key, value) in more.as_object().unwrap() {
        schedule[key] = value.clone();
    }
    agent(name)
        .asks(&["flow.stop"])
        .set("triggers", json!({"scheduled": [schedule]}))
        .tool("fail", "error('no')")
        .chain("c", chain)
}

fn awake(chain: &str, more: Value) -> Awake {
    let home = Home::new();
    scheduled("a", chain, more).install(&home);
    Awake::new(home)
}

/// The slots of an agent, oldest first: when, and `ran` or why not.
fn slots(home: &Home, agent: &str) -> Vec<(String, String)> {
    let mut rows = home.store().slots(agent, "c", usize::MAX).unwrap();
    rows.reverse();
    let decided = |row: &nb_store::SlotRow| match (&row.run, &row.skipped) {
        (Some(_), None) => "ran".to_owned(),
        (None, Some(reason)) => reason.clone(),
        both => panic!("{both:?}"),
    };
    rows.iter().map(|row| (row.at.format("%T").to_string(), decided(row))).collect()
}

/// The slots that ran.
fn ran(home: &Home, agent: &str) -> Vec<String> {
    slots(home, agent).into_iter().filter(|(_, decided)| decided == "ran").map(|(at, _)| at).collect()
}

/// Moves the clock to each time, and waits until the scheduler sleeps until the slot after it.
async fn pass(home: &Home, times: &[(&str, &str)]) {
    for (time, next) in times {
        home.world.set(at(time));
        home.world.asleep_until(at(next)).await;
    }
}

#[tokio::test]
async fn a_slot_fires_once() {
    let awake = awake(TICK, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    assert!(awake.home.runs("a").is_empty(), "nothing fires early");
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:07", "00:30:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00", "00:20:00"]);
    let runs = awake.until_ended("a", 2).await;
    assert_eq!(outputs(&runs), [json!("2026-01-01T00:10:00Z"), json!("2026-01-01T00:20:00Z")]);
    assert_eq!(runs[0].actor, json!({"by": "schedule", "trigger": "c", "at": "2026-01-01T00:10:00Z"}));
}

#[tokio::test]
async fn a_restart_neither_repeats_nor_moves_a_slot() {
    let mut awake = awake(TICK, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
    for time in ["00:10:00", "00:10:01", "00:19:59"] {
        awake = awake.restarted().await;
        pass(&awake.home, &[(time, "00:20:00")]).await;
    }
    pass(&awake.home, &[("00:20:00", "00:30:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00", "00:20:00"]);
}

#[tokio::test]
async fn missed_slots_follow_their_policy() {
    let once = "missed; only the latest missed slot runs (missed: once)";
    for (missed, decided) in
        [("once", [once, once, "ran"]), ("skip", ["missed (missed: skip)"; 3]), ("all", ["ran"; 3])]
    {
        let awake = awake(TICK, json!({"missed": missed}));
        awake.home.world.asleep_until(at("00:10:00")).await;
        pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
        let home = awake.ended().await;
        home.world.set(at("00:45:00"));
        let awake = Awake::new(home);
        let count = 1 + decided.iter().filter(|decided| **decided == "ran").count();
        awake.until_ended("a", count).await;
        awake.home.world.asleep_until(at("00:50:00")).await;
        let expected = ["ran", decided[0], decided[1], decided[2]];
        let times = ["00:10:00", "00:20:00", "00:30:00", "00:40:00"];
        let expected: Vec<_> =
            times.iter().zip(expected).map(|(at, decided)| (at.to_string(), decided.to_owned())).collect();
        assert_eq!(slots(&awake.home, "a"), expected, "missed: {missed}");
    }
}

#[tokio::test]
async fn slots_before_the_catch_up_window_share_one_row() {
    let awake = awake(TICK, json!({"missed": "all", "catchup_window": "15m"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
    let home = awake.ended().await;
    home.world.set(at("01:09:00"));
    let awake = Awake::new(home);
    awake.home.world.asleep_until(at("01:10:00")).await;
    let older = "missed; it is older than the catch-up window, like every slot up to that";
    let expected = [("00:10:00", "ran"), ("00:20:00", older), ("01:00:00", "ran")];
    assert_eq!(slots(&awake.home, "a"), expected.map(|(at, decided)| (at.to_owned(), decided.to_owned())));
}

#[tokio::test]
async fn overlap_skip_leaves_out_slots_while_a_run_goes_on() {
    let awake = awake(LONG, json!({"overlap": "skip"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00")]).await;
    let first = awake.home.runs("a").remove(0).id;
    let reason = format!("the run {first} was still going on (overlap: skip)");
    assert_eq!(slots(&awake.home, "a")[1], ("00:20:00".to_owned(), reason));
    awake.home.engine.cancel_agent("a", "enough").await;
    pass(&awake.home, &[("00:30:00", "00:40:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00", "00:30:00"]);
}

/// The latest slot before the restart was skipped, because the one before it still ran.
#[tokio::test]
async fn overlap_skip_holds_for_a_run_that_a_restart_resumed() {
    let awake = awake(LONG, json!({"overlap": "skip"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00")]).await;
    let home = awake.ended().await;
    home.engine.recover().await.unwrap();
    let run = home.runs("a").remove(0).id;
    home.until_event(&run, |event| matches!(event, RunEvent::Resumed { .. })).await;
    let awake = Awake::new(home);
    awake.home.world.asleep_until(at("00:30:00")).await;
    pass(&awake.home, &[("00:30:00", "00:40:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00"], "{:?}", slots(&awake.home, "a"));
}

#[tokio::test]
async fn overlap_queue_runs_one_after_the_other() {
    let awake = awake(LONG, json!({"overlap": "queue"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00"), ("00:30:00", "00:40:00")]).await;
    for (count, slot) in [(1, "00:10:00"), (2, "00:20:00"), (3, "00:30:00")] {
        awake.home.until("the next run", || awake.home.runs("a").len() == count).await;
        assert_eq!(ran(&awake.home, "a").pop().as_deref(), Some(slot));
        awake.home.engine.cancel_agent("a", "enough").await;
    }
    pass(&awake.home, &[("00:40:00", "00:50:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00", "00:20:00", "00:30:00", "00:40:00"]);
}

#[tokio::test]
async fn a_slot_that_comes_while_others_are_caught_up_with_is_not_dropped() {
    let awake = awake(LONG, json!({"missed": "all", "overlap": "skip"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    let home = awake.ended().await;
    home.world.set(at("00:25:00"));
    let awake = Awake::new(home);
    // 00:10 runs and 00:20 waits, when 00:30 comes.
    awake.home.until("the first slot", || ran(&awake.home, "a") == ["00:10:00"]).await;
    awake.home.world.asleep_until(at("00:30:00")).await;
    pass(&awake.home, &[("00:30:00", "00:40:00")]).await;
    for (count, slot) in [(1, "00:10:00"), (2, "00:20:00"), (3, "00:30:00")] {
        awake.home.until("the next run", || awake.home.runs("a").len() == count).await;
        assert_eq!(ran(&awake.home, "a").pop().as_deref(), Some(slot));
        awake.home.engine.cancel_agent("a", "enough").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_missed_slots_than_may_wait_all_run() {
    let awake = awake(TICK, json!({"interval": "1s", "missed": "all"}));
    awake.home.world.asleep_until(at("00:00:01")).await;
    let home = awake.ended().await;
    home.world.set(at("00:20:00"));
    let awake = Awake::new(home);
    let last = || awake.home.store().last_slot("a", "c").unwrap().map(|slot| slot.at);
    awake.home.until("the last slot", || last() == Some(at("00:20:00"))).await;
    assert_eq!(ran(&awake.home, "a").len(), 1200);
}

#[tokio::test]
async fn more_slots_than_may_wait_for_a_long_run_go_on_after_it() {
    for overlap in ["queue", "skip", "cancel"] {
        let awake = awake(LONG, json!({"interval": "1s", "missed": "all", "overlap": overlap}));
        awake.home.world.asleep_until(at("00:00:01")).await;
        pass(&awake.home, &[("00:00:01", "00:00:02")]).await;
        awake.home.world.set(at("00:25:00"));
        for count in 2..=4 {
            awake.home.engine.cancel_agent("a", "enough").await;
            awake.home.until("the next run", || awake.home.runs("a").len() == count).await;
        }
        assert_eq!(ran(&awake.home, "a"), ["00:00:01", "00:00:02", "00:00:03", "00:00:04"], "{overlap}");
    }
}

#[tokio::test]
async fn slots_that_wait_when_their_agent_is_stopped_are_skipped() {
    let awake = awake(LONG, json!({"overlap": "queue"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00"), ("00:30:00", "00:40:00")]).await;
    awake.home.set_state("a", AgentState::Stopped);
    // Its slot is waited for when the scheduler has dealt with the change.
    scheduled("b", TICK, json!({"interval": "33m"})).install(&awake.home);
    awake.wake.agents_changed();
    awake.home.world.asleep_until(at("01:03:00")).await;
    let stopped = "the agent was stopped";
    let expected = [("00:10:00", "ran"), ("00:20:00", stopped), ("00:30:00", stopped)];
    assert_eq!(slots(&awake.home, "a"), expected.map(|(at, decided)| (at.to_owned(), decided.to_owned())));
}

#[tokio::test]
async fn overlap_allow_runs_side_by_side() {
    let awake = awake(LONG, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00")]).await;
    let runs = awake.home.runs("a");
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| awake.home.engine.is_in_flight(&run.id)));
}

#[tokio::test]
async fn overlap_cancel_ends_the_previous_run() {
    let awake = awake(LONG, json!({"overlap": "cancel"}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00")]).await;
    let runs = awake.home.runs("a");
    let reason = "the next slot of its schedule came (overlap: cancel)";
    assert_eq!((runs[0].status, runs[0].error.as_deref()), (RunStatus::Cancelled, Some(reason)));
    assert!(awake.home.engine.is_in_flight(&runs[1].id));
}

/// A slot that waits must not be overtaken in the ledger: after a crash, every slot up to the latest one counts as
/// decided.
#[tokio::test]
async fn a_crash_forgets_no_slot_that_waits() {
    for overlap in ["skip", "allow", "cancel"] {
        let awake = awake(LONG, json!({"overlap": overlap}));
        awake.home.world.asleep_until(at("00:10:00")).await;
        pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
        let home = awake.ended().await;
        home.engine.recover().await.unwrap();
        // 00:20 was missed and waits for the run that goes on; 00:30 is on time.
        home.world.set(at("00:29:55"));
        let awake = Awake::new(home);
        awake.home.world.asleep_until(at("00:30:00")).await;
        pass(&awake.home, &[("00:30:00", "00:40:00")]).await;
        assert_eq!(slots(&awake.home, "a").len(), 1, "{overlap}: {:?}", slots(&awake.home, "a"));
        // The run ends, and the slot's turn comes while the engine starts nothing more.
        awake.home.engine.shut_down(std::time::Duration::ZERO).await;
        let awake = Awake::new(awake.ended().await);
        awake
            .home
            .until("the slot that waited", || ran(&awake.home, "a").contains(&"00:20:00".to_owned()))
            .await;
    }
}

#[tokio::test]
async fn jitter_moves_the_run_and_not_the_slot() {
    let awake = awake(TICK, json!({"jitter": "5m"}));
    let agent = awake.home.engine.agents().running().remove(0);
    let offset = Schedule::of(&agent, chrono_tz::UTC).remove(0).offset;
    assert!(offset > Duration::zero() && offset < Duration::minutes(5), "{offset}");
    awake.home.world.asleep_until(at("00:10:00") + offset).await;
    awake.home.world.set(at("00:10:00") + offset);
    awake.home.world.asleep_until(at("00:20:00") + offset).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00"]);
}

#[tokio::test]
async fn a_clock_that_is_set_back_repeats_nothing() {
    let awake = awake(TICK, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00"), ("00:05:00", "00:30:00")]).await;
    pass(&awake.home, &[("00:10:00", "00:30:00"), ("00:20:00", "00:30:00"), ("00:05:00", "00:30:00")]).await;
    let awake = awake.restarted().await;
    pass(&awake.home, &[("00:10:00", "00:30:00"), ("00:30:00", "00:40:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00", "00:20:00", "00:30:00"]);
}

#[tokio::test]
async fn a_clock_that_was_years_ahead_silences_nothing() {
    for restart in [false, true] {
        let mut awake = awake(TICK, json!({}));
        awake.home.world.asleep_until(at("00:10:00")).await;
        pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
        awake.home.world.set(at("00:12:00") + Duration::days(1000));
        awake.home.world.asleep_until(at("00:20:00") + Duration::days(1000)).await;
        awake.until_ended("a", 2).await;
        awake.home.world.set(at("00:15:00"));
        if restart {
            awake = awake.restarted().await;
        } else {
            awake.wake.agents_changed();
        }
        awake.home.world.asleep_until(at("00:20:00")).await;
        pass(&awake.home, &[("00:20:00", "00:30:00"), ("00:30:00", "00:40:00")]).await;
        // 00:20 was decided when the clock was wrong, and 00:10 ran in that year as well.
        let mut ran = ran(&awake.home, "a");
        ran.sort();
        assert_eq!(ran, ["00:10:00", "00:10:00", "00:30:00"], "restart: {restart}");
    }
}

#[tokio::test]
async fn a_clock_that_is_set_forward_applies_the_missed_policy() {
    let awake = awake(TICK, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("01:05:00", "01:10:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["01:00:00"]);
    assert_eq!(slots(&awake.home, "a").len(), 6, "each of the others has its row");
}

#[tokio::test]
async fn a_stopped_agent_does_not_fire_and_catches_up_nothing() {
    let home = Home::new();
    scheduled("a", TICK, json!({})).install(&home);
    scheduled("b", TICK, json!({})).install(&home);
    let awake = Awake::new(home);
    awake.home.world.asleep_until(at("00:10:00")).await;
    awake.home.set_state("a", AgentState::Stopped);
    awake.wake.agents_changed();
    pass(&awake.home, &[("00:10:00", "00:20:00"), ("00:20:00", "00:30:00")]).await;
    assert!(awake.home.runs("a").is_empty() && awake.home.runs("b").len() == 2);
    assert_eq!(
        awake.home.store().slots("a", "c", 9).unwrap().iter().filter(|slot| slot.run.is_some()).count(),
        0
    );

    awake.home.world.advance(Duration::minutes(5));
    awake.home.set_state("a", AgentState::Running);
    awake.wake.agents_changed();
    awake.home.world.set(at("00:30:00"));
    awake.home.until("the slot after the start", || awake.home.runs("a").len() == 1).await;
    assert_eq!(ran(&awake.home, "a"), ["00:30:00"]);
    assert_eq!(awake.home.world.time(), at("00:30:00"));
}

#[tokio::test]
async fn an_upgrade_neither_repeats_nor_moves_a_slot() {
    let awake = awake(TICK, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
    let mut row = awake.home.engine.agents().running().remove(0).row.clone();
    let upgraded = scheduled("a", TICK, json!({})).digest("sha256:01").install(&awake.home);
    row.digest.clone_from(&upgraded.row.digest);
    // What an upgrade keeps: when the agent was installed, and since when it runs.
    let upgraded = Installed::new(row, upgraded.spec.clone());
    awake.home.engine.agents().insert(Entry::Ready(Arc::new(upgraded)));
    awake.wake.agents_changed();
    pass(&awake.home, &[("00:20:00", "00:30:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00", "00:20:00"]);
    assert_eq!(awake.home.runs("a").pop().unwrap().digest, "sha256:01");
}

#[tokio::test]
async fn two_schedulers_over_one_store_start_a_slot_once() {
    let home = Home::new();
    scheduled("a", TICK, json!({})).install(&home);
    let (one, other) = (Awake::new(home.clone()), Awake::new(home.restarted()));
    for minute in 1..=20 {
        home.world.set(at("00:00:00") + Duration::minutes(10 * minute));
        home.world.asleep_until(at("00:10:00") + Duration::minutes(10 * minute)).await;
    }
    home.until("all slots", || home.runs("a").len() == 20).await;
    drop((one.ended().await, other.ended().await));
    assert_eq!(ran(&home, "a").len(), 20);
    assert_eq!(home.runs("a").len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_schedules_that_are_due_at_once_all_start() {
    let home = Home::new();
    for n in 0..1000 {
        scheduled(&format!("a{n}"), TICK, json!({})).install(&home);
    }
    let awake = Awake::new(home);
    awake.home.world.asleep_until(at("00:10:00")).await;
    pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
    for n in 0..1000 {
        assert_eq!(ran(&awake.home, &format!("a{n}")), ["00:10:00"]);
    }
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_is_tried_again_and_holds_nobody_up() {
    let awake = awake(TICK, json!({}));
    let good = awake.home.engine.agents().running().remove(0);
    let mut row = good.row.clone();
    // Longer than a key of the store may be.
    row.name = "x".repeat(300);
    awake.home.engine.agents().insert(Entry::Ready(Arc::new(Installed::new(row, good.spec.clone()))));
    awake.wake.agents_changed();
    awake.home.world.asleep_until(at("00:00:05")).await;
    pass(&awake.home, &[("00:00:05", "00:00:10"), ("00:10:00", "00:10:05")]).await;
    awake.home.until("its run", || ran(&awake.home, "a") == ["00:10:00"]).await;
}

#[tokio::test]
async fn a_person_may_run_the_task_of_a_schedule_as_well() {
    let awake = awake(TICK, json!({}));
    awake.home.world.asleep_until(at("00:10:00")).await;
    let row = awake.home.run("a", task("c"), json!({})).await;
    let error = "step `s`: `{{trigger.at}}` names nothing that exists here";
    assert_eq!(row.error.as_deref(), Some(error), "there is no slot then");
    pass(&awake.home, &[("00:10:00", "00:20:00")]).await;
    assert_eq!(ran(&awake.home, "a"), ["00:10:00"]);
}
