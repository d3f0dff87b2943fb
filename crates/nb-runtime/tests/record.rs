//! What is on disk of a run, at every moment of it.

use std::task::Poll;
use std::time::{Duration, Instant};

use nb_runtime::engine::BY_A_PERSON;
use nb_runtime::installed::Entry;
use nb_runtime::record::{RunEvent, StepStatus, status_of};
use nb_runtime::{Actor, Target};
use nb_store::{AgentState, RunRow, RunStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{AgentBuilder, Home, after_a_crash, agent, at, task};
use crate::server::{Server, ok};

/// An agent whose tools may compute for ever.
fn tireless(name: &str) -> AgentBuilder {
    let fuel = 100_000_000_000_u64;
    agent(name)
        .set("fuel_limit", json!(fuel))
        .set("resources", json!({"max_fuel": fuel}))
        .tool("spin", "while true do end")
        .tool("echo", "return parameters.value")
}

/// Waits until a script computes.
async fn spinning(home: &Home, run: &str) {
    home.until_event(run, |event| matches!(event, RunEvent::ToolStarted { tool, .. } if tool == "spin"))
        .await;
}

fn folded(home: &Home, run: &RunRow) -> Option<RunStatus> {
    status_of(&home.record(&run.id))
}

#[tokio::test]
async fn the_record_of_a_run_folds_to_its_status() {
    let home = Home::new();
    tireless("a")
        .tool("fail", "error('no')")
        .chain("good", "steps: [{id: one, tool: echo, args: {value: 1}}]")
        .chain("bad", "steps: [{id: one, tool: fail}]")
        .chain("long", "steps: [{id: one, tool: spin}]")
        .install(&home);
    for (chain, status) in [("good", RunStatus::Completed), ("bad", RunStatus::Failed)] {
        let row = home.run("a", task(chain), json!({})).await;
        assert_eq!((row.status, folded(&home, &row)), (status, Some(status)));
        let last = home.store().events(0, 99).unwrap().pop().unwrap();
        assert_eq!(last.name, format!("run.{}", nb_runtime::record::status_name(status)));
        assert_eq!(last.data["run"], json!(row.id));
    }
    let run = home.start("a", task("long"), json!({})).await;
    spinning(&home, &run).await;
    let row = home.store().run(&run).unwrap().unwrap();
    assert_eq!((row.status, folded(&home, &row)), (RunStatus::Running, Some(RunStatus::Running)));
    assert!(home.engine.cancel(&run, "enough"));
    let row = home.end_of(&run).await;
    assert_eq!((row.status, folded(&home, &row)), (RunStatus::Cancelled, Some(RunStatus::Cancelled)));
    assert_eq!(row.error.as_deref(), Some("enough"));
    assert!(!home.engine.cancel(&run, "again"), "it has ended");
}

#[tokio::test]
async fn a_record_is_numbered_without_gaps_and_grows_only() {
    let home = Home::new();
    tireless("a")
        .asks(&["log.info"])
        .chain("c", "steps: [{id: l, ability: log.info, args: {message: m}}]")
        .install(&home);
    let run = home.start("a", task("c"), json!({})).await;
    let mut seen: Vec<(u64, Value)> = Vec::new();
    home.until("the end", || {
        let record = home.store().run_events(&run, 0, usize::MAX).unwrap();
        assert_eq!(record[..seen.len()], seen[..], "what was read once stays");
        seen = record;
        home.store().run(&run).unwrap().unwrap().status.is_final()
    })
    .await;
    let numbers: Vec<u64> = seen.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let kinds: Vec<&str> = seen.iter().filter_map(|(_, event)| event["event"].as_str()).collect();
    assert_eq!(kinds, ["started", "step.started", "log", "host.call", "step.finished", "finished"]);
}

#[tokio::test]
async fn a_run_is_on_disk_when_its_start_returns() {
    let home = Home::new();
    tireless("a").install(&home);
    let run = home.start("a", Target::Tool("spin".to_owned()), json!({})).await;
    after_a_crash(home.dir.path(), |store| {
        let row = store.unfinished().unwrap().remove(0);
        assert_eq!((row.id, row.agent.as_str(), row.tool.as_deref()), (run.clone(), "a", Some("spin")));
        assert!(!store.run_events(&run, 0, 9).unwrap().is_empty());
    });
    home.engine.cancel_agent("a", "done").await;
    assert_eq!(home.end_of(&run).await.status, RunStatus::Cancelled);
}

/// As when the connection of a webhook delivery breaks before the answer.
#[tokio::test]
async fn a_run_whose_caller_goes_away_is_carried_out() {
    let home = Home::new();
    tireless("a").install(&home);
    let mut start = Box::pin(home.try_start("a", Target::Tool("echo".to_owned()), json!({"value": 1})));
    assert!(polled_once(&mut start).await.is_none(), "it waits for the disk");
    drop(start);
    let run = home.runs("a").remove(0).id;
    assert_eq!(home.end_of(&run).await.status, RunStatus::Completed);
}

/// Polls once.
async fn polled_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn the_intention_is_on_disk_before_the_effect() {
    let home = Home::new();
    let steps = "steps: [{id: n, ability: notify.user, args: {message: hello}}]";
    agent("a").asks(&["notify.user"]).chain("c", steps).install(&home);
    let dir = home.dir.clone();
    home.desktop.on_show(move |notification| {
        after_a_crash(dir.path(), |store| {
            let record = store.run_events(&notification.run, 0, 99).unwrap();
            let last = RunEvent::read(&record.last().unwrap().1).unwrap();
            let args = json!({"message": "hello"});
            assert_eq!(last, RunEvent::HostBegun { ability: "notify.user".to_owned(), args });
        });
        Ok(())
    });
    assert_eq!(home.run("a", task("c"), json!({})).await.status, RunStatus::Completed);
    assert_eq!(home.desktop.shown().len(), 1);
}

#[tokio::test]
async fn the_end_is_on_disk_when_it_is_told() {
    let home = Home::new();
    tireless("a").chain("c", "steps: [{id: one, tool: echo, args: {value: 42}}]").install(&home);
    let row = home.run("a", task("c"), json!({})).await;
    after_a_crash(home.dir.path(), |store| {
        let found = store.run(&row.id).unwrap().unwrap();
        assert_eq!((found.status, found.output), (RunStatus::Completed, Some(json!(42))));
        assert_eq!(store.events(0, 9).unwrap()[0].name, "run.completed");
    });
}

#[tokio::test]
async fn large_values_are_abridged_in_the_record_and_whole_for_the_next_step() {
    let home = Home::new();
    agent("a")
        .asks(&["kv.write"])
        .set("fuel_limit", json!(50_000_000))
        .set("resources", json!({"max_fuel": 50_000_000}))
        .tool("big", "return ('x'):rep(100000)")
        .tool("len", "return #parameters.text")
        .chain(
            "c",
            "steps:
              - {id: big, tool: big}
              - {id: keep, ability: kv.write, args: {key: k, value: '{{big.output}}'}}
              - {id: len, tool: len, args: {text: '{{big.output}}'}}",
        )
        .install(&home);
    let row = home.run("a", task("c"), json!({})).await;
    assert_eq!(row.output, Some(json!(100_000)), "{:?}", row.error);
    for event in home.record(&row.id) {
        let (value, bytes) = match event {
            RunEvent::ToolFinished { tool, output, .. } if tool == "big" => (output, 100_002),
            RunEvent::ToolStarted { tool, input, .. } if tool == "len" => (input, 100_011),
            RunEvent::HostBegun { args, .. } => (args, 100_022),
            _ => continue,
        };
        assert_eq!(value["bytes"], json!(bytes), "{}", value.to_string().len());
        assert_eq!(value["begins"].as_str().unwrap().len(), 1024);
    }
    assert_eq!(home.store().kv_get("a", "k").unwrap().unwrap().as_str().unwrap().len(), 100_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_ends_a_spinning_script_and_a_waiting_request_within_100_ms() {
    let server = Server::answering(|_| None).await;
    let home = Home::new();
    let wait = format!("steps: [{{id: w, ability: http.fetch, args: {{url: '{}'}}}}]", server.url("/"));
    tireless("a")
        .asks(&["http.fetch"])
        .tool("fetch", &format!("return nb.http.fetch('{}')", server.url("/")))
        .chain("wait", &wait)
        .install(&home);
    for target in [Target::Tool("spin".to_owned()), Target::Tool("fetch".to_owned()), task("wait")] {
        let run = home.start("a", target.clone(), json!({})).await;
        match target == Target::Tool("spin".to_owned()) {
            true => spinning(&home, &run).await,
            false => server.asked.notified().await,
        }
        let cancelled = Instant::now();
        assert!(home.engine.cancel(&run, "enough"));
        let row = home.end_of(&run).await;
        assert!(
            cancelled.elapsed() < Duration::from_millis(100),
            "{target:?} took {:?}",
            cancelled.elapsed()
        );
        assert_eq!((row.status, row.error.as_deref()), (RunStatus::Cancelled, Some("enough")));
    }
}

/// As when the step that was at work ended in the same moment.
#[tokio::test]
async fn after_a_cancellation_no_step_begins() {
    let home = Home::new();
    let steps = "steps:\n  - {id: first, ability: notify.user, args: {message: hello}}\n  - {id: second, ability: kv.write, args: {key: k, value: 1}}";
    agent("a").asks(&["notify.user", "kv.write"]).chain("c", steps).install(&home);
    let engine = home.engine.clone();
    home.desktop.on_show(move |notification| {
        assert!(engine.cancel(&notification.run, BY_A_PERSON));
        Ok(())
    });
    let row = home.run("a", task("c"), json!({})).await;
    assert_eq!((row.status, row.error.as_deref()), (RunStatus::Cancelled, Some("cancelled by a person")));
    let began = home.record(&row.id).into_iter().filter_map(|event| match event {
        RunEvent::StepStarted { step, .. } => Some(step),
        _ => None,
    });
    assert_eq!(began.collect::<Vec<_>>(), ["first"]);
    assert_eq!(home.store().kv_get("a", "k").unwrap(), None);
}

#[tokio::test]
async fn a_cancelled_retry_does_not_wait_for_its_delay() {
    let home = Home::new();
    tireless("a")
        .tool("fail", "error('no')")
        .chain("c", "steps: [{id: one, tool: fail, on_failure: {retry: {attempts: 2, delay: 1h}}}]")
        .install(&home);
    let run = home.start("a", task("c"), json!({})).await;
    home.world.asleep_until(at("01:00:00")).await;
    home.engine.cancel(&run, "enough");
    assert_eq!(home.end_of(&run).await.status, RunStatus::Cancelled);
}

#[tokio::test]
async fn a_retry_goes_on_where_it_was_after_a_restart() {
    let home = Home::new();
    let fails = || {
        tireless("a").tool("fail", "error('no')").chain(
            "c",
            "steps: [{id: one, tool: fail, on_failure: {retry: {attempts: 3, delay: 1h, backoff: 2}}}]",
        )
    };
    fails().install(&home);
    let run = home.start("a", task("c"), json!({})).await;
    home.world.asleep_until(at("01:00:00")).await;
    home.engine.shut_down(Duration::ZERO).await;

    let home = home.restarted();
    fails().install(&home);
    assert_eq!(home.engine.recover().await.unwrap(), (1, 0));
    for next in ["01:00:00", "03:00:00"] {
        home.world.asleep_until(at(next)).await;
        home.world.set(at(next));
    }
    assert_eq!(home.end_of(&run).await.status, RunStatus::Failed);
    let attempts = home.record(&run).into_iter().filter_map(|event| match event {
        RunEvent::StepStarted { attempt, .. } => Some(attempt),
        _ => None,
    });
    assert_eq!(attempts.collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn a_call_that_waits_for_a_place_is_cancelled_at_once() {
    let home = Home::new();
    tireless("a").install(&home);
    let places = home.engine.services().sandbox.max_concurrent();
    let mut runs = Vec::new();
    for _ in 0..=places {
        runs.push(home.start("a", Target::Tool("spin".to_owned()), json!({})).await);
    }
    let last = runs.pop().unwrap();
    spinning(&home, &runs[0]).await;
    assert!(home.engine.cancel(&last, "enough"));
    assert_eq!(home.end_of(&last).await.status, RunStatus::Cancelled);
    let begun = |event: &RunEvent| matches!(event, RunEvent::ToolStarted { .. });
    assert!(!home.record(&last).iter().any(begun), "it never had a place");
    home.engine.cancel_agent("a", "the test ends").await;
}

const THREE_STEPS: &str = "
steps:
  - {id: first, tool: count, args: {key: first}, output_key: n}
  - {id: second, tool: maybe-spin, args: {key: second}}
  - {id: third, tool: count, args: {key: '{{n}}'}}
";

/// An agent that spins in its second step until the key `go` stands in its values.
fn interruptible() -> AgentBuilder {
    tireless("a")
        .asks(&["kv.read", "kv.write"])
        .tool("count", "return parameters.key .. nb.kv.increment('count:' .. parameters.key)")
        .tool("maybe-spin", "if not nb.kv.get('go') then while true do end end return 'went'")
        .chain("c", THREE_STEPS)
}

/// Starts the chain and leaves while its second step computes.
async fn interrupted(home: &Home) -> String {
    let run = home.start("a", task("c"), json!({})).await;
    home.until_event(
        &run,
        |event| matches!(event, RunEvent::HostCall { ability, .. } if ability == "kv.read"),
    )
    .await;
    home.engine.shut_down(Duration::ZERO).await;
    run
}

#[tokio::test]
async fn shut_down_leaves_a_run_open_and_the_next_start_goes_on_at_its_first_step_without_result() {
    let home = Home::new();
    interruptible().install(&home);
    let run = interrupted(&home).await;
    assert!(!home.engine.is_in_flight(&run));
    assert_eq!(home.store().run(&run).unwrap().unwrap().status, RunStatus::Running);
    let refused = home.try_start("a", task("c"), json!({})).await.unwrap_err();
    assert_eq!(refused.to_string(), "the daemon is stopping");

    home.store().kv_set("a", "go", &json!(true)).unwrap();
    let home = home.restarted();
    assert_eq!(home.engine.recover().await.unwrap(), (1, 0));
    let row = home.end_of(&run).await;
    assert_eq!((row.status, row.output), (RunStatus::Completed, Some(json!("first11"))), "{:?}", row.error);
    assert_eq!(home.store().kv_get("a", "count:first").unwrap(), Some(json!(1)), "the first step ran once");
    let record = home.record(&run);
    assert!(record.iter().any(|event| matches!(event, RunEvent::Resumed { .. })));
    let finished = record.iter().filter(|event| matches!(event, RunEvent::StepFinished { .. }));
    assert_eq!(finished.count(), 3);
    assert!(home.store().unfinished().unwrap().is_empty());
}

#[tokio::test]
async fn shut_down_lets_a_run_end_that_is_quick_enough() {
    let home = Home::new();
    tireless("a").install(&home);
    let run = home.start("a", Target::Tool("echo".to_owned()), json!({"value": 1})).await;
    home.engine.shut_down(Duration::from_secs(20)).await;
    assert_eq!(home.store().run(&run).unwrap().unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_run_whose_effect_is_in_doubt_is_closed() {
    let server = Server::answering(|_| None).await;
    let mut home = Home::new();
    let step = |method: &str, body: &str| {
        let url = server.url("/");
        format!(
            "steps: [{{id: s, ability: http.fetch, args: {{url: '{url}', method: {method}, body: '{body}'}}}}]"
        )
    };
    agent("a")
        .asks(&["http.fetch"])
        .chain("post", &step("POST", "x"))
        .chain("large", &step("POST", &"x".repeat(100_000)))
        .install(&home);
    for chain in ["post", "large"] {
        let run = home.start("a", task(chain), json!({})).await;
        server.asked.notified().await;
        home.engine.shut_down(Duration::ZERO).await;
        home = home.restarted();
        assert_eq!(home.engine.recover().await.unwrap(), (0, 1), "{chain}");
        let row = home.store().run(&run).unwrap().unwrap();
        let sentence = "interrupted: `http.fetch` had begun and may have taken effect; run it again if not";
        assert_eq!((row.status, row.error.as_deref()), (RunStatus::Failed, Some(sentence)));
        assert_eq!(folded(&home, &row), Some(RunStatus::Failed));
    }
    assert_eq!(server.requests().len(), 2, "nothing was sent twice");
}

#[tokio::test]
async fn a_request_that_may_be_repeated_is_sent_again_after_a_crash() {
    let answers = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::answering(move |_| {
        let first = answers.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        if first { None } else { ok("there") }
    })
    .await;
    let home = Home::new();
    let steps = format!("steps: [{{id: s, ability: data.fetch_url, args: {{url: '{}'}}}}]", server.url("/"));
    agent("a").asks(&["data.fetch_url"]).chain("c", &steps).install(&home);
    let run = home.start("a", task("c"), json!({})).await;
    server.asked.notified().await;
    home.engine.shut_down(Duration::ZERO).await;
    let home = home.restarted();
    assert_eq!(home.engine.recover().await.unwrap(), (1, 0));
    assert_eq!(home.end_of(&run).await.output, Some(json!("there")));
}

/// The last thing on disk is the result of `flow.stop`: the run must not go on behind it.
#[tokio::test]
async fn a_chain_that_had_stopped_stays_stopped() {
    let home = Home::new();
    interruptible().install(&home);
    let run = interrupted(&home).await;
    let stopped = RunEvent::StepFinished {
        step: "stop".to_owned(),
        status: StepStatus::Succeeded,
        output: json!("enough"),
        reason: None,
        ms: 1.0,
    };
    home.store().append(&run, &stopped.stamped(at("00:00:01"))).unwrap();
    let steps =
        "steps: [{id: stop, ability: flow.stop, args: {}}, {id: never, tool: echo, args: {value: 1}}]";
    interruptible().asks(&["flow.stop", "kv.read", "kv.write"]).chain("c", steps).install(&home);
    let home = home.restarted();
    home.engine.recover().await.unwrap();
    assert_eq!(home.end_of(&run).await.output, Some(json!("enough")));
}

#[tokio::test]
async fn a_run_of_an_agent_that_is_gone_replaced_or_stopped_is_closed() {
    for (change, why) in [
        ("removed", "its agent was removed"),
        ("replaced", "its agent was replaced by another version"),
        ("stopped", "agent `a` is stopped"),
        ("broken", "agent `a` does not load: its files are gone"),
    ] {
        let home = Home::new();
        let installed = interruptible().install(&home);
        let run = interrupted(&home).await;
        let home = home.restarted();
        match change {
            "removed" => home.engine.agents().remove("a"),
            "replaced" => drop(interruptible().digest("sha256:01").install(&home)),
            "stopped" => drop(home.set_state("a", AgentState::Stopped)),
            _ => home
                .engine
                .agents()
                .insert(Entry::Broken(installed.row.clone(), "its files are gone".to_owned())),
        }
        assert_eq!(home.engine.recover().await.unwrap(), (0, 1), "{change}");
        let row = home.store().run(&run).unwrap().unwrap();
        assert_eq!(
            (row.status, row.error),
            (RunStatus::Failed, Some(format!("interrupted: {why}"))),
            "{change}"
        );
        assert!(home.store().unfinished().unwrap().is_empty());
        assert_eq!(home.store().events(0, 9).unwrap().pop().unwrap().name, "run.failed");
    }
}

fn any_event() -> impl Strategy<Value = RunEvent> {
    let status = prop_oneof![Just(RunStatus::Completed), Just(RunStatus::Failed), Just(RunStatus::Cancelled)];
    prop_oneof![
        Just(RunEvent::Started { actor: Actor::Person, context: Value::Null }),
        Just(RunEvent::Resumed { reason: "restart".to_owned() }),
        Just(RunEvent::Log { level: "info".to_owned(), message: "m".to_owned() }),
        Just(RunEvent::HostBegun { ability: "kv.write".to_owned(), args: Value::Null }),
        status.prop_map(|status| RunEvent::Finished { status, output: Value::Null, error: None }),
    ]
}

proptest! {
    #[test]
    fn no_log_leads_out_of_a_final_status(log in proptest::collection::vec(any_event(), 0..20)) {
        let mut ended = None;
        for length in 0..=log.len() {
            let status = status_of(&log[..length]);
            if ended.is_some() {
                prop_assert_eq!(status, ended);
            }
            ended = status.filter(|status| status.is_final());
        }
    }

    #[test]
    fn an_event_is_read_as_it_was_written(event in any_event()) {
        prop_assert_eq!(RunEvent::read(&event.stamped(at("00:00:00"))), Some(event));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_log_has_no_room_for_is_counted() {
    let home = Home::new();
    agent("chatty")
        .set("fuel_limit", json!(50_000_000))
        .set("resources", json!({"max_fuel": 50_000_000}))
        .tool("say", "for i = 1, 20000 do print(('x'):rep(100)) end return 'done'")
        .install(&home);
    let row = home.run("chatty", Target::Tool("say".to_owned()), json!({})).await;
    assert_eq!(row.output, Some(json!("done")));
    let lines: Vec<String> = home
        .record(&row.id)
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::Log { message, .. } => Some(message),
            _ => None,
        })
        .collect();
    let (last, kept) = lines.split_last().unwrap();
    assert!(kept.len() > 1000 && kept.iter().all(|line| line.len() == 100));
    // With the end of each line.
    let dropped = (20_000 - kept.len()) * 101;
    assert_eq!(*last, format!("… {dropped} bytes of log dropped"));
}
