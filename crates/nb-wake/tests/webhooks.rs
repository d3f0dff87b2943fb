//! Deliveries: who is let in, and that each starts one run.

use std::sync::Arc;

use nb_store::{AgentState, RunStatus};
use nb_wake::Wake;
use nb_wake::webhooks::{Delivered, Hook, Refusal};
use serde_json::{Value, json};

use crate::awake::config;
use crate::common::{AgentBuilder, Home, after_a_crash, agent, at};

const SECRET: &str = "a secret of more than sixteen bytes";

/// An agent with one webhook, and what `more` says of it.
fn hooked(path: &str, more: Value) -> AgentBuilder {
    let mut webhook = json!({"path": path, "chain": "c"});
    for (key, value) in more.as_object().unwrap() {
        webhook[key] = value.clone();
    }
    let given = "['{{webhook.path}}', '{{webhook.headers}}', '{{webhook.body}}', '{{webhook.raw}}']";
    agent(&path.replace('/', ""))
        .asks(&["flow.stop"])
        .set("triggers", json!({"webhooks": [webhook]}))
        .chain("c", &format!("steps: [{{id: s, ability: flow.stop, args: {{result: {given}}}}}]"))
}

struct Door {
    home: Home,
    wake: Wake,
    hook: Arc<Hook>,
}

/// A webhook at `/a`.
fn door(more: Value) -> Door {
    let home = Home::new();
    home.vault.keep("HOOK", SECRET);
    hooked("/a", more).install(&home);
    let wake = Wake::new(home.engine.clone(), &config());
    let hook = wake.webhooks().find("POST", "/a").unwrap();
    Door { home, wake, hook }
}

fn signed_door(verify: &str) -> Door {
    door(json!({"secret": "secret.HOOK", "verify": verify}))
}

impl Door {
    fn signed(&self, body: &str) -> Vec<(String, String)> {
        let headers = self.wake.webhooks().sign(&self.hook, body.as_bytes()).unwrap();
        headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect()
    }

    async fn deliver(&self, headers: &[(String, String)], body: &str) -> Result<Delivered, Refusal> {
        self.wake.webhooks().deliver(&self.hook, headers, body.as_bytes()).await
    }

    /// The run of a delivery that must be a new one.
    async fn accepted(&self, headers: &[(String, String)], body: &str) -> String {
        match self.deliver(headers, body).await {
            Ok(Delivered::Accepted(run)) => run,
            other => panic!("{body}: {other:?}"),
        }
    }

    /// The run that a delivery repeats.
    async fn repeated(&self, headers: &[(String, String)], body: &str) -> String {
        match self.deliver(headers, body).await {
            Ok(Delivered::Repeated(run)) => run,
            other => panic!("{body}: {other:?}"),
        }
    }

    async fn is_unauthorized(&self, headers: &[(String, String)], body: &str) -> bool {
        matches!(self.deliver(headers, body).await, Err(Refusal::Unauthorized))
    }
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Changes the value of a header.
fn with(mut headers: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    headers.iter_mut().filter(|(header, _)| header == name).for_each(|(_, old)| *old = value.to_owned());
    headers
}

#[tokio::test]
async fn an_unknown_path_is_404_and_another_method_405() {
    let door = door(json!({"methods": ["POST", "PUT"]}));
    let find = |method, path| door.wake.webhooks().find(method, path);
    assert!(find("PUT", "/a").is_ok());
    for path in ["/b", "/a/", "/A", "", "/a/b"] {
        assert!(matches!(find("POST", path), Err(Refusal::NotFound)), "{path}");
    }
    let Err(Refusal::Method(allowed)) = find("GET", "/a") else { panic!() };
    assert_eq!(allowed, ["POST", "PUT"]);
}

#[tokio::test]
async fn more_requests_than_the_rate_are_429_until_the_next_second() {
    let home = Home::new();
    for path in ["/a", "/b"] {
        hooked(path, json!({})).install(&home);
    }
    let wake = Wake::new(home.engine.clone(), &nb_wake::Config { webhook_rate: 3, ..config() });
    let let_in = |path| (0..9).filter(|_| wake.webhooks().find("POST", path).is_ok()).count();
    assert_eq!(let_in("/a"), 3);
    assert!(matches!(wake.webhooks().find("POST", "/a"), Err(Refusal::TooMany)));
    assert_eq!(let_in("/b"), 3, "each path has its own rate");
    home.world.advance(chrono::Duration::seconds(1));
    assert_eq!(let_in("/a"), 3);
}

#[tokio::test]
async fn the_webhooks_of_a_stopped_agent_are_404() {
    let door = door(json!({}));
    door.home.set_state("a", AgentState::Stopped);
    door.wake.agents_changed();
    assert!(matches!(door.wake.webhooks().find("POST", "/a"), Err(Refusal::NotFound)));
    assert!(door.wake.webhooks().all().is_empty());
}

#[tokio::test]
async fn a_missing_wrong_or_doubled_signature_is_401_and_nothing_is_recorded() {
    for (verify, signature) in [
        ("hmac", "x-webhook-signature"),
        ("github", "x-hub-signature-256"),
        ("standard", "webhook-signature"),
        ("stripe", "stripe-signature"),
    ] {
        let door = signed_door(verify);
        let good = door.signed("body");
        let missing: Vec<_> = good.iter().filter(|(name, _)| name != signature).cloned().collect();
        let doubled = [good.clone(), good.clone()].concat();
        let of_another = door.signed("another body");
        for (headers, what) in [
            (missing, "missing"),
            (of_another, "of another body"),
            (doubled, "twice"),
            (with(good.clone(), signature, ""), "empty"),
            (with(good.clone(), signature, "sha256=00"), "short"),
        ] {
            assert!(door.is_unauthorized(&headers, "body").await, "{verify}: {what}");
        }
        assert!(door.home.runs("a").is_empty() && door.home.store().events(0, 9).unwrap().is_empty());
        let run = door.accepted(&good, "body").await;
        assert_eq!(door.home.end_of(&run).await.status, RunStatus::Completed, "{verify}");
    }
}

#[tokio::test]
async fn a_webhook_whose_secret_is_missing_or_short_lets_nobody_in() {
    for (secret, problem) in [
        ("secret.NOWHERE", "there is no secret NOWHERE"),
        ("ENV/NOWHERE", "the daemon's environment has no variable NOWHERE"),
        ("secret.SHORT", "the secret secret.SHORT has fewer than 16 bytes"),
        ("ENV/EMPTY", "the secret ENV/EMPTY has fewer than 16 bytes"),
    ] {
        let door = door(json!({"secret": secret}));
        door.home.vault.keep("SHORT", "123456789012345");
        door.home.vault.keep("ENV/EMPTY", "");
        assert_eq!(door.wake.webhooks().problem(&door.hook).as_deref(), Some(problem));
        assert!(door.is_unauthorized(&[], "body").await);
        let empty_key =
            header("x-webhook-signature", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
        assert!(door.is_unauthorized(&[empty_key], "").await, "signed with an empty key");
        assert!(door.home.runs("a").is_empty());
    }
    let door = door(json!({"secret": "ENV/HOOK"}));
    door.home.vault.keep("ENV/HOOK", SECRET);
    assert_eq!(door.wake.webhooks().problem(&door.hook), None);
    let headers = door.signed("body");
    door.accepted(&headers, "body").await;
    door.home.vault.forget("ENV/HOOK");
    assert!(door.is_unauthorized(&headers, "body").await, "it was taken away while the daemon runs");
}

#[tokio::test]
async fn a_repeated_delivery_id_answers_the_first_run_for_ever() {
    for (verify, id) in [("github", "x-github-delivery"), ("standard", "webhook-id")] {
        let door = signed_door(verify);
        let (first, second) = (door.signed("body"), door.signed("body"));
        assert_ne!(first, second, "each has an id of its own");
        let run = door.accepted(&first, "body").await;
        assert_eq!(door.repeated(&first, "body").await, run);
        if verify == "github" {
            assert_eq!(door.repeated(&second, "body").await, run, "its id is not signed, and the body tells");
            door.home.world.set(at("09:00:00"));
        }
        let other = door.accepted(&second, "body").await;
        assert_ne!(run, other, "the same body under another id");
        if verify == "github" {
            assert_eq!(door.repeated(&first, "body").await, run);
            assert_eq!(
                door.repeated(&with(door.signed("x"), id, &first[1].1), "x").await,
                run,
                "whatever the body"
            );
        }
        assert_eq!(door.home.runs("a").len(), 2, "{verify}");
    }
}

#[tokio::test]
async fn a_repeat_is_known_after_a_restart() {
    let door = signed_door("github");
    let headers = door.signed("body");
    let run = door.accepted(&headers, "body").await;
    let home = door.home.restarted();
    let wake = Wake::new(home.engine.clone(), &config());
    let door = Door { hook: wake.webhooks().find("POST", "/a").unwrap(), home, wake };
    assert_eq!(door.repeated(&headers, "body").await, run);
}

#[tokio::test]
async fn without_an_id_the_same_body_within_five_minutes_is_the_same_delivery() {
    let door = signed_door("hmac");
    let headers = door.signed("body");
    // 290 s, 580 s and 870 s: windows of 300 s begin in between.
    door.home.world.set(at("00:04:50"));
    let first = door.accepted(&headers, "body").await;
    for time in ["00:04:50", "00:05:01", "00:09:49"] {
        door.home.world.set(at(time));
        assert_eq!(door.repeated(&headers, "body").await, first, "{time}");
    }
    door.accepted(&door.signed("body2"), "body2").await;
    door.home.world.set(at("00:09:50"));
    let second = door.accepted(&headers, "body").await;
    assert_ne!(first, second);
    door.home.world.set(at("00:14:49"));
    assert_eq!(door.repeated(&headers, "body").await, second);
}

/// Whoever saw a request may send it again under any id that the signature does not cover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_captured_request_under_new_ids_starts_nothing() {
    let door = Arc::new(signed_door("github"));
    let headers = door.signed("body");
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let (door, headers) = (door.clone(), with(headers.clone(), "x-github-delivery", &n.to_string()));
            tokio::spawn(async move { door.deliver(&headers, "body").await.unwrap() })
        })
        .collect();
    let mut accepted = 0;
    for task in tasks {
        accepted += usize::from(matches!(task.await.unwrap(), Delivered::Accepted(_)));
    }
    assert_eq!((accepted, door.home.runs("a").len()), (1, 1));
    door.home.world.set(at("00:04:59"));
    door.repeated(&with(headers.clone(), "x-github-delivery", "late"), "body").await;
}

#[tokio::test]
async fn a_secret_in_the_manifest_is_not_shown() {
    let door = door(json!({"secret": SECRET}));
    door.accepted(&door.signed("body"), "body").await;
    let shown = format!("{:?}", door.hook);
    assert!(shown.contains("/a") && !shown.contains(SECRET), "{shown}");
}

#[tokio::test]
async fn an_overlong_id_counts_as_none() {
    let door = signed_door("github");
    let headers = with(door.signed("body"), "x-github-delivery", &"x".repeat(201));
    let run = door.accepted(&headers, "body").await;
    let another = with(door.signed("body"), "x-github-delivery", &"y".repeat(500));
    assert_eq!(door.repeated(&another, "body").await, run, "its body tells");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeats_at_the_same_time_start_one_run() {
    for verify in ["github", "hmac"] {
        let door = Arc::new(signed_door(verify));
        let headers = door.signed("body");
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (door, headers) = (door.clone(), headers.clone());
                tokio::spawn(async move { door.deliver(&headers, "body").await.unwrap() })
            })
            .collect();
        let (mut accepted, mut repeated) = (Vec::new(), Vec::new());
        for task in tasks {
            match task.await.unwrap() {
                Delivered::Accepted(run) => accepted.push(run),
                Delivered::Repeated(run) => repeated.push(run),
            }
        }
        assert_eq!((accepted.len(), repeated.len()), (1, 7));
        assert!(repeated.iter().all(|run| *run == accepted[0]));
        assert_eq!(door.home.runs("a").len(), 1);
    }
}

#[tokio::test]
async fn a_task_sees_headers_and_body_and_no_proof() {
    for verify in ["hmac", "github", "standard", "stripe"] {
        let door = signed_door(verify);
        let proof = door.signed("{\"a\": [1]}");
        let extra = [
            header("x-event", "push"),
            header("authorization", "Bearer hunter2hunter2"),
            header("cookie", "session=hunter2hunter2"),
            header("x-hub-signature", "sha1=hunter2hunter2"),
            header("x-gitlab-token", "hunter2hunter2"),
            header("x-api-key", "hunter2hunter2"),
        ];
        let run = door.accepted(&[proof.clone(), extra.to_vec()].concat(), "{\"a\": [1]}").await;
        let row = door.home.end_of(&run).await;
        let seen = row.output.clone().unwrap();
        assert_eq!(
            (&seen[0], &seen[2], &seen[3]),
            (&json!("/a"), &json!({"a": [1]}), &json!("{\"a\": [1]}"))
        );
        assert_eq!(seen[1]["x-event"], json!("push"));
        let kept =
            format!("{row:?} {:?} {:?}", door.home.record(&run), door.home.store().events(0, 9).unwrap());
        assert!(!kept.contains("hunter2hunter2"), "{kept}");
        for (_, value) in proof.iter().filter(|(name, _)| name.contains("signature")) {
            let mac = value.rsplit(['=', ',']).find(|part| part.len() > 20).unwrap();
            assert!(!kept.contains(mac), "{verify}: {kept}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_a_text() {
    let door = door(json!({}));
    for (body, seen) in
        [("a=1&b=2", json!("a=1&b=2")), ("", json!("")), ("7", json!(7)), ("{\"a\":", json!("{\"a\":"))]
    {
        let run = door.accepted(&[], body).await;
        let output = door.home.end_of(&run).await.output.unwrap();
        assert_eq!((&output[2], &output[3]), (&seen, &json!(body)));
    }
    let delivered = door.wake.webhooks().deliver(&door.hook, &[], b"\xff\xfe").await.unwrap();
    let Delivered::Accepted(run) = delivered else { panic!("{delivered:?}") };
    assert_eq!(door.home.end_of(&run).await.output.unwrap()[3], json!("\u{fffd}\u{fffd}"));
}

#[tokio::test]
async fn a_delivery_that_was_answered_is_on_disk() {
    let door = signed_door("github");
    let headers = door.signed("body");
    let run = door.accepted(&headers, "body").await;
    let id = format!("id:{}", headers[1].1);
    after_a_crash(door.home.dir.path(), |store| {
        assert_eq!(store.delivery("/a", &id).unwrap().unwrap().run, run);
        assert_eq!(store.run(&run).unwrap().unwrap().actor["path"], json!("/a"));
    });
}

#[tokio::test]
async fn what_cannot_be_started_is_not_recorded_as_delivered() {
    let door = signed_door("github");
    let headers = door.signed("body");
    door.home.engine.shut_down(std::time::Duration::ZERO).await;
    let refused = door.deliver(&headers, "body").await;
    assert!(matches!(refused, Err(Refusal::Unavailable(_))), "{refused:?}");
    let home = door.home.restarted();
    let wake = Wake::new(home.engine.clone(), &config());
    let door = Door { hook: wake.webhooks().find("POST", "/a").unwrap(), home, wake };
    door.accepted(&headers, "body").await;
}
