//! Text of others, made fit to be read: what an agent writes can neither begin a line of its own in a log nor steer a
//! terminal.

use std::fmt::{self, Write};

/// Writes a character, or its escape where it is a control character: `\n`, `\x1b`, `\u{9b}`. Escaped is also what
/// turns the reading direction round, and with it the meaning of what is shown, and what ends a line or a paragraph.
///
/// # Errors
/// Those of `out`.
pub fn write_char(out: &mut impl Write, character: char) -> fmt::Result {
    match character {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        other if other.is_ascii_control() => write!(out, "\\x{:02x}", u32::from(other)),
        other if is_hidden(other) => write!(out, "{}", other.escape_unicode()),
        other => out.write_char(other),
    }
}

/// Makes one line of everything that is written into it, and passes that on.
#[derive(Debug)]
pub struct OneLine<W>(pub W);

impl<W: Write> Write for OneLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| write_char(&mut self.0, character))
    }
}

/// A JSON text that says the same and holds no character that steers a terminal: JSON itself escapes those below
/// U+0020 alone.
pub fn json(text: String) -> String {
    if !text.contains(is_hidden) {
        return text;
    }
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        if is_hidden(character) {
            // All of them lie in the first plane, so that four digits are enough.
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            out.push(character);
        }
        out
    })
}

/// DEL, the control characters of ISO 6429 above it, line and paragraph separators, and embeddings, overrides and
/// isolates of the Unicode bidirectional algorithm (UAX #9).
fn is_hidden(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_and_steers_nothing() {
        let mut line = OneLine(String::new());
        line.write_str("é\ta\r\nb\x1b[31mc\u{202e}d\u{9b}e\u{7f}\u{2028}").unwrap();
        assert_eq!(line.0, r"é\ta\r\nb\x1b[31mc\u{202e}d\u{9b}e\x7f\u{2028}");
    }

    #[test]
    fn json_says_the_same_without_what_steers_a_terminal() {
        let value = serde_json::json!({"a": "\u{9b}2J\u{7f}\u{2066}é\n"});
        let text = json(serde_json::to_string_pretty(&value).unwrap());
        assert!(text.contains(r#""\u009b2J\u007f\u2066é\n""#), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        let plain = r#"{"a": "é"}"#.to_owned();
        assert_eq!(json(plain.clone()), plain);
    }
}
