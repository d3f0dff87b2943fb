//! What kinds of keys a table has, which decide whether it is an array, an object, or neither.

use mlua::{Integer, LuaString, Table, Value};

/// The keys of a table.
#[derive(Default)]
pub(super) struct Keys {
    integers: u64,
    texts: u64,
    others: u64,
    /// Of the integers.
    least: Integer,
    most: Integer,
    /// The first of the texts in the order of their bytes.
    text: Option<LuaString>,
}

impl Keys {
    pub(super) fn of(table: &Table) -> mlua::Result<Self> {
        let mut keys = Self::default();
        table.for_each(|key: Value, _: Value| {
            keys.count(key);
            Ok(())
        })?;
        Ok(keys)
    }

    fn count(&mut self, key: Value) {
        match key {
            Value::Integer(key) => {
                self.least = if self.integers == 0 { key } else { key.min(self.least) };
                self.most = if self.integers == 0 { key } else { key.max(self.most) };
                self.integers += 1;
            }
            Value::String(key) => {
                self.texts += 1;
                let is_first = |text: &LuaString| *key.as_bytes() < *text.as_bytes();
                if self.text.as_ref().is_none_or(is_first) {
                    self.text = Some(key);
                }
            }
            _ => self.others += 1,
        }
    }

    /// Whether they are 1 to n, which may be none.
    pub(super) fn are_of_a_list(&self) -> bool {
        let whole = self.integers == 0 || (self.least == 1 && u64::try_from(self.most) == Ok(self.integers));
        self.texts == 0 && self.others == 0 && whole
    }

    /// What a table is whose keys are neither 1 to n nor all texts, naming the key that is in the way.
    pub(super) fn misfit(&self, table: &Table) -> mlua::Result<String> {
        if self.others > 0 {
            return Ok(format!("a table with {}", first_other(table)?));
        }
        let text = self.text.as_ref().map(|text| shown(&text.as_bytes()));
        Ok(match text {
            Some(text) if self.integers > 0 => {
                format!("a table with both the key {} and the key {text}", self.least)
            }
            Some(text) => format!("a table with the key {text}"),
            None if self.least < 1 => format!("a table with the key {}", self.least),
            None => {
                let mut missing: Integer = 1;
                while !table.raw_get::<Value>(missing)?.is_nil() {
                    missing += 1;
                }
                format!("a table with the key {} and without the key {missing}", self.most)
            }
        })
    }
}

/// Of the keys that are neither integers nor texts the one that comes first as a text: a table has no order of its own.
fn first_other(table: &Table) -> mlua::Result<String> {
    let mut told = Vec::new();
    table.for_each(|key: Value, _: Value| {
        told.push(match key {
            Value::Integer(_) | Value::String(_) => return Ok(()),
            Value::Table(_) => "a table as a key".to_owned(),
            Value::Function(_) => "a function as a key".to_owned(),
            Value::Thread(_) => "a coroutine as a key".to_owned(),
            other => format!("the key {}", other.to_string()?),
        });
        Ok(())
    })?;
    Ok(told.into_iter().min().unwrap_or_default())
}

/// A text as it stands in a message, where control characters and what is not UTF-8 would spoil it.
pub(super) fn shown(text: &[u8]) -> String {
    let text: String = crate::failure::lossy(text).chars().map(|c| if c < ' ' { '?' } else { c }).collect();
    format!("\"{text}\"")
}
