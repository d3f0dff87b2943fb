//! The words of a source text, each with its place.

use super::{fennel_tokens, lua_tokens};
use crate::source::Lang;

/// What a token is, as far as an error is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword; in Fennel any symbol, or one part of `a.b:c`.
    Name,
    /// A number.
    Number,
    /// A literal text with its quotes; in Fennel also `:text`.
    Text,
    /// Anything else. In Fennel a bracket, a prefix, or the `.` or `:` inside of `a.b:c`.
    Mark,
}

/// A token and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// From 1.
    pub(super) line: u32,
    /// From 1, in characters.
    pub(super) column: u32,
}

impl<'a> Token<'a> {
    /// Whether it is one of these, and no literal text.
    pub(super) fn is(&self, texts: &[&str]) -> bool {
        self.kind != Kind::Text && texts.contains(&self.text)
    }

    /// What a literal text says, with its escapes as they are written.
    pub(super) fn content(&self) -> Option<&'a str> {
        if self.kind != Kind::Text {
            return None;
        }
        let text = self.text;
        match text.strip_prefix(':') {
            Some(keyword) => Some(keyword),
            None => text.get(1..text.len().checked_sub(1)?),
        }
    }

    /// The column behind it, if it ends in its line.
    pub(super) fn end_column(&self) -> Option<u32> {
        let length = u32::try_from(self.text.chars().count()).ok()?;
        (!self.text.contains('\n')).then(|| self.column.saturating_add(length))
    }
}

/// The tokens of a text, which need not be a program.
pub(super) fn tokens(lang: Lang, text: &str) -> Vec<Token<'_>> {
    match lang {
        Lang::Lua => lua_tokens::tokens(text),
        Lang::Fennel => fennel_tokens::tokens(text),
    }
}

/// A place in a text that is read from its beginning to its end.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, column: 1 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes on by one character.
    pub(super) fn step(&mut self) {
        let Some(c) = self.peek() else { return };
        self.at += c.len_utf8();
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
    }

    /// Goes on to that many bytes from here.
    pub(super) fn advance(&mut self, bytes: usize) {
        let end = self.at + bytes;
        while self.at < end && self.peek().is_some() {
            self.step();
        }
    }

    pub(super) fn skip_while(&mut self, holds: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&holds) {
            self.step();
        }
    }

    /// Goes behind the first `end`, or to the end of the text.
    pub(super) fn skip_past(&mut self, end: &str) {
        let bytes = self.rest().find(end).map_or(self.rest().len(), |found| found + end.len());
        self.advance(bytes);
    }

    /// The token that `read` goes over.
    pub(super) fn token(&mut self, kind: Kind, read: impl FnOnce(&mut Self)) -> Token<'a> {
        let Self { at, line, column, .. } = *self;
        read(self);
        Token { kind, text: self.text.get(at..self.at).unwrap_or_default(), line, column }
    }
}
