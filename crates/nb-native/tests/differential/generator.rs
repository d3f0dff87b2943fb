//! Random programs from a small grammar, each of which can be written in both languages.
//!
//! A number becomes a text through `show` alone: the sign of NaN is the processor's.

use std::fmt::Write as _;

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

    // Statements

    fn statement(&mut self, depth: usize) {
        match self.rng.u32(..if depth == 0 { 5 } else { 9 }) {
            0 | 1 => self.record(),
            2 | 3 => self.declare(),
            4 => self.assign(),
            5 => {
                let condition = self.expression(Kind::Boolean, 2);
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
                let (name, table) = (self.new_name(), self.table(2));
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
        // Not assigned to: Fennel forbids it. A text stands for a variable that cannot be set.
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
        match (self.rng.u32(..20), self.lua()) {
            (0, _) => value,
            (_, true) => format!("select(2, pcall(function() return {value} end))"),
            (_, false) => format!("(select 2 (pcall (fn [] {value})))"),
        }
    }

    fn new_name(&mut self) -> String {
        self.declared += 1;
        format!("v{}", self.declared)
    }

    // Expressions

    fn expression(&mut self, kind: Kind, depth: usize) -> String {
        if self.rng.u32(..25) == 0 {
            return self.wrong();
        }
        let named: Vec<_> =
            self.variables.iter().filter(|(of, _)| *of == kind).map(|(_, name)| name.clone()).collect();
        if !named.is_empty() && self.rng.u32(..4) == 0 {
            return named[self.rng.usize(..named.len())].clone();
        }
        match kind {
            Kind::Number => self.number(depth),
            Kind::Text => self.string(depth),
            Kind::Boolean => self.boolean(depth),
            Kind::Table => self.table(depth),
        }
    }

    /// A value of a kind that is likely not the one that is needed.
    fn wrong(&mut self) -> String {
        self.pick(&["nil", "true", "{}", "print", "\"7\"", "\" 0x10 \"", "\"a\"", "3.5"]).to_owned()
    }

    fn call(&self, function: &str, arguments: &[String]) -> String {
        if self.lua() {
            format!("{function}({})", arguments.join(", "))
        } else {
            format!("({function} {})", arguments.join(" "))
        }
    }

    fn binary(&self, lua: &str, fennel: &str, left: &str, right: &str) -> String {
        if self.lua() { format!("({left} {lua} {right})") } else { format!("({fennel} {left} {right})") }
    }

    fn number(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.rng.u32(..if depth == 0 { 3 } else { 10 }) {
            0 => self.rng.i32(-9..10).to_string(),
            1 => self.pick(&["0.5", "-2.5", "1e15", "-0.0", "3.0", "0x7f", "1e308", "255"]).to_owned(),
            2 => self.pick(&["math.maxinteger", "math.mininteger", "math.huge", "math.pi"]).to_owned(),
            3..=6 => {
                let (lua, fennel) = self.pick(&[
                    ("+", "+"),
                    ("-", "-"),
                    ("*", "*"),
                    ("/", "/"),
                    ("//", "//"),
                    ("%", "%"),
                    ("^", "^"),
                    ("&", "band"),
                    ("|", "bor"),
                    ("~", "bxor"),
                    ("<<", "lshift"),
                    (">>", "rshift"),
                ]);
                let (left, right) =
                    (self.expression(Kind::Number, below), self.expression(Kind::Number, below));
                self.binary(lua, fennel, &left, &right)
            }
            7 => {
                let function =
                    self.pick(&["math.floor", "math.ceil", "math.abs", "math.tointeger", "math.sqrt"]);
                let argument = self.expression(Kind::Number, below);
                self.call(function, &[argument])
            }
            8 => {
                let function = self.pick(&["math.max", "math.min", "math.fmod"]);
                let arguments = [self.expression(Kind::Number, below), self.expression(Kind::Number, below)];
                self.call(function, &arguments)
            }
            _ => {
                let function = self.pick(&["string.len", "tonumber", "string.byte", "utf8.len", "rawlen"]);
                let argument = self.expression(Kind::Text, below);
                self.call(function, &[argument])
            }
        }
    }

    fn string(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.rng.u32(..if depth == 0 { 2 } else { 9 }) {
            0 => self.pick(&[r#""""#, r#""abc""#, r#""a b  c""#, r#""é𝄞""#, r#""\000\255""#]).to_owned(),
            1 => self.pick(&[r#""12""#, r#""0x1p4""#, r#""-7.25""#, r#""k=v, x=1""#]).to_owned(),
            2 => {
                let (left, right) = (self.expression(Kind::Text, below), self.expression(Kind::Text, below));
                self.binary("..", "..", &left, &right)
            }
            3 => {
                let kind = self.pick(&KINDS);
                let argument = self.expression(kind, below);
                self.call("show", &[argument])
            }
            4 => {
                let text = self.expression(Kind::Text, below);
                let (from, to) = (self.expression(Kind::Number, below), self.expression(Kind::Number, below));
                self.call("string.sub", &[text, from, to])
            }
            5 => {
                let function = self.pick(&["string.upper", "string.lower", "string.reverse", "type"]);
                let argument = self.expression(Kind::Text, below);
                self.call(function, &[argument])
            }
            6 => {
                let text = self.expression(Kind::Text, below);
                let pattern = self.pattern();
                let replacement = self.pick(&[r#""<%0>""#, r#""%1""#, r#""""#, "string.upper", r#""%2""#]);
                self.call("string.gsub", &[text, pattern, replacement.into(), "5".into()])
            }
            7 => {
                let format = self.pick(&[r#""%5d|""#, r#""%x""#, r#""%-4d.""#, r#""%+i""#, r#""%c""#]);
                let argument = self.expression(Kind::Number, below);
                self.call("string.format", &[format.into(), argument])
            }
            _ => {
                let table = self.expression(Kind::Table, below);
                self.call("show", &[table])
            }
        }
    }

    fn pattern(&mut self) -> String {
        let count = self.rng.usize(1..4);
        let mut pattern = String::from("\"");
        for _ in 0..count {
            let piece = self.pick(&[
                "a", ".", "%a+", "(%w)", "[^b-c]", "%s*", "()", "%d-", "%f[%w]", "%b()", "$", "^", "(", "[a",
                "%1",
            ]);
            pattern.push_str(piece);
        }
        pattern.push('"');
        pattern
    }

    fn boolean(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.rng.u32(..if depth == 0 { 1 } else { 5 }) {
            0 => self.pick(&["true", "false", "nil"]).to_owned(),
            1 => {
                let kind = self.pick(&[Kind::Number, Kind::Text]);
                let (left, right) = (self.expression(kind, below), self.expression(kind, below));
                let operator = self.pick(&["<", "<=", ">", ">="]);
                self.binary(operator, operator, &left, &right)
            }
            2 => {
                let kind = self.pick(&KINDS);
                let (left, right) = (self.expression(kind, below), self.expression(kind, below));
                let (lua, fennel) = self.pick(&[("==", "="), ("~=", "not=")]);
                self.binary(lua, fennel, &left, &right)
            }
            3 => {
                let (left, right) = (self.boolean(below), self.boolean(below));
                let operator = self.pick(&["and", "or"]);
                self.binary(operator, operator, &left, &right)
            }
            _ => {
                let inner = self.expression(Kind::Boolean, below);
                self.call("not", &[inner])
            }
        }
    }

    fn table(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        let mut inside = String::new();
        for _ in 0..self.rng.usize(..4) {
            let kind = self.pick(&KINDS);
            let member = self.expression(kind, below);
            let _ = write!(inside, "{member}{} ", if self.lua() { "," } else { "" });
        }
        if self.lua() {
            return format!("{{{inside}k = {below}}}");
        }
        format!("[{inside}]")
    }
}
