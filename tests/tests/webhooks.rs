//! Webhooks: what is signed gets in once, and nothing else gets in at all.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use nb_tests::http::{self, Request};
use nb_tests::sign::hmac_hex;
use nb_tests::wait::within;
use nb_tests::{Agent, Daemon, Home, until};
use serde_json::{Value, json};

const SECRET: &str = "a secret of more than sixteen bytes";

/// Serves `/hook/signed` (hmac), `/hook/github` and `/hook/open`. Its task gives back what it saw.
fn hooks() -> Agent {
    Agent::new("hooks")
        .tool("echo.lua", "return {body = parameters.body, headers = parameters.headers, raw = parameters.raw}")
        .chain("take", "  - {id: echo, tool: echo, args: {body: '{{webhook.body}}', headers: '{{webhook.headers}}', raw: '{{webhook.raw}}'}}")
        .yaml(
            "triggers:\n  webhooks:\n    - {path: /hook/signed, chain: take, secret: secret.HOOK}\n    \
             - {path: /hook/github, chain: take, verify: github, secret: secret.HOOK}\n    \
             - {path: /hook/open, chain: take, methods: [POST, PUT]}",
        )
}

fn daemon() -> Daemon {
    let daemon = Home::new().secret("HOOK", SECRET).start();
    daemon.install(&hooks());
    daemon
}

fn signed(body: &str) -> Request {
    Request::post("/hook/signed", body).header("X-Webhook-Signature", hmac_hex(SECRET, body))
}

fn github(body: &str, delivery: &str) -> Request {
    Request::post("/hook/github", body)
        .header("X-Hub-Signature-256", format!("sha256={}", hmac_hex(SECRET, body)))
        .header("X-GitHub-Delivery", delivery)
        .header("X-GitHub-Event", "push")
}

#[test]
fn a_signed_request_starts_a_run_that_sees_it_without_its_signature() {
    let daemon = daemon();
    for request in [signed(r#"{"n": 1}"#), github(r#"{"n": 1}"#, "guid-1")] {
        let answer = daemon.send(&request.header("X-Extra", "seen").header("Authorization", "Bearer hidden"));
        assert_eq!(answer.status, 202, "{}", answer.text());
        assert_eq!(answer.json()["duplicate"], false);
        let record = daemon.ended(answer.json()["run"].as_str().unwrap());
        assert_eq!(record["run"]["status"], "completed", "{record}");
        let seen = &record["run"]["output"];
        assert_eq!((&seen["body"], &seen["raw"]), (&json!({"n": 1}), &json!(r#"{"n": 1}"#)));
        assert_eq!(seen["headers"]["x-extra"], "seen");
        let text = record.to_string();
        assert!(
            !text.contains(&hmac_hex(SECRET, r#"{"n": 1}"#)) && !text.contains("Bearer hidden"),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_signed_as_it_must_be_is_turned_away_without_a_hint() {
    let daemon = daemon();
    let body = "pay 5 to Eve";
    let right = hmac_hex(SECRET, body);
    let forged = hmac_hex("another secret of many bytes", body);
    let post = |path: &str| Request::post(path, body);
    let requests = [
        post("/hook/signed"),
        post("/hook/signed").header("X-Webhook-Signature", ""),
        post("/hook/signed").header("X-Webhook-Signature", &forged),
        post("/hook/signed").header("X-Webhook-Signature", &right[..62]),
        post("/hook/signed").header("X-Webhook-Signature", format!("sha1={right}")),
        post("/hook/signed").header("X-Webhook-Signature", &right).header("X-Webhook-Signature", &forged),
        post("/hook/signed").header("X-Hub-Signature-256", format!("sha256={right}")),
        Request::post("/hook/signed", "pay 500 to Eve").header("X-Webhook-Signature", &right),
        post("/hook/github"),
        post("/hook/github").header("X-Hub-Signature-256", &right),
        post("/hook/github").header("X-Hub-Signature-256", format!("sha256={forged}")),
    ];
    for request in &requests {
        let answer = daemon.send(request);
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (401, r#"{"error":"unauthorized"}"#),
            "{request:?}"
        );
    }
    assert_eq!(daemon.runs("hooks"), Vec::<Value>::new());
    let log = daemon.log();
    assert!(log.contains("no valid signature"), "{log}");
    // Nothing that helps to find the right one, not even in part.
    for mac in [&right, &forged] {
        assert!(!(0..=mac.len() - 8).any(|at| log.contains(&mac[at..at + 8])), "{log}");
    }
    assert!(!log.contains(SECRET) && !log.contains("Eve"), "{log}");
}

#[test]
fn ten_megabytes_are_refused_and_never_held() {
    let daemon = daemon();
    assert_eq!(daemon.send(&signed("warm")).status, 202);
    let before = daemon.resident_bytes();
    let body = "x".repeat(10 << 20);
    let sized = signed(&body).bytes();
    let head =
        "POST /hook/signed HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let chunked = format!("{head}{}0\r\n\r\n", chunk.repeat(160)).into_bytes();
    for (how, request) in [("sized", sized), ("chunked", chunked)] {
        for _ in 0..5 {
            let answer = http::exchange(http::connect(daemon.webhooks()).unwrap(), &request);
            let answer = answer.unwrap_or_else(|error| panic!("{how}: {error}"));
            assert_eq!(answer.status, 413, "{how}: {}", answer.text());
        }
    }
    let grown = daemon.resident_bytes().saturating_sub(before);
    assert!(grown < 8 << 20, "{} KiB more are resident", grown >> 10);
    assert_eq!(daemon.send(&signed("after")).status, 202);
}

#[test]
fn a_body_up_to_the_cap_is_taken() {
    let daemon = Home::new().secret("HOOK", SECRET).config("webhooks: {max_body_bytes: 1000}").start();
    daemon.install(&hooks());
    assert_eq!(daemon.send(&signed(&"x".repeat(1000))).status, 202);
    assert_eq!(daemon.send(&signed(&"x".repeat(1001))).status, 413);
}

#[test]
fn a_wrong_path_and_a_wrong_method_are_told_apart() {
    let daemon = daemon();
    for target in
        ["/", "/hook", "/hook/signed/", "/hook/SIGNED", "/v1/status", "//hook/signed", "/hook/../hook/signed"]
    {
        assert_eq!(daemon.send(&Request::post(target, "x")).status, 404, "{target}");
    }
    let answer = daemon.send(&Request::new("GET", "/hook/open"));
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST, PUT")));
    assert_eq!(daemon.send(&Request::new("PUT", "/hook/open")).status, 202);
    daemon.nbctl(&["stop", "hooks"]).success();
    assert_eq!(daemon.send(&signed("x")).status, 404, "a stopped agent serves nothing");
    daemon.nbctl(&["start", "hooks"]).success();
    assert_eq!(daemon.send(&signed("x")).status, 202);
}

#[test]
fn too_many_requests_are_turned_away_for_their_path_alone() {
    let daemon = Home::new().secret("HOOK", SECRET).config("webhooks: {max_per_second: 5}").start();
    daemon.install(&hooks());
    let statuses: Vec<u16> = (0..40).map(|index| daemon.send(&signed(&format!("n{index}"))).status).collect();
    assert!(statuses.contains(&202) && statuses.contains(&429), "{statuses:?}");
    assert_eq!(
        daemon.send(&Request::post("/hook/open", "x")).status,
        202,
        "another path has a share of its own"
    );
    until("the share is there again", || (daemon.send(&signed("later")).status == 202).then_some(()));
}

#[test]
fn a_repeat_answers_with_the_first_run_and_starts_nothing() {
    let mut daemon = daemon();
    let requests = [signed("once"), github("one body", "guid-1"), Request::post("/hook/open", "open")];
    let first: Vec<Value> =
        requests.iter().map(|request| daemon.send(request).json()["run"].clone()).collect();
    let repeat = |daemon: &Daemon| {
        for (request, run) in requests.iter().zip(&first) {
            let answer = daemon.send(request);
            assert_eq!(
                (answer.status, answer.json()),
                (200, json!({"run": run, "duplicate": true})),
                "{request:?}"
            );
        }
        assert_eq!(daemon.runs("hooks").len(), 3);
    };
    repeat(&daemon);
    daemon.kill_and_start();
    repeat(&daemon);
    // The sender's id counts, where it gives one.
    let same_id = daemon.send(&github("another body", "guid-1"));
    assert_eq!((same_id.status, &same_id.json()["run"]), (200, &first[1]));
    // It is not part of what GitHub signs: whoever saw a request may send it again under another.
    let captured = daemon.send(&github("one body", "guid-2"));
    assert_eq!((captured.status, &captured.json()["run"]), (200, &first[1]));
    assert_eq!(daemon.send(&github("next body", "guid-3")).status, 202);
}

#[test]
fn a_sender_can_wait_for_the_result() {
    let daemon = daemon();
    let at = |target: &str, body: &str| {
        Request::post(target, body).header("X-Webhook-Signature", hmac_hex(SECRET, body))
    };
    let answer = daemon.send(&at("/hook/signed?wait=5s", "7"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        (&answer.json()["status"], &answer.json()["output"]["body"]),
        (&json!("completed"), &json!(7))
    );
    assert_eq!(daemon.send(&at("/hook/signed?wait=soon", "8")).status, 400);
    assert_eq!(daemon.runs("hooks").len(), 1, "a request that makes no sense starts nothing");
    let again = daemon.send(&at("/hook/signed?wait=5s", "7"));
    assert_eq!((again.status, &again.json()["id"]), (200, &answer.json()["id"]));
}

/// Sends `begin` on many connections and then a byte now and then. All of them must be closed in time, and others be
/// served meanwhile. Gives what one of them was answered.
fn trickle(daemon: &Daemon, begin: &[u8]) -> String {
    let mut slow: Vec<_> = (0..20).map(|_| http::connect(daemon.webhooks()).unwrap()).collect();
    for stream in &mut slow {
        stream.write_all(begin).unwrap();
    }
    let begun = Instant::now();
    assert_eq!(daemon.send(&signed("beside")).status, 202);
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let mut answer = Vec::new();
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        answer.clear();
        let mut part = [0; 1024];
        let ended = within(http::SILENCE, || {
            // One byte more keeps a deadline that starts anew with each byte from ever coming.
            let is_closed = stream.write_all(b"x").is_err();
            match stream.read(&mut part) {
                Ok(0) => Some(()),
                Ok(length) => {
                    answer.extend_from_slice(&part[..length]);
                    None
                }
                Err(_) => is_closed.then_some(()),
            }
        });
        assert!(ended.is_some(), "still open");
    }
    assert!(begun.elapsed() < Duration::from_secs(18), "{:?}", begun.elapsed());
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_sender_that_trickles_its_body_is_cut_off_and_holds_nobody_up() {
    let answer =
        trickle(&daemon(), b"POST /hook/signed HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\nx");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer:?}");
}

#[test]
fn a_sender_that_trickles_its_head_is_cut_off_and_holds_nobody_up() {
    trickle(&daemon(), b"POST /hook/signed HTTP/1.1\r\nx: ");
}

#[test]
fn what_is_not_http_gets_a_refusal_or_nothing_and_does_no_harm() {
    let daemon = daemon();
    let long_header = format!("POST /hook/signed HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let many_headers = format!("POST /hook/signed HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    let long_path = format!("POST /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(1 << 20));
    let garbage: Vec<&[u8]> = vec![
        b"\0\0\0\0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"POST /hook/signed HTTP/9.9\r\n\r\n",
        b"POST /hook/signed HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /hook/signed HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        b"POST /hook/signed HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\nx",
        b"POST /hook/signed HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n",
        b"POST /hook/\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST /hook/signed HTTP/1.1\r\nX-Webhook-Signature: \xff\xff\r\nconnection: close\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        long_header.as_bytes(),
        many_headers.as_bytes(),
        long_path.as_bytes(),
    ];
    for bytes in garbage {
        let mut stream = http::connect(daemon.webhooks()).unwrap();
        // It may close before all is sent.
        let _ = stream.write_all(bytes);
        stream.shutdown(std::net::Shutdown::Write).ok();
        match http::read_answer(stream) {
            Ok(answer) => assert!(
                (400..500).contains(&answer.status),
                "{answer:?} to {:?}",
                &bytes[..40.min(bytes.len())]
            ),
            Err(reason) => assert!(reason.contains("no answer") || reason.contains("\"\""), "{reason}"),
        }
    }
    assert_eq!(daemon.runs("hooks"), Vec::<Value>::new());
    assert_eq!(daemon.send(&signed("fine")).status, 202);
}

#[test]
fn a_webhook_whose_secret_is_unfit_turns_everything_away_and_says_why() {
    let daemon =
        Home::new().secret("SHORT", "fifteen bytes..").secret("OPEN", SECRET).secret("EMPTY", "").start();
    fs::set_permissions(daemon.path().join("config/secrets/OPEN"), Permissions::from_mode(0o640)).unwrap();
    let hook = |name: &str| format!("\n    - {{path: /hook/{name}, chain: c, secret: secret.{name}}}");
    let names = ["SHORT", "OPEN", "EMPTY", "MISSING"];
    let webhooks: String = names.map(hook).concat();
    daemon.install(
        &Agent::lua("unfit", "return 1")
            .chain("c", "  - {id: a, tool: tool}")
            .yaml(&format!("triggers:\n  webhooks:{webhooks}")),
    );
    for name in names {
        for secret in [SECRET, "fifteen bytes..", "", "x"] {
            let request = Request::post(&format!("/hook/{name}"), "x")
                .header("X-Webhook-Signature", hmac_hex(secret, "x"));
            assert_eq!(daemon.send(&request).status, 401, "{name} {secret}");
        }
    }
    assert!(daemon.log().contains("chmod 600"), "{}", daemon.log());
    let listed = daemon.nbctl(&["--json", "webhook", "ls"]).success().json();
    let problem = |name: &str| {
        let found =
            listed.as_array().unwrap().iter().find(|hook| hook["path"] == format!("/hook/{name}")).unwrap();
        found["problem"].as_str().unwrap().to_owned()
    };
    assert!(problem("SHORT").contains("fewer than 16 bytes"), "{}", problem("SHORT"));
    assert!(problem("EMPTY").contains("no secret EMPTY"), "{}", problem("EMPTY"));
    assert!(problem("MISSING").contains("no secret MISSING"), "{}", problem("MISSING"));
    assert!(problem("OPEN").contains("OPEN"), "{}", problem("OPEN"));
    // A secret that is made fit counts at once.
    fs::set_permissions(daemon.path().join("config/secrets/OPEN"), Permissions::from_mode(0o600)).unwrap();
    let request = Request::post("/hook/OPEN", "x").header("X-Webhook-Signature", hmac_hex(SECRET, "x"));
    assert_eq!(daemon.send(&request).status, 202);
}

#[test]
fn a_secret_can_come_from_the_daemons_environment() {
    let daemon = Home::new().variable("HOOK_KEY", SECRET).start();
    daemon.install(
        &Agent::lua("env", "return 1")
            .chain("c", "  - {id: a, tool: tool}")
            .yaml("triggers: {webhooks: [{path: /env, chain: c, secret: ENV/HOOK_KEY}]}"),
    );
    assert_eq!(
        daemon.send(&Request::post("/env", "x").header("X-Webhook-Signature", hmac_hex(SECRET, "x"))).status,
        202
    );
    assert_eq!(daemon.send(&Request::post("/env", "x")).status, 401);
}

#[test]
fn a_signed_curl_command_works_when_it_is_pasted_into_a_shell() {
    if Command::new("curl").arg("--version").output().is_err() {
        return nb_tests::skip("there is no curl");
    }
    let daemon = daemon();
    let bodies = [
        ("push.json", r#"{"a": 1}"#),
        ("it's a $HOME `file`.json", "{\"quote\": \"it's \\\"$HOME\\\" `x` !\"}\r\n\r\n"),
        ("-odd", "\0\x01\t \n@file\n"),
        ("umlaut-é.json", "grüße \u{1f980}\n"),
        ("empty", ""),
    ];
    for (name, body) in bodies {
        daemon.write(name, body);
        for path in ["/hook/signed", "/hook/github", "/hook/open"] {
            let file = format!("./{name}");
            let command = daemon.nbctl(&["webhook", "sign", "hooks", path, "--file", &file]).success().stdout;
            let mut shell = Command::new("bash");
            shell
                .args(["-c", &format!("{} -s -w '\\n%{{http_code}}'", command.trim_end())])
                .current_dir(daemon.path());
            let output = shell.output().unwrap();
            let answer = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                answer.ends_with("\n202"),
                "{command}{answer}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    let raw = |run: &Value| {
        daemon.ended(run["id"].as_str().unwrap())["run"]["output"]["raw"].as_str().unwrap().to_owned()
    };
    let arrived: Vec<String> = daemon.runs("hooks").iter().map(raw).collect();
    for (_, body) in bodies {
        assert_eq!(arrived.iter().filter(|raw| raw.as_str() == body).count(), 3, "{body:?} in {arrived:?}");
    }
    daemon.nbctl(&["webhook", "sign", "hooks", "/hook/none", "--file", "push.json"]).fails(1);
}
