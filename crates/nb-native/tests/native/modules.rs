//! Tools of several files.

use nb_sandbox::{ScriptErrorKind, ToolError};

use crate::common::{fennel, lua};

#[test]
fn a_module_has_the_names_of_its_path_and_is_loaded_once() {
    let source = "local a, b, c = require('text'), require('lib.text'), require('tools.lib.text')
        return {a == b, b == c, a.shout('x'), loads}";
    let module = "loads = (loads or 0) + 1 return {shout = function(s) return s .. '!' end}";
    assert_eq!(lua(source).module("text.lua", module).result(), r#"[true,true,"x!",1]"#);
}

#[test]
fn a_module_whose_own_name_begins_with_lib_is_found_by_it() {
    let script = lua("return {(require 'text'), (require 'lib.text'), (require 'lib.lib.text')}");
    let script = script.module("text.lua", "return 'outer'").module("lib/text.lua", "return 'inner'");
    assert_eq!(script.result(), r#"["outer","inner","inner"]"#);
}

#[test]
fn what_a_module_returns_is_what_require_returns() {
    for (text, expected) in
        [("", "true"), ("return false", "false"), ("return 7, 8", "7"), ("return ...", r#""m""#)]
    {
        let script = lua("local value = require('lib.m') return value").module("m.lua", text);
        assert_eq!(script.evaluate().unwrap(), expected, "{text}");
    }
}

#[test]
fn modules_that_require_one_another_are_an_error_and_not_a_loop() {
    let script =
        lua("return require 'a'").module("a.lua", "return require 'b'").module("b.lua", "return require 'a'");
    let message = "module 'a' requires itself, or failed when it was required before";
    assert_eq!(script.fails(), format!("tools/lib/b.lua:1: {message}"));
    let script = lua("pcall(require, 'a')\nreturn require('a')").module("a.lua", "error('broken')");
    assert_eq!(script.fails(), format!("test.lua:2: {message}"));
    let again = "require('a') package.loaded.a = nil return require('a')";
    assert_eq!(lua(again).module("a.lua", "n = (n or 0) + 1 return n").result(), "2");
}

#[test]
fn modules_of_both_languages_find_each_other() {
    let script = fennel("(let [twice (require :deep.twice)] (twice 4))")
        .module("deep/twice.lua", "local add = require('add') return function(x) return add(x, x) end")
        .module("add.fnl", "(fn [a b] (+ a b))");
    assert_eq!(script.result(), "8");
}

#[test]
fn a_module_of_the_package_comes_before_those_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["own", "other"] {
        std::fs::write(folder.path().join(format!("{name}.lua")), "return 'of the machine'").unwrap();
    }
    let source = format!(
        "package.path = '{}/?.lua' return {{(require('own')), (require('other'))}}",
        folder.path().display()
    );
    let script = lua(&source).module("own.lua", "return 'of the package'");
    assert_eq!(script.result(), r#"["of the package","of the machine"]"#);
}

#[test]
fn macros_come_from_modules() {
    let script = || {
        fennel("(import-macros {: unless} :control)\n(unless false :yes)")
            .module("control.fnl", "{:unless (fn [condition ...] `(if (not ,condition) (do ,...)))}")
    };
    assert_eq!(script().result(), r#""yes""#);
    script().check().unwrap();
    let script = fennel("(import-macros {: five} :numbers)\n(five)")
        .module("numbers.lua", "return {five = function() return list(sym('+'), 2, 3) end}");
    assert_eq!(script.result(), "5");
}

#[test]
fn macro_modules_use_one_another_and_a_file_can_be_included() {
    let outer =
        "(import-macros {: twice} :macros)\n(fn fourfold [x] (let [n (twice 2)] `(* ,n ,x)))\n{: fourfold}";
    let macros = "(fn twice [x] `(let [v# ,x] (+ v# v#)))\n{: twice}";
    let script = fennel("(import-macros {: fourfold} :lib.outer)\n(fourfold 3)");
    let script = script.module("outer.fnl", outer).module("macros/init-macros.fnl", macros);
    script.check().unwrap();
    assert_eq!(script.result(), "12");
    let script = fennel("(local text (include :text))\n(text.shout :a)");
    assert_eq!(script.module("text.lua", "return {shout = string.upper}").result(), r#""A""#);
}

#[test]
fn an_error_in_a_module_is_where_it_is() {
    let error =
        lua("\nrequire('text').fail()").module("text.lua", "return {\nfail = function() error('x') end}");
    let error = error.script_error();
    assert_eq!(error.position.map(|at| (at.file, at.line)), Some(("tools/lib/text.lua".into(), 2)));
    assert_eq!(error.message, "x");
    assert_eq!(
        error.traceback,
        "[C]: in function 'error'\ntools/lib/text.lua:2: in function 'text.fail'\ntest.lua:2: in main chunk"
    );
    let error = lua("\nrequire('text')").module("text.lua", "error('x')").script_error();
    assert_eq!(
        error.traceback,
        "[C]: in function 'error'\ntools/lib/text.lua:1: in main chunk\n[C]: in function 'require'\n\
         test.lua:2: in main chunk"
    );

    let error = fennel("(require :text)").module("text.fnl", "\n(let [x]\n  x)").fails();
    assert!(error.starts_with("tools/lib/text.fnl:2: Compile error: expected even number"), "{error}");
}

#[test]
fn all_files_are_checked() {
    let position = |error: ToolError| match error {
        ToolError::Script(error) => {
            assert_eq!(error.kind, ScriptErrorKind::Syntax);
            error.position.map(|position| (position.file, position.line)).unwrap()
        }
        other => panic!("{other:?}"),
    };
    let good = "return require('text')";
    assert_eq!(position(lua("return 1\n+").check().unwrap_err()), ("test.lua".into(), 2));
    let broken = lua(good).module("text.lua", "\n\nreturn (").check().unwrap_err();
    assert_eq!(position(broken), ("tools/lib/text.lua".into(), 3));
    let broken = lua(good).module("text.fnl", "(local x 1)\n\n(fn)").check().unwrap_err();
    assert_eq!(position(broken), ("tools/lib/text.fnl".into(), 3));
    let broken = fennel("\n(import-macros {: m} :text)").module("text.fnl", "\n\n{:m (fn)}").check();
    assert_eq!(position(broken.unwrap_err()), ("tools/lib/text.fnl".into(), 3));
    lua(good).module("text.lua", "return error('is not run')").check().unwrap();
}

#[test]
fn a_macro_that_never_ends_is_stopped() {
    let error = fennel("(macro m [] (while true nil))\n(m)").check().unwrap_err();
    assert!(error.to_string().contains("out of "), "{error}");
}
