//! What a message of Lua says about a variable.

/// What was done with the value of a variable when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// `x.y`, `x[y]`, `x:y()`
    Index,
    /// `x()`
    Call,
    /// `#x`
    Length,
    /// An operand of one of these.
    Operand(&'static [&'static str]),
}

const ARITHMETIC: &[&str] = &["+", "-", "*", "/", "//", "%", "^"];
const BITWISE: &[&str] = &["&", "|", "~", "<<", ">>"];
const CONCATENATION: &[&str] = &[".."];

/// How messages begin, and what they are about.
const BEGINNINGS: [(&str, Use); 7] = [
    ("attempt to index a ", Use::Index),
    ("attempt to call a ", Use::Call),
    ("attempt to get length of a ", Use::Length),
    ("attempt to perform arithmetic on a ", Use::Operand(ARITHMETIC)),
    ("attempt to perform bitwise operation on a ", Use::Operand(BITWISE)),
    ("attempt to concatenate a ", Use::Operand(CONCATENATION)),
    ("number (", Use::Operand(BITWISE)),
];

/// The variable of a message, such as `attempt to index a nil value (local 'x')`.
#[derive(Debug)]
pub(super) struct Variable<'m> {
    /// Lua's word for it: `local`, `upvalue`, `global`, `field`, `method`, `constant`; `function` for one whose
    /// argument is bad.
    pub(super) kind: &'m str,
    /// Its name in the Lua program.
    pub(super) name: &'m str,
    /// Whether its value is nil.
    pub(super) is_nil: bool,
    pub(super) used: Use,
}

impl<'m> Variable<'m> {
    pub(super) fn parse(message: &'m str) -> Option<Self> {
        if let Some(argument) = message.strip_prefix("bad argument #") {
            let (name, _) = argument.split_once(" to '")?.1.split_once('\'')?;
            return Some(Self { kind: "function", name, is_nil: false, used: Use::Call });
        }
        let (start, used) = BEGINNINGS.into_iter().find(|(start, _)| message.starts_with(start))?;
        let value = message.get(start.len()..)?;
        let description = match message.strip_prefix("number (") {
            Some(description) => description.strip_suffix(") has no integer representation")?,
            None => value.split_once(" (")?.1.strip_suffix(')')?,
        };
        let (kind, name) = description.split_once(" '")?;
        let name = name.strip_suffix('\'')?;
        Some(Self { kind, name, is_nil: value.starts_with("nil value"), used })
    }

    /// Whether it is a variable of its own, not a part of a table.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.kind, "local" | "upvalue" | "global")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_variable() {
        for (message, kind, name, is_nil, used) in [
            ("attempt to index a nil value (local 'x')", "local", "x", true, Use::Index),
            ("attempt to call a table value (field 'b c')", "field", "b c", false, Use::Call),
            ("attempt to get length of a nil value (global 'x')", "global", "x", true, Use::Length),
            (
                "attempt to perform arithmetic on a nil value (upvalue 'x')",
                "upvalue",
                "x",
                true,
                Use::Operand(ARITHMETIC),
            ),
            ("number (local 'x') has no integer representation", "local", "x", false, Use::Operand(BITWISE)),
            ("bad argument #1 to 'insert' (table expected, got nil)", "function", "insert", false, Use::Call),
        ] {
            let variable = Variable::parse(message).unwrap();
            assert_eq!((variable.kind, variable.name), (kind, name), "{message}");
            assert_eq!((variable.is_nil, variable.used), (is_nil, used), "{message}");
        }
    }

    #[test]
    fn a_message_without_a_variable_has_none() {
        for message in [
            "",
            "boom",
            "attempt to compare nil with number",
            "attempt to index a nil value",
            "attempt to index a nil value (",
            "attempt to index a nil value ()",
            "attempt to index a nil value (local 'x'",
            "number has no integer representation",
            "number (local 'x'",
            "number ()",
            "bad argument #1 to 'x",
            "t.lua:1: attempt to index a nil value (local 'x')",
        ] {
            assert!(Variable::parse(message).is_none(), "{message}");
        }
    }
}
