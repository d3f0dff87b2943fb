//! The words of a script: names, literal texts and marks, without comments. It need not be a program.

use crate::tool::Lang;

/// A word of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    /// A name, a keyword or a number; in Fennel any symbol.
    Name(&'a str),
    /// What a literal text says; none when it has escapes.
    Text(Option<&'a str>),
    /// Anything else, one character; dots and colons that stand together are one.
    Mark(&'a str),
}

/// The words of a text, each with its line from 1.
pub(crate) fn words(lang: Lang, text: &str) -> Vec<(Word<'_>, usize)> {
    let mut cursor = Cursor { rest: text, line: 1 };
    let mut words = Vec::new();
    if text.trim_start_matches('\u{feff}').starts_with("#!") {
        cursor.skip_while(|c| c != '\n');
    }
    while let Some(c) = cursor.rest.chars().next() {
        let line = cursor.line;
        let word = match lang {
            Lang::Lua => lua(&mut cursor, c),
            Lang::Fennel => fennel(&mut cursor, c),
        };
        words.extend(word.map(|word| (word, line)));
    }
    words
}

/// By section 3.1 of the Lua 5.4 reference manual.
fn lua<'a>(cursor: &mut Cursor<'a>, c: char) -> Option<Word<'a>> {
    if c.is_whitespace() {
        cursor.take(c.len_utf8());
        None
    } else if let Some(comment) = cursor.rest.strip_prefix("--") {
        cursor.take(2);
        match long_bracket(comment) {
            Some((begin, end)) => drop(cursor.text(begin, &end)),
            None => drop(cursor.skip_while(|c| c != '\n')),
        }
        None
    } else if let Some((begin, end)) = long_bracket(cursor.rest) {
        let text = cursor.text(begin, &end);
        // A line break that begins it is none of its characters.
        let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
        Some(Word::Text(Some(text)))
    } else if c == '"' || c == '\'' {
        Some(Word::Text(cursor.quoted(c, true)))
    } else if c.is_ascii_alphanumeric() || c == '_' {
        Some(Word::Name(cursor.skip_while(|c| c.is_ascii_alphanumeric() || c == '_')))
    } else if c == '.' || c == ':' {
        Some(Word::Mark(cursor.skip_while(|next| next == c)))
    } else {
        Some(Word::Mark(cursor.take(c.len_utf8())))
    }
}

/// How long the beginning of a long bracket is, and what ends it.
fn long_bracket(text: &str) -> Option<(usize, String)> {
    let after = text.strip_prefix('[')?;
    let inner = after.trim_start_matches('=');
    let level = after.len() - inner.len();
    inner.starts_with('[').then(|| (level + 2, format!("]{}]", "=".repeat(level))))
}

fn fennel<'a>(cursor: &mut Cursor<'a>, c: char) -> Option<Word<'a>> {
    let ends_symbol = |c: char| c.is_whitespace() || "()[]{}\"'`,;".contains(c);
    if c.is_whitespace() {
        cursor.take(c.len_utf8());
        None
    } else if c == ';' {
        cursor.skip_while(|c| c != '\n');
        None
    } else if c == '"' {
        Some(Word::Text(cursor.quoted(c, false)))
    } else if ends_symbol(c) {
        Some(Word::Mark(cursor.take(1)))
    } else {
        let symbol = cursor.skip_while(|c| !ends_symbol(c));
        match symbol.strip_prefix(':') {
            Some(text) if !text.is_empty() => Some(Word::Text(Some(text))),
            _ => Some(Word::Name(symbol)),
        }
    }
}

struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn skip_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !holds(c)).unwrap_or(self.rest.len());
        self.take(length)
    }

    /// What is between a beginning of that length and the end, or the end of everything.
    fn text(&mut self, begin: usize, end: &str) -> &'a str {
        self.take(begin);
        let length = self.rest.find(end).unwrap_or(self.rest.len());
        let text = self.take(length);
        self.take(end.len());
        text
    }

    /// A text in quotes. One that is not closed ends with its line, or with everything.
    fn quoted(&mut self, quote: char, ends_with_line: bool) -> Option<&'a str> {
        let inner = &self.rest[1..];
        let (mut escaped, mut skips_blanks, mut plain) = (false, false, true);
        let end = inner.find(|c: char| {
            if escaped {
                // `\z` of Lua goes on behind the next line breaks. A line break of two characters is escaped as one.
                (escaped, skips_blanks) = (c == '\r', ends_with_line && c == 'z');
                return false;
            }
            skips_blanks &= c.is_whitespace();
            escaped = c == '\\';
            plain &= !escaped;
            c == quote || (ends_with_line && !skips_blanks && c == '\n')
        });
        let length = end.unwrap_or(inner.len());
        self.take(length + 2);
        plain.then(|| &inner[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_program_has_words_as_well() {
        for text in ["'open", "\"open\\", "[[open", "--[==[ open", "[=", "“x” \u{feff}", "'é\nx", "a\\z ''"]
        {
            for lang in [Lang::Lua, Lang::Fennel] {
                assert!(words(lang, text).len() < 8, "{text}");
            }
        }
        assert_eq!(words(Lang::Lua, "'a\\z \n b' c"), [(Word::Text(None), 1), (Word::Name("c"), 2)]);
        assert_eq!(words(Lang::Lua, "'a\nb"), [(Word::Text(Some("a")), 1), (Word::Name("b"), 2)]);
    }
}
