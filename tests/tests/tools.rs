//! Tools: what they give, how they fail, and that no limit can be outrun.

use std::time::{Duration, Instant};

use nb_tests::{Agent, Home};
use serde_json::json;

#[test]
fn lua_and_fennel_tools_answer() {
    let daemon = Home::new().start();
    let agent = Agent::new("two")
        .tool("lua.lua", "return {sum = parameters.a + parameters.b, list = {1, 2, 3}}")
        .tool("fennel.fnl", "{:sum (+ parameters.a parameters.b) :text \"grüß\"}");
    daemon.install(&agent);
    let parameters = json!({"a": 40, "b": 2});
    assert_eq!(daemon.result("two", "lua", &parameters), json!({"sum": 42, "list": [1, 2, 3]}));
    assert_eq!(daemon.result("two", "fennel", &parameters), json!({"sum": 42, "text": "grüß"}));
}

#[test]
fn an_error_names_the_file_and_the_line_of_its_author() {
    let daemon = Home::new().start();
    let agent = Agent::new("wrong")
        .tool("lua.lua", "local a = 1\n\nreturn a.b.c\n")
        .tool("fennel.fnl", ";; a comment\n(local a 1)\n(fn twice [x]\n  (+ x x))\n(twice nil)\n")
        .tool("raises.lua", "error({code = 7})");
    daemon.install(&agent);
    let failure = |tool| daemon.failure("wrong", tool, &json!({}));
    assert!(failure("lua").starts_with("tool `lua`: tools/lua.lua:3:8: "), "{}", failure("lua"));
    assert!(failure("lua").ends_with("\n  3 | return a.b.c\n    |        ^"), "{}", failure("lua"));
    assert!(failure("fennel").starts_with("tool `fennel`: tools/fennel.fnl:4: "), "{}", failure("fennel"));
    assert!(failure("raises").starts_with("tool `raises`: tools/raises.lua"), "{}", failure("raises"));
}

#[test]
fn a_tool_that_does_not_compile_is_not_installed() {
    let daemon = Home::new().start();
    let package = daemon.package(&Agent::lua("broken", "return 1\nreturn (2\n"));
    let refused = daemon.install_with(&package, &["--grant", "all"]).fails(1);
    assert!(refused.error().starts_with("tool `tool`: tools/tool.lua:2:1: "), "{refused}");
    daemon.nbctl(&["ls"]).success().stdout_contains("no agent is installed");
}

#[test]
fn parameters_are_checked_by_the_schema() {
    let daemon = Home::new().start();
    let schema =
        "{type: object, properties: {n: {type: integer, minimum: 1}, who: {type: string}}, required: [n]}";
    daemon.install(&Agent::new("strict").tool_with("count.lua", "return parameters.n", schema));
    let run = |words: &[&str]| daemon.nbctl(&[&["run", "strict", "--tool", "count"], words].concat());
    run(&["-p", "n=3"]).success().stdout_contains("3");
    run(&[]).fails(1).stderr_contains("needs `n`");
    run(&["-p", "n=many"]).fails(1).stderr_contains("`n` is \"many\", and must be a whole number");
    run(&["-p", "n=0"]).fails(1).stderr_contains("`n` is 0, and must be at least 1");
    run(&["-p", "n=1", "--input", "[1]"]).fails(2).stderr_contains("its parameters");
    // A text stays a text, whatever it looks like.
    daemon.install(&Agent::new("text").tool_with(
        "who.lua",
        "return parameters.who",
        "{type: object, properties: {who: {type: string}}}",
    ));
    daemon.nbctl(&["--json", "run", "text", "-p", "who=17"]).success().stdout_contains("\"output\":\"17\"");
}

/// What a tool does without end, the name of the limit that ends it, the figure that is allowed, and the key that raises
/// it.
const ENDLESS: [(&str, &str, &str, &str, &str); 6] = [
    ("computes", "while true do end", "out of fuel", "20000000", "`resources.max_fuel`"),
    (
        "matches",
        "return (('a'):rep(30)):find(('a?'):rep(30) .. ('a'):rep(30))",
        "out of fuel",
        "20000000",
        "`fuel_limit`",
    ),
    (
        "allocates",
        "local all = {}; while true do all[#all + 1] = ('x'):rep(1000000) .. #all end",
        "out of memory",
        "67108864 bytes",
        "`memory_limit_mb`",
    ),
    (
        "answers",
        "return ('x'):rep(2000000)",
        "the result is too large",
        "1048576 bytes",
        "`limits.output_bytes`",
    ),
    ("asks", "while true do nb.time() end", "too many host calls", "10000", "`limits.host_calls`"),
    (
        "sends",
        "local x = ('x'):rep(500000); while true do nb.kv.set('k', x) end",
        "too much data exchanged with the host",
        "16777216 bytes",
        "`limits.host_bytes`",
    ),
];

#[test]
fn what_never_ends_is_ended_by_a_limit_with_its_name_and_both_figures() {
    let daemon = Home::new().start();
    let agent = Agent::new("endless")
        .permissions(&["kv.write", "log.info"])
        .yaml("fuel_limit: 20000000\nresources: {max_fuel: 20000000}");
    let agent =
        ENDLESS.iter().fold(agent, |agent, (name, source, ..)| agent.tool(&format!("{name}.lua"), source));
    daemon.install(&agent.tool("fine.lua", "return 'fine'"));
    for (name, _, limit, allowed, key) in ENDLESS {
        let failure = daemon.failure("endless", name, &json!({}));
        let begin = format!("tool `{name}`: tools/{name}.lua: {limit}: {allowed} allowed, ");
        let (told, hint) = failure.split_once('\n').unwrap_or_else(|| panic!("no hint: {failure:?}"));
        assert!(hint.starts_with("hint: ") && hint.contains(key), "{failure:?} does not name {key}");
        let used = told.strip_prefix(&begin);
        let used = used.and_then(|rest| rest.strip_suffix(" used").or(rest.strip_suffix(" asked for")));
        let used = used.unwrap_or_else(|| panic!("{failure:?} does not begin with {begin:?}"));
        let number = |text: &str| text.split(' ').next().unwrap().parse::<u64>().unwrap();
        assert!(number(used) >= number(allowed), "{failure}");
        assert_eq!(daemon.result("endless", "fine", &json!({})), "fine", "after {name}");
    }
}

#[test]
fn recursion_without_end_is_an_error_of_the_script() {
    let daemon = Home::new().start();
    let agent = Agent::new("deep")
        .tool("deep.lua", "local function f(n) return 1 + f(n + 1) end\nreturn f(0)")
        .tool(
            "c.lua",
            "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}); return t[1]",
        )
        .tool("deeper.fnl", "(fn f [n] (+ 1 (f (+ n 1))))\n(f 0)")
        .tool("fine.lua", "return 'fine'");
    daemon.install(&agent);
    for tool in ["deep", "c", "deeper"] {
        let failure = daemon.failure("deep", tool, &json!({}));
        assert!(failure.contains("overflow") || failure.contains("out of "), "{tool}: {failure}");
        assert_eq!(daemon.result("deep", "fine", &json!({})), "fine");
    }
}

#[test]
fn a_log_without_end_is_cut_and_says_how_much_is_missing() {
    let daemon = Home::new().config("limits: {log_bytes: 10000}").start();
    daemon.install(&Agent::lua(
        "chatty",
        "for i = 1, 2000 do print('line ' .. i .. ('.'):rep(100)) end\nreturn 'done'",
    ));
    let run = daemon.call("chatty", "tool", &json!({}));
    assert_eq!(run["output"], "done", "{run}");
    let record = daemon.get(&format!("/v1/runs/{}", run["id"].as_str().unwrap()));
    let lines: Vec<&str> =
        record["events"].as_array().unwrap().iter().filter_map(|event| event["message"].as_str()).collect();
    let kept: usize = lines.iter().map(|line| line.len()).sum();
    assert!(kept < 11_000 && lines[0].starts_with("line 1."), "{kept} bytes in {} lines", lines.len());
    let last = lines.last().unwrap();
    assert!(last.contains("dropped") || last.contains("log"), "{last}");
    assert!(!last.starts_with("line"), "{last}");
}

#[test]
fn time_ends_a_tool_that_has_fuel_left() {
    let daemon = Home::new().config("limits: {wall_ms: 200}").start();
    daemon.install(
        &Agent::lua("slow", "while true do end")
            .yaml("fuel_limit: 10000000000\nresources: {max_fuel: 10000000000}"),
    );
    let begun = Instant::now();
    let failure = daemon.failure("slow", "tool", &json!({}));
    assert!(failure.starts_with("tool `tool`: tools/tool.lua: out of time: 200 ms allowed, "), "{failure}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_tool_that_spins_holds_nobody_up() {
    let daemon = Home::new().config("limits: {wall_ms: 60000}").start();
    daemon.install(
        &Agent::lua("spins", "while true do end")
            .yaml("fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}"),
    );
    daemon.install(&Agent::lua("quick", "return 'quick'"));
    let spinning: Vec<String> = (0..4).map(|_| daemon.begin("spins")).collect();
    let begun = Instant::now();
    for _ in 0..10 {
        assert_eq!(daemon.result("quick", "tool", &json!({})), "quick");
    }
    // Four of them share two cores with the daemon and the command, so that a call gets a part of one.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(spinning.iter().all(|run| daemon.status_of(run) == "running"));
    daemon.nbctl(&["stop", "spins"]).success();
    for run in spinning {
        assert_eq!(daemon.ended(&run)["run"]["status"], "cancelled");
    }
}
