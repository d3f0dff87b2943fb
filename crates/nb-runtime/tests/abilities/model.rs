//! The abilities that ask the agent's model.

use nb_runtime::Target;
use nb_runtime::record::RunEvent;
use serde_json::{Value, json};

use crate::common::{Home, agent};

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
async fn llm_query_and_llm_summarize_give_no_part_of_an_answer_for_the_whole_unsaid() {
    let home = Home::new();
    for (ability, args) in [("llm.query", json!({"prompt": "p"})), ("llm.summarize", json!({"text": "p"}))] {
        with_a_model(&home, ability, "[{answer: I, stop: content_filter}]");
        let error = say(&home, ability, args.clone()).await.unwrap_err();
        let told = format!(
            "{ability}: scripted withheld the answer, or a part of it (content_filter); ask in other words"
        );
        assert!(error.contains(&told), "{error}");

        with_a_model(&home, ability, "[{answer: Half an, stop: length}]");
        let params = json!({"ability": ability, "args": args});
        let row = home.run("m", Target::Tool("call".to_owned()), params).await;
        assert_eq!(row.output, Some(json!("Half an")));
        let told = "the answer is cut off: it has all the tokens that it may have; provider.settings.max_tokens raises that";
        let line = RunEvent::Log { level: "info".to_owned(), message: told.to_owned() };
        assert!(home.record(&row.id).contains(&line), "{:?}", home.record(&row.id));
    }
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
