//! What is refused: without a permission, outside of its scope, with arguments that do not fit.

use nb_runtime::record::RunEvent;
use nb_runtime::{Target, ability};
use serde_json::{Value, json};

use super::Probe;
use crate::common::{Home, agent};

/// Arguments that the ability's schema accepts.
fn sound_args(ability: &str) -> Value {
    match ability {
        "data.fetch_url" | "http.fetch" => json!({"url": "http://127.0.0.1:1/"}),
        "event.publish" => json!({"name": "a.b"}),
        "flow.branch" => json!({"op": "is_empty"}),
        "flow.stop" => json!({"reason": "enough"}),
        "kv.read" => json!({"key": "k"}),
        "kv.write" => json!({"key": "k", "value": 1}),
        "llm.chat" | "llm.query" => json!({"prompt": "p"}),
        "llm.summarize" => json!({"text": "t"}),
        "log.error" | "log.info" | "notify.user" => json!({"message": "m"}),
        new => panic!("`{new}` needs arguments here"),
    }
}

fn denials(record: &[RunEvent]) -> Vec<(String, String, String)> {
    let denial = |event: &RunEvent| match event {
        RunEvent::PolicyDecided { ability, decision, reason } => {
            Some((ability.clone(), decision.clone(), reason.clone()))
        }
        _ => None,
    };
    record.iter().filter_map(denial).collect()
}

#[tokio::test]
async fn without_its_permission_no_ability_does_anything() {
    for name in ability::names() {
        let scoped = format!("{name}:elsewhere.example");
        for (asks, grants, reason) in [
            (vec![], vec![name], format!("permission `{name}` is not in the manifest of probe")),
            (
                vec![name],
                vec![],
                format!("permission `{name}` was not granted to probe; install it again and grant it"),
            ),
            (
                vec![scoped.as_str()],
                vec![name],
                format!("permission `{name}` was not granted to probe; install it again and grant it"),
            ),
        ] {
            let mut probe = Probe::new(&asks, &grants);
            assert_eq!(probe.refusal(name, sound_args(name)).await, reason, "{asks:?} {grants:?}");
            assert_eq!(denials(&probe.record()), [(name.to_owned(), "deny".to_owned(), reason)]);
            let done =
                |event: &RunEvent| matches!(event, RunEvent::HostBegun { .. } | RunEvent::HostCall { .. });
            assert!(!probe.record().iter().any(done), "{:?}", probe.record());
            assert!(probe.home.desktop.shown().is_empty());
            assert_eq!(probe.home.store().kv_get("probe", "k").unwrap(), None);
        }
    }
}

/// An ability that knows no scopes would take a narrow grant for a wide one.
#[tokio::test]
async fn a_scope_that_an_ability_does_not_know_gives_nothing() {
    for name in ability::names() {
        let scoped = format!("{name}:elsewhere.example");
        let mut probe = Probe::granted(&scoped);
        let error = probe.refusal(name, sound_args(name)).await;
        if name.starts_with("llm.") {
            // Without an address there is no host to be outside of; tests/models.rs has models with one.
            assert!(error.starts_with(&format!("{name}: probe has no model")), "{error}");
        } else if ["http.fetch", "data.fetch_url"].contains(&name) {
            assert_eq!(
                error,
                format!("{name}: host 127.0.0.1 is outside of what was granted: elsewhere.example")
            );
        } else {
            let reason = format!(
                "permission `{name}` was granted for elsewhere.example only, and it has no scopes; ask for `{name}`"
            );
            assert_eq!(error, reason);
            assert_eq!(denials(&probe.record()), [(name.to_owned(), "deny".to_owned(), reason)]);
        }
    }
}

#[tokio::test]
async fn a_tool_can_catch_a_refusal() {
    let home = Home::new();
    let lua = "local ok, why = pcall(nb.call, 'kv.read', {key = 'k'}) return {ok, tostring(why)}";
    agent("a").tool("try", lua).install(&home);
    let row = home.run("a", Target::Only, json!({})).await;
    let output = row.output.unwrap();
    assert_eq!(output[0], json!(false));
    assert!(
        output[1].as_str().unwrap().contains("permission `kv.read` is not in the manifest of a"),
        "{output}"
    );
}

#[tokio::test]
async fn a_permission_that_this_version_does_not_know_grants_nothing() {
    let mut probe = Probe::granted("search.web");
    let error = probe.refusal("search.web", json!({})).await;
    assert_eq!(error, "there is no ability `search.web` here");
    let error = probe.refusal("kv.raed", json!({})).await;
    assert_eq!(error, "kv.raed: there is no such ability; did you mean `kv.read`?");
}

#[tokio::test]
async fn bad_arguments_name_the_key() {
    for (ability, args, words) in [
        ("kv.read", json!({"op": "get"}), "needs `key`"),
        ("kv.read", json!({"key": 3}), "`key` is 3, and must be a text"),
        ("kv.read", json!({"op": "list", "limit": 5000}), "`limit` is 5000, and must be at most 1000"),
        ("kv.write", json!({"key": "k"}), "needs `value`"),
        (
            "kv.write",
            json!({"op": "append", "key": "k"}),
            "`op` is \"append\", and must be one of \"set\", \"delete\", \"increment\", \"compare_and_set\"",
        ),
        ("log.info", json!({"text": "x"}), "has no `text`"),
        ("log.error", json!({"text": "x"}), "needs `message`"),
        (
            "notify.user",
            json!({"priority": "shouting", "message": "m"}),
            "`priority` is \"shouting\", and must be one of \"low\", \"normal\", \"high\", \"urgent\"",
        ),
        ("notify.user", json!({}), "needs `message` or `body` or `title`"),
        ("event.publish", json!({"data": 1}), "needs `name`"),
        ("llm.query", json!({"system": "s"}), "needs `prompt`"),
        ("llm.query", json!({"prompt": ""}), "must have at least 1 characters"),
        ("llm.summarize", json!({"text": "t", "words": 0}), "`words` is 0, and must be at least 1"),
        ("llm.chat", json!({"system": "s"}), "needs `prompt` or `messages`"),
        ("llm.chat", json!({"prompt": "p", "rounds": 11}), "`rounds` is 11, and must be at most 10"),
        ("llm.chat", json!({"messages": [{"role": "system", "content": "c"}]}), "\"user\", \"assistant\""),
        ("llm.chat", json!({"prompt": "p", "messages": [{"role": "user", "content": "c"}]}), "not both"),
        (
            "llm.chat",
            json!({"messages": [{"role": "assistant", "content": "c"}]}),
            "must be of the role `user`",
        ),
        ("flow.branch", json!({"op": "like"}), "\"is_not_empty\", \"matches\""),
        ("flow.stop", json!({"why": 1}), "has no `why`"),
        ("data.fetch_url", json!({"url": 1}), "`url` is 1, and must be a text"),
        (
            "http.fetch",
            json!({"url": "http://a.example/", "headers": {"x": true}}),
            "`headers.x` is true, and must be a number or a text",
        ),
        (
            "http.fetch",
            json!({"url": "http://a.example/", "timeout_ms": 200_000}),
            "`timeout_ms` is 200000, and must be at most 120000",
        ),
    ] {
        let mut probe = Probe::granted(ability);
        let error = probe.refusal(ability, args).await;
        assert!(error.starts_with(&format!("{ability}: ")) && error.contains(words), "{error}");
    }
}
