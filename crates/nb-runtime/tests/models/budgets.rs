//! What a model takes, and what it may take.

use std::sync::atomic::{AtomicU32, Ordering};

use nb_provider::{Prices, Usage};
use nb_store::{RunStatus, Spending, SpendingRow};
use serde_json::json;

use super::{KEY, answer, completion, eventually, logged, messages, openai, run, scripted};
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
                   00:00 UTC, or raise budget.tokens_per_day";
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
async fn a_question_that_a_crash_left_in_doubt_is_not_asked_again_and_counts_as_spent() {
    let server = Server::answering(|_| None).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai(&server, &format!("llm.query:{}", server.host()))
        .set("budget", json!({"tokens_per_day": 1000}))
        .install(&home);
    let run = home.start("m", task("c"), json!({})).await;
    server.asked.notified().await;
    assert_eq!(home.engine.spent_today("m").unwrap().reserved.tokens, 4097);
    let again = home.after_a_crash();
    assert_eq!(again.engine.recover().await.unwrap(), (0, 1));
    let row = again.store().run(&run).unwrap().unwrap();
    assert_eq!(row.status, RunStatus::Failed);
    assert!(row.error.unwrap().contains("`llm.query` had begun and may have taken effect"));
    let counted = SpendingRow { spent: Spending { tokens: 4097, nano_usd: 0 }, ..SpendingRow::default() };
    assert_eq!(again.engine.spent_today("m").unwrap(), counted);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_requests_at_once_one_alone_goes_over_a_budget() {
    let home = Home::new();
    let turns = "[{answer: a, delay_ms: 60000}]";
    for (settings, budget, told) in [
        (
            "{max_tokens: 20000}",
            json!({"tokens_per_day": 10000}),
            "of 10,000 tokens a day (budget.tokens_per_day), 0 tokens are spent and 20,001 tokens set aside for requests \
             under way, and this one may take 20,001 tokens; wait for those under way, or raise budget.tokens_per_day",
        ),
        (
            "{}",
            json!({"usd_per_day": 0.05}),
            "of $0.05 a day (budget.usd_per_day), $0.00 are spent and $0.040961 set aside for requests under way, and this \
             one may take $0.040961; wait for those under way, or raise budget.usd_per_day",
        ),
    ] {
        scripted(turns, "ability: llm.query, args: {prompt: p}")
            .file("cartridge.yml", format!("provider: {{id: scripted, settings: {settings}, options: {{turns: {turns}, prices: {{input: 1, output: 10}}}}}}\n"))
            .set("budget", budget)
            .install(&home);
        let mut runs = Vec::new();
        for _ in 0..16 {
            runs.push(home.start("m", task("c"), json!({})).await);
        }
        let asking = || runs.iter().filter(|run| home.engine.is_in_flight(run)).count();
        eventually(|| asking() == 1).await;
        home.engine.cancel_agent("m", "enough").await;
        let mut errors: Vec<String> = Vec::new();
        for run in &runs {
            errors.extend(home.end_of(run).await.error);
        }
        let refused = format!("step `s`: llm.query: budget: {told}");
        assert_eq!(errors.iter().filter(|error| **error == refused).count(), 15, "{errors:?}");
        assert_eq!(home.engine.spent_today("m").unwrap().reserved, Spending::default());
        home.world.advance(chrono::Duration::days(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_may_have_been_counted_and_is_sent_again_counts_twice() {
    let asked = AtomicU32::new(0);
    let server = Server::answering(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => Some("HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{".to_owned()),
        _ => completion("Hello"),
    })
    .await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai(&server, &format!("llm.query:{}", server.host()))
        .chain("c", "steps: [{id: s, ability: llm.query, args: {prompt: 'A prompt of 28 characters...'}}]")
        .install(&home);
    let (result, record) = run(&home).await;
    assert_eq!((result, server.requests().len()), (Ok(json!("Hello")), 2));
    let message = messages(&record).remove(0);
    assert_eq!((message.usage, message.estimated), (Usage { input: 8 + 7, output: 2, cached: 0 }, true));
    assert_eq!(home.engine.spent_today("m").unwrap().spent.tokens, 17);
}
