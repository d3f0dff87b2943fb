//! The column of an error, from the words of its message. It is told only where it is certain.

use super::token::{Kind, Token};

/// The column of the mention, if it is the only one and in that line.
pub(super) fn of_only(mentions: &[usize], tokens: &[Token<'_>], line: u32) -> Option<u32> {
    let [only] = mentions else { return None };
    tokens.get(*only).filter(|token| token.line == line).map(|token| token.column)
}

/// The column that a syntax error of Lua has: its message ends with the token at which Lua stopped.
pub(super) fn of_syntax(message: &str, tokens: &[Token<'_>], line: u32) -> Option<u32> {
    let in_line = || tokens.iter().filter(move |token| token.line == line);
    if let Some(name) = message.strip_prefix("attempt to assign to const variable '") {
        let name = name.strip_suffix('\'')?;
        let is_assigned = |pair: &[Token<'_>]| match pair {
            [name_token, after] => name_token.line == line && name_token.is(&[name]) && after.is(&["=", ","]),
            _ => false,
        };
        return only(tokens.windows(2).filter(|pair| is_assigned(pair)).filter_map(|pair| pair.first()));
    }
    let near = message.rsplit_once(" near ")?.1;
    if near == "<eof>" {
        return tokens.last().filter(|token| token.line == line)?.end_column();
    }
    let near = near.strip_prefix('\'')?.strip_suffix('\'')?;
    if let Some(byte) = near.strip_prefix("<\\").and_then(|code| code.strip_suffix('>')) {
        // A character that is none of Lua's, by its first byte. Lua stops at the first one.
        let byte: u8 = byte.parse().ok()?;
        return in_line()
            .find(|token| token.text.as_bytes().first() == Some(&byte))
            .map(|token| token.column);
    }
    if message.starts_with("unfinished string") || message.contains("escape sequence") {
        // Lua tells as much of the text as it has read.
        return only(in_line().filter(|token| token.kind == Kind::Text && token.text.starts_with(near)));
    }
    if message.starts_with("malformed number") || matches!(near, "!" | "$" | "@" | "`" | "?" | "\\") {
        return in_line().find(|token| token.text == near).map(|token| token.column);
    }
    only(in_line().filter(|token| token.text == near))
}

fn only<'t, 'a: 't>(mut tokens: impl Iterator<Item = &'t Token<'a>>) -> Option<u32> {
    let column = tokens.next()?.column;
    tokens.next().is_none().then_some(column)
}
