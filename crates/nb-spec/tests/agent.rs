//! A folder of files becomes an agent, or every reason why not.

use nb_spec::agent::Strictness;
use nb_spec::{Agent, Code, Files, Tool};

const MANIFEST: &str = "name: demo\nversion: 1.0.0\n";

fn files(list: &[(&str, &str)]) -> Files {
    let mut files = Files::default();
    for (name, text) in list {
        files.insert(*name, *text);
    }
    files
}

fn refusals(list: &[(&str, &str)]) -> Vec<String> {
    let Err(problems) = Agent::load(&files(list), Strictness::Build) else { panic!("the agent loads") };
    problems.iter().map(ToString::to_string).collect()
}

fn load(list: &[(&str, &str)]) -> Agent {
    Agent::load(&files(list), Strictness::Build).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn the_smallest_manifest_has_the_documented_defaults() {
    let manifest = load(&[("manifest.yaml", MANIFEST)]).manifest;
    assert_eq!(manifest.memory_bytes(), 64 << 20);
    assert_eq!(manifest.fuel(), 1_000_000);
    assert_eq!(manifest.resources.max_api_calls_per_hour, 100);
    assert_eq!(manifest.kv_namespace(), "demo");
    assert!(!manifest.background);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_what_was_meant() {
    let text = "name: demo\nversion: 1.0.0\nfuel_limits: 5\nresources:\n  max_feul: 3\nzzz: 1\n";
    assert_eq!(
        refusals(&[("manifest.yaml", text)]),
        [
            "manifest.yaml:3: unknown key `fuel_limits`; did you mean `fuel_limit`?",
            "manifest.yaml:5: unknown key `resources.max_feul`; did you mean `max_fuel`?",
            "manifest.yaml:6: unknown key `zzz`",
        ]
    );
}

#[test]
fn a_wrong_type_is_named_with_its_line() {
    let found = refusals(&[("manifest.yaml", "name: demo\nversion: 1.0.0\nmemory_limit_mb: lots\n")]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("manifest.yaml:3: memory_limit_mb: invalid type: string \"lots\""),
        "{}",
        found[0]
    );
}

#[test]
fn a_duplicate_key_is_refused() {
    let found = refusals(&[("manifest.yaml", "name: demo\nversion: 1.0.0\nname: again\n")]);
    assert_eq!(found, ["manifest.yaml:3: duplicate field `name`"]);
}

#[test]
fn a_limit_out_of_bounds_is_refused_with_the_bound() {
    let text =
        "name: demo\nversion: 1.0.0\nmemory_limit_mb: 513\nfuel_limit: 0\nresources: {max_memory_mb: 1}\n";
    assert_eq!(
        refusals(&[("manifest.yaml", text)]),
        [
            "manifest.yaml:3: `memory_limit_mb` must be 2 to 512; it is 513",
            "manifest.yaml:5: `resources.max_memory_mb` must be 2 to 512; it is 1; the interpreter itself takes nearly 2",
            "manifest.yaml:4: `fuel_limit` must be 1 to 100000000000; it is 0",
        ]
    );
}

#[test]
fn the_smaller_of_two_limits_counts() {
    let text = "name: demo\nversion: 1.0.0\nmemory_limit_mb: 200\nfuel_limit: 9\nresources: {max_memory_mb: 32, max_fuel: 70}\n";
    let manifest = load(&[("manifest.yaml", text)]).manifest;
    assert_eq!((manifest.memory_bytes(), manifest.fuel()), (32 << 20, 9));
}

#[test]
fn a_cron_that_never_fires_is_refused() {
    let text =
        "name: demo\nversion: 1.0.0\ntriggers:\n  scheduled:\n    - {chain: c, cron: \"0 0 30 2 *\"}\n";
    let chain = "id: c\nsteps:\n  - {id: stop, ability: flow.stop}\n";
    let found = refusals(&[
        ("manifest.yaml", &format!("{text}permissions: [flow.stop]\n")),
        ("chains/c.yaml", chain),
    ]);
    assert_eq!(
        found,
        ["manifest.yaml:5: schedule of `c`: cron `0 0 30 2 *`: it never fires: no date matches"]
    );
}

#[test]
fn all_problems_of_all_files_are_reported_together() {
    let manifest = "\
name: Demo
version: 1.0.0
permissions: [kv.read, kv.wriet]
triggers:
  scheduled:
    - {chain: nope, interval: 0s}
  webhooks:
    - {path: hook, chain: c, secret: short}
tools:
  - {name: t, source: tools/missing.lua}
";
    let chain = "\
id: c
steps:
  - {id: a, ability: kv.read, args: {key: \"{{who}}\"}}
  - {id: b, ability: notify.user, args: {message: \"{{a.output}}\"}, on_failure: a}
  - {id: b, ability: kv.raed}
";
    assert_eq!(
        refusals(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]),
        [
            "manifest.yaml:1: name `Demo` must have 1 to 64 lower-case letters, digits, `-` or `_`, and begin with a letter or digit",
            "manifest.yaml:3: there is no ability `kv.wriet`; did you mean `kv.write`?",
            "manifest.yaml:6: schedule of `nope`: `0s` is below 1 s, the shortest that is allowed",
            "manifest.yaml:8: webhook path `hook` must begin with / and hold letters, digits and -_.~/ only",
            "manifest.yaml:8: a webhook secret has at least 16 bytes; this has 5",
            "manifest.yaml:10: tool `t`: there is no file `tools/missing.lua`",
            "chains/c.yaml:4: step `b` uses `notify.user`, which the manifest's `permissions` do not list",
            "chains/c.yaml:4: step `b`: `a` does not come after this step",
            "chains/c.yaml:5: step `b`: there is no ability or tool `kv.raed`; did you mean `kv.read`?",
            "chains/c.yaml:5: step `b`: another step has the same id",
            "chains/c.yaml:3: step `a`: `{{who}}`: `who` is no parameter, step or output of this chain",
            "manifest.yaml:6: there is no chain `nope`",
        ]
    );
}

#[test]
fn an_ability_that_this_version_does_not_have_is_a_warning() {
    let manifest = "name: demo\nversion: 1.0.0\npermissions: [search.web]\n";
    let chain = "id: c\nsteps:\n  - {id: find, ability: search.web, params: {query: \"{{input.query}}\"}, on_failure: abort}\n";
    let agent = load(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]);
    let warnings: Vec<String> = agent.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "manifest.yaml:3: warning: there is no ability `search.web` here; the permission grants nothing",
            "chains/c.yaml:3: warning: step `find`: there is no ability `search.web` here; the step will fail",
        ]
    );
}

#[test]
fn steps_that_depend_on_each_other_in_a_circle_do_not_load() {
    let manifest = "name: demo\nversion: 1.0.0\npermissions: [flow.stop]\n";
    let chain = "\
id: c
steps:
  - {id: a, ability: flow.stop, depends_on: [b]}
  - {id: b, ability: flow.stop, depends_on: [a]}
";
    let found = refusals(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]);
    assert_eq!(found, ["chains/c.yaml:2: steps depend on each other in a circle: a, b"]);
}

#[test]
fn a_fallback_that_would_run_before_its_step_does_not_load() {
    let manifest = "name: demo\nversion: 1.0.0\npermissions: [flow.stop]\n";
    let chain = "\
id: c
steps:
  - {id: a, ability: flow.stop, depends_on: [b], on_failure: b}
  - {id: b, ability: flow.stop}
";
    let found = refusals(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]);
    assert_eq!(found, ["chains/c.yaml:3: step `a`: `b` runs before this step, because of `depends_on`"]);
}

#[test]
fn a_step_comes_after_what_it_depends_on() {
    let manifest = "name: demo\nversion: 1.0.0\npermissions: [kv.read]\n";
    let chain = "\
id: c
steps:
  - {id: last, ability: kv.read, args: {key: \"{{first.output}}\"}, depends_on: [first]}
  - {id: first, ability: kv.read, args: {key: k}}
";
    let agent = load(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]);
    let order: Vec<&str> = agent.tasks["c"].steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(order, ["first", "last"]);
}

fn script(tool: &Tool) -> &str {
    match &tool.code {
        Code::Script { text, .. } => text,
        Code::Component(_) => panic!("{} is a component", tool.name),
    }
}

#[test]
fn a_tool_is_read_from_a_file_or_from_the_manifest_with_its_lines() {
    let manifest = "\
name: demo
version: 1.0.0
tools:
  - name: inline
    lua: |
      return 1
  - name: file
    source: tools/file.fnl
";
    let agent = load(&[("manifest.yaml", manifest), ("tools/file.fnl", "(+ 1 2)\n")]);
    assert_eq!(
        script(&agent.tools["inline"]),
        "\n\n\n\n\nreturn 1\n",
        "line 6 of the manifest is line 6 of the source"
    );
    assert_eq!(agent.tools["file"].file, "tools/file.fnl");
}

#[test]
fn a_manifest_may_be_json_and_stands_alone() {
    let json = r#"{"name": "demo", "version": "1.0.0", "permissions": ["kv.read"]}"#;
    assert_eq!(load(&[("manifest.json", json)]).manifest.permissions, ["kv.read"]);
    let found = refusals(&[("manifest.json", json), ("manifest.yaml", MANIFEST)]);
    assert_eq!(found, ["manifest.json: stands beside manifest.yaml; an agent has one manifest"]);
    assert_eq!(refusals(&[]), ["manifest.yaml: not found; an agent's folder has one at its root"]);
}

#[test]
fn the_parameters_of_a_trigger_must_suit_its_chain() {
    let manifest = "\
name: demo
version: 1.0.0
permissions: [flow.stop]
triggers:
  events:
    - {on: DataChanged, chain: c, params: {count: many}}
";
    let chain = "\
id: c
params:
  - {name: count, param_type: number}
  - {name: city, required: true}
steps:
  - {id: stop, ability: flow.stop}
";
    assert_eq!(
        refusals(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]),
        [
            "manifest.yaml:6: parameter `count` of task `c` must be a number; it is \"many\"",
            "manifest.yaml:6: task `c` needs the parameter `city`",
        ]
    );
}

#[test]
fn each_secret_is_asked_for_like_a_permission() {
    let manifest = format!("{MANIFEST}permissions: ['http.fetch:a.example']\nsecrets: [TOKEN, KEY_2]\n");
    let manifest = load(&[("manifest.yaml", &manifest)]).manifest;
    assert_eq!(
        manifest.requested_permissions(),
        ["http.fetch:a.example", "secret.use:TOKEN", "secret.use:KEY_2"]
    );
    for permission in ["secret.use", "secret.use:TOKEN"] {
        let manifest = format!("{MANIFEST}permissions: ['{permission}']\n");
        let reason = "is asked for by naming the secret under `secrets`";
        assert_eq!(
            refusals(&[("manifest.yaml", &manifest)]),
            [format!("manifest.yaml:3: `{permission}` {reason}")]
        );
    }
}

#[test]
fn nothing_in_a_chain_takes_a_name_that_every_chain_has() {
    let manifest = format!("{MANIFEST}permissions: [flow.stop]\n");
    let chain = "\
id: c
params:
  - {name: secret}
  - {name: secrets}
steps:
  - {id: webhook, ability: flow.stop, output_key: event}
  - {id: stop, ability: flow.stop, output_key: trigger}
  - {id: input, ability: flow.stop, output_key: result}
";
    let reason = "is a name that every chain has already; choose another";
    assert_eq!(
        refusals(&[("manifest.yaml", &manifest), ("chains/c.yaml", chain)]),
        [(3, "secret"), (6, "webhook"), (8, "input"), (6, "event"), (7, "trigger")]
            .map(|(line, name)| format!("chains/c.yaml:{line}: `{name}` {reason}"))
    );
}

#[test]
fn an_ampersand_in_a_text_is_no_anchor() {
    let json = "{\n\t\"name\": \"demo\",\n\t\"version\": \"1.0.0\",\n\t\"description\": \"R&D \\/ *\"\n}\n";
    assert_eq!(load(&[("manifest.json", json)]).manifest.description, "R&D / *");
}

#[test]
fn a_document_that_is_made_to_hurt_is_refused() {
    let deep = "[".repeat(200_000);
    let large = format!("name: demo\nversion: 1.0.0\ndescription: {}\n", "x".repeat(300_000));
    let doubling: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
    let tool = "name: demo\nversion: 1.0.0\ntools: [{name: t, lua: x, parameters: *a39}]\n";
    let aliases = format!("a0: &a0 [x]\n{doubling}{tool}");
    for (text, reason) in
        [(deep, "invalid type: sequence"), (large, "at most 262144 are read"), (aliases, "repetition")]
    {
        let found = refusals(&[("manifest.yaml", &text)]);
        assert!(found.iter().any(|problem| problem.contains(reason)), "{reason}: {found:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_problem() {
    assert_eq!(load(&[("manifest.yaml", &format!("\u{feff}{MANIFEST}"))]).manifest.name, "demo");
}

#[test]
fn what_would_fail_at_run_time_is_refused_where_it_can_be_known() {
    let manifest = "\
name: demo
version: 1.0.0
permissions: [kv.read, \"http.fetch:http://x\", \"kv.write:abc\"]
tools:
  - {name: log.info, lua: return 1}
";
    let chain = "\
id: c
steps:
  - {id: a, ability: kv.read, args: {key: \"{{input.x\"}}
  - {id: b, ability: kv.read, args: {key: k}, condition: {ref_key: input, op: matches, value: \"(\"}}
";
    let found = refusals(&[("manifest.yaml", manifest), ("chains/c.yaml", chain)]);
    let starts = [
        "manifest.yaml:3: `http.fetch:http://x`: `http://x` is not a host; write for example",
        "manifest.yaml:3: `kv.write:abc`: `kv.write` has no scopes",
        "manifest.yaml:5: tool `log.info`: an ability has this name",
        "chains/c.yaml:3: step `a`: a `{{` has no `}}` after it",
        "chains/c.yaml:4: step `b`: `(` is not a regular expression",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (problem, start) in found.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}
