//! The same programs in the guest and in native Lua. Both must give the same result, or fail in the same way at the
//! same line, ask the host for the same, and print the same. `README.md` says how to add a program.
#![allow(clippy::unwrap_used)]

mod generator;
mod interpreters;
mod program;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nb_sandbox::Lang;

use crate::interpreters::Interpreters;
use crate::program::Program;

/// How many random programs are made of each language.
const RANDOM_PROGRAMS: u64 = 200;

/// Runs all of them, and tells of those that do not do what they should together.
fn compare(programs: &[Program]) {
    let interpreters = Interpreters::new();
    let next = AtomicUsize::new(0);
    let compare_some = || {
        let mut failures = Vec::new();
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            failures.extend(interpreters.compare(program));
        }
        failures
    };
    let mut failures: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(compare_some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} programs differ:\n\n{}",
        failures.len(),
        programs.len(),
        failures.concat()
    );
}

fn all() -> Vec<Program> {
    let mut programs = program::read_folder("lua");
    programs.extend(program::read_folder("fennel"));
    programs
}

#[test]
fn programs_do_the_same_in_the_guest_and_in_native_lua() {
    let programs = all();
    assert!(programs.len() >= 300, "only {} programs", programs.len());
    compare(&programs);
}

#[test]
fn known_differences_are_these() {
    compare(&program::read_folder("known"));
}

#[test]
fn random_programs_do_the_same_in_the_guest_and_in_native_lua() {
    let programs: Vec<_> = (0..RANDOM_PROGRAMS)
        .flat_map(|seed| [generator::program(Lang::Lua, seed), generator::program(Lang::Fennel, seed)])
        .collect();
    compare(&programs);
}

/// The names that no program mentions.
fn without_program<'a>(names: &'a BTreeSet<String>, programs: &[Program]) -> Vec<&'a String> {
    let mentions = |program: &Program, name: &str| {
        program.text().match_indices(name).any(|(start, _)| {
            let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '?' | '>');
            let (before, after) = (&program.text()[..start], &program.text()[start + name.len()..]);
            !before.ends_with(part_of_name) && !after.starts_with(part_of_name)
        })
    };
    names.iter().filter(|name| !programs.iter().any(|program| mentions(program, name))).collect()
}

#[test]
fn each_function_of_the_guest_has_a_program() {
    let list = "local names = {}
        for key, value in pairs(_G) do
          if type(value) == 'function' then names[#names + 1] = key end
          if type(value) == 'table' and value ~= _G and key ~= 'nb' then
            for inner in pairs(value) do names[#names + 1] = key .. '.' .. inner end
          end
        end
        return names";
    let functions = Interpreters::new().names_in_guest(&Program::new("functions", Lang::Lua, list));
    assert!(functions.contains("string.format") && functions.contains("pcall"), "{functions:?}");
    assert_eq!(without_program(&functions, &all()), Vec::<&String>::new());
}

#[test]
fn each_form_of_fennel_has_a_program() {
    let list = "(icollect [name {: special? : macro?} (pairs (fennel.syntax))]
                  (when (or special? macro?) name))";
    let mut forms = Interpreters::new().names_in_native(&Program::new("forms", Lang::Fennel, list));
    assert!(forms.contains("icollect") && forms.contains("let"), "{forms:?}");
    assert!(forms.remove("with-open"), "it needs files");
    assert_eq!(without_program(&forms, &program::read_folder("fennel")), Vec::<&String>::new());
}
