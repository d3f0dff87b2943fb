//! Tools of several files: `require`, and macros from modules.

use crate::common::{fennel, lua};
use nb_sandbox::{Limit, Position, ScriptErrorKind, ToolError};

const LUA_TEXT: &str = "local text = {}\nfunction text.shout(s) return s:upper() .. '!' end\nreturn text";
const FENNEL_TEXT: &str = "(fn shout [s] (.. (string.upper s) \"!\"))\n{: shout}";

#[test]
fn both_languages_require_modules_of_both_languages() {
    for (file, text) in [("text.lua", LUA_TEXT), ("text.fnl", FENNEL_TEXT)] {
        for script in [
            lua("return require('text').shout('hi')"),
            fennel("(let [text (require :text)] (text.shout :hi))"),
            fennel("(local {: shout} (require :text))\n(shout :hi)"),
        ] {
            assert_eq!(script.module(file, text).result(), r#""HI!""#, "{file}");
        }
    }
}

#[test]
fn a_module_has_its_name_with_and_without_the_folders_above_it() {
    for name in ["text", "lib.text", "tools.lib.text"] {
        let source = format!("return require('{name}').shout('a')");
        assert_eq!(lua(&source).module("text.lua", LUA_TEXT).result(), r#""A!""#);
        let source = format!("((. (require \"{name}\") :shout) :a)");
        assert_eq!(fennel(&source).module("text.fnl", FENNEL_TEXT).result(), r#""A!""#);
    }
    // All of them are one module.
    let same = "return require('text') == require('lib.text') and require 'text' == require 'tools.lib.text'";
    assert_eq!(lua(same).module("text.lua", LUA_TEXT).result(), "true");
}

#[test]
fn a_module_whose_own_name_begins_with_lib_is_found_by_it() {
    let script = lua("return {require 'text', require 'lib.text', require 'lib.lib.text'}");
    let script = script.module("text.lua", "return 'outer'").module("lib/text.lua", "return 'inner'");
    assert_eq!(script.result(), r#"["outer","inner","inner"]"#);
}

#[test]
fn a_module_can_be_in_a_folder_or_be_a_folder() {
    let script = lua("return require('shapes').square + require('shapes.round.circle')");
    let script = script
        .module("shapes/init.lua", "return {square = require('shapes.flat')}")
        .module("shapes/flat.lua", "return 4")
        .module("shapes/round/circle.fnl", "1");
    assert_eq!(script.result(), "5");
}

#[test]
fn what_a_module_returns_is_what_require_returns() {
    for (text, expected) in [
        ("", "true"),
        ("return nil", "true"),
        ("return false", "false"),
        ("return 7, 8", "7"),
        ("return function() return 1 end", r#""function""#),
        ("return ...", r#""m""#),
    ] {
        let source = "local v = require 'm' return type(v) == 'function' and type(v) or v";
        assert_eq!(lua(source).module("m.lua", text).result(), expected, "{text}");
    }
}

#[test]
fn a_module_runs_once_in_a_call_and_anew_in_the_next() {
    let script = || {
        lua("require 'm' require 'lib.m' require 'm' return loaded")
            .module("m.lua", "loaded = (loaded or 0) + 1")
    };
    assert_eq!(script().result(), "1");
    assert_eq!(script().result(), "1");
    let script = lua("require 'm' require 'm' return loaded");
    assert_eq!(script.module("m.lua", "loaded = (loaded or 0) + 1 return false").result(), "1");
}

#[test]
fn modules_see_the_variables_and_the_host() {
    let script = lua("return require 'm'").with(r#"{"parameters":{"name":"Ada"}}"#);
    let module = "return parameters.name .. nb.call('x', {a = 1}).a";
    assert_eq!(script.module("m.lua", module).result(), r#""Ada1""#);
}

#[test]
fn modules_that_require_one_another_are_an_error_and_not_a_loop() {
    let script =
        lua("return require 'a'").module("a.lua", "return require 'b'").module("b.lua", "return require 'a'");
    let error = script.script_error();
    assert_eq!(error.message, "module 'a' requires itself, or failed when it was required before");
    assert_eq!(error.position, Some(Position { file: "tools/lib/b.lua".into(), line: 1, column: None }));
    let script = fennel("(require :a)").module("a.fnl", "(require :a)");
    assert!(script.script_error().message.starts_with("module 'a' requires itself"));
    // One that failed can be tried again, and says so.
    let script = lua("pcall(require, 'a')\nreturn require('a')").module("a.lua", "error('broken')");
    assert!(script.script_error().message.ends_with("failed when it was required before"));
}

#[test]
fn a_module_that_does_not_exist_is_an_error_that_lists_those_that_do() {
    let script =
        lua("local x = 1\nreturn require('txet')").module("text.lua", LUA_TEXT).module("a/b.fnl", "1");
    let error = script.script_error();
    assert_eq!(error.message, "module 'txet' not found; tools/lib has text, a.b");
    assert_eq!(error.position, Some(Position { file: "test.lua".into(), line: 2, column: None }));
    let error = fennel("(require :txet)").module("text.lua", LUA_TEXT).script_error();
    assert_eq!(error.message, "module 'txet' not found; tools/lib has text");
    let error = lua("return require()").module("text.lua", LUA_TEXT).script_error();
    assert!(error.message.contains("bad argument #1"), "{error}");
}

#[test]
fn a_name_that_is_made_at_run_time_finds_only_what_is_named_elsewhere() {
    let script = |source: &str| lua(source).module("text.lua", LUA_TEXT);
    let error = script("return require('te' .. 'xt')").script_error();
    assert_eq!(
        error.message,
        "module 'text' is not compiled into this tool: `require` needs its name as a literal text"
    );
    assert_eq!(script("local name = 'text' return require(name).shout('a')").result(), r#""A!""#);
    let source = "local names = {'text'} local get = require return get(names[1]).shout('a')";
    assert_eq!(script(source).result(), r#""A!""#);
}

#[test]
fn a_tool_without_modules_has_no_require() {
    assert_eq!(lua("return require == nil").result(), "true");
    assert_eq!(lua("return require == nil").module("text.lua", LUA_TEXT).result(), "false");
    assert_eq!(lua("return {package == nil, io == nil, os == nil}").result(), "[true,true,true]");
    let source = "return {package == nil, io == nil, os == nil, debug == nil}";
    assert_eq!(lua(source).module("text.lua", LUA_TEXT).result(), "[true,true,true,true]");
}

#[test]
fn an_error_in_a_module_has_its_file_and_line() {
    for (script, file, text) in [
        (
            lua("local m = require 'deep'\nm.fail(1)"),
            "deep.lua",
            "local m = {}\nfunction m.fail(n)\n  error('deep down')\nend\nreturn m",
        ),
        (
            fennel("(local m (require :deep))\n(m.fail 1) nil"),
            "deep.fnl",
            "(local m {})\n(fn m.fail [n]\n  (error \"deep down\"))\nm",
        ),
    ] {
        let error = script.module(file, text).script_error();
        let file = format!("tools/lib/{file}");
        assert_eq!(error.message, "deep down");
        assert_eq!(error.position, Some(Position { file: file.clone(), line: 3, column: None }));
        assert!(error.excerpt.as_deref().unwrap().contains("deep down"), "{error:?}");
        assert!(error.traceback.contains(&format!("{file}:3: in ")), "{}", error.traceback);
        assert!(error.traceback.contains(&format!("{}:2: in main chunk", error.tool)), "{}", error.traceback);
    }
}

#[test]
fn an_error_while_a_module_is_loaded_tells_who_required_it() {
    let script = lua("local a = require 'a'").module("a.lua", "\nlocal b = require 'b'");
    let error = script.module("b.fnl", "\n\n(error :broken)").script_error();
    assert_eq!(error.to_string().lines().next(), Some("tools/lib/b.fnl:3: broken"));
    for line in ["tools/lib/b.fnl:3: in ", "tools/lib/a.lua:2: in ", "test.lua:1: in main chunk"] {
        assert!(error.traceback.contains(line), "{}", error.traceback);
    }
}

#[test]
fn a_module_that_is_no_program_is_an_error_of_compiling_with_its_file() {
    for (file, text, line) in
        [("m.lua", "local a = 1\nlocal = 2", 2), ("m.fnl", "(local a 1)\n(let [x] x)", 2)]
    {
        for script in [lua("return require 'm'"), fennel("(require :m)")] {
            let ToolError::Script(error) = script.module(file, text).compile_error() else { panic!() };
            assert_eq!(error.kind, ScriptErrorKind::Syntax);
            let position = error.position.as_ref().expect("a position");
            assert_eq!((position.file.as_ref(), position.line), (format!("tools/lib/{file}").as_str(), line));
            assert_eq!(error.excerpt.as_deref(), text.lines().nth(1));
        }
    }
}

#[test]
fn a_module_that_nobody_requires_is_not_compiled() {
    let broken = "local = ";
    assert_eq!(lua("return 1").module("broken.lua", broken).result(), "1");
    assert_eq!(
        lua("return require('text').shout('a')")
            .module("text.lua", LUA_TEXT)
            .module("broken.lua", broken)
            .result(),
        r#""A!""#
    );
    let large: String = (0..1000).map(|i| format!("print('line {i}')\n")).collect();
    let size = |source: &str| lua(source).module("large.lua", &large).compile().unwrap().size();
    assert!(size("return 1") < 200, "{}", size("return 1"));
    assert!(size("return require 'large'") > 20_000);
    assert!(size("return 'large'") < 200);
}

#[test]
fn a_module_that_is_required_by_a_module_is_compiled_as_well() {
    let mut script = lua("return require('m0')");
    for i in 0..20 {
        script = script.module(&format!("m{i}.lua"), &format!("return require('m{}') + 1", i + 1));
    }
    assert_eq!(script.module("m20.fnl", "0").result(), "20");
}

#[test]
fn a_tool_can_have_200_modules() {
    let names: Vec<String> = (0..200).map(|i| format!("'m{i}'")).collect();
    let names = names.join(", ");
    let source =
        format!("local n = 0 for _, name in ipairs {{{names}}} do n = n + require(name) end return n");
    let mut script = lua(&source);
    for i in 0..200 {
        script = script.module(&format!("m{i}.lua"), &format!("return {i}"));
    }
    assert_eq!(script.result(), (0..200).sum::<u32>().to_string());
    let mut script = lua("return 1");
    for i in 0..255 {
        script = script.module(&format!("m{i}.lua"), "return 1");
    }
    assert!(script.compile_error().to_string().contains("a tool can have 254 modules"));
}

#[test]
fn what_a_module_does_is_limited_like_the_script() {
    let script = lua("return require 'm'").module("m.lua", "while true do end");
    script.exceeds(Limit::Fuel);
    let script = fennel("(require :m)").module("m.fnl", "(string.rep :x 1000000000)");
    script.exceeds(Limit::Memory);
}

const MACROS: &str = ";; fennel-ls: macro-file\n(fn twice [x] `(let [v# ,x] (+ v# v#)))\n{: twice}";

#[test]
fn fennel_macros_come_from_a_module() {
    for source in [
        "(import-macros {: twice} :macros)\n(twice 21)",
        "(import-macros m :macros)\n(m.twice 21)",
        "(import-macros {: twice} :lib.macros)\n(twice 21)",
        "(import-macros {: twice} :tools.lib.macros)\n(twice 21)",
        "(require-macros :macros)\n(twice 21)",
    ] {
        assert_eq!(fennel(source).module("macros.fnl", MACROS).result(), "42", "{source}");
    }
    let script = fennel("(import-macros {: twice} :macros)\n(twice 21)");
    assert_eq!(script.module("macros/init-macros.fnl", MACROS).result(), "42");
    let script = fennel("(import-macros {: twice} :my.macros)\n(twice 21)");
    assert_eq!(script.module("my/macros.fnl", MACROS).result(), "42");
    let script = fennel("(import-macros {: twice} :macros)\n(twice 21)");
    assert_eq!(
        script.module("macros.lua", "return {twice = function(x) return list(sym('*'), 2, x) end}").result(),
        "42"
    );
}

#[test]
fn a_module_uses_macros_of_another_one() {
    let script = fennel("((. (require :double) :of) 21)");
    let script = script.module("double.fnl", "(import-macros {: twice} :macros)\n{:of (fn [x] (twice x))}");
    assert_eq!(script.module("macros.fnl", MACROS).result(), "42");
}

#[test]
fn a_macro_module_requires_others() {
    let script = fennel("(import-macros {: fourfold} :outer)\n(fourfold 3)");
    let outer =
        "(local names (require :names))\n(fn fourfold [x] `(let [v# ,x] (* ,names.four v#)))\n{: fourfold}";
    assert_eq!(script.module("outer.fnl", outer).module("names.fnl", "{:four 4}").result(), "12");
    let script = fennel("(import-macros {: fourfold} :outer)\n(fourfold 3)");
    let outer =
        "(import-macros {: twice} :macros)\n(fn fourfold [x] (let [n (twice 2)] `(* ,n ,x)))\n{: fourfold}";
    assert_eq!(script.module("outer.fnl", outer).module("macros.fnl", MACROS).result(), "12");
}

#[test]
fn a_macro_module_is_not_a_part_of_the_tool() {
    let script = fennel("(import-macros {: twice} :macros)\n(twice 21)").module("macros.fnl", MACROS);
    assert!(script.compile().unwrap().size() < 300, "{}", script.compile().unwrap().size());
    // Nor does a text that happens to be its name make it one.
    let script = fennel("(import-macros {: twice} :macros)\n(require :text)\n(.. :macros (twice 21))");
    assert_eq!(script.module("macros.fnl", MACROS).module("text.fnl", FENNEL_TEXT).result(), r#""macros42""#);
}

#[test]
fn an_error_of_a_macro_has_a_place() {
    let broken = "(fn broken [x] (error \"no such thing\"))\n{: broken}";
    let script = fennel("(import-macros {: broken} :macros)\n(broken 1)").module("macros.fnl", broken);
    let error = script.compile_error().to_string();
    assert_eq!(error.lines().next(), Some("tools/lib/macros.fnl:1: no such thing (used at test.fnl:2)"));
    let script = fennel("(import-macros {: twice} :macros)\n(twice 1)")
        .module("macros.fnl", "(fn twice [x]\n  (let [y] y))");
    let error = script.compile_error().to_string();
    assert!(error.starts_with("tools/lib/macros.fnl:2:"), "{error}");
    let error = fennel("(import-macros {: twice} :nowhere)\n(twice 1)").compile_error().to_string();
    assert_eq!(error.lines().next(), Some("test.fnl:1:1: Compile error: nowhere module not found."));
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn a_file_can_be_included() {
    for (file, text) in [("text.fnl", FENNEL_TEXT), ("text.lua", LUA_TEXT)] {
        let script = fennel("(local text (include :text))\n(text.shout :a)").module(file, text);
        assert_eq!(script.result(), r#""A!""#, "{file}");
    }
    let script = fennel("(local text (include :text))\n(text.shout :a)").module("text.fnl", "(let [x] x)");
    assert!(script.compile_error().to_string().starts_with("tools/lib/text.fnl:1:"));
}

#[test]
fn macros_reach_nothing_outside_of_the_package() {
    for source in [
        "(macro m [] (io.open \"/etc/passwd\"))\n(m)",
        "(macro m [] (os.getenv :HOME))\n(m)",
        "(macro m [] (require :os))\n(m)",
        "(import-macros m :/etc/passwd)",
        "(import-macros m \"../../secret\")",
    ] {
        let error = fennel(source).module("text.fnl", FENNEL_TEXT).compile_error();
        assert!(matches!(error, ToolError::Script(_)), "{source}: {error:?}");
    }
    let error = fennel("(include :/etc/passwd)").module("text.fnl", FENNEL_TEXT).script_error();
    assert_eq!(error.message, "module '/etc/passwd' not found; tools/lib has text");
}
