//! The tokens of Lua, by section 3.1 of the Lua 5.4 reference manual.

use super::token::{Cursor, Kind, Token};

/// The marks of more than one character, the longer ones first.
const MARKS: [&str; 10] = ["...", "..", "==", "~=", "<=", ">=", "<<", ">>", "//", "::"];

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        let rest = cursor.rest();
        if c.is_ascii_whitespace() || c == '\u{b}' {
            cursor.step();
        } else if let Some(comment) = rest.strip_prefix("--") {
            cursor.advance(2);
            match long_bracket(comment) {
                Some(end) => cursor.skip_past(&end),
                None => cursor.skip_while(|c| c != '\n'),
            }
        } else if let Some(end) = long_bracket(rest) {
            tokens.push(cursor.token(Kind::Text, |cursor| cursor.skip_past(&end)));
        } else if c == '"' || c == '\'' {
            tokens.push(cursor.token(Kind::Text, |cursor| quoted(cursor, c)));
        } else if c.is_ascii_digit() || (c == '.' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit)) {
            tokens.push(cursor.token(Kind::Number, number));
        } else if is_letter(c) {
            tokens.push(cursor.token(Kind::Name, |cursor| cursor.skip_while(is_letter_or_digit)));
        } else {
            let length = MARKS.iter().find(|mark| rest.starts_with(**mark)).map_or(1, |mark| mark.len());
            tokens.push(cursor.token(Kind::Mark, |cursor| cursor.advance(length)));
        }
    }
    tokens
}

/// What ends the long bracket that the text begins with.
fn long_bracket(text: &str) -> Option<String> {
    let after = text.strip_prefix('[')?;
    let inner = after.trim_start_matches('=');
    inner.starts_with('[').then(|| format!("]{}]", "=".repeat(after.len() - inner.len())))
}

/// A text in quotes; one that is not closed ends with its line.
fn quoted(cursor: &mut Cursor<'_>, quote: char) {
    cursor.step();
    while let Some(c) = cursor.peek() {
        if c == '\n' {
            return;
        }
        cursor.step();
        if c == quote {
            return;
        }
        if c == '\\' {
            match cursor.peek() {
                Some('z') => {
                    cursor.step();
                    cursor.skip_while(char::is_whitespace);
                }
                Some('\r') if cursor.rest().starts_with("\r\n") => cursor.advance(2),
                _ => cursor.step(),
            }
        }
    }
}

/// All that Lua reads as one number, well formed or not.
fn number(cursor: &mut Cursor<'_>) {
    let is_hexadecimal = cursor.rest().starts_with("0x") || cursor.rest().starts_with("0X");
    let exponent = if is_hexadecimal { ['p', 'P'] } else { ['e', 'E'] };
    cursor.advance(if is_hexadecimal { 2 } else { 1 });
    while let Some(c) = cursor.peek() {
        if exponent.contains(&c) {
            cursor.step();
            if matches!(cursor.peek(), Some('+' | '-')) {
                cursor.step();
            }
        } else if c.is_ascii_hexdigit() || c == '.' {
            cursor.step();
        } else {
            // One letter more makes it a malformed number, and that is how Lua reports it.
            if is_letter(c) {
                cursor.step();
            }
            return;
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_letter_or_digit(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_lua_reads_it() {
        for (text, expected) in [
            ("a.b:c(1)", "a . b : c ( 1 )"),
            ("x=0x1p+4 ..y", "x = 0x1p+4 .. y"),
            ("x = 3x4 .5", "x = 3x 4 .5"),
            ("a..b...c//d", "a .. b ... c // d"),
            ("'it\\'s' --[==[ no\n ]] ]==] \"x", "'it\\'s' \"x"),
            ("f[[a]]-- rest\nb", "f [[a]] b"),
            ("'a\\\nb' c", "'a\\\nb' c"),
            ("'a\\z \n b' c", "'a\\z \n b' c"),
            ("'open\nb", "'open b"),
            ("a[b[1]]", "a [ b [ 1 ] ]"),
            ("“x”", "“ x ”"),
        ] {
            let read: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
            assert_eq!(read.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_token_has_its_line_and_its_column_in_characters() {
        let read = tokens("x\n\t'é' .. yy\r\nz");
        let places: Vec<(u32, u32)> = read.iter().map(|token| (token.line, token.column)).collect();
        assert_eq!(places, [(1, 1), (2, 2), (2, 6), (2, 9), (3, 1)]);
    }
}
