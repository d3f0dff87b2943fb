//! A Lua value to JSON text. Tables are read raw: no metamethod of a script runs.

use std::fmt::Write as _;

use mlua::{Integer, Number, Table, Value};

use super::keys::{Keys, shown};
use super::{ArrayMark, JsonError, MAX_DEPTH};

/// How much of the path is told to a table that is nested too deep: of one in itself the whole of it is as long as it
/// is useless.
const SHOWN_DEPTH: usize = 8;

/// The longest text. It is held outside of Lua's memory, in the room that the child process has beside it.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// The text of a value, or why it has no JSON form and where that stands.
pub(crate) fn encode(mark: &ArrayMark, value: &Value) -> Result<String, JsonError> {
    let mut writer = Writer { mark, out: String::new() };
    writer.value(value, None, 0)?;
    Ok(writer.out)
}

/// An object, written member by member.
pub(crate) struct ObjectWriter<'a>(Writer<'a>);

impl<'a> ObjectWriter<'a> {
    pub(crate) fn new(mark: &'a ArrayMark) -> Self {
        Self(Writer { mark, out: "{".into() })
    }

    pub(crate) fn put(&mut self, key: &str, value: &Value) -> Result<(), JsonError> {
        if self.0.out.len() > 1 {
            self.0.out.push(',');
        }
        self.0.string(key.as_bytes(), None)?;
        self.0.out.push(':');
        self.0.value(value, None, 0)
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.out.push('}');
        self.0.out
    }
}

/// Where a value stands inside of the one that is written.
struct Place<'a> {
    outer: Option<&'a Place<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Key(&'a str),
    Index(Integer),
}

fn describe(place: Option<&Place<'_>>) -> String {
    let Some(Place { outer, step }) = place else { return String::new() };
    let outer = describe(*outer);
    match step {
        // As C reads a text: up to its first zero.
        Step::Key(key) => format!("{outer}.{}", key.split('\0').next().unwrap_or_default()),
        Step::Index(index) => format!("{outer}[{index}]"),
    }
}

fn refuse<T>(place: Option<&Place<'_>>, what: &str) -> Result<T, JsonError> {
    refuse_with(place, what, "")
}

/// `more` follows the place.
fn refuse_with<T>(place: Option<&Place<'_>>, what: &str, more: &str) -> Result<T, JsonError> {
    let place = describe(place);
    let place = if place.is_empty() { place } else { format!(" (at {place})") };
    Err(JsonError::Refused(format!("{what} cannot be written as JSON{place}{more}")))
}

fn refuse_keys<T>(table: &Table, keys: &Keys, place: Option<&Place<'_>>) -> Result<T, JsonError> {
    const ADVICE: &str = "; an array has the keys 1 to n (`json.null` fills a gap), and an object has texts \
                          (`tostring(key)` makes one of a number)";
    refuse_with(place, &keys.misfit(table)?, ADVICE)
}

fn refuse_depth<T>(mut place: Option<&Place<'_>>, depth: usize) -> Result<T, JsonError> {
    for _ in SHOWN_DEPTH..depth {
        place = place.and_then(|place| place.outer);
    }
    Err(JsonError::Refused(format!(
        "a table that is nested too deep, in more than {MAX_DEPTH} levels, or in itself, cannot be written as JSON \
         (at {}…)",
        describe(place)
    )))
}

/// An error that names the key when a table is no array.
pub(crate) fn require_list(table: &Table) -> Result<(), JsonError> {
    let keys = Keys::of(table)?;
    if keys.are_of_a_list() {
        return Ok(());
    }
    let what = keys.misfit(table)?;
    Err(JsonError::Refused(format!("{what} is no array; an array has the keys 1 to n, without a gap")))
}

struct Writer<'a> {
    mark: &'a ArrayMark,
    out: String,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, place: Option<&Place<'_>>, depth: usize) -> Result<(), JsonError> {
        self.make_room(0)?;
        match value {
            // `json.null` is the only light userdata there is.
            Value::Nil | Value::LightUserData(_) => self.out.push_str("null"),
            Value::Boolean(boolean) => self.out.push_str(if *boolean { "true" } else { "false" }),
            Value::Integer(integer) => self.integer(*integer),
            Value::Number(number) if number.is_finite() => self.out.push_str(&float_text(*number)),
            Value::Number(_) => return refuse(place, "a number that is not finite"),
            Value::String(string) => self.string(&string.as_bytes(), place)?,
            Value::Table(_) if depth == MAX_DEPTH => return refuse_depth(place, depth),
            Value::Table(table) if self.is_array(table, place)? => self.array(table, place, depth + 1)?,
            Value::Table(table) => self.object(table, place, depth + 1)?,
            Value::Function(_) => return refuse(place, "a function"),
            Value::Thread(_) => return refuse(place, "a coroutine"),
            _ => return refuse(place, "a userdata"),
        }
        Ok(())
    }

    fn make_room(&self, bytes: usize) -> Result<(), JsonError> {
        if self.out.len() + bytes <= MAX_TEXT_BYTES {
            return Ok(());
        }
        Err(JsonError::Refused(format!("a JSON text has at most {MAX_TEXT_BYTES} bytes")))
    }

    fn integer(&mut self, integer: Integer) {
        // Writing to a String does not fail.
        let _ = write!(self.out, "{integer}");
    }

    fn string(&mut self, bytes: &[u8], place: Option<&Place<'_>>) -> Result<(), JsonError> {
        self.make_room(bytes.len())?;
        let Ok(text) = str::from_utf8(bytes) else { return refuse(place, "a string that is not UTF-8") };
        self.out.push('"');
        let mut start = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if *byte >= 0x20 && *byte != b'"' && *byte != b'\\' {
                continue;
            }
            self.out.push_str(&text[start..at]);
            start = at + 1;
            match byte {
                b'"' => self.out.push_str("\\\""),
                b'\\' => self.out.push_str("\\\\"),
                0x8 => self.out.push_str("\\b"),
                0xC => self.out.push_str("\\f"),
                b'\n' => self.out.push_str("\\n"),
                b'\r' => self.out.push_str("\\r"),
                b'\t' => self.out.push_str("\\t"),
                _ => {
                    let _ = write!(self.out, "\\u{byte:04x}");
                }
            }
        }
        self.out.push_str(&text[start..]);
        self.out.push('"');
        Ok(())
    }

    /// A table with the keys 1 to n is an array; an empty one when it is marked. Others are objects, which `object`
    /// checks while it writes them.
    fn is_array(&self, table: &Table, place: Option<&Place<'_>>) -> Result<bool, JsonError> {
        if table.pairs::<Value, Value>().next().transpose()?.is_none() {
            return Ok(self.mark.is_on(table));
        }
        if table.raw_len() == 0 {
            return Ok(false);
        }
        let keys = Keys::of(table)?;
        if keys.are_of_a_list() { Ok(true) } else { refuse_keys(table, &keys, place) }
    }

    fn array(&mut self, table: &Table, outer: Option<&Place<'_>>, depth: usize) -> Result<(), JsonError> {
        self.out.push('[');
        for index in 1..=table.raw_len() as Integer {
            if index > 1 {
                self.out.push(',');
            }
            let here = Place { outer, step: Step::Index(index) };
            self.value(&table.raw_get(index)?, Some(&here), depth)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, table: &Table, outer: Option<&Place<'_>>, depth: usize) -> Result<(), JsonError> {
        self.out.push('{');
        let start = self.out.len();
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            if self.out.len() > start {
                self.out.push(',');
            }
            let Value::String(key) = key else { return refuse_keys(table, &Keys::of(table)?, outer) };
            let Ok(name) = key.to_str() else {
                let key = shown(&key.as_bytes());
                return refuse(outer, &format!("a table with the key {key}, which is not UTF-8,"));
            };
            self.string(name.as_bytes(), outer)?;
            self.out.push(':');
            self.value(&value, Some(&Place { outer, step: Step::Key(&name) }), depth)?;
        }
        self.out.push('}');
        Ok(())
    }
}

/// The shortest of C's `%.15g`, `%.16g` and `%.17g` that reads back as the same number; a float stays a float.
fn float_text(number: Number) -> String {
    let mut text = String::new();
    for precision in 15..=17 {
        text = general_format(number, precision);
        if text.parse() == Ok(number) {
            break;
        }
    }
    if !text.contains(['.', 'e']) {
        text.push_str(".0");
    }
    text
}

/// C's `%.*g`.
fn general_format(number: Number, precision: usize) -> String {
    let scientific = format!("{number:.*e}", precision - 1);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trim = |digits: &str| {
        let trimmed = if digits.contains('.') { digits.trim_end_matches('0') } else { digits };
        trimmed.trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), exponent.abs());
    }
    trim(&format!("{number:.*}", (precision as i32 - 1 - exponent).max(0) as usize))
}

#[cfg(test)]
mod tests {
    use super::float_text;

    #[test]
    fn a_float_has_its_shortest_form_and_stays_a_float() {
        for (number, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (2.0 / 3.0, "0.6666666666666666"),
            (1e15, "1e+15"),
            (123456789012345.0, "123456789012345.0"),
            (1e300, "1e+300"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (9.5367431640625e-7, "9.5367431640625e-07"),
            (5e-324, "4.94065645841247e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9007199254740993.0, "9007199254740992.0"),
        ] {
            assert_eq!(float_text(number), text);
        }
    }
}
