//! The answer, as JSON or as text.

use std::io::{self, IsTerminal, Write};

use chrono::{DateTime, Local, NaiveDateTime, Utc};
use nb_api::visible;
use rustix::termios::tcgetwinsize;
use serde::Serialize;

use crate::error::Error;
use crate::page::Page;

/// How text is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// What relative times relate to.
    pub now: DateTime<Utc>,
    /// A moment on the clock of the person who reads.
    pub local: fn(DateTime<Utc>) -> NaiveDateTime,
    /// The columns of the terminal; none when stdout is not a terminal, where nothing is cut.
    pub width: Option<usize>,
    /// Whether words may be coloured.
    pub colour: bool,
}

/// Where the answer of a command goes.
#[derive(Debug)]
pub(crate) struct Output {
    /// JSON instead of text.
    pub json: bool,
    look: Look,
}

impl Output {
    /// Stdout, laid out for what is behind it.
    pub fn stdout(json: bool) -> Self {
        let stdout = io::stdout();
        let columns =
            || tcgetwinsize(&stdout).ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
        let look = Look {
            now: Utc::now(),
            local: |at| at.with_timezone(&Local).naive_local(),
            width: stdout.is_terminal().then(|| columns().unwrap_or(80)),
            colour: is_colourful(&stdout),
        };
        Self { json, look }
    }

    /// The whole answer: one JSON document, indented on a terminal and else in one line; or a page of text.
    pub fn show<T: Serialize + ?Sized>(
        &self,
        value: &T,
        render: impl FnOnce(&T, &mut Page),
    ) -> Result<(), Error> {
        if self.json && self.look.width.is_some() {
            let text = serde_json::to_string_pretty(value).map_err(|error| Error::Stdout(error.into()))?;
            return write(&visible::json(format!("{text}\n")));
        }
        self.line(value, render)
    }

    /// One part of an endless answer: a JSON document in one line, or a few lines of text.
    pub fn line<T: Serialize + ?Sized>(
        &self,
        value: &T,
        render: impl FnOnce(&T, &mut Page),
    ) -> Result<(), Error> {
        if self.json {
            let text = serde_json::to_string(value).map_err(|error| Error::Stdout(error.into()))?;
            return write(&visible::json(format!("{text}\n")));
        }
        write(&self.page(|page| render(value, page)))
    }

    /// Text beside a JSON answer would spoil it, so this is written only for people.
    pub fn text(&self, render: impl FnOnce(&mut Page)) -> Result<(), Error> {
        if self.json { Ok(()) } else { write(&self.page(render)) }
    }

    /// What a person should see beside the answer: on stderr, and only when that is a terminal.
    pub fn note(&self, render: impl FnOnce(&mut Page)) {
        let mut stderr = io::stderr();
        if stderr.is_terminal() {
            let mut page = Page::new(Look { colour: is_colourful(&stderr), ..self.look });
            render(&mut page);
            // A note that nobody can read is not worth failing for.
            let _ = stderr.write_all(page.text().as_bytes());
        }
    }

    fn page(&self, render: impl FnOnce(&mut Page)) -> String {
        let mut page = Page::new(self.look);
        render(&mut page);
        page.text()
    }
}

/// Whether colours are wanted there: a terminal that knows them, and no `$NO_COLOR` (see <https://no-color.org>).
pub(crate) fn is_colourful(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn write(text: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Stdout)
}
