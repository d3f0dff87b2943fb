//! Chains from their file to their result.

use nb_runtime::record::{RunEvent, StepStatus};
use nb_runtime::{StartError, Target};
use nb_store::{RunRow, RunStatus};
use serde_json::{Value, json};

use crate::common::{Home, agent, at, task};
use crate::server::{Server, ok};

/// An agent with the chain `c`, and tools that give back their parameters, fail, or fail until their n-th call.
fn home_with(chain: &str) -> Home {
    let home = Home::new();
    agent("a")
        .asks(&["kv.read", "kv.write", "flow.stop", "flow.branch", "log.info"])
        .tool("echo", "return parameters.value")
        .tool("fail", "local why = 'no luck'\nerror(why)")
        .tool("third-time", "if nb.kv.increment('calls') < 3 then error('not yet') end return 'at last'")
        .chain("c", chain)
        .install(&home);
    home
}

async fn run(chain: &str, params: Value) -> (Home, RunRow) {
    let home = home_with(chain);
    let row = home.run("a", task("c"), params).await;
    (home, row)
}

/// What a chain gives that must complete.
async fn output(chain: &str, params: Value) -> Value {
    let (home, row) = run(chain, params).await;
    assert_eq!(row.status, RunStatus::Completed, "{:?} {:?}", row.error, home.record(&row.id));
    assert_eq!(row.outcome.as_deref(), Some("done"));
    row.output.unwrap_or_default()
}

async fn refusal(chain: &str, params: Value) -> String {
    let home = home_with(chain);
    match home.try_start("a", task("c"), params).await {
        Err(StartError::Parameters(reason)) => {
            assert!(home.runs("a").is_empty(), "nothing is recorded");
            reason
        }
        other => panic!("{other:?}"),
    }
}

/// The steps in the order of their results, each with how it ended.
fn steps(home: &Home, run: &str) -> Vec<(String, StepStatus)> {
    let finished = |event| match event {
        RunEvent::StepFinished { step, status, .. } => Some((step, status)),
        _ => None,
    };
    home.record(run).into_iter().filter_map(finished).collect()
}

fn done(step: &str) -> (String, StepStatus) {
    (step.to_owned(), StepStatus::Succeeded)
}

fn skipped(step: &str) -> (String, StepStatus) {
    (step.to_owned(), StepStatus::Skipped)
}

fn failed(step: &str) -> (String, StepStatus) {
    (step.to_owned(), StepStatus::Failed)
}

const PARAMETERS: &str = "
params:
  - {name: city, param_type: text, required: true}
  - {name: days, type: number, default: 3}
  - {name: loud, type: boolean, default: false}
  - {name: site, type: url}
  - {name: to, type: email}
  - {name: when, type: date_time}
steps:
  - {id: all, tool: echo, args: {value: ['{{city}}', '{{days}}', '{{loud}}', '{{site}}', '{{to}}', '{{when}}']}}
";

#[tokio::test]
async fn parameters_take_their_type_and_their_default() {
    let given = json!({"city": "Rome"});
    assert_eq!(output(PARAMETERS, given).await, json!(["Rome", 3, false, null, null, null]));
    let given = json!({"city": 7, "days": "2.5", "loud": "true", "site": "https://a.example/x", "to": "a@b.example",
        "when": "2026-01-31"});
    let taken = json!(["7", 2.5, true, "https://a.example/x", "a@b.example", "2026-01-31"]);
    assert_eq!(output(PARAMETERS, given).await, taken);
}

#[tokio::test]
async fn parameters_are_checked_before_the_first_step() {
    for (given, words) in [
        (json!({}), "task `c` needs the parameter `city`"),
        (json!({"city": "x", "days": "two"}), "parameter `days` of task `c` must be a number; it is \"two\""),
        (
            json!({"city": "x", "loud": "yes"}),
            "parameter `loud` of task `c` must be true or false; it is \"yes\"",
        ),
        (
            json!({"city": "x", "site": "ftp://a"}),
            "parameter `site` of task `c` must be an http or https address",
        ),
        (json!({"city": "x", "to": "nobody"}), "parameter `to` of task `c` must be an e-mail address"),
        (json!({"city": "x", "when": "soon"}), "parameter `when` of task `c` must be a date"),
        (json!({"city": ["x"]}), "parameter `city` of task `c` must be a text"),
        (json!({"city": "x", "town": "y"}), "task `c` has no parameter `town`; it takes city, days, loud"),
    ] {
        let reason = refusal(PARAMETERS, given).await;
        assert!(reason.contains(words), "{reason}");
    }
    let both = refusal(PARAMETERS, json!({"days": "x"})).await;
    assert_eq!(both.matches("; ").count(), 2, "both problems, one of which has a `;` of its own: {both}");
}

#[tokio::test]
async fn an_output_is_found_by_step_id_and_by_output_key_with_dotted_paths() {
    let chain = "
steps:
  - {id: get-it, tool: echo, args: {value: {list: [{n: 7}], text: '{\"deep\": {\"x\": true}}'}}, output_key: got}
  - id: read
    tool: echo
    args: {value: ['{{get-it.output.list.0.n}}', '{{got.list}}', '{{got.text}}', 'n={{got.list.0.n}}', '{{get-it.list.0.n}}']}
  - {id: look, tool: echo, args: {value: ['{{read.output.0}}', '{{read.output}}']}}
  - {id: last, tool: echo, args: {value: '{{look.output.1.4}}'}}
";
    let (home, row) = run(chain, json!({})).await;
    assert_eq!(row.output, Some(json!(7)));
    let outputs: Vec<Value> = home
        .record(&row.id)
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::StepFinished { output, .. } => Some(output),
            _ => None,
        })
        .collect();
    assert_eq!(outputs[1], json!([7, [{"n": 7}], "{\"deep\": {\"x\": true}}", "n=7", 7]), "types are kept");
}

#[tokio::test]
async fn a_text_that_is_json_can_be_looked_into() {
    let chain = "
steps:
  - {id: page, tool: echo, args: {value: '{\"main\": {\"temp\": 21.5}}'}}
  - {id: temp, tool: echo, args: {value: '{{page.output.main.temp}}'}}
";
    assert_eq!(output(chain, json!({})).await, json!(21.5));
}

#[tokio::test]
async fn values_are_never_expanded_again() {
    let chain = "
params: [{name: evil}, {name: secret_thing, default: hidden}]
steps:
  - {id: one, tool: echo, args: {value: 'says {{evil}}'}}
  - {id: two, tool: echo, args: {value: '{{one.output}}'}}
";
    let given = json!({"evil": "{{secret_thing}}"});
    assert_eq!(output(chain, given).await, json!("says {{secret_thing}}"));
}

#[tokio::test]
async fn a_header_that_data_would_make_name_a_secret_fails_its_step() {
    let home = Home::new();
    home.vault.keep("TOKEN", "value");
    let server = Server::answering(|_| ok("")).await;
    let url = server.url("/");
    let fetch = |value: &str| {
        format!(
            "params: [{{name: id}}]\nsteps: [{{id: f, ability: http.fetch, args: \
             {{url: '{url}', headers: {{x-key: '{value}'}}, body: '{{{{id}}}}', method: POST}}}}]"
        )
    };
    agent("a")
        .asks(&[&format!("http.fetch:{}", server.host())])
        .set("secrets", json!(["TOKEN"]))
        .chain("own", &fetch("{{secret.TOKEN}}"))
        .chain("data", &fetch("{{id}}"))
        .install(&home);
    let given = json!({"id": "{{secret.TOKEN}}"});
    assert_eq!(home.run("a", task("own"), given.clone()).await.status, RunStatus::Completed);
    let row = home.run("a", task("data"), given).await;
    let reason = "header `x-key` is filled in with text that looks like a secret's name; only the chain itself may name one";
    assert_eq!(row.error, Some(format!("step `f`: {reason}")));
    let sent = server.requests();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(
        sent[0].contains("x-key: value\r\n") && sent[0].ends_with("\r\n\r\n{{secret.TOKEN}}"),
        "{sent:?}"
    );
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_fails_its_step() {
    let chain = "steps: [{id: one, tool: echo, args: {value: 'x {{input.city}}'}}]";
    let (home, row) = run(chain, json!({})).await;
    assert_eq!(row.error.as_deref(), Some("step `one`: `{{input.city}}` names nothing that exists here"));
    assert_eq!(steps(&home, &row.id), [failed("one")]);
}

#[tokio::test]
async fn a_step_whose_condition_does_not_hold_is_skipped() {
    let chain = "
params: [{name: n, type: number}]
steps:
  - {id: big, tool: echo, args: {value: big}, condition: {ref_key: n, op: greater_than, value: 10}}
  - {id: small, tool: echo, args: {value: small}, condition: {ref_key: n, op: less_than, value: '{{limit}}'}}
";
    let chain =
        chain.replace("{name: n, type: number}", "{name: n, type: number}, {name: limit, default: 11}");
    let (home, row) = run(&chain, json!({"n": 12})).await;
    assert_eq!(
        (row.output, steps(&home, &row.id)),
        (Some(json!("big")), vec![done("big"), skipped("small")])
    );
    let (home, row) = run(&chain, json!({"n": 3})).await;
    assert_eq!(
        (row.output, steps(&home, &row.id)),
        (Some(json!("small")), vec![skipped("big"), done("small")])
    );
    let (_, row) = run(&chain, json!({})).await;
    assert_eq!(row.error.as_deref(), Some("step `big`: condition: null is not a number"));
}

#[tokio::test]
async fn on_failure_abort_names_step_tool_and_line() {
    let chain = "steps: [{id: one, tool: fail}, {id: two, tool: echo, args: {value: 2}}]";
    let (home, row) = run(chain, json!({})).await;
    assert_eq!(row.status, RunStatus::Failed);
    assert_eq!(
        row.error.as_deref(),
        Some("step `one`: tool `fail`: tools/fail.lua:2: no luck\n  2 | error(why)")
    );
    assert_eq!(steps(&home, &row.id), [failed("one")]);
}

#[tokio::test]
async fn on_failure_continue_goes_on_with_null() {
    let chain = "
steps:
  - {id: one, tool: fail, on_failure: continue}
  - {id: two, tool: echo, args: {value: ['{{one.output}}']}}
";
    assert_eq!(output(chain, json!({})).await, json!([null]));
}

#[tokio::test]
async fn a_fallback_runs_only_after_a_failure() {
    let chain = "
params: [{name: works, type: boolean}]
steps:
  - {id: try, tool: fail, condition: {ref_key: works, op: equals, value: false}, on_failure: repair}
  - {id: between, tool: echo, args: {value: between}}
  - {id: repair, tool: echo, args: {value: repaired}}
  - {id: end, tool: echo, args: {value: end}}
";
    let (home, row) = run(chain, json!({"works": true})).await;
    assert_eq!(steps(&home, &row.id), [skipped("try"), done("between"), done("end")]);
    let (home, row) = run(chain, json!({"works": false})).await;
    assert_eq!(row.status, RunStatus::Completed);
    assert_eq!(steps(&home, &row.id), [failed("try"), done("repair"), done("end")]);
}

#[tokio::test]
async fn a_retry_waits_longer_each_time() {
    let chain = "
steps:
  - {id: one, tool: third-time, on_failure: {retry: {attempts: 4, delay: 2s, backoff: 3}}}
";
    let home = home_with(chain);
    let run = home.start("a", task("c"), json!({})).await;
    for next in ["00:00:02", "00:00:08"] {
        home.world.asleep_until(at(next)).await;
        home.world.set(at(next));
    }
    let row = home.end_of(&run).await;
    assert_eq!(row.output, Some(json!("at last")));
    let retries: Vec<_> = home
        .record(&run)
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::StepRetry { attempt, error, next_at, .. } => Some((attempt, error, next_at)),
            _ => None,
        })
        .collect();
    let source = "if nb.kv.increment('calls') < 3 then error('not yet') end return 'at last'";
    let reason = format!("tool `third-time`: tools/third-time.lua:1: not yet\n  1 | {source}");
    assert_eq!(retries, [(1, reason.clone(), at("00:00:02")), (2, reason, at("00:00:08"))]);
    assert_eq!(home.store().kv_get("a", "calls").unwrap(), Some(json!(3)));
}

#[tokio::test]
async fn after_its_last_attempt_a_retried_step_fails() {
    let chain = "steps: [{id: one, tool: fail, on_failure: {retry: {attempts: 2}}}]";
    let home = home_with(chain);
    let run = home.start("a", task("c"), json!({})).await;
    home.world.asleep_until(at("00:00:01")).await;
    home.world.set(at("00:00:01"));
    let row = home.end_of(&run).await;
    assert_eq!(
        row.error.as_deref(),
        Some("step `one`: tool `fail`: tools/fail.lua:2: no luck\n  2 | error(why)")
    );
    let attempts =
        home.record(&run).into_iter().filter(|event| matches!(event, RunEvent::StepStarted { .. }));
    assert_eq!(attempts.count(), 2);
}

#[tokio::test]
async fn flow_stop_ends_the_chain_with_its_result() {
    for (args, result) in
        [("{result: {n: 1}}", json!({"n": 1})), ("{reason: enough}", json!("enough")), ("{}", Value::Null)]
    {
        let chain =
            format!("steps: [{{id: s, ability: flow.stop, args: {args}}}, {{id: never, tool: fail}}]");
        assert_eq!(output(&chain, json!({})).await, result);
    }
}

#[tokio::test]
async fn flow_branch_compares_what_ref_key_names() {
    let chain = "
params: [{name: n, type: number}]
steps:
  - {id: many, ability: flow.branch, args: {ref_key: n, op: greater_than, value: 2}}
  - {id: yes, tool: echo, args: {value: many}, condition: {ref_key: many.output, op: equals, value: true}}
  - {id: no, tool: echo, args: {value: few}, condition: {ref_key: many.output, op: equals, value: false}}
";
    assert_eq!(output(chain, json!({"n": 3})).await, json!("many"));
    assert_eq!(output(chain, json!({"n": 1})).await, json!("few"));
}

#[tokio::test]
async fn a_step_comes_after_what_it_depends_on() {
    let chain = "
steps:
  - {id: last, tool: echo, args: {value: '{{first.output}} {{second.output}}'}, depends_on: [second, first]}
  - {id: second, tool: echo, args: {value: 2}, depends_on: [first]}
  - {id: first, tool: echo, args: {value: 1}}
";
    let (home, row) = run(chain, json!({})).await;
    assert_eq!(row.output, Some(json!("1 2")));
    assert_eq!(steps(&home, &row.id), [done("first"), done("second"), done("last")]);
}

#[tokio::test]
async fn the_parameters_of_a_tool_are_checked_against_its_schema() {
    let home = Home::new();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let tools = json!([{"name": "t", "source": "tools/t.lua", "parameters": schema}]);
    agent("a")
        .tool("t", "return parameters.n")
        .set("tools", tools)
        .chain("c", "steps: [{id: one, tool: t, args: {n: many}}]")
        .install(&home);
    let row = home.run("a", task("c"), json!({})).await;
    assert_eq!(
        row.error.as_deref(),
        Some("step `one`: tool `t`: `n` is \"many\", and must be a whole number")
    );
    let row = home.run("a", Target::Tool("t".to_owned()), json!({})).await;
    assert_eq!(row.error.as_deref(), Some("tool `t`: needs `n`"));
}

#[tokio::test]
async fn what_is_to_run_is_named_or_the_only_one() {
    let home = home_with("steps: [{id: one, tool: echo, args: {value: 1}}]");
    assert_eq!(home.run("a", Target::Only, json!({})).await.output, Some(json!(1)));
    for (agent, target, words) in [
        ("a", task("x"), "agent `a` has no task `x`; it has c"),
        ("a", Target::Tool("x".to_owned()), "agent `a` has no tool `x`; it has echo, fail, third-time"),
        ("b", Target::Only, "there is no agent `b`"),
    ] {
        let error = home.try_start(agent, target, json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), words);
    }
    home.set_state("a", nb_store::AgentState::Stopped);
    let error = home.try_start("a", Target::Only, json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "agent `a` is stopped");
}
