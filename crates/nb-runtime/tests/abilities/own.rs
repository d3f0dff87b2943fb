//! The abilities that stay on the machine.

use nb_runtime::Target;
use nb_runtime::record::RunEvent;
use nb_store::RunStatus;
use serde_json::{Value, json};

use super::Probe;
use crate::common::{Home, agent, task};

#[tokio::test]
async fn kv_read_gets_one_value_or_lists_a_prefix() {
    let mut probe = Probe::granted("kv.read");
    for (key, value) in [("city:rome", json!({"temp": 21})), ("city:oslo", json!(3)), ("other", json!("x"))] {
        probe.home.store().kv_set("probe", key, &value).unwrap();
    }
    probe.home.store().kv_set("stranger", "city:bern", &json!(1)).unwrap();
    assert_eq!(probe.call("kv.read", json!({"key": "city:rome"})).await, Ok(json!({"temp": 21})));
    assert_eq!(probe.call("kv.read", json!({"key": "city:bern"})).await, Ok(Value::Null), "of another agent");
    let cities = json!([{"key": "city:oslo", "value": 3}, {"key": "city:rome", "value": {"temp": 21}}]);
    assert_eq!(probe.call("kv.read", json!({"op": "list", "prefix": "city:"})).await, Ok(cities));
    let one = probe.call("kv.read", json!({"op": "list", "limit": 1})).await.unwrap();
    assert_eq!(one, json!([{"key": "city:oslo", "value": 3}]));
    let rest = json!({"op": "list", "prefix": "city:", "after": "city:oslo"});
    let rest = probe.call("kv.read", rest).await.unwrap();
    assert_eq!(rest, json!([{"key": "city:rome", "value": {"temp": 21}}]));
    let error = probe.refusal("kv.read", json!({"key": "k".repeat(600)})).await;
    assert_eq!(error, "kv.read: the key has 600 bytes; it must have 1 to 512");
    for key in ["large:1", "large:2", "large:3", "large:4", "large:5"] {
        probe.home.store().kv_set("probe", key, &json!("x".repeat(1_000_000))).unwrap();
    }
    let error = probe.refusal("kv.read", json!({"op": "list", "prefix": "large:"})).await;
    assert!(
        error.starts_with("kv.read: the listing has 5000045 bytes; at most 4194304 are given"),
        "{error}"
    );
}

#[tokio::test]
async fn kv_write_sets_deletes_increments_and_compares() {
    let mut probe = Probe::granted("kv.write");
    for (args, answer, left) in [
        (json!({"key": "n", "value": 5}), Value::Null, json!(5)),
        (json!({"op": "increment", "key": "n"}), json!(6), json!(6)),
        (json!({"op": "increment", "key": "n", "by": -10}), json!(-4), json!(-4)),
        (json!({"op": "compare_and_set", "key": "n", "expected": 1, "value": 2}), json!(false), json!(-4)),
        (json!({"op": "compare_and_set", "key": "n", "expected": -4, "value": "a"}), json!(true), json!("a")),
        (json!({"op": "delete", "key": "n"}), json!(true), Value::Null),
        (json!({"op": "delete", "key": "n"}), json!(false), Value::Null),
    ] {
        assert_eq!(probe.call("kv.write", args.clone()).await, Ok(answer), "{args}");
        assert_eq!(probe.home.store().kv_get("probe", "n").unwrap().unwrap_or_default(), left, "{args}");
    }
}

#[tokio::test]
async fn kv_write_refuses_a_value_over_its_cap_and_what_is_no_number() {
    let mut probe = Probe::granted("kv.write");
    let error = probe.call_with("kv.write", json!({"key": "k"}), "value", 1 << 20).await.unwrap_err();
    assert!(
        error.starts_with("kv.write: ") && error.contains("1048578") && error.contains("1048576"),
        "{error}"
    );
    assert_eq!(probe.home.store().kv_get("probe", "k").unwrap(), None);
    probe.call("kv.write", json!({"key": "k", "value": "text"})).await.unwrap();
    let error = probe.refusal("kv.write", json!({"op": "increment", "key": "k"})).await;
    assert!(error.starts_with("kv.write: ") && error.contains('k'), "{error}");
}

#[tokio::test]
async fn kv_write_and_kv_read_share_the_namespace_of_the_manifest() {
    let home = Home::new();
    let lua = "nb.kv.set('k', {1, 2}) return nb.kv.get('k')";
    agent("a")
        .asks(&["kv.read", "kv.write"])
        .set("kv_namespace", json!("shared"))
        .tool("t", lua)
        .install(&home);
    assert_eq!(home.run("a", Target::Only, json!({})).await.output, Some(json!([1, 2])));
    assert_eq!(home.store().kv_get("shared", "k").unwrap(), Some(json!([1, 2])));
}

#[tokio::test]
async fn log_info_and_log_error_stand_in_the_record() {
    for (name, level) in [("log.info", "info"), ("log.error", "error")] {
        let mut probe = Probe::granted(name);
        probe.call(name, json!({"message": {"n": 1}})).await.unwrap();
        let line = RunEvent::Log { level: level.to_owned(), message: "{\"n\":1}".to_owned() };
        assert!(probe.record().contains(&line), "{:?}", probe.record());
    }
}

#[tokio::test]
async fn log_info_takes_a_text_as_it_is() {
    let mut probe = Probe::granted("log.info");
    probe.call("log.info", json!({"message": "21 degrees"})).await.unwrap();
    assert!(
        probe
            .record()
            .contains(&RunEvent::Log { level: "info".to_owned(), message: "21 degrees".to_owned() })
    );
}

#[tokio::test]
async fn log_error_does_not_fail_the_tool() {
    let mut probe = Probe::granted("log.error");
    assert_eq!(probe.call("log.error", json!({"message": "x"})).await, Ok(Value::Null));
    assert_eq!(probe.home.store().run(&probe.last_run).unwrap().unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn notify_user_shows_on_the_desktop() {
    let mut probe = Probe::granted("notify.user");
    let args = json!({"title": "Rain", "message": "in Rome", "priority": "high"});
    assert_eq!(probe.call("notify.user", args).await, Ok(json!({"shown": "desktop"})));
    let shown = probe.home.desktop.shown().remove(0);
    let expected = json!({"agent": "probe", "run": probe.last_run, "title": "Rain", "body": "in Rome", "priority": "high"});
    assert_eq!(json!(shown), expected);
    assert!(probe.home.store().inbox(10).unwrap().is_empty());
}

#[tokio::test]
async fn notify_user_falls_back_to_the_inbox_and_says_why() {
    let mut probe = Probe::granted("notify.user");
    probe.home.desktop.on_show(|_| Err("no desktop session".to_owned()));
    let answer = json!({"shown": "inbox", "reason": "no desktop session"});
    assert_eq!(probe.call("notify.user", json!({"body": {"temp": 21}})).await, Ok(answer));
    let row = probe.home.store().inbox(10).unwrap().remove(0);
    assert_eq!(
        (row.title.as_str(), row.body.as_str(), row.priority.as_str()),
        ("probe", "{\"temp\":21}", "normal")
    );
    assert_eq!((row.agent.as_str(), row.run.as_deref()), ("probe", Some(probe.last_run.as_str())));
}

#[tokio::test]
async fn notify_user_needs_a_text_and_a_short_title() {
    let mut probe = Probe::granted("notify.user");
    let error = probe.refusal("notify.user", json!({"priority": "low"})).await;
    assert!(error.starts_with("notify.user: "), "{error}");
    let error = probe.refusal("notify.user", json!({"title": "x".repeat(201)})).await;
    assert!(
        error.starts_with("notify.user: `title` is \"xxx")
            && error.ends_with("…, and must have at most 200 characters"),
        "{error}"
    );
    assert!(probe.home.desktop.shown().is_empty());
}

#[tokio::test]
async fn event_publish_appends_to_the_log_under_the_agents_name() {
    let mut probe = Probe::granted("event.publish");
    let answer = probe.call("event.publish", json!({"name": "weather.alert", "data": {"level": 3}})).await;
    assert_eq!(answer, Ok(json!({"seq": 1})));
    let event = probe.home.store().events(0, 1).unwrap().remove(0);
    assert_eq!((event.name.as_str(), event.source.as_str(), event.depth), ("weather.alert", "probe", 0));
    assert_eq!(event.data, json!({"level": 3}));
}

#[tokio::test]
async fn event_publish_carries_the_depth_of_its_run() {
    let home = Home::new();
    let steps = "steps: [{id: p, ability: event.publish, args: {name: a.b}}]";
    agent("a").asks(&["event.publish"]).chain("c", steps).install(&home);
    let request = nb_runtime::RunRequest { depth: 7, ..crate::common::request("a", task("c")) };
    let nb_runtime::Started::Run(run) = home.engine.start(request).await.unwrap() else { panic!() };
    home.end_of(&run).await;
    let depths: Vec<_> =
        home.store().events(0, 9).unwrap().into_iter().map(|event| (event.name, event.depth)).collect();
    assert_eq!(depths, [("a.b".to_owned(), 7), ("run.completed".to_owned(), 7)]);
}

#[tokio::test]
async fn event_publish_refuses_reserved_and_malformed_names_and_large_data() {
    let mut probe = Probe::granted("event.publish");
    for name in ["run.completed", "Run.Failed", "RunCompleted", "agent.installed", "approval.x", "run"] {
        let error = probe.refusal("event.publish", json!({"name": name})).await;
        let words = format!(
            "event.publish: event `{name}`: names that begin with agent, approval, run are the daemon's own"
        );
        assert_eq!(error, words);
    }
    for (name, words) in [
        ("a.*", "only a subscription may have `*`"),
        ("a..b", "words with dots between"),
        ("", "words with dots"),
    ] {
        let error = probe.refusal("event.publish", json!({"name": name})).await;
        assert!(error.contains(words), "{error}");
    }
    let error = probe.call_with("event.publish", json!({"name": "a"}), "data", 256 << 10).await.unwrap_err();
    assert_eq!(error, "event.publish: event `a`: the data has 262146 bytes; at most 262144 are allowed");
    let published = probe.home.store().events(0, 99).unwrap();
    assert!(published.iter().all(|event| event.source == "daemon"), "{published:?}");
}

#[tokio::test]
async fn flow_branch_compares() {
    let mut probe = Probe::granted("flow.branch");
    for (args, answer) in [
        (json!({"left": 3, "op": "greater_than", "value": 2}), json!(true)),
        (json!({"left": "abc", "op": "matches", "value": "^b"}), json!(false)),
        (json!({"op": "is_empty"}), json!(true)),
    ] {
        assert_eq!(probe.call("flow.branch", args).await, Ok(answer));
    }
    let error = probe.refusal("flow.branch", json!({"left": "x", "op": "less_than", "value": 2})).await;
    assert_eq!(error, "flow.branch: \"x\" is not a number");
    let error = probe.refusal("flow.branch", json!({"left": "x", "op": "matches", "value": "("})).await;
    assert!(error.starts_with("flow.branch: `(` is not a regular expression"), "{error}");
}

#[tokio::test]
async fn flow_stop_ends_a_chain_and_not_a_tool() {
    let mut probe = Probe::granted("flow.stop");
    let error = probe.refusal("flow.stop", json!({"result": 1})).await;
    assert_eq!(error, "flow.stop ends a chain; in a tool, return");
}
