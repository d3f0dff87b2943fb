//! What a model is asked, and what the record says of its answer.

use std::time::{Duration, Instant};

use nb_provider::{ProviderId, Usage};
use nb_runtime::Target;
use nb_runtime::budget::day_of;
use nb_runtime::models::message::ModelMessage;
use nb_runtime::record::RunEvent;
use nb_store::RunStatus;
use serde_json::{Value, json};

use super::{
    KEY, answer, cancelled_when_heard, completion, logged, messages, openai, openai_streaming, run, scripted,
    streamed,
};
use crate::common::{Home, task};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_models_message_is_on_record_with_what_it_took() {
    let server = Server::answering(|_| completion("Hello")).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai(&server, &format!("llm.query:{}", server.host())).install(&home);
    let (result, record) = run(&home).await;
    assert_eq!(result, Ok(json!("Hello")));
    let message = messages(&record).remove(0);
    let expected = ModelMessage {
        provider: ProviderId::Openai,
        model: "gpt-4o-2024".to_owned(),
        thought: Value::Null,
        said: json!("Hello"),
        calls: Value::Null,
        stop: Some(nb_provider::Stop::Done),
        stop_reason: Some("stop".to_owned()),
        usage: Usage { input: 8, output: 2, cached: 0 },
        estimated: false,
        usd: None,
        request_id: Some("req_1".to_owned()),
        error: None,
        ms: message.ms,
    };
    assert_eq!(message, expected);
    let sent = server.requests().remove(0);
    assert!(sent.contains(&format!("authorization: Bearer {KEY}\r\n")), "{sent}");
    assert!(!format!("{record:?}").contains(KEY));
    assert_eq!(home.store().spending("m", day_of(home.world.time())).unwrap().spent.tokens, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_come_of_a_broken_answer_is_on_record() {
    let home = Home::new();
    let turns = "[{answer: Half of, breaks_off: true}]";
    scripted(turns, "ability: llm.query, args: {prompt: p}").install(&home);
    let (result, record) = run(&home).await;
    assert_eq!(result, Err("llm.query: scripted: the answer broke off".to_owned()));
    let message = messages(&record).remove(0);
    assert_eq!((message.said, message.error.is_some(), message.estimated), (json!("Half of"), true, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_breaks_its_request_off() {
    let home = Home::new();
    scripted("[{answer: [a, b], delay_ms: 60000}]", "ability: llm.query, args: {prompt: p}").install(&home);
    // A busy machine may hold one or two of them up.
    let mut times = Vec::new();
    for _ in 0..5 {
        let run = home.start("m", task("c"), json!({})).await;
        home.until_event(&run, |event| matches!(event, RunEvent::HostBegun { .. })).await;
        let begun = Instant::now();
        assert!(home.engine.cancel(&run, nb_runtime::engine::BY_A_PERSON));
        let row = home.end_of(&run).await;
        times.push(begun.elapsed());
        assert_eq!((row.status, row.error.as_deref()), (RunStatus::Cancelled, Some("cancelled by a person")));
        let message = messages(&home.record(&run)).remove(0);
        assert_eq!(message.error.as_deref(), Some("cancelled: by a person"));
    }
    times.sort_unstable();
    assert!(times[2] < Duration::from_millis(100), "{times:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_come_of_a_cancelled_answer_is_on_record() {
    let server = Server::beginning(|_| streamed(&["Half."], "")).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai_streaming(&server).install(&home);
    cancelled_when_heard(&home, &server, "Half.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_makes_up_is_bounded_on_record() {
    let long = "x".repeat(200_000);
    let home = Home::new();
    let turns = format!("[{{error: {{status: 400, message: {long}}}}}]");
    scripted(&turns, "ability: llm.query, args: {prompt: p}").install(&home);
    let (result, record) = run(&home).await;
    let error = result.unwrap_err();
    assert!(error.len() < 2000 && error.contains("xx… (200"), "{error}");
    assert!(serde_json::to_string(&record).unwrap().len() < 20_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_sent_again_counts_and_is_on_record() {
    let server =
        Server::answering(|_| answer("503 Service Unavailable", r#"{"error": {"message": "busy"}}"#)).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai(&server, &format!("llm.query:{}", server.host()))
        .set("resources", json!({"max_api_calls_per_hour": 2}))
        .install(&home);
    let (result, record) = run(&home).await;
    let told = "llm.query: openai: busy (HTTP 503, request req_1); it was not sent again: out of calls for this hour: \
                2 allowed (resources.max_api_calls_per_hour), this would be number 3";
    assert_eq!(result, Err(told.to_owned()));
    assert_eq!(server.requests().len(), 2);
    let lines = logged(&record);
    assert!(
        lines[0].starts_with("info: openai: busy (HTTP 503, request req_1); asking again in 0."),
        "{lines:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_directive_of_the_cartridge_is_the_system_message_unless_another_is_given() {
    let server = Server::answering(|_| completion("Hello")).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    let cartridge = format!(
        "behaviors: {{interaction: {{directive: Be kind., backdrop: It is 2026., instruction: Go on.}}}}\nprovider:\n  id: openai\n  \
         credentials: {{address: 'http://{}', access-token: ENV/KEY}}\n  settings: {{model: a, stream: false}}\n",
        server.host()
    );
    openai(&server, &format!("llm.query:{}", server.host()))
        .file("cartridge.yml", cartridge)
        .chain("d", "steps: [{id: s, ability: llm.query, args: {prompt: Hi, system: Be rude.}}]")
        .install(&home);
    for chain in ["c", "d"] {
        home.run("m", Target::Task(chain.to_owned()), json!({})).await;
    }
    let sent: Vec<String> = server.requests();
    assert!(sent[0].contains("Be kind.") && sent[0].contains(r"It is 2026.\n\nGo on."), "{}", sent[0]);
    assert!(!sent[1].contains("Be kind.") && sent[1].contains("Be rude."), "{}", sent[1]);
}

#[test]
fn the_providers_are_those_that_a_cartridge_can_name() {
    assert_eq!(ProviderId::ALL.map(ProviderId::name), nb_spec::cartridge::PROVIDERS);
}
