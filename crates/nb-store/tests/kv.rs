//! The key-value data of tools: limits, atomicity, and agreement with a plain map.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use std::collections::BTreeMap;

use common::*;
use nb_store::{KEY_CAP, NAMESPACE_CAP, StoreError, VALUE_CAP};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn a_value_up_to_the_limit_is_kept_and_a_larger_one_refused_with_both_figures() {
    let (_dir, store) = store();
    // Two quotes belong to the JSON text.
    let largest = json!("x".repeat(VALUE_CAP as usize - 2));
    store.kv_set("hello", "big", &largest).unwrap();
    assert_eq!(store.kv_get("hello", "big").unwrap(), Some(largest));

    let refused = store.kv_set("hello", "big", &json!("x".repeat(VALUE_CAP as usize - 1))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the value of \"big\" in \"hello\" has 1048577 bytes as JSON; the limit for a value is 1048576 bytes"
    );
}

#[test]
fn a_full_namespace_refuses_growth_and_allows_everything_else() {
    let (_dir, store) = store();
    let value = json!("x".repeat(VALUE_CAP as usize - 2 - 2));
    let fits = NAMESPACE_CAP / VALUE_CAP;
    for n in 0..fits {
        // With its key of two bytes each takes exactly a value's limit.
        store.kv_set("hello", &format!("{n:02}"), &value).unwrap();
    }
    let refused = store.kv_set("hello", "a", &json!(1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "writing \"a\" would grow the data of \"hello\" to 67108866 bytes; the limit for a namespace is 67108864 \
         bytes: delete keys first"
    );
    assert_eq!(store.kv_get("hello", "a").unwrap(), None);
    store.kv_set("hello", "00", &json!(1)).unwrap();
    store.kv_set("hello", "a", &json!(1)).unwrap();
    store.kv_set("other", "a", &value).unwrap();
    assert!(store.kv_delete("hello", "01").unwrap());
    store.kv_set("hello", "b", &json!("x".repeat(VALUE_CAP as usize / 2))).unwrap();
}

#[test]
fn the_total_is_zero_again_when_all_is_deleted() {
    let (_dir, store) = store();
    let value = json!("x".repeat(VALUE_CAP as usize - 16));
    // Each round would leave a megabyte behind if deleting did not count.
    for _ in 0..70 {
        store.kv_set("hello", "key", &value).unwrap();
        assert!(store.kv_delete("hello", "key").unwrap());
    }
    assert!(!store.kv_delete("hello", "key").unwrap());
}

#[test]
fn keys_are_checked() {
    let (_dir, store) = store();
    let refused = |key: &str| store.kv_set("hello", key, &json!(1)).unwrap_err();
    let length = |length| StoreError::KeyLength { what: "the key", length, cap: KEY_CAP };
    assert_eq!(refused(""), length(0));
    assert_eq!(refused(&"k".repeat(513)), length(513));
    assert_eq!(refused("a\0b"), StoreError::KeyNul { what: "the key" });
    store.kv_set("hello", &"k".repeat(512), &json!(1)).unwrap();
    assert!(store.kv_get("", "key").is_err());
}

#[test]
fn an_increment_starts_at_zero_and_refuses_overflow_and_text() {
    let (_dir, store) = store();
    assert_eq!(store.kv_increment("hello", "n", 2).unwrap(), 2);
    assert_eq!(store.kv_increment("hello", "n", -5).unwrap(), -3);
    let overflow = store.kv_increment("hello", "n", i64::MIN).unwrap_err();
    assert!(matches!(overflow, StoreError::Overflow { value: -3, by: i64::MIN, .. }), "{overflow}");
    assert_eq!(store.kv_get("hello", "n").unwrap(), Some(json!(-3)));

    for value in [json!("3"), json!(1.5), json!(u64::MAX), json!(null)] {
        store.kv_set("hello", "x", &value).unwrap();
        let refused = store.kv_increment("hello", "x", 1).unwrap_err();
        assert!(matches!(refused, StoreError::NotAnInteger { .. }), "{refused}");
        assert_eq!(store.kv_get("hello", "x").unwrap(), Some(value));
    }
}

#[test]
fn increments_from_many_threads_all_count() {
    let (_dir, store) = store();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| assert!(store.kv_increment("hello", "n", 1).is_ok())));
        }
    });
    assert_eq!(store.kv_get("hello", "n").unwrap(), Some(json!(400)));
}

#[test]
fn of_many_compare_and_sets_one_wins() {
    let (_dir, store) = store();
    store.kv_set("hello", "owner", &json!(null)).unwrap();
    let take =
        |n: i32| store.kv_compare_and_set("hello", "owner", Some(&json!(null)), Some(&json!(n))).unwrap();
    let winners = std::thread::scope(|scope| {
        let take = &take;
        let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || take(n))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!(winners, 1);
}

#[test]
fn a_reader_never_sees_half_of_a_long_value_that_is_being_replaced() {
    let (_dir, store) = store();
    let value = |n: usize| json!(n.to_string().repeat(20_000));
    store.kv_set("hello", "long", &value(0)).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..100 {
                store.kv_set("hello", "long", &value(n % 10)).unwrap();
            }
        });
        while !writer.is_finished() {
            let text = store.kv_get("hello", "long").unwrap().unwrap();
            let text = text.as_str().unwrap();
            assert_eq!(text.len(), 20_000);
            assert!(text.bytes().all(|byte| Some(byte) == text.bytes().next()));
            assert_eq!(store.kv_list("hello", "", None, 10).unwrap().len(), 1);
        }
    });
}

/// Long keys make large inner pages. A page that left the log would be neither synced nor safe on a full disk.
#[test]
fn no_page_ever_leaves_the_log() {
    let (dir, store) = store();
    let namespace = "n".repeat(255);
    for n in 0..6000u64 {
        // Mixed up, so that keys have no long prefix in common.
        let n = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = format!("{n:016x}").repeat(32);
        store.kv_set(&namespace, &key, &json!("x".repeat(4000))).unwrap();
    }
    drop(store);
    assert_eq!(std::fs::read_dir(dir.path().join("blobs")).unwrap().count(), 0);
}

#[derive(Debug, Clone)]
enum Op {
    Set(String, Value),
    Delete(String),
    List(String, usize),
    Increment(String, i64),
    CompareAndSet(String, Option<Value>, Option<Value>),
    Reopen,
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3..3i64).prop_map(|n| json!(n)),
        "[a-c]{0,3}".prop_map(|text| json!(text)),
        (4000..9000usize).prop_map(|length| json!("x".repeat(length))),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let key = || "[ab\u{e9}]{1,3}";
    prop_oneof![
        4 => (key(), value()).prop_map(|(key, value)| Op::Set(key, value)),
        2 => key().prop_map(Op::Delete),
        2 => ("[ab]{0,2}", 0..5usize).prop_map(|(prefix, limit)| Op::List(prefix, limit)),
        2 => (key(), -2..2i64).prop_map(|(key, by)| Op::Increment(key, by)),
        2 => (key(), proptest::option::of(value()), proptest::option::of(value()))
            .prop_map(|(key, expected, new)| Op::CompareAndSet(key, expected, new)),
        1 => Just(Op::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kv_behaves_like_a_sorted_map(ops in proptest::collection::vec(op(), 1..60)) {
        let (dir, mut store) = store();
        let mut map = BTreeMap::<String, Value>::new();
        for op in ops {
            match op {
                Op::Set(key, value) => {
                    store.kv_set("n", &key, &value).unwrap();
                    map.insert(key, value);
                }
                Op::Delete(key) => prop_assert_eq!(store.kv_delete("n", &key).unwrap(), map.remove(&key).is_some()),
                Op::List(prefix, limit) => {
                    let all: Vec<_> = map
                        .iter()
                        .filter(|(key, _)| key.starts_with(&prefix))
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect();
                    // Page by page.
                    let mut after = None::<String>;
                    let mut pages = Vec::new();
                    loop {
                        let page = store.kv_list("n", &prefix, after.as_deref(), limit).unwrap();
                        prop_assert!(page.len() <= limit);
                        let Some((last, _)) = page.last() else { break };
                        after = Some(last.clone());
                        pages.extend(page);
                    }
                    prop_assert_eq!(pages, if limit == 0 { Vec::new() } else { all });
                }
                Op::Increment(key, by) => match map.get(&key).map_or(Some(0), Value::as_i64) {
                    Some(old) => {
                        prop_assert_eq!(store.kv_increment("n", &key, by).unwrap(), old + by);
                        map.insert(key, json!(old + by));
                    }
                    None => prop_assert!(store.kv_increment("n", &key, by).is_err()),
                },
                Op::CompareAndSet(key, expected, new) => {
                    let matches = map.get(&key) == expected.as_ref();
                    let set = store.kv_compare_and_set("n", &key, expected.as_ref(), new.as_ref()).unwrap();
                    prop_assert_eq!(set, matches);
                    match new.filter(|_| matches) {
                        Some(new) => drop(map.insert(key, new)),
                        None if matches => drop(map.remove(&key)),
                        None => {}
                    }
                }
                Op::Reopen => {
                    drop(store);
                    store = open(dir.path());
                }
            }
        }
        prop_assert_eq!(store.kv_list("n", "", None, 1000).unwrap(), map.into_iter().collect::<Vec<_>>());
    }
}
