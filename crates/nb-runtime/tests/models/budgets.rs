//! What a model takes, and what it may take.

use nb_provider::{Prices, Usage};
use nb_store::{RunStatus, Spending};
use serde_json::json;

use super::{KEY, answer, eventually, logged, messages, openai, run, scripted};
use crate::common::{Home, task};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_told_when_it_is_nearly_spent_and_refuses_when_it_is() {
    let home = Home::new();
    let daemon = crate::logs::capture();
    let turns = "[{answer: a, usage: {input: 500, output: 50, cached: 0}}]";
    scripted(turns, "ability: llm.query, args: {prompt: p}")
        .set("budget", json!({"tokens_per_day": 1000}))
        .install(&home);
    let (first, record) = run(&home).await;
    assert_eq!((first, logged(&record).len()), (Ok(json!("a")), 0));
    let (second, record) = run(&home).await;
    let told = "budget: 1,100 tokens of 1,000 are spent today (budget.tokens_per_day); when all of it is spent, requests \
                are refused until 00:00 UTC";
    assert_eq!((second, logged(&record)), (Ok(json!("a")), vec![format!("warning: {told}")]));
    assert!(daemon().contains(told));
    eventually(|| !home.desktop.shown().is_empty()).await;
    assert_eq!(home.desktop.shown()[0].body, told);

    let (third, record) = run(&home).await;
    let refused = "llm.query: budget: 1,100 tokens of 1,000 are spent today (budget.tokens_per_day); it begins again at \
                   00:00 UTC";
    assert_eq!((third, messages(&record).len()), (Err(refused.to_owned()), 0));
    home.world.advance(chrono::Duration::days(1));
    assert_eq!(run(&home).await.0, Ok(json!("a")), "the next day");
    assert_eq!(home.desktop.shown().len(), 1, "once a day");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_of_money_needs_prices() {
    let home = Home::new();
    let turns = "[{answer: a, usage: {input: 1000, output: 100, cached: 0}}]";
    let with = |options: &str| {
        scripted(turns, "ability: llm.chat, args: {prompt: p}")
            .file(
                "cartridge.yml",
                format!("provider: {{id: scripted, options: {{turns: {turns}{options}}}}}\n"),
            )
            .set("budget", json!({"usd_per_day": 0.002}))
            .install(&home);
    };
    with("");
    let told = "llm.chat: budget: what scripted costs is not known, so budget.usd_per_day cannot be kept; give \
                provider.options.prices in the cartridge, or `prices` in the daemon's config.yaml";
    assert_eq!(run(&home).await.0, Err(told.to_owned()));
    with(", prices: {input: 1, output: 10}");
    let (result, record) = run(&home).await;
    assert_eq!(result.unwrap()["usd"], json!(0.002));
    assert_eq!(
        messages(&record)[0].usd,
        Some(Prices { input: 1.0, output: 10.0, cached: None }.cost(messages(&record)[0].usage))
    );
    let spent = Spending { tokens: 1100, nano_usd: 2_000_000 };
    assert_eq!(home.engine.spent_today("m").unwrap().spent, spent);
    let error = run(&home).await.0.unwrap_err();
    assert!(error.contains("$0.002 of $0.002 are spent today (budget.usd_per_day)"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_nobody_tells_are_estimated_and_marked() {
    let server = Server::answering(|_| {
        let body = json!({"choices": [{"message": {"content": "12345678"}, "finish_reason": "stop"}]});
        answer("200 OK", &body.to_string())
    })
    .await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai(&server, &format!("llm.query:{}", server.host())).install(&home);
    let (_, record) = run(&home).await;
    let message = messages(&record).remove(0);
    assert_eq!((message.usage, message.estimated), (Usage { input: 1, output: 2, cached: 0 }, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_a_crash_left_in_doubt_is_not_asked_again() {
    let home = Home::new();
    let turns = "[{answer: a, delay_ms: 60000}]";
    scripted(turns, "ability: llm.query, args: {prompt: p}")
        .set("budget", json!({"tokens_per_day": 1000}))
        .install(&home);
    let run = home.start("m", task("c"), json!({})).await;
    eventually(|| home.engine.spent_today("m").unwrap().reserved.tokens > 0).await;
    let again = home.restarted();
    assert_eq!(again.engine.recover().await.unwrap(), (0, 1));
    let row = again.store().run(&run).unwrap().unwrap();
    assert_eq!(row.status, RunStatus::Failed);
    assert!(row.error.unwrap().contains("`llm.query` had begun and may have taken effect"));
    assert_eq!(home.engine.spent_today("m").unwrap().reserved.tokens, 501, "and counts as spent");
}
