//! Text for people, put together line by line. Whatever is added is made fit for a terminal first.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::output::Look;
use crate::table::Table;
use crate::{text, time};

/// What a piece of text is, shown as its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    /// Neither.
    Plain,
    /// As it should be.
    Good,
    /// Worth a look.
    Warning,
    /// Wrong.
    Bad,
    /// The name of a thing.
    Strong,
    /// Beside the point.
    Faint,
}

/// A piece of text of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// Fit for a terminal.
    pub text: String,
    /// What it is.
    pub tint: Tint,
}

impl Span {
    /// A tinted text.
    pub fn new(content: impl AsRef<str>, tint: Tint) -> Self {
        Self { text: text::line(content.as_ref()), tint }
    }

    /// The status of a run or an agent.
    pub fn status(status: &str) -> Self {
        let tint = match status {
            "completed" | "running" | "trusted" => Tint::Good,
            "failed" | "revoked" | "broken" => Tint::Bad,
            "cancelled" | "stopped" | "skipped" => Tint::Warning,
            _ => Tint::Plain,
        };
        Self::new(status, tint)
    }
}

impl<T: AsRef<str>> From<T> for Span {
    fn from(content: T) -> Self {
        Self::new(content, Tint::Plain)
    }
}

/// A text that grows.
#[derive(Debug)]
pub(crate) struct Page {
    /// How it is laid out.
    pub look: Look,
    out: String,
}

impl Page {
    /// An empty page.
    pub fn new(look: Look) -> Self {
        Self { look, out: String::new() }
    }

    /// The whole text.
    pub fn text(self) -> String {
        self.out
    }

    /// One line.
    pub fn line(&mut self, span: impl Into<Span>) {
        self.spans(&[span.into()]);
    }

    /// One line of several pieces.
    pub fn spans(&mut self, spans: &[Span]) {
        for span in spans {
            self.paint(span);
        }
        self.out.push('\n');
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.out.push('\n');
    }

    /// A line above a part.
    pub fn heading(&mut self, title: &str) {
        self.gap();
        self.line(Span::new(title, Tint::Strong));
    }

    /// Names and values, indented and with the values below each other.
    pub fn fields(&mut self, fields: &[(&str, Span)]) {
        let width = fields.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in fields {
            self.spans(&[format!("  {name:width$}  ").into(), value.clone()]);
        }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        let drawn = table.draw(self.look);
        self.out.push_str(&drawn);
    }

    /// A text of others. When it has several lines each gets a mark, so that none can pass for a line of ours.
    pub fn quote(&mut self, indent: usize, content: &str) {
        if content.contains('\n') {
            let marked: Vec<String> = content.lines().map(|line| format!("| {line}")).collect();
            self.block(indent, &marked.join("\n"));
        } else {
            self.block(indent, content);
        }
    }

    /// Several lines, each indented by so many spaces.
    pub fn block(&mut self, indent: usize, content: &str) {
        for line in text::block(content).lines() {
            let _ = writeln!(self.out, "{:indent$}{line}", "");
        }
    }

    /// A value as it came: a text stands for itself, everything else is indented JSON. A text is left untouched when
    /// it does not go to a terminal.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::String(content) => {
                self.out.push_str(&if self.look.width.is_some() {
                    text::block(content)
                } else {
                    content.clone()
                });
                if !content.ends_with('\n') {
                    self.out.push('\n');
                }
            }
            other => self.block(0, &format!("{other:#}")),
        }
    }

    /// A line that warns.
    pub fn warning(&mut self, message: &str) {
        self.spans(&[Span::new("warning: ", Tint::Warning), message.into()]);
    }

    /// What to do next.
    pub fn next(&mut self, command: &str) {
        self.spans(&[Span::new("next: ", Tint::Faint), command.into()]);
    }

    /// How long ago that is.
    pub fn ago(&self, at: DateTime<Utc>) -> String {
        time::relative(at, self.look.now)
    }

    /// That moment on the reader's clock, to the second.
    pub fn clock(&self, at: DateTime<Utc>) -> String {
        (self.look.local)(at).format("%Y-%m-%d %H:%M:%S").to_string()
    }

    fn paint(&mut self, span: &Span) {
        let code = match span.tint {
            Tint::Plain => None,
            Tint::Good => Some("32"),
            Tint::Warning => Some("33"),
            Tint::Bad => Some("31"),
            Tint::Strong => Some("1"),
            Tint::Faint => Some("2"),
        };
        match code.filter(|_| self.look.colour) {
            Some(code) => {
                let _ = write!(self.out, "\x1b[{code}m{}\x1b[0m", span.text);
            }
            None => self.out.push_str(&span.text),
        }
    }
}

/// What a page with fixed surroundings says, for tests.
#[cfg(test)]
pub(crate) fn render(width: Option<usize>, fill: impl FnOnce(&mut Page)) -> String {
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    let mut page = Page::new(Look { now, local: |at| at.naive_utc(), width, colour: false });
    fill(&mut page);
    page.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_untouched_only_on_its_way_to_a_program() {
        let value = Value::String("a\x1b[2Jb".to_owned());
        assert_eq!(render(None, |page| page.value(&value)), "a\x1b[2Jb\n");
        assert_eq!(render(Some(80), |page| page.value(&value)), "a\\x1b[2Jb\n");
    }

    #[test]
    fn colours_are_there_only_when_wanted() {
        let fill = |page: &mut Page| page.line(Span::status("failed"));
        assert_eq!(render(None, fill), "failed\n");
        let look = Page::new(Look { now: Utc::now(), local: |at| at.naive_utc(), width: None, colour: true });
        let mut page = look;
        fill(&mut page);
        assert_eq!(page.text(), "\x1b[31mfailed\x1b[0m\n");
    }
}
