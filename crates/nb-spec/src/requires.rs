//! The modules that scripts require by a literal name, and whether the package has them.
//!
//! A module that is not there would be an error of the call, maybe weeks after the install. It is an error here only
//! where every call comes by: at the top of a script. Inside of a function, a condition or a `pcall` the script may be
//! ready for it, so that it is a warning. A name that is made while the script runs is left alone, and so is a whole file
//! that uses `require` in another way than to call it, since there the name may have come to mean something else.

use std::collections::BTreeMap;

use crate::agent::Agent;
use crate::document::nearest;
use crate::module::Module;
use crate::problem::Problems;
use crate::tool::{Code, Lang, Tool};
use crate::words::{Word, words};

/// The folders that may stand in front of a module's name.
const FOLDERS: [&str; 3] = ["tools.lib.", "lib.", ""];
/// The longest script that is looked at, in bytes. Its words take many times the room of its text.
const LONGEST: usize = 1 << 20;
/// What a sandboxed script has without `require`.
const GLOBALS: &[&str] = &["coroutine", "fennel", "json", "math", "nb", "string", "table", "utf8"];
/// What `require` finds on native Lua wherever it runs.
const NATIVE: &[&str] =
    &["_G", "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8"];
/// The most modules that a message lists.
const LISTED: usize = 10;

impl Agent {
    /// The modules that its scripts require by a literal name and the package does not have. It is an error, but for
    /// scripts outside of the sandbox a warning: there the machine may have the module.
    pub fn missing_modules(&self) -> Problems {
        let mut problems = Problems::default();
        check(&self.tools, &self.modules, &mut problems);
        problems
    }
}

pub(crate) fn check(tools: &BTreeMap<String, Tool>, modules: &[Module], problems: &mut Problems) {
    let mut machine_may_have = false;
    for tool in tools.values() {
        let Code::Script { lang, text, sandboxed } = &tool.code else { continue };
        machine_may_have |= !sandboxed;
        check_script(&tool.file, *lang, text, !sandboxed, modules, problems);
    }
    for module in modules {
        // Which tools use it is not known: a warning where one of them might find it on the machine.
        check_script(&module.file, module.lang, &module.text, machine_may_have, modules, problems);
    }
}

fn check_script(
    file: &str,
    lang: Lang,
    text: &str,
    machine_may_have: bool,
    modules: &[Module],
    problems: &mut Problems,
) {
    for Required { name, line, always } in required(lang, text) {
        if is_there(name, modules)
            || (lang == Lang::Fennel && is_fennels_own(name))
            || (machine_may_have && (NATIVE.contains(&name) || is_fennels_own(name)))
        {
            continue;
        }
        let hint = if problems.is_full() { String::new() } else { hint(name, machine_may_have, modules) };
        if machine_may_have {
            let message =
                format!("there is no module `{name}` in the package, only maybe on the machine{hint}");
            problems.warning(file, Some(line), message);
        } else if always {
            problems.error(file, Some(line), format!("there is no module `{name}`{hint}"));
        } else {
            problems.warning(file, Some(line), format!("there is no module `{name}`{hint}"));
        }
    }
}

fn is_there(name: &str, modules: &[Module]) -> bool {
    FOLDERS.iter().filter_map(|folder| name.strip_prefix(folder)).any(|name| {
        let is_it = |module: &Module| {
            // What a macro module requires is found by Fennel, which knows one name more.
            module.name == name || module.name.strip_suffix(".init-macros") == Some(name)
        };
        modules.iter().any(is_it)
    })
}

/// Modules of the compiler, which macros can require.
fn is_fennels_own(name: &str) -> bool {
    name == "fennel" || name.starts_with("fennel.")
}

fn hint(name: &str, machine_may_have: bool, modules: &[Module]) -> String {
    let folder = FOLDERS.into_iter().find(|folder| name.starts_with(folder)).unwrap_or_default();
    let own = &name[folder.len()..];
    let names = || modules.iter().map(|module| module.name.as_str());
    if let Some(meant) = nearest(own, names()) {
        return format!("; did you mean `{folder}{meant}`?");
    }
    if machine_may_have {
        return String::new();
    }
    if GLOBALS.contains(&name) {
        return format!("; `{name}` is there without `require`");
    }
    if modules.is_empty() {
        return "; the package has no file below tools/lib".to_owned();
    }
    let listed: Vec<&str> = names().take(LISTED).collect();
    let more = if modules.len() > LISTED { ", …" } else { "" };
    format!("; tools/lib has {}{more}", listed.join(", "))
}

/// A literal name that is required, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Required<'a> {
    name: &'a str,
    line: usize,
    /// Whether every call of the script comes by.
    always: bool,
}

fn required(lang: Lang, text: &str) -> Vec<Required<'_>> {
    // Most scripts require nothing.
    if text.len() > LONGEST || !(text.contains("require") || text.contains("include")) {
        return Vec::new();
    }
    let words = words(lang, text);
    let found = match lang {
        Lang::Lua => in_lua(&words),
        Lang::Fennel => in_fennel(&words),
    };
    found.unwrap_or_default()
}

/// `require "name"` and `require("name")`; none when the name `require` is used in another way.
fn in_lua<'a>(words: &[(Word<'a>, usize)]) -> Option<Vec<Required<'a>>> {
    let mut found = Vec::new();
    let mut blocks = 0_usize;
    for (at, (word, line)) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| words[before].0);
        let is_field = matches!(before, Some(Word::Mark("." | ":")));
        let after = |steps: usize| words.get(at + steps).map(|(word, _)| *word);
        match word {
            Word::Name("function" | "if" | "do" | "repeat") if !is_field => blocks += 1,
            Word::Name("end" | "until") if !is_field => blocks = blocks.saturating_sub(1),
            // `_G["require"] = …`
            Word::Text(Some("require")) if after(1) == Some(Word::Mark("]")) => return None,
            _ => {}
        }
        if *word != Word::Name("require") {
            continue;
        }
        if is_field {
            if after(1) == Some(Word::Mark("=")) {
                return None;
            }
            continue;
        }
        match (before, after(1), after(2), after(3)) {
            (Some(Word::Name("function")), ..) => return None,
            (_, Some(Word::Text(name)), ..)
            | (_, Some(Word::Mark("(")), Some(Word::Text(name)), Some(Word::Mark(")" | ","))) => {
                // What stands behind `and` or `or` is not always asked for.
                let chosen = matches!(before, Some(Word::Name("and" | "or")));
                let always = blocks == 0 && !chosen;
                found.extend(name.map(|name| Required { name, line: *line, always }));
            }
            (_, Some(Word::Mark("(")), ..) => {}
            _ => return None,
        }
    }
    Some(found)
}

/// `(require :name)`, `(include :name)`, and the same with `"name"`; none when the name `require` is used in another
/// way.
fn in_fennel<'a>(words: &[(Word<'a>, usize)]) -> Option<Vec<Required<'a>>> {
    let mut found = Vec::new();
    // For each open bracket, whether what is in it is always carried out.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some((word, line)) = words.get(at) {
        let next = words.get(at + 1).map(|(word, _)| *word);
        at += 1;
        let before = at.checked_sub(2).map(|before| words[before].0);
        let is_head = before == Some(Word::Mark("("));
        let always = open.iter().all(|always| *always);
        match word {
            Word::Mark("(") => {
                let is_function = matches!(before, Some(Word::Mark("#") | Word::Name("#")));
                open.push(!is_function && next.is_some_and(is_always));
            }
            Word::Mark("[" | "{") => open.push(true),
            Word::Mark(")" | "]" | "}") => drop(open.pop()),
            Word::Name("comment") if is_head => {
                at = end_of_list(words, at);
                open.pop();
            }
            Word::Name("require" | "include") if is_head => {
                if let Some(Word::Text(Some(name))) = next {
                    found.push(Required { name, line: *line, always });
                }
            }
            Word::Name("require") => return None,
            _ => {}
        }
    }
    Some(found)
}

/// Whether a list that begins so carries out everything that is in it.
fn is_always(head: Word<'_>) -> bool {
    const HEADS: [&str; 11] =
        ["require", "include", "local", "global", "var", "let", "do", ".", ":", "..", "values"];
    matches!(head, Word::Name(name) if HEADS.contains(&name)) || head == Word::Mark("(")
}

/// Behind the list in which `at` stands.
fn end_of_list(words: &[(Word<'_>, usize)], at: usize) -> usize {
    let mut open = 1;
    for (index, (word, _)) in words.iter().enumerate().skip(at) {
        match word {
            Word::Mark("(" | "[" | "{") => open += 1,
            Word::Mark(")" | "]" | "}") => open -= 1,
            _ => {}
        }
        if open == 0 {
            return index + 1;
        }
    }
    words.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lang: Lang, text: &str) -> Vec<(&str, usize)> {
        required(lang, text).into_iter().map(|found| (found.name, found.line)).collect()
    }

    #[test]
    fn literal_names_are_found_in_lua() {
        for (text, expected) in [
            ("local a = require 'a'\nlocal b = require(\"b.c\")", vec![("a", 1), ("b.c", 2)]),
            ("require [[a]] require [==[\nb]==] (require)('c')", vec![]),
            ("require [[a]] require [==[\nb]==]", vec![("a", 1), ("b", 1)]),
            ("f(require'a', x ..require'b')", vec![("a", 1), ("b", 1)]),
            ("return require('a').b", vec![("a", 1)]),
            // No literal, or not the global.
            ("require('a' .. x) require(x) require('a'):b() t.require('c') t:require 'd'", vec![("a", 1)]),
            ("require 'a\\98'", vec![]),
            // No code.
            ("-- require 'a'\n--[[ require 'b'\n]] --[==[ ]] require 'c' ]==] require 'd'", vec![("d", 3)]),
            ("local s = \"require 'a'\" .. 'require \"b\" \\' require \"c\"' .. [[require 'd']]", vec![]),
            ("#!/usr/bin/lua require 'a'\nrequire 'b'", vec![("b", 2)]),
            // May be something else.
            ("local function require(name) return name end return require('a')", vec![]),
            ("local require = find return require('a')", vec![]),
            ("return function(require) return require('a') end", vec![]),
            ("pcall(require, 'a') require('b')", vec![]),
        ] {
            assert_eq!(names(Lang::Lua, text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_script_may_be_ready_for_is_no_error() {
        let always = |lang, text| required(lang, text).iter().map(|found| found.always).collect::<Vec<_>>();
        for (text, expected) in [
            ("local a = require 'a' if x then require 'b' end require 'c'", vec![true, false, true]),
            ("pcall(function() return require('a') end) return require('b')", vec![false, true]),
            (
                "for _ = 1, 2 do require 'a' end while x do require 'b' end require 'c'",
                vec![false, false, true],
            ),
            ("repeat require 'a' until x.end_ require 'b' x['end'] = require 'c'", vec![false, true, true]),
            ("local a = x or require 'a'", vec![false]),
            ("_G.require = f require 'a'", vec![]),
            ("_G['require'] = f require 'a'", vec![]),
        ] {
            assert_eq!(always(Lang::Lua, text), expected, "{text}");
        }
        for (text, expected) in [
            ("(local {: a} (require :a)) (let [b (require :b)] (b))", vec![true, true]),
            ("((. (require :a) :f))", vec![true]),
            (
                "(if x (require :a)) (pcall #(require :b)) (fn f [] (require :c)) (require :d)",
                vec![false, false, false, true],
            ),
            ("(comment (if (require :a))) (require :b)", vec![true]),
        ] {
            assert_eq!(always(Lang::Fennel, text), expected, "{text}");
        }
    }

    #[test]
    fn literal_names_are_found_in_fennel() {
        for (text, expected) in [
            ("(local a (require :a))\n(local {: b} (require \"b.c\"))", vec![("a", 1), ("b.c", 2)]),
            ("((. (require :a) :x) #(require :b) (include :c))", vec![("a", 1), ("b", 1), ("c", 1)]),
            ("(require (.. :a :b)) (require x) (a.require :b) (require-macros :c)", vec![]),
            ("; (require :a)\n\"(require :b)\\\" (require :c)\" (require :d)", vec![("d", 2)]),
            ("(comment (require :a) [(require :b)]) (require :c)", vec![("c", 1)]),
            ("(local require find) (require :a)", vec![]),
            ("(fn [require] (require :a))", vec![]),
            ("(pcall require :a)", vec![]),
        ] {
            assert_eq!(names(Lang::Fennel, text), expected, "{text}");
        }
    }
}
