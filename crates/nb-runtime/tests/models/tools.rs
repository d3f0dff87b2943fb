//! A model calls the tools of its agent.

use nb_runtime::record::RunEvent;
use nb_store::RunStatus;
use serde_json::json;

use super::{logged, messages, run, scripted};
use crate::common::{AgentBuilder, Home, task};

/// Two tools, of which one fails.
fn with_tools(turns: &str, args: &str) -> AgentBuilder {
    let parameters =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    scripted(
        turns,
        &format!("ability: llm.chat, args: {{prompt: 'Hello?', tools: [weather, fails], {args}}}"),
    )
    .file("tools/weather.lua", "return {celsius = 21, city = parameters.city}")
    .tool_entry(json!({"name": "weather", "source": "tools/weather.lua", "parameters": parameters}))
    .tool("fails", "error('no luck')")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_calls_tools_and_is_told_what_they_give_and_what_fails() {
    let home = Home::new();
    let turns = "[{when: Hello, calls: [{name: weather, arguments: {city: Rome}}, {name: fails}, \
        {name: weather, arguments: {city: 3}}, {name: teleport}]}, \
        {when: {error_of: teleport}, calls: [{name: weather, arguments: {city: Oslo}}]}, \
        {when: {result_of: weather}, answer: Mild.}]";
    with_tools(turns, "rounds: 5").install(&home);
    let (result, record) = run(&home).await;
    let output = result.unwrap();
    assert_eq!((&output["text"], &output["rounds"]), (&json!("Mild."), &json!(2)), "{output}");
    assert_eq!(messages(&record).len(), 3);
    let total: u64 = messages(&record).iter().map(|message| message.usage.input).sum();
    assert_eq!(output["usage"]["input"], json!(total));
    let tools: Vec<(&str, bool)> = record
        .iter()
        .filter_map(|event| match event {
            RunEvent::ToolFinished { tool, is_error, .. } => Some((tool.as_str(), *is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(tools.len(), 3, "{tools:?}");
    assert!(tools.contains(&("fails", true)));
    let refused = logged(&record);
    assert!(
        refused
            .iter()
            .any(|line| line.contains("`weather` is not carried out: `city` is 3, and must be a text"))
    );
    assert!(refused.iter().any(|line| {
        line.contains("`teleport` is not carried out: there is no such tool; there are: weather, fails")
    }));
}

#[tokio::test(flavor = "multi_thread")]
async fn after_its_rounds_a_model_answers_without_tools() {
    let home = Home::new();
    let turns =
        "[{when: No more tools, answer: Enough.}, {calls: [{name: weather, arguments: {city: Rome}}]}]";
    with_tools(turns, "rounds: 2").install(&home);
    let (result, record) = run(&home).await;
    let output = result.unwrap();
    assert_eq!((&output["text"], &output["rounds"]), (&json!("Enough."), &json!(2)));
    assert_eq!(messages(&record).len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_the_agent_does_not_have_is_told_before_anything_is_asked() {
    let home = Home::new();
    with_tools("[{answer: no}]", "rounds: 1")
        .chain("d", "steps: [{id: s, ability: llm.chat, args: {prompt: p, tools: [nope]}}]")
        .install(&home);
    let row = home.run("m", task("d"), json!({})).await;
    let told = "step `s`: llm.chat: `tools`: m has no tool `nope`; it has fails, weather";
    assert_eq!(row.error.as_deref(), Some(told));
    assert!(messages(&home.record(&row.id)).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_a_model_makes_up_is_bounded_on_record_and_in_the_log() {
    let home = Home::new();
    let name = "x".repeat(20_000);
    let turns = format!("[{{when: Hello, calls: [{{name: {name}}}]}}, {{answer: Sorry.}}]");
    with_tools(&turns, "rounds: 2").install(&home);
    let (result, record) = run(&home).await;
    assert_eq!(result.unwrap()["text"], "Sorry.");
    let short = "x".repeat(100) + "…";
    assert_eq!(messages(&record)[0].calls[0]["name"], json!(short));
    assert!(logged(&record)[0].contains(&format!("the model's call of `{short}` is not carried out")));
    assert!(!serde_json::to_string(&record).unwrap().contains(&name));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_conversation_counts_as_a_call_that_leaves_the_machine() {
    let home = Home::new();
    with_tools("[{calls: [{name: weather, arguments: {city: Rome}}]}]", "rounds: 9")
        .set("resources", json!({"max_api_calls_per_hour": 2}))
        .install(&home);
    let (result, record) = run(&home).await;
    assert!(result.unwrap_err().starts_with("llm.chat: out of calls for this hour: 2 allowed"));
    assert_eq!(messages(&record).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_conversation_waits_for_its_tools_to_stop() {
    let home = Home::new();
    let step = "ability: llm.chat, args: {prompt: p, tools: [spins]}";
    scripted("[{calls: [{name: spins}]}]", step)
        .set("fuel_limit", json!(100_000_000_000_u64))
        .set("resources", json!({"max_fuel": 100_000_000_000_u64}))
        .tool("spins", "while true do end")
        .install(&home);
    let run = home.start("m", task("c"), json!({})).await;
    home.until_event(&run, |event| matches!(event, RunEvent::ToolStarted { .. })).await;
    home.engine.cancel(&run, nb_runtime::engine::BY_A_PERSON);
    let row = home.end_of(&run).await;
    assert_eq!(row.status, RunStatus::Cancelled);
    let record = home.record(&run);
    assert!(record.iter().any(|event| matches!(event, RunEvent::ToolFinished { .. })), "{record:?}");
    assert!(
        matches!(record.last(), Some(RunEvent::Finished { .. })),
        "nothing comes after the end: {record:?}"
    );
}
