//! What was spent is counted, whatever happens in between.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use common::*;
use nb_store::{Budget, Reserved, Settlement, Spending, SpendingRow, Store};
use serde_json::{Value, json};

const BUDGET: Budget = Budget { tokens: Some(1000), nano_usd: Some(500) };
const DAY: u64 = 20_000;

fn tokens(tokens: u64) -> Spending {
    Spending { tokens, nano_usd: 0 }
}

fn reserve(store: &Store, estimate: u64) -> Reserved {
    store.reserve_spending("hello", DAY, tokens(estimate), BUDGET).unwrap()
}

fn settle(store: &Store, reserved: Spending, spent: Spending) -> Option<SpendingRow> {
    let event = json!({"event": "model.message"});
    let settlement = Settlement {
        agent: "hello",
        day: DAY,
        reserved,
        spent,
        budget: BUDGET,
        run_id: "run_1",
        event: &event,
    };
    store.settle_spending(&settlement).unwrap()
}

fn with_a_run() -> (tempfile::TempDir, Store) {
    let (dir, store) = store();
    store.begin_run(&nb_store::LedgerKey::None, &run("run_1"), &[started()]).unwrap();
    (dir, store)
}

#[test]
fn two_requests_at_once_do_not_both_pass_by_a_budget() {
    let (_dir, store) = with_a_run();
    settle(&store, tokens(0), tokens(900));
    assert_eq!(reserve(&store, 200), Reserved::Taken, "one alone may go over what is left");
    let now = SpendingRow { spent: tokens(900), reserved: tokens(200), warned: true };
    assert_eq!(reserve(&store, 1), Reserved::Held(now));
    settle(&store, tokens(200), tokens(50));
    assert_eq!(reserve(&store, 20), Reserved::Taken, "what was not needed is given back");
    assert_eq!(
        reserve(&store, 31),
        Reserved::Held(SpendingRow { spent: tokens(950), reserved: tokens(20), warned: true })
    );
    assert_eq!(reserve(&store, 30), Reserved::Taken, "two that fit together pass");
    settle(&store, tokens(50), tokens(50));
    assert!(matches!(reserve(&store, 1), Reserved::Spent(row) if row.spent == tokens(1000)));
    let other_day = store.reserve_spending("hello", DAY + 1, tokens(1), BUDGET).unwrap();
    assert_eq!(other_day, Reserved::Taken);
}

#[test]
fn money_counts_like_tokens() {
    let (_dir, store) = with_a_run();
    settle(&store, tokens(0), Spending { tokens: 1, nano_usd: 500 });
    assert!(matches!(reserve(&store, 1), Reserved::Spent(_)));
    let cents = |nano_usd| {
        store.reserve_spending("hello", DAY + 1, Spending { tokens: 1, nano_usd }, BUDGET).unwrap()
    };
    assert_eq!(cents(300), Reserved::Taken);
    assert!(matches!(cents(201), Reserved::Held(_)));
    assert_eq!(cents(200), Reserved::Taken);
    let free = Budget { tokens: Some(1000), nano_usd: None };
    assert_eq!(store.reserve_spending("hello", DAY, tokens(1), free).unwrap(), Reserved::Taken);
}

#[test]
fn a_budget_that_is_nearly_spent_is_told_once() {
    let (_dir, store) = with_a_run();
    assert_eq!(settle(&store, tokens(0), tokens(799)), None);
    let news = settle(&store, tokens(0), tokens(1)).unwrap();
    assert_eq!((news.spent, news.warned), (tokens(800), true));
    assert_eq!(settle(&store, tokens(0), tokens(500)), None);
}

#[test]
fn a_message_and_what_it_cost_are_written_together() {
    let (_dir, store) = with_a_run();
    settle(&store, tokens(0), tokens(5));
    let events: Vec<Value> =
        store.run_events("run_1", 0, 9).unwrap().into_iter().map(|(_, event)| event).collect();
    assert_eq!(events, [started(), json!({"event": "model.message"})]);
    assert_eq!(store.append("run_1", &json!({"event": "log"})).unwrap(), 3, "the numbers go on");
    let event = json!({});
    let of_no_run = Settlement {
        agent: "hello",
        day: DAY,
        reserved: tokens(0),
        spent: tokens(5),
        budget: BUDGET,
        run_id: "run_2",
        event: &event,
    };
    assert!(store.settle_spending(&of_no_run).is_err());
    assert_eq!(store.spending("hello", DAY).unwrap().spent, tokens(5));
}

#[test]
fn what_a_crash_left_reserved_stays_counted() {
    let (dir, store) = with_a_run();
    reserve(&store, 1000);
    store.commit_blocking().unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.spending("hello", DAY).unwrap().spent, tokens(1000));
    assert!(matches!(reserve(&store, 1), Reserved::Spent(_)));
}

#[test]
fn nothing_waits_for_a_request_that_a_crash_ended() {
    let (dir, store) = with_a_run();
    reserve(&store, 500);
    store.commit_blocking().unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(reserve(&store, 600), Reserved::Taken, "it is alone");
    store.spend_reserved("hello", DAY, tokens(600)).unwrap();
    assert_eq!(
        store.spending("hello", DAY).unwrap(),
        SpendingRow { spent: tokens(1100), ..SpendingRow::default() }
    );
}

#[test]
fn what_was_spent_outlives_its_agent_and_is_forgotten_when_it_is_old_or_purged() {
    let (_dir, store) = with_a_run();
    for agent in ["hello", "hello2"] {
        for day in [DAY, DAY + 1] {
            store.reserve_spending(agent, day, tokens(7), BUDGET).unwrap();
        }
    }
    store.remove_agent("hello").unwrap();
    assert_eq!(store.forget_spending_before(DAY + 1).unwrap(), 2);
    let left = |agent: &str| [DAY, DAY + 1].map(|day| store.spending(agent, day).unwrap().total().tokens);
    assert_eq!((left("hello"), left("hello2")), ([0, 7], [0, 7]));
    store.purge("hello", "hello").unwrap();
    assert_eq!((left("hello"), left("hello2")), ([0, 0], [0, 7]));
}
