//! JSON text (RFC 8259) to a Lua value.

use mlua::{Lua, Table, Value};

use super::{ArrayMark, JsonError, MAX_DEPTH};

/// Characters of a number; the longest double that means something is shorter.
const MAX_NUMBER: usize = 512;

const TOO_DEEP: &str = "the nesting is too deep, at most 128 levels are read";

/// The value of a text, or what is wrong with it and at which byte.
pub(crate) fn decode(lua: &Lua, mark: &ArrayMark, text: &[u8]) -> Result<Value, JsonError> {
    let mut reader = Reader { lua, mark, text, at: 0 };
    let value = reader.value(0).and_then(|value| {
        reader.skip_space();
        if reader.at == text.len() {
            Ok(value)
        } else {
            Err(Failure::Text("there is something after the value"))
        }
    });
    value.map_err(|failure| match failure {
        Failure::Text(what) => JsonError::Refused(format!("{what} (byte {})", reader.at + 1)),
        Failure::Lua(error) => JsonError::Lua(error),
    })
}

enum Failure {
    Text(&'static str),
    Lua(mlua::Error),
}

impl From<mlua::Error> for Failure {
    fn from(error: mlua::Error) -> Self {
        Self::Lua(error)
    }
}

type Read<T> = Result<T, Failure>;

fn fail<T>(what: &'static str) -> Read<T> {
    Err(Failure::Text(what))
}

struct Reader<'a> {
    lua: &'a Lua,
    mark: &'a ArrayMark,
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Read<Value> {
        if depth == MAX_DEPTH {
            return fail(TOO_DEEP);
        }
        self.skip_space();
        match self.peek() {
            Some(b'{') => Ok(Value::Table(self.object(depth + 1)?)),
            Some(b'[') => Ok(Value::Table(self.array(depth + 1)?)),
            Some(b'"') => self.string(),
            Some(b't') => self.word("true", Value::Boolean(true)),
            Some(b'f') => self.word("false", Value::Boolean(false)),
            Some(b'n') => self.word("null", Value::Nil),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => fail("a value was expected"),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Read<Value> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return fail("a value was expected");
        }
        self.at += word.len();
        Ok(value)
    }

    fn digits(&mut self, missing: &'static str) -> Read<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { fail(missing) } else { Ok(()) }
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("a number needs a digit")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("a number needs a digit after its point")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits("a number needs a digit in its exponent")?;
        }
        if self.at - start > MAX_NUMBER {
            return fail("a number is too long");
        }
        // An integer where one fits, else a float; it is ASCII.
        let text = str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if let Ok(integer) = text.parse() {
            return Ok(Value::Integer(integer));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Number(number)),
            Ok(_) => {
                self.at = start;
                fail("a number is larger than a double can be")
            }
            Err(_) => fail("a number cannot be read"),
        }
    }

    fn string(&mut self) -> Read<Value> {
        if self.peek() != Some(b'"') {
            return fail("a string was expected");
        }
        self.at += 1;
        let mut unescaped = Vec::new();
        let mut start = self.at;
        loop {
            while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
                self.at += 1;
            }
            let plain = &self.text[start..self.at];
            match self.peek() {
                None => return fail("a string is not closed"),
                Some(b'"') => {
                    self.at += 1;
                    let string = if unescaped.is_empty() {
                        self.lua.create_string(plain)?
                    } else {
                        unescaped.extend_from_slice(plain);
                        self.lua.create_string(&unescaped)?
                    };
                    return Ok(Value::String(string));
                }
                Some(b'\\') => {
                    unescaped.extend_from_slice(plain);
                    self.at += 1;
                    let escaped = self.escape()?;
                    unescaped.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
                    start = self.at;
                }
                Some(_) => return fail("a string has a control character"),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        Ok(match self.next() {
            None => return fail("a string is not closed"),
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            Some(_) => {
                self.at -= 1;
                return fail("a string has an unknown escape");
            }
        })
    }

    fn code_point(&mut self) -> Read<char> {
        const ALONE: &str = "a surrogate stands alone";
        let mut units = [self.hex4()?, 0];
        let mut count = 1;
        if (0xD800..0xDC00).contains(&units[0]) {
            if !self.text[self.at..].starts_with(b"\\u") {
                return fail(ALONE);
            }
            self.at += 2;
            units[1] = self.hex4()?;
            count = 2;
        }
        match char::decode_utf16(units[..count].iter().copied()).next() {
            Some(Ok(character)) => Ok(character),
            _ => fail(ALONE),
        }
    }

    fn hex4(&mut self) -> Read<u16> {
        const MISSING: &str = "\\u needs four hexadecimal digits";
        if self.text.len() - self.at < 4 {
            return fail(MISSING);
        }
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return fail(MISSING) };
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }

    fn array(&mut self, depth: usize) -> Read<Table> {
        let table = self.lua.create_table()?;
        self.mark.put_on(&table)?;
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(table);
        }
        for index in 1.. {
            let value = self.value(depth)?;
            table.raw_set(index, if value.is_nil() { Value::NULL } else { value })?;
            self.skip_space();
            match self.next() {
                None => return fail("an array is not closed"),
                Some(b']') => break,
                Some(b',') => {}
                Some(_) => {
                    self.at -= 1;
                    return fail("an array needs a comma between its elements");
                }
            }
        }
        Ok(table)
    }

    fn object(&mut self, depth: usize) -> Read<Table> {
        let table = self.lua.create_table()?;
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(table);
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return fail("a key needs a colon after it");
            }
            self.at += 1;
            let value = self.value(depth)?;
            table.raw_set(key, value)?;
            self.skip_space();
            match self.next() {
                None => return fail("an object is not closed"),
                Some(b'}') => return Ok(table),
                Some(b',') => {}
                Some(_) => {
                    self.at -= 1;
                    return fail("an object needs a comma between its members");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_that_is_told_is_the_one_that_counts() {
        assert!(TOO_DEEP.contains(&format!(" {MAX_DEPTH} ")));
    }
}
