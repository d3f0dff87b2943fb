//! The tokens of Fennel.

use super::token::{Cursor, Kind, Token};

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        if c.is_whitespace() {
            cursor.step();
        } else if c == ';' {
            cursor.skip_while(|c| c != '\n');
        } else if c == '"' {
            tokens.push(cursor.token(Kind::Text, quoted));
        } else if !is_in_symbol(c) || is_hash_function(cursor.rest()) {
            tokens.push(cursor.token(Kind::Mark, Cursor::step));
        } else {
            symbol(&mut cursor, &mut tokens);
        }
    }
    tokens
}

fn symbol<'a>(cursor: &mut Cursor<'a>, tokens: &mut Vec<Token<'a>>) {
    let rest = cursor.rest();
    let length = rest.find(|c| !is_in_symbol(c)).unwrap_or(rest.len());
    let whole = rest.get(..length).unwrap_or_default();
    let is_separator = |c| c == '.' || c == ':';
    if whole.len() > 1 && whole.starts_with(':') {
        tokens.push(cursor.token(Kind::Text, |cursor| cursor.advance(length)));
    } else if whole.trim_start_matches(['-', '+', '.']).starts_with(|c: char| c.is_ascii_digit()) {
        tokens.push(cursor.token(Kind::Number, |cursor| cursor.advance(length)));
    } else if whole.split(is_separator).all(|part| !part.is_empty()) {
        for (index, part) in whole.split(is_separator).enumerate() {
            if index > 0 {
                tokens.push(cursor.token(Kind::Mark, Cursor::step));
            }
            tokens.push(cursor.token(Kind::Name, |cursor| cursor.advance(part.len())));
        }
    } else {
        tokens.push(cursor.token(Kind::Name, |cursor| cursor.advance(length)));
    }
}

fn quoted(cursor: &mut Cursor<'_>) {
    cursor.step();
    while let Some(c) = cursor.peek() {
        cursor.step();
        match c {
            '"' => return,
            '\\' => cursor.step(),
            _ => {}
        }
    }
}

fn is_in_symbol(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`' | ',' | ';')
}

/// `#` in front of a form.
fn is_hash_function(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|form| form.starts_with(|c: char| !c.is_whitespace() && !matches!(c, ')' | ']' | '}')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_fennel_reads_it() {
        for (text, expected) in [
            ("(foo-bar.x:y? 1)", "( foo-bar . x : y? 1 )"),
            ("(. t :key) ; no", "( . t :key )"),
            ("(.. \"a\\\"b\" -1.5)", "( .. \"a\\\"b\" -1.5 )"),
            ("#(+ $1 ,x)", "# ( + $1 , x )"),
            ("{: a :b c}", "{ : a :b c }"),
            ("(?. x :y) (- 1)", "( ?. x :y ) ( - 1 )"),
            ("a..b a. \"open", "a..b a. \"open"),
        ] {
            let read: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
            assert_eq!(read.join(" "), expected, "{text}");
        }
    }
}
