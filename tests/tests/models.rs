//! Agents with a language model: answers from a transcript in the package, or from a server that speaks like OpenAI.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use nb_provider::{Script, Served, serve};
use nb_tests::server::Server;
use nb_tests::{Agent, Daemon, Home, until};
use serde_json::{Value, json};

const KEY: &str = "sk-very/S3cret";

/// A transcript as a local server. It ends with the process.
struct Openai {
    address: String,
    served: Arc<Mutex<Vec<Served>>>,
}

impl Openai {
    fn new(transcript: &str) -> Self {
        let script = Script::parse(transcript).unwrap();
        let served = Arc::<Mutex<Vec<Served>>>::default();
        let seen = Arc::clone(&served);
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap().to_string()).unwrap();
                serve(script, listener, move |request| seen.lock().unwrap().push(request)).await.unwrap();
            });
        });
        Self { address: told.recv().unwrap(), served }
    }

    fn asked(&self) -> usize {
        self.served.lock().unwrap().len()
    }
}

/// A daemon that may reach this address, and has the key.
fn daemon(address: &str) -> Daemon {
    Home::new().config(&format!("egress: {{allow: ['{address}']}}")).secret("OPENAI_KEY", KEY).start()
}

fn chain(agent: Agent, step: &str) -> Agent {
    agent.chain("ask", &format!("  - {{id: ask, {step}}}"))
}

/// An agent whose model is at this address.
fn openai(address: &str, ability: &str) -> Agent {
    let cartridge = format!(
        "behaviors: {{interaction: {{directive: Be brief.}}}}\nprovider:\n  id: openai\n  credentials:\n    \
         address: http://{address}\n    access-token: ENV/OPENAI_KEY\n  settings: {{model: gpt-4o}}\n"
    );
    Agent::new("bot")
        .permissions(&[&format!("{ability}:{address}")])
        .yaml("secrets: [OPENAI_KEY]")
        .file("cartridge.yml", cartridge)
}

/// An agent whose model answers from a transcript in its package.
fn scripted(ability: &str, transcript: &str) -> Agent {
    Agent::new("bot")
        .permissions(&[ability])
        .yaml("cartridge: bots/bot.yml")
        .file("bots/bot.yml", "provider: {id: scripted, options: {script: talk.yaml}}\n")
        .file("bots/talk.yaml", transcript)
}

/// Carries out the chain and gives the run as JSON, whatever came of it.
fn run(daemon: &Daemon) -> Value {
    daemon.nbctl(&["--json", "run", "bot", "ask"]).json()
}

/// The events of one kind in the record of a run.
fn events(daemon: &Daemon, run: &Value, kind: &str) -> Vec<Value> {
    let record = daemon.get(&format!("/v1/runs/{}", run["id"].as_str().unwrap()));
    let events = record["events"].as_array().unwrap().iter();
    events.filter(|event| event["event"] == kind).cloned().collect()
}

#[test]
fn a_chain_asks_a_model_that_answers_from_a_transcript_of_the_package() {
    let daemon = Home::new().start();
    let transcript =
        "turns:\n  - {when: Rome, answer: It rains., usage: {input: 20, output: 3, cached: 0}}\n";
    daemon.install(&chain(
        scripted("llm.query", transcript),
        "ability: llm.query, args: {prompt: Weather in Rome?}",
    ));
    let run = run(&daemon);
    assert_eq!(run["output"], "It rains.", "{run}");
    let message = events(&daemon, &run, "model.message").remove(0);
    assert_eq!(message["usage"], json!({"input": 20, "output": 3, "cached": 0}), "{message}");
    let shown = daemon.nbctl(&["show", "bot"]).success();
    shown.stdout_contains("model      scripted\n").stdout_contains("23 tokens today");
    let logs = daemon.nbctl(&["logs", "bot"]).success();
    logs.stdout_contains("scripted scripted said \"It rains.\" (20 tokens in, 3 out)");
}

#[test]
fn a_model_calls_tools_over_two_rounds_and_is_told_their_errors() {
    let transcript = "turns:
  - {when: Hello, calls: [{name: weather, arguments: {city: Rome}}, {name: weather, arguments: {city: Nowhere}}]}
  - {when: {error_of: weather}, calls: [{name: count, arguments: {}}]}
  - {when: {result_of: count}, answer: One city and one error.}
";
    let server = Openai::new(transcript);
    let daemon = daemon(&server.address);
    let weather = "if parameters.city == 'Nowhere' then error('no such city') end\nreturn {celsius = 21}";
    let agent = openai(&server.address, "llm.chat")
        .tool_with(
            "weather.lua",
            weather,
            "{type: object, properties: {city: {type: string}}, required: [city]}",
        )
        .tool("count.lua", "return 1");
    daemon.install(&chain(agent, "ability: llm.chat, args: {prompt: 'Hello?', tools: [weather, count]}"));
    let run = run(&daemon);
    let output = &run["output"];
    assert_eq!((&output["text"], &output["rounds"]), (&json!("One city and one error."), &json!(2)), "{run}");
    assert_eq!((&output["model"], &output["stop"]), (&json!("gpt-4o"), &json!("done")));
    assert_eq!(server.asked(), 3);

    let messages = events(&daemon, &run, "model.message");
    let called: Vec<usize> =
        messages.iter().map(|message| message["calls"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(called, [2, 1, 0]);
    let total: u64 = messages.iter().map(|message| message["usage"]["input"].as_u64().unwrap()).sum();
    assert_eq!(output["usage"]["input"], total);
    let tools = events(&daemon, &run, "tool.finished");
    assert_eq!(tools.iter().filter(|tool| tool["is_error"] == true).count(), 1, "{tools:?}");
    assert_eq!(tools.len(), 3);
}

#[test]
fn a_budget_is_told_when_it_is_nearly_spent_and_refuses_when_it_is() {
    let daemon = Home::new().start();
    let transcript = "turns:\n  - {answer: a, usage: {input: 800, output: 100, cached: 0}}\n";
    let agent = scripted("llm.query", transcript).yaml("budget: {tokens_per_day: 1000}");
    daemon.install(&chain(agent, "ability: llm.query, args: {prompt: p}"));
    let first = run(&daemon);
    assert_eq!(first["output"], "a", "{first}");
    let told = "budget: 900 tokens of 1,000 are spent today (budget.tokens_per_day)";
    let lines = events(&daemon, &first, "log");
    assert!(
        lines[0]["level"] == "warning" && lines[0]["message"].as_str().unwrap().starts_with(told),
        "{lines:?}"
    );
    assert!(daemon.log().contains(told));
    let inbox = until("the inbox has it", || {
        let inbox = daemon.nbctl(&["--json", "inbox"]).success().json();
        inbox.as_array().is_some_and(|rows| !rows.is_empty()).then_some(inbox)
    });
    assert!(inbox[0]["body"].as_str().unwrap().starts_with(told), "{inbox}");

    assert_eq!(run(&daemon)["output"], "a", "what is left is enough to begin");
    let refused = run(&daemon);
    assert_eq!(
        refused["error"],
        "step `ask`: llm.query: budget: 1,800 tokens of 1,000 are spent today (budget.tokens_per_day); it begins again \
         at 00:00 UTC, or raise budget.tokens_per_day"
    );
    daemon.nbctl(&["show", "bot"]).success().stdout_contains("1 800 tokens of 1 000 today");
    assert_eq!(
        daemon.nbctl(&["--json", "inbox"]).success().json().as_array().unwrap().len(),
        1,
        "once a day"
    );
}

#[test]
fn the_configuration_says_what_models_cost() {
    let daemon = Home::new().config("prices: {'scr*': {input: 2, output: 10}}").start();
    let transcript = "turns:\n  - {answer: a, usage: {input: 1000, output: 100, cached: 0}}\n";
    let agent = scripted("llm.chat", transcript).yaml("budget: {usd_per_day: 1}");
    daemon.install(&chain(agent, "ability: llm.chat, args: {prompt: p}"));
    assert_eq!(run(&daemon)["output"]["usd"], 0.003);
    daemon.nbctl(&["show", "bot"]).success().stdout_contains("1 100 tokens and $0.0030 of $1 today");
}

#[test]
fn a_key_is_sent_and_told_to_nobody() {
    let server = Server::new(|request| {
        let key = request
            .lines()
            .find(|line| line.to_lowercase().starts_with("authorization: "))
            .unwrap_or_default();
        let error = json!({"message": format!("not with {key}"), "type": "invalid_request_error"});
        format!("data: {}\n\n", json!({ "error": error }))
    });
    let daemon = daemon(server.address());
    let agent = openai(server.address(), "llm.query");
    daemon.install(&chain(agent.clone(), "ability: llm.query, args: {prompt: p}"));
    let failed = run(&daemon);
    assert!(failed["error"].as_str().unwrap().contains("not with"), "{failed}");
    assert!(server.asked()[0].contains(KEY), "it is sent");
    let record = daemon.get(&format!("/v1/runs/{}", failed["id"].as_str().unwrap()));
    let logs = daemon.nbctl(&["--json", "logs", "bot"]).success();
    for text in [record.to_string(), logs.stdout, daemon.log(), daemon.get("/v1/agents/bot").to_string()] {
        assert!(!text.contains(KEY), "{text}");
    }

    // Not granted, it is not sent.
    let asked = server.asked().len();
    let package = daemon.package(&chain(agent, "ability: llm.query, args: {prompt: p}"));
    daemon.install_with(&package, &["--grant", &format!("llm.query:{}", server.address())]).success();
    let refused = run(&daemon);
    assert!(
        refused["error"].as_str().unwrap().contains("permission `secret.use:OPENAI_KEY` was not granted"),
        "{refused}"
    );
    assert_eq!(server.asked().len(), asked);
}

const SLOW: &str = "turns:\n  - {answer: [It, ' rains', ' all day.'], delay_ms: 300}\n";

/// Starts the chain and returns its run when the model is being asked.
fn begin(daemon: &Daemon, server: &Openai) -> String {
    let before = server.asked();
    let run = daemon.begin("bot");
    until("the model is asked", || (server.asked() > before).then_some(()));
    run
}

#[test]
fn a_cancelled_run_breaks_its_request_off() {
    let server = Openai::new(&SLOW.replace("300", "60000"));
    let daemon = daemon(&server.address);
    daemon.install(&chain(openai(&server.address, "llm.query"), "ability: llm.query, args: {prompt: p}"));
    // A busy machine may hold one or two of them up.
    let mut times = Vec::new();
    for _ in 0..5 {
        let run = begin(&daemon, &server);
        let begun = Instant::now();
        let request = nb_tests::http::Request::post(&format!("/v1/runs/{run}/cancel"), "");
        assert_eq!(daemon.ask(&request).unwrap().status, 200);
        let record = daemon.ended(&run);
        times.push(begun.elapsed());
        assert_eq!(record["run"]["status"], "cancelled", "{record}");
        let message = events(&daemon, &record["run"], "model.message").remove(0);
        assert_eq!(
            (&message["error"], &message["estimated"]),
            (&json!("cancelled: by a person"), &json!(true))
        );
    }
    times.sort_unstable();
    assert!(times[2] < Duration::from_millis(100), "{times:?}");
}

#[test]
fn a_request_that_a_crash_cut_off_is_not_made_again() {
    let server = Openai::new(SLOW);
    let mut daemon = daemon(&server.address);
    let agent = openai(&server.address, "llm.query").yaml("budget: {tokens_per_day: 2000}");
    daemon.install(&chain(agent, "ability: llm.query, args: {prompt: p}"));
    let run = begin(&daemon, &server);
    daemon.kill_and_start();
    let record = daemon.ended(&run);
    assert_eq!(record["run"]["status"], "failed", "{record}");
    let error = record["run"]["error"].as_str().unwrap();
    assert!(error.contains("`llm.query` had begun and may have taken effect"), "{error}");
    assert_eq!(server.asked(), 1);
    // What was set aside for it stays counted.
    let shown = daemon.get("/v1/agents/bot");
    assert!(shown["model"]["tokens_today"].as_u64().unwrap() > 500, "{shown}");
}

#[test]
fn a_cartridge_that_cannot_work_is_refused_before_it_is_installed() {
    let home = Home::new();
    let unknown =
        Agent::new("bot").permissions(&["llm.query"]).file("cartridge.yml", "provider:\n  id: opnai\n");
    unknown.write(&home.path().join("bot"));
    let refused = home.nbctl(&["package", "build", "bot"]).fails(1);
    assert!(
        refused.stderr.starts_with("cartridge.yml:2: there is no provider `opnai`; did you mean `openai`?"),
        "{refused}"
    );

    let daemon = home.start();
    let section = "provider: {id: openai, credentials: {access-token: ENV/KEY}}\n";
    let agent = Agent::new("bot")
        .permissions(&["llm.query:api.openai.com"])
        .yaml("secrets: [KEY]")
        .file("cartridge.yml", section);
    let refused = daemon.install_with(&daemon.package(&agent), &["--grant", "all"]).fails(1);
    assert_eq!(
        refused.error(),
        "cartridge.yml: openai: provider.settings has no `model`; name the model that is to answer"
    );
}
