//! Files that are made to hurt: each is refused, or loads, with work that grows with its size and not beyond.
//!
//! The inputs are the worst that the caps let through, and one more. No test measures time: it finishes.

use nb_spec::agent::Strictness;
use nb_spec::{Agent, Files};

const MANIFEST: &str = "name: demo\nversion: 1.0.0\n";
/// As many bytes as a document may have, with room for what stands around.
const ROOM: usize = 250_000;

fn load(list: &[(&str, &str)]) -> Result<Agent, Vec<String>> {
    let mut files = Files::default();
    for (name, text) in list {
        files.insert(*name, *text);
    }
    Agent::load(&files, Strictness::Build)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

fn refusals(manifest: &str) -> Vec<String> {
    load(&[("manifest.yaml", manifest)]).err().unwrap_or_default()
}

/// What is wrong with a chain of an agent that asks for `flow.stop`.
fn chain_refusals(chain: &str) -> Vec<String> {
    let manifest = format!("{MANIFEST}permissions: [flow.stop]\n");
    load(&[("manifest.yaml", &manifest), ("chains/c.yaml", chain)]).err().unwrap_or_default()
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn the_items_of_a_long_key_do_not_each_copy_it() {
    let key = "k".repeat(100_000);
    let found = refusals(&format!("{MANIFEST}? {key}\n:\n{}", "- x\n".repeat((ROOM - key.len()) / 4)));
    assert!(found[0].contains("unknown key `kkk"), "{:.100}", found[0]);
}

#[test]
fn many_items_below_many_keys_do_not_each_copy_the_way_to_them() {
    let keys = lines(100, |depth| format!("{}{}:\n", " ".repeat(depth), "k".repeat(1000)));
    let items = format!("{}- x\n", " ".repeat(100)).repeat((ROOM - keys.len()) / 104);
    assert!(refusals(&format!("{MANIFEST}{keys}{items}"))[0].contains("unknown key"));
}

#[test]
fn an_unknown_key_of_many_parts_is_not_looked_up_part_by_part() {
    let key = "a.".repeat(ROOM / 2);
    let found = refusals(&format!("{MANIFEST}? {key}\n: 1\n"));
    assert!(found[0].contains("unknown key `a.a."), "{:.100}", found[0]);
}

#[test]
fn aliases_of_a_long_text_are_refused() {
    let text = "x".repeat(100_000);
    for (list, key) in [("*a,", "permissions"), ("*a,", "zzz"), ("{on: *a, chain: *a},", "events")] {
        let repeated = list.repeat((ROOM - text.len()) / list.len());
        let found = refusals(&format!("{MANIFEST}description: &a {text}\n{key}: [{repeated}]\n"));
        assert_eq!(
            found,
            [
                "manifest.yaml: repetition: with its aliases (`*name`) written out it has more than 1048576 bytes"
            ]
        );
    }
    assert!(load(&[("manifest.yaml", &format!("{MANIFEST}author: &a me\nlicense: *a\n"))]).is_ok());
}

#[test]
fn a_document_with_anchors_that_breaks_off_is_refused_before_its_aliases_are_written_out() {
    let text = "x".repeat(100_000);
    let repeated = "*a,".repeat(40_000);
    let found = refusals(&format!("{MANIFEST}a: &a {text}\nb: \"\\q\"\npermissions: [{repeated}]\n"));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("manifest.yaml:4: "), "{found:?}");
}

#[test]
fn of_many_problems_the_first_are_listed_and_the_rest_counted() {
    let found = chain_refusals(&format!(
        "id: c\nsteps:\n{}",
        lines(1000, |n| format!("- {{id: s{n}, ability: flow.stopp}}\n"))
    ));
    assert_eq!(found.len(), 201);
    assert_eq!(
        found[199],
        "chains/c.yaml:202: step `s199`: there is no ability or tool `flow.stopp`; did you mean `flow.stop`?"
    );
    assert_eq!(found[200], "chains/c.yaml: and 800 more");
}

#[test]
fn a_thousand_unknown_names_are_not_each_compared_with_a_thousand_tools() {
    let name = "n".repeat(58);
    let tools = lines(1000, |n| format!("- {{name: {name}{n:04}, lua: return 1}}\n"));
    let steps = lines(1000, |n| format!("- {{id: s{n}, ability: {name}x{n:04}}}\n"));
    let files = [
        ("manifest.yaml", &*format!("{MANIFEST}tools:\n{tools}")),
        ("chains/c.yaml", &*format!("id: c\nsteps:\n{steps}")),
    ];
    assert_eq!(load(&files).unwrap_err().len(), 201);
}

#[test]
fn a_chain_of_a_thousand_steps_in_the_worst_order_loads_and_one_more_is_refused() {
    let steps = |count: usize| {
        lines(count, |n| format!("- {{id: s{n}, ability: flow.stop, depends_on: [s{}]}}\n", n + 1))
    };
    let end = |count: usize| format!("- {{id: s{count}, ability: flow.stop}}\n");
    let chain = |count: usize| format!("id: c\nsteps:\n{}{}", steps(count - 1), end(count - 1));
    let manifest = format!("{MANIFEST}permissions: [flow.stop]\n");
    let agent = load(&[("manifest.yaml", &manifest), ("chains/c.yaml", &chain(1000))]).unwrap();
    let order: Vec<&str> = agent.tasks["c"].steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!((order.len(), order[0], order[999]), (1000, "s999", "s0"));
    assert_eq!(
        chain_refusals(&chain(1001)),
        ["chains/c.yaml:2: a chain has at most 1000 steps; this has 1001"]
    );
}

#[test]
fn a_large_circle_names_its_first_steps() {
    let steps =
        lines(1000, |n| format!("- {{id: s{n}, ability: flow.stop, depends_on: [s{}]}}\n", (n + 1) % 1000));
    assert_eq!(
        chain_refusals(&format!("id: c\nsteps:\n{steps}")),
        [
            "chains/c.yaml:2: steps depend on each other in a circle: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, …"
        ]
    );
}

#[test]
fn an_agent_has_at_most_256_chains() {
    let chains: Vec<(String, String)> = (0..257)
        .map(|n| (format!("chains/c{n}.yaml"), format!("id: c{n}\nsteps: [{{id: s, ability: flow.stop}}]\n")))
        .collect();
    let manifest = format!("{MANIFEST}permissions: [flow.stop]\n");
    let mut files: Vec<(&str, &str)> =
        chains.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    files.push(("manifest.yaml", &manifest));
    assert_eq!(load(&files).unwrap_err(), ["chains: holds 257 chains; at most 256 are allowed"]);
    files.remove(0);
    assert_eq!(load(&files).unwrap().tasks.len(), 256);
}

#[test]
fn the_lists_of_a_manifest_have_a_thousand_entries_at_most() {
    for (list, path, entry) in [
        ("permissions: [", "permissions", "kv.read"),
        ("secrets: [", "secrets", "S"),
        ("subscriptions: [", "subscriptions", "a"),
        ("intent_filters: [", "intent_filters", "{}"),
        ("tools: [", "tools", "{name: t, lua: x}"),
        ("triggers: {scheduled: [", "triggers.scheduled", "{chain: c, interval: 1h}"),
        ("triggers: {events: [", "triggers.events", "{chain: c, on: a}"),
        ("triggers: {webhooks: [", "triggers.webhooks", "{chain: c, path: /a}"),
    ] {
        let close = if list.contains('{') { "]}" } else { "]" };
        let entries = vec![entry; 1001].join(", ");
        let expected = format!("manifest.yaml:3: `{path}` has 1001 entries; at most 1000 are allowed");
        assert_eq!(refusals(&format!("{MANIFEST}{list}{entries}{close}\n")), [expected]);
    }
    let params = "{name: p}, ".repeat(1001);
    assert_eq!(
        chain_refusals(&format!("id: c\nparams: [{params}]\nsteps: [{{id: s, ability: flow.stop}}]\n")),
        ["chains/c.yaml:2: a chain has at most 1000 params; this has 1001"]
    );
}

#[test]
fn triggers_with_unknown_parameters_do_not_each_list_all_that_are_known() {
    let given = lines(2000, |n| format!("x{n}: 1, "));
    let params = lines(1000, |n| format!("- {{name: p{n}}}\n"));
    let events = "- {on: a, chain: c, params: *p}\n".repeat(40);
    let manifest = format!(
        "{MANIFEST}permissions: [flow.stop]\ntriggers:\n  events:\n  - {{on: a, chain: c, params: &p {{{given}}}}}\n{}",
        events.lines().map(|line| format!("  {line}\n")).collect::<String>()
    );
    let chain = format!("id: c\nparams:\n{params}steps: [{{id: s, ability: flow.stop}}]\n");
    assert_eq!(load(&[("manifest.yaml", &manifest), ("chains/c.yaml", &chain)]).unwrap_err().len(), 201);
}

#[test]
fn many_tools_of_one_large_file_are_refused() {
    let tools = lines(1000, |n| format!("- {{name: t{n}, source: big.lua}}\n"));
    let files =
        [("manifest.yaml", &*format!("{MANIFEST}tools:\n{tools}")), ("big.lua", &*"-".repeat(1 << 20))];
    let reason = "the tools and modules have more than 67108864 bytes together";
    assert_eq!(load(&files).unwrap_err(), [format!("manifest.yaml:68: {reason}")]);
}

#[test]
fn a_thousand_schedules_that_never_fire_are_all_refused() {
    let schedules = lines(1000, |n| format!("  - {{chain: c{n}, cron: \"0 0 30 2 *\"}}\n"));
    assert_eq!(refusals(&format!("{MANIFEST}triggers:\n  scheduled:\n{schedules}")).len(), 201);
}
