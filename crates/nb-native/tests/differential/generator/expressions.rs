//! Expressions of a kind, and now and then of another one.

use std::fmt::Write as _;

use super::{Generator, KINDS, Kind};

impl Generator {
    pub(super) fn expression(&mut self, kind: Kind, depth: usize) -> String {
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

    pub(super) fn number(&mut self, depth: usize) -> String {
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

    pub(super) fn table(&mut self, depth: usize) -> String {
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
