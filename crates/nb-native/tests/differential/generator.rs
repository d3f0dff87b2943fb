//! Random programs from a small grammar, each of which can be written in both languages.
//!
//! A number becomes a text through `show` alone: the sign of NaN is the processor's.

mod expressions;

use fastrand::Rng;
use nb_sandbox::Lang;

use crate::program::Program;

/// The same program for the same seed.
pub fn program(lang: Lang, seed: u64) -> Program {
    let (rng, text) = (Rng::with_seed(seed), String::new());
    let mut generator = Generator { lang, rng, variables: Vec::new(), declared: 0, text };
    generator
        .line("local show, out = require(\"show\"), {}", "(local (show out) (values (require :show) []))");
    for _ in 0..10 {
        generator.statement(2);
    }
    generator.line("return out", "out");
    Program::new(format!("random {lang} {seed}"), lang, generator.text)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Text,
    Boolean,
    Table,
}

const KINDS: [Kind; 4] = [Kind::Number, Kind::Text, Kind::Boolean, Kind::Table];

struct Generator {
    lang: Lang,
    rng: Rng,
    variables: Vec<(Kind, String)>,
    declared: usize,
    text: String,
}

impl Generator {
    fn lua(&self) -> bool {
        self.lang == Lang::Lua
    }

    fn line(&mut self, lua: &str, fennel: &str) {
        self.text.push_str(if self.lang == Lang::Lua { lua } else { fennel });
        self.text.push('\n');
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.usize(..of.len())]
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.u32(..if depth == 0 { 5 } else { 9 }) {
            0 | 1 => self.record(),
            2 | 3 => self.declare(),
            4 => self.assign(),
            5 => {
                let condition = self.value(Kind::Boolean);
                self.line(&format!("if {condition} then"), &format!("(if {condition} (do"));
                self.body(depth);
                self.line("else", ") (do");
                self.body(depth);
                self.line("end", "))");
            }
            6 => {
                let name = self.new_name();
                let (from, to) = (self.rng.i32(-3..4), self.rng.i32(-3..4));
                let step = self.pick(&["1", "2", "-1", "0.5"]);
                self.line(
                    &format!("for {name} = {from}, {to}, {step} do"),
                    &format!("(for [{name} {from} {to} {step}]"),
                );
                self.body_with(Kind::Number, name, depth);
                self.line("end", ")");
            }
            7 => {
                let (name, table) = (self.new_name(), self.table(0));
                self.line(
                    &format!("for _, {name} in ipairs({table}) do"),
                    &format!("(each [_ {name} (ipairs {table})]"),
                );
                self.body(depth);
                self.line("end", ")");
            }
            _ => {
                let (name, argument) = (self.new_name(), self.new_name());
                self.variables.push((Kind::Number, argument.clone()));
                let (kind, inner) = (self.pick(&KINDS), self.variables.len());
                let result = self.expression(kind, 3);
                self.variables.truncate(inner - 1);
                let given = self.number(1);
                self.line(
                    &format!("local function {name}({argument}) return {result} end"),
                    &format!("(fn {name} [{argument}] {result})"),
                );
                self.line(
                    &format!("out[#out + 1] = show(pcall({name}, {given}))"),
                    &format!("(table.insert out (show (pcall {name} {given})))"),
                );
            }
        }
    }

    fn body(&mut self, depth: usize) {
        let outer = self.variables.len();
        for _ in 0..self.rng.usize(1..3) {
            self.statement(depth - 1);
        }
        self.variables.truncate(outer);
        // Fennel's forms give their last value; a declaration has none.
        self.line("", "nil");
    }

    fn body_with(&mut self, kind: Kind, name: String, depth: usize) {
        // A copy, because Fennel does not let a loop's own variable be assigned to.
        let outer = self.variables.len();
        let shadow = self.new_name();
        self.line(&format!("local {shadow} = {name}"), &format!("(var {shadow} {name})"));
        self.variables.push((kind, shadow));
        self.body(depth);
        self.variables.truncate(outer);
    }

    /// A value or an error, as text.
    fn record(&mut self) {
        let kind = self.pick(&KINDS);
        let value = self.expression(kind, 4);
        self.line(
            &format!("out[#out + 1] = show(pcall(function() return {value} end))"),
            &format!("(table.insert out (show (pcall (fn [] {value}))))"),
        );
    }

    fn declare(&mut self) {
        let (kind, name) = (self.pick(&KINDS), self.new_name());
        let value = self.value(kind);
        self.line(&format!("local {name} = {value}"), &format!("(var {name} {value})"));
        self.variables.push((kind, name));
    }

    fn assign(&mut self) {
        if self.variables.is_empty() {
            return self.declare();
        }
        let (kind, name) = self.variables[self.rng.usize(..self.variables.len())].clone();
        let value = self.value(kind);
        self.line(&format!("{name} = {value}"), &format!("(set {name} {value})"));
    }

    /// An expression; mostly one whose error is caught and becomes its value.
    fn value(&mut self, kind: Kind) -> String {
        let value = self.expression(kind, 3);
        match (self.rng.u32(..60), self.lua()) {
            (0, _) => value,
            (_, true) => format!("select(2, pcall(function() return {value} end))"),
            (_, false) => format!("(select 2 (pcall (fn [] {value})))"),
        }
    }

    fn new_name(&mut self) -> String {
        self.declared += 1;
        format!("v{}", self.declared)
    }
}
