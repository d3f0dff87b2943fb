//! The promises of the project, each under its own name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nb_tests::http::Request;
use nb_tests::server::Server;
use nb_tests::sign::hmac_hex;
use nb_tests::wait::{DEADLINE, pass, within};
use nb_tests::{Agent, Daemon, Home, archive, until};
use serde_json::{Value, json};

const SECRET: &str = "a secret of more than sixteen bytes";

/// No tool outlives its fuel, memory, time, output or host-call limit, and the error names the limit.
#[test]
fn limits_hold() {
    let daemon = Home::new().config("limits: {wall_ms: 300, host_calls: 50, output_bytes: 1000}").start();
    let cases = [
        ("fuel", "while true do end", "fuel_limit: 5000", "out of fuel: 5000 allowed, "),
        (
            "memory",
            "local t = {}; while true do t[#t + 1] = ('x'):rep(1000000) .. #t end",
            "memory_limit_mb: 8",
            "out of memory: 8388608 bytes allowed, ",
        ),
        (
            "time",
            "while true do end",
            "fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}",
            "out of time: 300 ms allowed, ",
        ),
        ("output", "return ('x'):rep(2000)", "", "the result is too large: 1000 bytes allowed, "),
        ("calls", "while true do nb.time() end", "", "too many host calls: 50 allowed, "),
    ];
    for (name, source, limits, error) in cases {
        daemon.install(&Agent::lua(name, source).yaml(limits).chain("chain", "  - {id: step, tool: tool}"));
        // Whoever calls it, and however often.
        for way in
            [&["run", name, "--tool", "tool"][..], &["run", name, "chain"], &["run", name, "--tool", "tool"]]
        {
            let ended = daemon.nbctl(way).fails(1);
            assert!(ended.stderr.contains(error), "{error:?}: {ended}");
        }
    }
}

/// A tool can use exactly the permissions that were granted to its package.
#[test]
fn least_power() {
    let server = Server::new(|_| "reached".to_owned());
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    let allow = format!("egress: {{allow: ['127.0.0.1:{port}', 'localhost:{port}']}}");
    let daemon = Home::new().config(&allow).start();
    let uses = [
        ("kv.read", "nb.kv.get('k')"),
        ("kv.write", "nb.kv.set('k', 1)"),
        ("log.info", "nb.log.info('x')"),
        ("notify.user", "nb.notify('title', 'body')"),
        ("event.publish", "nb.event.publish('some.event', {})"),
        ("http.fetch", "nb.http.fetch(parameters.url)"),
        ("data.fetch_url", "nb.call('data.fetch_url', {url = parameters.url})"),
        ("flow.branch", "nb.call('flow.branch', {left = 1, op = 'equals', value = 1})"),
    ];
    let names: Vec<&str> = uses.iter().map(|(ability, _)| *ability).collect();
    let tools = |agent: Agent| {
        uses.iter().fold(agent, |agent, (ability, source)| {
            let tool = ability.replace('.', "-");
            agent.tool(&format!("{tool}.lua"), &format!("local _ = {source}\nreturn 'done'"))
        })
    };
    let url = json!({"url": format!("http://{}/x", server.address())});
    let call = |agent: &str, ability: &str| daemon.call(agent, &ability.replace('.', "-"), &url);

    daemon.install(&tools(Agent::new("asks-nothing")));
    for ability in &names {
        let run = call("asks-nothing", ability);
        let expected = format!("permission `{ability}` is not in the manifest of asks-nothing");
        assert!(run["error"].as_str().is_some_and(|error| error.contains(&expected)), "{run}");
        let record = daemon.get(&format!("/v1/runs/{}", run["id"].as_str().unwrap()));
        assert!(
            record["events"].as_array().unwrap().iter().any(|event| event["event"] == "policy.decided"),
            "{record}"
        );
    }
    let asks_all = tools(Agent::new("asks-all")).permissions(&names);
    let package = daemon.package(&asks_all);
    daemon.install_with(&package, &["--grant", "none"]).success();
    for ability in &names {
        let error = call("asks-all", ability)["error"].to_string();
        assert!(error.contains(&format!("permission `{ability}` was not granted to asks-all")), "{error}");
    }
    for granted in &names {
        daemon.install_with(&package, &["--grant", granted]).success();
        for ability in &names {
            let run = call("asks-all", ability);
            assert_eq!(run["status"] == "completed", ability == granted, "{granted} was granted: {run}");
        }
    }
    // What was not granted had no effect at all.
    assert_eq!(server.asked().len(), 2, "{:?}", server.asked());
    // A scope is part of the permission.
    daemon.install(&tools(Agent::new("scoped")).permissions(&[&format!("http.fetch:127.0.0.1:{port}")]));
    assert_eq!(call("scoped", "http.fetch")["status"], "completed");
    let elsewhere =
        daemon.call("scoped", "http-fetch", &json!({"url": format!("http://localhost:{port}/x")}));
    assert_eq!(elsewhere["status"], "failed", "{elsewhere}");
    // A refusal can be caught.
    daemon.install(&Agent::lua(
        "careful",
        "local ok, why = pcall(nb.kv.get, 'k'); return {ok = ok, why = why}",
    ));
    assert_eq!(daemon.result("careful", "tool", &json!({}))["ok"], false);
}

/// A schedule slot produces one run, across crashes and restarts.
#[test]
fn fires_once() {
    let mut daemon = Home::new().start();
    let agent = Agent::new("ticks")
        .permissions(&["kv.write"])
        .tool("tick.lua", "return nb.kv.increment('ticks', 1)")
        .chain("tick", "  - {id: tick, tool: tick, args: {at: '{{trigger.at}}'}}")
        .yaml("triggers: {scheduled: [{chain: tick, interval: 1s, missed: all}]}");
    daemon.install(&agent);
    let begun = Instant::now();
    // Kills that come before, at and after the full second.
    for round in 0..8_u64 {
        let wait = Duration::from_millis(350 + 130 * round);
        pass(wait);
        daemon.kill_and_start();
    }
    let slots_so_far = begun.elapsed().as_secs() as usize;
    until("the slots that were missed have run", || {
        (daemon.runs("ticks").len() >= slots_so_far).then_some(())
    });
    daemon.nbctl(&["stop", "ticks"]).success();
    let runs = daemon.runs("ticks");
    let slot = |run: &Value| {
        let record = daemon.ended(run["id"].as_str().unwrap());
        record["events"][0]["context"]["trigger"]["at"].as_str().unwrap().to_owned()
    };
    let slots: Vec<String> = runs.iter().map(slot).collect();
    let once: BTreeSet<&String> = slots.iter().collect();
    assert_eq!(once.len(), slots.len(), "a slot ran twice: {slots:?}");
    let seconds: Vec<i64> = once.iter().map(|at| second_of(at)).collect();
    assert!(
        seconds.windows(2).all(|pair| (pair[1] - pair[0]).rem_euclid(86_400) == 1),
        "a slot is missing: {slots:?}"
    );
}

/// The second of the day of `…THH:MM:SSZ`.
fn second_of(at: &str) -> i64 {
    let (_, time) = at.split_once('T').unwrap();
    let part = |index: usize| time[index * 3..index * 3 + 2].parse::<i64>().unwrap();
    part(0) * 3600 + part(1) * 60 + part(2)
}

/// A webhook answered 2xx is never lost and never processed twice.
#[test]
fn no_lost_delivery() {
    const ROUNDS: usize = 10;
    const DELIVERIES: usize = 50;
    let mut daemon = Home::new().secret("HOOK", SECRET).start();
    let agent = Agent::new("counts")
        .permissions(&["kv.write"])
        .tool("count.lua", "return nb.kv.increment('n', 1)")
        .chain("take", "  - {id: count, tool: count, args: {n: '{{webhook.body.n}}'}}")
        .yaml(
            "triggers: {webhooks: [{path: /hook/counts, chain: take, verify: github, secret: secret.HOOK}]}",
        );
    daemon.install(&agent);
    // The run that answered each delivery, by the delivery's id.
    let mut answered: BTreeMap<String, String> = BTreeMap::new();
    for round in 0..ROUNDS {
        let address = daemon.webhooks().to_owned();
        let found = Arc::new(Mutex::new(BTreeMap::new()));
        let killed = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..5)
            .map(|sender| {
                let (address, found, killed) = (address.clone(), Arc::clone(&found), Arc::clone(&killed));
                thread::spawn(move || {
                    for index in (sender..DELIVERIES).step_by(5) {
                        let id = format!("{round}-{index}");
                        match delivery(&id).try_send(&address) {
                            Ok(answer) if answer.status / 100 == 2 => {
                                found
                                    .lock()
                                    .unwrap()
                                    .insert(id, answer.json()["run"].as_str().unwrap().to_owned());
                            }
                            other => assert!(killed.load(Ordering::SeqCst) || other.is_err(), "{other:?}"),
                        }
                    }
                })
            })
            .collect();
        // At another moment in each round.
        until("some are answered", || (found.lock().unwrap().len() >= 4 * round).then_some(()));
        killed.store(true, Ordering::SeqCst);
        daemon.kill();
        for sender in senders {
            sender.join().unwrap();
        }
        answered.append(&mut found.lock().unwrap());
        daemon.start_again();
    }
    assert!(answered.len() > ROUNDS, "{} were answered", answered.len());
    // The sender does not know what became of the rest, so it sends everything again, as senders do.
    for round in 0..ROUNDS {
        for index in 0..DELIVERIES {
            let id = format!("{round}-{index}");
            let answer = daemon.send(&delivery(&id));
            let run = answer.json()["run"].as_str().unwrap().to_owned();
            if let Some(first) = answered.insert(id.clone(), run.clone()) {
                assert_eq!((answer.status, &run), (200, &first), "{id} was processed twice");
            }
        }
    }
    let all: BTreeSet<&String> = answered.values().collect();
    assert_eq!(all.len(), ROUNDS * DELIVERIES);
    until("all runs have ended", || (daemon.get("/v1/status")["runs_unfinished"] == 0).then_some(()));
    let runs = daemon.runs("counts");
    let recorded: BTreeSet<String> = runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(recorded.iter().collect::<BTreeSet<_>>(), all, "runs and answers differ");
    let failed: Vec<&Value> = runs.iter().filter(|run| run["status"] != "completed").collect();
    assert!(
        failed.iter().all(|run| run["error"].as_str().is_some_and(|why| why.contains("interrupted"))),
        "{failed:?}"
    );
}

fn delivery(id: &str) -> Request {
    let body = format!("{{\"n\": \"{id}\"}}");
    Request::post("/hook/counts", &body)
        .header("X-Hub-Signature-256", format!("sha256={}", hmac_hex(SECRET, &body)))
        .header("X-GitHub-Delivery", id)
}

/// A package that is unsigned, altered, signed by a stranger or older than the installed one does not install.
#[test]
fn no_unsigned_code() {
    let daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "stranger"]).success();
    let agent = |says: &str| Agent::lua("bot", &format!("return '{says}'"));
    let older = daemon.package(&agent("older"));
    daemon.install(&agent("trusted"));
    let signed = fs::read(daemon.package(&agent("signed"))).unwrap();
    let altered =
        daemon.write("altered.nap", archive::altered(&signed, "tools/tool.lua", "return 'altered'"));
    let unlisted = daemon.write("unlisted.nap", archive::Archive::of(&signed).file("x.lua", "x").nap());
    let packages = [
        daemon.package_by(&agent("unsigned"), None),
        daemon.package_by(&agent("stranger"), Some("stranger")),
        altered,
        unlisted,
        older,
    ];
    for package in packages {
        daemon.install_with(&package, &["--grant", "all"]).fails(1);
        assert_eq!(daemon.result("bot", "tool", &json!({})), "trusted", "{}", package.display());
    }
}

/// A kill at any moment leaves every acknowledged record readable, and no run that silently vanished.
#[test]
fn record_survives() {
    let mut daemon = Home::new().start();
    let agent = Agent::new("works")
        .permissions(&["kv.write", "log.info", "event.publish"])
        .tool("work.lua", "for i = 1, 3 do nb.log.info('line ' .. i); nb.kv.set('k' .. i, i) end\nreturn nb.kv.increment('n', 1)")
        .chain(
            "chain",
            "  - {id: first, tool: work}\n  - {id: tell, ability: event.publish, args: {name: work.done, data: {n: '{{first.output}}'}}}\n  - {id: last, tool: work}",
        );
    daemon.install(&agent);
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    let mut completed: BTreeMap<String, Value> = BTreeMap::new();
    for round in 0..8_u64 {
        let (begun, ended) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for detach in [true, false, true] {
                let (begun, ended, stop, daemon) = (&begun, &ended, &stop, &daemon);
                scope.spawn(move || {
                    let body = json!({"agent": "works", "detach": detach}).to_string();
                    let request = Request::post("/v1/runs", body).header("content-type", "application/json");
                    while !stop.load(Ordering::SeqCst) {
                        // An answer that does not come acknowledges nothing.
                        let Ok(answer) = daemon.ask(&request) else { return };
                        let run = answer.json();
                        begun.lock().unwrap().push(run["id"].as_str().unwrap().to_owned());
                        if run["status"] == "completed" {
                            ended.lock().unwrap().push(run);
                        }
                    }
                });
            }
            pass(Duration::from_millis(100 + 37 * round));
            daemon.signal(rustix::process::Signal::KILL);
            stop.store(true, Ordering::SeqCst);
        });
        until("the daemon is dead", || daemon.has_ended());
        daemon.start_again();
        acknowledged.extend(begun.into_inner().unwrap());
        completed.extend(
            ended.into_inner().unwrap().into_iter().map(|run| (run["id"].as_str().unwrap().to_owned(), run)),
        );
    }
    assert!(
        acknowledged.len() > 8 && !completed.is_empty(),
        "{} runs, {} of them ended",
        acknowledged.len(),
        completed.len()
    );
    until("all runs have ended", || (daemon.get("/v1/status")["runs_unfinished"] == 0).then_some(()));
    for id in &acknowledged {
        let record = daemon.get(&format!("/v1/runs/{id}"));
        let events = record["events"].as_array().unwrap();
        assert_eq!(events.first().unwrap()["event"], "started", "{record}");
        assert_eq!(events.last().unwrap()["event"], "finished", "{record}");
        let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "{id} has a gap");
        let status = record["run"]["status"].as_str().unwrap();
        assert!(status == "completed" || record["run"]["error"].is_string(), "{record}");
        assert_eq!(events.last().unwrap()["status"], status, "{record}");
    }
    for (id, run) in &completed {
        assert_eq!(daemon.get(&format!("/v1/runs/{id}"))["run"], *run, "what was said about it holds");
    }
    let listed: BTreeSet<String> =
        daemon.runs("works").iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    assert!(acknowledged.is_subset(&listed));
}

/// A secret reaches the wire and nothing else: not the guest, not a log, not a run record, not an error.
#[test]
fn secrets_stay() {
    const TOKEN: &str = "tok-4f1d8a9b7c6e5d3f2a1b";
    // It says back everything that it was told, in several ways.
    let server = Server::new(|request| format!("you said: {request} / {}", request.to_uppercase()));
    let config = format!("egress: {{allow: ['{}']}}", server.address());
    let mut daemon = Home::new().config(&config).secret("TOKEN", TOKEN).secret("OTHER", SECRET).start();
    let fetch = "return nb.http.fetch{url = parameters.url, method = 'POST', headers = {authorization = 'Bearer {{secret.TOKEN}}'}, body = 'key={{secret.TOKEN}}&x=1'}";
    let agent = |name: &str, permission: &str| {
        Agent::new(name)
            .permissions(&[permission, "log.info"])
            .yaml("secrets: [TOKEN]")
            .tool("fetch.lua", fetch)
            .tool("print.lua", "print('{{secret.TOKEN}}'); nb.log.info('{{secret.TOKEN}}'); return '{{secret.TOKEN}}'")
            .tool("fail.lua", "local answer = nb.http.fetch{url = parameters.url, headers = {a = '{{secret.TOKEN}}'}}\nprint(answer.body)\nerror('it said ' .. answer.body)")
            .tool("other.lua", "return nb.http.fetch{url = parameters.url, headers = {a = '{{secret.OTHER}}'}}")
            .tool("inurl.lua", "return nb.http.fetch(parameters.url .. '?t={{secret.TOKEN}}')")
    };
    daemon.install(&agent("knows", &format!("http.fetch:{}", server.address())));
    let url = json!({"url": format!("http://{}/x", server.address())});

    let run = daemon.call("knows", "fetch", &url);
    assert_eq!(run["status"], "completed", "{run}");
    let wire = server.asked().concat();
    assert!(wire.contains(&format!("Bearer {TOKEN}")) && wire.contains("key={{secret.TOKEN}}&x=1"), "{wire}");
    let failed = daemon.call("knows", "fail", &url);
    assert_eq!(failed["status"], "failed", "{failed}");
    assert_eq!(daemon.result("knows", "print", &url), "{{secret.TOKEN}}", "a tool sees only the name");
    for tool in ["other", "inurl"] {
        assert_eq!(daemon.call("knows", tool, &url)["status"], "failed", "{tool}");
    }
    // A grant for all hosts names none, and a host that is not reached gets nothing.
    daemon.install(&agent("everywhere", "http.fetch"));
    assert_eq!(daemon.call("everywhere", "fetch", &url)["status"], "failed");
    let gone = json!({"url": "http://127.0.0.1:1/x"});
    assert_eq!(daemon.call("knows", "fetch", &gone)["status"], "failed");
    let told: usize = server.asked().iter().filter(|request| request.contains(TOKEN)).count();
    assert_eq!(told, 2, "{:?}", server.asked());

    let mut said = daemon.nbctl(&["logs", "-n", "1000"]).success().stdout;
    for run in daemon.runs("knows").iter().chain(&daemon.runs("everywhere")) {
        said += &daemon.nbctl(&["run-show", run["id"].as_str().unwrap()]).success().stdout;
        said += &daemon.nbctl(&["--json", "run-show", run["id"].as_str().unwrap()]).success().stdout;
    }
    said += &daemon.nbctl(&["--json", "event", "tail", "--no-follow"]).success().stdout;
    said += &daemon.nbctl(&["--json", "show", "knows"]).success().stdout;
    said += &daemon.log();
    assert!(said.contains("it said you said"), "the masked answer is in the record");
    for secret in [TOKEN, &TOKEN.to_uppercase(), SECRET] {
        assert!(!said.contains(secret), "{said}");
    }
    daemon.terminate();
    let found = files_with(daemon.path(), &[TOKEN, SECRET]);
    let secrets = daemon.path().join("config/secrets");
    assert!(found.iter().all(|file| file.starts_with(&secrets)), "{found:?}");
    assert_eq!(found.len(), 2, "the search finds what is there: {found:?}");
}

/// The files below a folder that hold one of the texts, as it is or in hexadecimal.
fn files_with(dir: &Path, texts: &[&str]) -> Vec<PathBuf> {
    let needles: Vec<Vec<u8>> =
        texts.iter().flat_map(|text| [text.as_bytes().to_vec(), hex_of(text).into_bytes()]).collect();
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, texts));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let holds =
                |needle: &Vec<u8>| bytes.windows(needle.len()).any(|window| window == needle.as_slice());
            if needles.iter().any(holds) {
                found.push(path);
            }
        }
    }
    found
}

fn hex_of(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// A tool gives the same answer alone, in a chain, by an event and by a webhook, under the same policy.
#[test]
fn same_everywhere() {
    let daemon = Home::new().secret("HOOK", SECRET).start();
    let agent = Agent::new("same")
        .permissions(&["kv.read"])
        .tool("work.fnl", "{:n (* 2 parameters.n) :text (.. \"got \" parameters.text) :kept (nb.kv.get \"none\") :list [1 parameters.n]}")
        .tool("denied.lua", "return nb.kv.set('k', parameters.n)")
        .file("chains/alone.yaml", "id: alone\nparams: [{name: n, type: number}, {name: text}]\nsteps: [{id: a, tool: work, args: {n: '{{n}}', text: '{{text}}'}}]\n")
        .chain("on-event", "  - {id: a, tool: work, args: {n: '{{event.data.n}}', text: '{{event.data.text}}'}}")
        .chain("on-hook", "  - {id: a, tool: work, args: {n: '{{webhook.body.n}}', text: '{{webhook.body.text}}'}}")
        .chain("denied-event", "  - {id: a, tool: denied, args: {n: '{{event.data.n}}'}}")
        .chain("denied-hook", "  - {id: a, tool: denied, args: {n: '{{webhook.body.n}}'}}")
        .yaml(
            "triggers:\n  events: [{on: same.ask, chain: on-event}, {on: same.denied, chain: denied-event}]\n  webhooks:\n    \
             - {path: /hook/same, chain: on-hook, secret: secret.HOOK}\n    - {path: /hook/denied, chain: denied-hook, secret: secret.HOOK}",
        );
    daemon.install(&agent);
    let input = json!({"n": 21, "text": "grüß {{n}}"});
    let expected = json!({"n": 42, "text": "got grüß {{n}}", "list": [1, 21]});

    assert_eq!(daemon.result("same", "work", &input), expected);
    let chain =
        daemon.nbctl(&["--json", "run", "same", "alone", "-p", "n=21", "-p", "text=grüß {{n}}"]).success();
    assert_eq!(chain.json()["output"], expected);
    daemon.nbctl(&["event", "publish", "same.ask", "--data", &input.to_string()]).success();
    assert_eq!(run_of(&daemon, "on-event")["output"], expected);
    let post = |path: &str| {
        let body = input.to_string();
        daemon
            .send(
                &Request::post(&format!("{path}?wait=10s"), &body)
                    .header("X-Webhook-Signature", hmac_hex(SECRET, &body)),
            )
            .json()
    };
    assert_eq!(post("/hook/same")["output"], expected);

    // The same refusal, whoever asked.
    let refusal = daemon.failure("same", "denied", &input);
    assert!(refusal.contains("permission `kv.write` is not in the manifest of same"), "{refusal}");
    daemon.nbctl(&["event", "publish", "same.denied", "--data", &input.to_string()]).success();
    for run in [run_of(&daemon, "denied-event"), post("/hook/denied")] {
        assert!(run["error"].as_str().unwrap().ends_with(&refusal), "{run}");
    }
}

/// The only run of a task, once it has ended.
fn run_of(daemon: &Daemon, task: &str) -> Value {
    let found = within(DEADLINE, || daemon.runs("same").into_iter().find(|run| run["task"] == task));
    daemon.ended(found.unwrap()["id"].as_str().unwrap())["run"].clone()
}
