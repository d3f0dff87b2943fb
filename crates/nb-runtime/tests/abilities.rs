//! Each ability: what it does, what it refuses, and that nothing is done without its permission.

use chrono::Duration;
use nb_runtime::record::RunEvent;
use nb_runtime::{Target, ability};
use nb_store::RunStatus;
use serde_json::{Value, json};

use crate::common::{Home, agent, at, task};
use crate::server::{Server, ok};

/// An agent whose tool calls the ability that it is told.
struct Probe {
    home: Home,
    last_run: String,
}

impl Probe {
    fn new(asks: &[&str], grants: &[&str]) -> Self {
        let home = Home::new();
        home.vault.keep("TOKEN", SECRET);
        agent("probe")
            .asks(asks)
            .granted(grants)
            .set("secrets", json!(["TOKEN"]))
            .set("fuel_limit", json!(50_000_000))
            .set("resources", json!({"max_fuel": 50_000_000}))
            .tool("call", "return nb.call(parameters.ability, parameters.args)")
            .tool(
                "call-big",
                "parameters.args[parameters.key] = ('x'):rep(parameters.bytes)
                 return nb.call(parameters.ability, parameters.args)",
            )
            .install(&home);
        Self { home, last_run: String::new() }
    }

    fn granted(permission: &str) -> Self {
        Self::new(&[permission], &[permission])
    }

    /// The same, and the secret TOKEN.
    fn granted_with_secret(permission: &str) -> Self {
        Self::new(&[permission], &[permission, "secret.use:TOKEN"])
    }

    async fn call(&mut self, ability: &str, args: Value) -> Result<Value, String> {
        self.run("call", json!({"ability": ability, "args": args})).await
    }

    /// The same with a text of so many bytes as one more argument.
    async fn call_with(
        &mut self,
        ability: &str,
        args: Value,
        key: &str,
        bytes: usize,
    ) -> Result<Value, String> {
        self.run("call-big", json!({"ability": ability, "args": args, "key": key, "bytes": bytes})).await
    }

    async fn run(&mut self, tool: &str, params: Value) -> Result<Value, String> {
        let row = self.home.run("probe", Target::Tool(tool.to_owned()), params).await;
        self.last_run = row.id;
        match row.error {
            None => Ok(row.output.unwrap_or_default()),
            // In front of it stand the tool, its file and its line; behind it the line itself.
            Some(error) => {
                let shown = error.splitn(3, ": ").last().unwrap_or_default();
                Err(shown.split("\n  ").next().unwrap_or_default().to_owned())
            }
        }
    }

    /// The error of a call that must fail.
    async fn refusal(&mut self, ability: &str, args: Value) -> String {
        match self.call(ability, args.clone()).await {
            Err(error) => error,
            Ok(value) => panic!("{ability} {args} gave {value}"),
        }
    }

    fn record(&self) -> Vec<RunEvent> {
        self.home.record(&self.last_run)
    }

    /// Everything that was kept of the last run, as it is stored.
    fn stored(&self) -> String {
        let row = self.home.store().run(&self.last_run).unwrap();
        let events = self.home.store().run_events(&self.last_run, 0, usize::MAX).unwrap();
        format!("{row:?} {events:?} {:?}", self.home.store().events(0, usize::MAX).unwrap())
    }
}

const SECRET: &str = "s3cret/Value+1";

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

#[tokio::test]
async fn data_fetch_url_gives_the_text_and_a_failure_is_a_failure() {
    let server = Server::answering(|request| {
        let missing =
            "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 4\r\n\r\ngone".to_owned();
        if request.starts_with("GET /there ") { ok("hello") } else { Some(missing) }
    })
    .await;
    let mut probe = Probe::granted(&format!("data.fetch_url:{}", server.host()));
    assert_eq!(probe.call("data.fetch_url", json!({"url": server.url("/there")})).await, Ok(json!("hello")));
    let error = probe.refusal("data.fetch_url", json!({"url": server.url("/x")})).await;
    assert_eq!(error, format!("data.fetch_url: {} answered 404", server.url("/x")));
    let error = probe.refusal("data.fetch_url", json!({"url": "file:///etc/passwd"})).await;
    assert_eq!(error, "data.fetch_url: `file` URLs cannot be fetched; use http or https");
}

#[tokio::test]
async fn http_fetch_sends_method_headers_and_body_and_gives_the_whole_answer() {
    let server = Server::answering(|_| {
        Some("HTTP/1.1 418 Teapot\r\nx-a: b\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi".to_owned())
    })
    .await;
    let mut probe = Probe::granted(&format!("http.fetch:{}", server.host()));
    let args = json!({"url": server.url("/p"), "method": "PUT", "headers": {"x-n": 7}, "body": {"a": [1]}});
    let answer = probe.call("http.fetch", args).await.unwrap();
    assert_eq!(
        (&answer["status"], &answer["body"], &answer["headers"]["x-a"]),
        (&json!(418), &json!("hi"), &json!("b"))
    );
    let sent = server.requests().remove(0);
    assert!(sent.starts_with("PUT /p ") && sent.ends_with("\r\n\r\n{\"a\":[1]}"), "{sent}");
    assert!(sent.contains("x-n: 7\r\n") && sent.contains("content-type: application/json\r\n"), "{sent}");
}

#[tokio::test]
async fn http_fetch_reaches_granted_hosts_only_also_by_a_redirect() {
    let other = Server::answering(|_| ok("private")).await;
    let away = other.url("/");
    let server = Server::answering(move |_| {
        Some(format!(
            "HTTP/1.1 302 Found\r\nlocation: {away}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        ))
    })
    .await;
    let mut probe = Probe::granted(&format!("http.fetch:{}", server.host()));
    let error = probe.refusal("http.fetch", json!({"url": other.url("/")})).await;
    let out_of_scope = format!("host 127.0.0.1 is outside of what was granted: {}", server.host());
    assert_eq!(error, format!("http.fetch: {out_of_scope}"));
    let refused =
        |event: &RunEvent| matches!(event, RunEvent::HostCall { error: Some(e), .. } if *e == error);
    assert!(probe.record().iter().any(refused), "{:?}", probe.record());
    let error = probe.refusal("http.fetch", json!({"url": server.url("/go")})).await;
    let words =
        format!("http.fetch: the redirect from {} was not followed: {out_of_scope}", server.url("/go"));
    assert_eq!(error, words);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn http_fetch_sends_a_secret_and_shows_it_to_nobody() {
    let logged = crate::logs::capture();
    let server = Server::answering(|request| {
        let echo = request.lines().find(|line| line.starts_with("x-key: ")).unwrap_or_default().to_owned();
        ok(&format!("{echo} czNjcmV0L1ZhbHVlKzE="))
    })
    .await;
    let mut probe = Probe::granted_with_secret(&format!("http.fetch:{}", server.host()));
    let headers = json!({"x-key": "{{secret.TOKEN}}"});
    let args =
        json!({"url": server.url("/"), "method": "POST", "headers": headers, "body": "{{secret.TOKEN}}"});
    let answer = probe.call("http.fetch", args).await.unwrap();
    assert!(server.requests()[0].contains(&format!("x-key: {SECRET}\r\n")));
    assert!(!server.requests()[0].replacen(SECRET, "", 1).contains(SECRET), "not into the body");
    assert_eq!(answer["body"], json!("x-key: *** ***"));
    assert!(!probe.stored().contains(SECRET) && probe.stored().contains("{{secret.TOKEN}}"));

    let refused = json!({"url": "http://127.0.0.1:1/", "headers": headers});
    let mut everywhere = Probe::granted_with_secret("http.fetch");
    let error = everywhere.refusal("http.fetch", refused).await;
    assert!(error.starts_with("http.fetch: secret TOKEN may not be sent to host 127.0.0.1"), "{error}");
    let unknown = json!({"url": server.url("/"), "headers": {"x-key": "{{secret.OTHER}}"}});
    let error = probe.refusal("http.fetch", unknown).await;
    assert!(error.starts_with("http.fetch: secret OTHER is not known here"), "{error}");
    let broken = json!({"url": "http://127.0.0.1:1/", "headers": headers});
    let error = Probe::granted_with_secret("http.fetch:127.0.0.1").refusal("http.fetch", broken).await;
    assert!(error.starts_with("http.fetch: cannot connect to host 127.0.0.1"), "{error}");
    for text in [error, probe.stored(), everywhere.stored(), logged()] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[tokio::test]
async fn http_fetch_sends_no_secret_that_nobody_granted() {
    let server = Server::answering(|_| ok("")).await;
    let hosts = format!("http.fetch:{}", server.host());
    let args = json!({"url": server.url("/"), "headers": {"x-key": "{{secret.TOKEN}}"}});
    for grants in [vec![], vec!["secret.use:OTHER"], vec!["secret.use"], vec!["secret.use:token"]] {
        let grants: Vec<&str> = grants.into_iter().chain([hosts.as_str()]).collect();
        assert_eq!(
            Probe::new(&[&hosts], &grants).refusal("http.fetch", args.clone()).await,
            "http.fetch: permission `secret.use:TOKEN` was not granted to probe; install it again and grant it"
        );
    }
    let mut probe = Probe::granted_with_secret(&hosts);
    probe.home.vault.forget("TOKEN");
    let error = probe.refusal("http.fetch", args).await;
    assert!(error.starts_with("http.fetch: secret TOKEN has no value that can be used"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn http_fetch_refuses_an_answer_above_ten_mebibytes() {
    let server = Server::answering(|_| {
        Some(format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", (10 << 20) + 1))
    })
    .await;
    let mut probe = Probe::granted("http.fetch:127.0.0.1");
    let error = probe.refusal("http.fetch", json!({"url": server.url("/")})).await;
    assert_eq!(
        error,
        "http.fetch: the response of host 127.0.0.1 is larger than the limit of 10485760 bytes"
    );
}

#[tokio::test]
async fn over_its_calls_for_the_hour_an_agent_sends_nothing_more() {
    let server = Server::answering(|_| ok("")).await;
    let home = Home::new();
    let steps = format!("steps: [{{id: f, ability: http.fetch, args: {{url: \"{}\"}}}}]", server.url("/"));
    agent("a")
        .asks(&["http.fetch"])
        .set("resources", json!({"max_api_calls_per_hour": 2}))
        .chain("c", &steps)
        .install(&home);
    home.world.set(at("10:59:59"));
    for _ in 0..2 {
        assert_eq!(home.run("a", task("c"), json!({})).await.status, RunStatus::Completed);
    }
    let third = home.run("a", task("c"), json!({})).await;
    let reason = "http.fetch: out of calls for this hour: 2 allowed (resources.max_api_calls_per_hour), this would be number 3";
    assert_eq!(third.error, Some(format!("step `f`: {reason}")));
    let record = home.record(&third.id);
    let refused =
        |event: &RunEvent| matches!(event, RunEvent::HostCall { error: Some(error), .. } if error == reason);
    assert!(record.iter().any(refused), "{record:?}");
    assert!(
        !record.iter().any(|event| matches!(event, RunEvent::HostBegun { .. })),
        "nothing began: {record:?}"
    );
    home.world.advance(Duration::seconds(1));
    assert_eq!(home.run("a", task("c"), json!({})).await.status, RunStatus::Completed, "the next hour");
    assert_eq!(server.requests().len(), 3);
}

/// An agent whose model answers by this transcript, and whose tool calls an ability.
fn with_a_model(home: &Home, permission: &str, turns: &str) {
    agent("m")
        .asks(&[permission])
        .file("cartridge.yml", format!("behaviors: {{interaction: {{directive: Be brief.}}}}\nprovider: {{id: scripted, options: {{turns: {turns}}}}}\n"))
        .tool("call", "return nb.call(parameters.ability, parameters.args)")
        .install(home);
}

async fn say(home: &Home, ability: &str, args: Value) -> Result<Value, String> {
    let params = json!({"ability": ability, "args": args});
    let row = home.run("m", Target::Tool("call".to_owned()), params).await;
    row.error.map_or_else(|| Ok(row.output.unwrap_or_default()), Err)
}

#[tokio::test(flavor = "multi_thread")]
async fn llm_query_gives_the_text_of_the_answer() {
    let home = Home::new();
    with_a_model(&home, "llm.query", "[{when: '{\"city\":\"Rome\"}', answer: It rains.}, {answer: What?}]");
    assert_eq!(say(&home, "llm.query", json!({"prompt": {"city": "Rome"}})).await, Ok(json!("It rains.")));
    assert_eq!(say(&home, "llm.query", json!({"prompt": "Oslo"})).await, Ok(json!("What?")));
}

#[tokio::test(flavor = "multi_thread")]
async fn llm_summarize_asks_for_a_summary_of_what_is_marked_as_data() {
    let home = Home::new();
    let turns = r"[{when: {matches: '(?s)at most 20 words.*<text>\nLong\.\n</text>$'}, answer: Short.}, {when: few sentences, answer: Some.}]";
    with_a_model(&home, "llm.summarize", turns);
    assert_eq!(say(&home, "llm.summarize", json!({"text": "Long.", "words": 20})).await, Ok(json!("Short.")));
    assert_eq!(say(&home, "llm.summarize", json!({"text": "Long."})).await, Ok(json!("Some.")));
}

#[tokio::test(flavor = "multi_thread")]
async fn llm_chat_gives_the_answer_with_what_it_took() {
    let home = Home::new();
    let turns = "[{when: And now?, answer: Yes., usage: {input: 10, output: 2, cached: 4}}]";
    with_a_model(&home, "llm.chat", turns);
    let messages = json!([
        {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And now?"},
    ]);
    let expected = json!({
        "text": "Yes.", "stop": "done", "model": "scripted", "usage": {"input": 10, "output": 2, "cached": 4}, "rounds": 0,
    });
    assert_eq!(say(&home, "llm.chat", json!({"messages": messages})).await, Ok(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn llm_chat_with_tools_is_for_chains_alone() {
    let home = Home::new();
    with_a_model(&home, "llm.chat", "[{answer: no}]");
    let error = say(&home, "llm.chat", json!({"prompt": "p", "tools": ["call"]})).await.unwrap_err();
    assert!(error.contains("llm.chat: `tools` can be given in a step of a chain alone"), "{error}");
}
