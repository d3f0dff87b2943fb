//! On which line each value of a YAML document stands.
//!
//! `serde_yaml` tells the line of a wrong type; a value that has the right type and is wrong all the same (a chain that
//! does not exist) needs the line as well. Paths are written as `serde_ignored` writes them: `triggers.events.0.on`.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// The longest path that is recorded, in bytes. Each list item and key has its whole path, so long ones would add up.
const MAX_PATH: usize = 256;
/// The longest name that is kept, in bytes.
const MAX_NAME: usize = 64;
/// The most values whose line is recorded, in a document that people write by hand.
const MAX_RECORDED: usize = 20_000;

/// Lines by path. The line of a mapping's value is the line of its key. What is beyond the caps has its parent's line.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    keys: HashMap<String, usize>,
    /// The values of `name` and `id`, by the path of what has that name.
    names: HashMap<String, String>,
    contents: HashMap<String, usize>,
    size: usize,
    broken: Option<(usize, String)>,
    duplicate: Option<usize>,
}

impl Positions {
    /// Reads the positions of the first document; of a broken one, those up to the break.
    pub(crate) fn of(text: &str) -> Self {
        let mut walk = Walk::default();
        for next in Parser::new_from_str(text) {
            match next {
                Ok((Event::DocumentEnd, _)) => break,
                Ok((event, span)) => walk.take(event, span),
                Err(error) => {
                    walk.found.broken = Some((error.marker().line(), error.info().to_owned()));
                    break;
                }
            }
        }
        walk.found
    }

    /// The line of the key (or list item) at `path`, or of its nearest parent that is known.
    pub(crate) fn line(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            // No longer path is known, and to look each of its parents up would take long.
            while path.len() > MAX_PATH {
                path = &path[..path.rfind('.')?];
            }
            if let Some(line) = self.keys.get(path) {
                return Some(*line);
            }
            path = &path[..path.rfind('.')?];
        }
    }

    /// The line on which the text of a scalar begins: for a block (`|`) the line after the key.
    pub(crate) fn content_line(&self, path: &str) -> Option<usize> {
        self.contents.get(path).copied()
    }

    /// The `name` or `id` of the list item at `path`, or of the one that it is in.
    pub(crate) fn name(&self, path: &str) -> Option<&str> {
        let mut path = path;
        loop {
            if path.len() <= MAX_PATH
                && path.ends_with(|c: char| c.is_ascii_digit())
                && let Some(name) = self.names.get(path)
            {
                return Some(name);
            }
            path = &path[..path.rfind('.')?];
        }
    }

    /// How large the document is when every alias (`*name`) is written out: the bytes of its scalars, and one for each
    /// value.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Where and why the document could not be read to its end. Its size is that of the part before.
    pub(crate) fn broken(&self) -> Option<(usize, &str)> {
        self.broken.as_ref().map(|(line, reason)| (*line, reason.as_str()))
    }

    /// The line of the first key that stands in its mapping already.
    pub(crate) fn duplicate(&self) -> Option<usize> {
        self.duplicate
    }

    fn is_full(&self) -> bool {
        self.keys.len() + self.contents.len() >= MAX_RECORDED
    }

    fn keep_key(&mut self, path: Option<String>, line: usize) {
        if let Some(path) = path.filter(|_| !self.is_full()) {
            let before = self.keys.insert(path, line);
            if before.is_some() && self.duplicate.is_none() {
                self.duplicate = Some(line);
            }
        }
    }
}

/// A mapping or list that is not closed yet. Its path is none when it is too long to be recorded.
struct Frame {
    path: Option<String>,
    place: Place,
    anchor: usize,
    /// The size of the document before it.
    before: usize,
}

enum Place {
    Key,
    Value(Option<String>),
    Item(usize),
}

#[derive(Default)]
struct Walk {
    stack: Vec<Frame>,
    /// Sizes of what has an anchor, by its number. A value without one has the number 0.
    anchored: HashMap<usize, usize>,
    found: Positions,
}

fn join(path: Option<&str>, part: &str) -> Option<String> {
    let path = path?;
    if path.len() + part.len() >= MAX_PATH {
        return None;
    }
    Some(if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") })
}

impl Walk {
    /// The path of the value that begins now.
    fn value_path(&mut self, line: usize) -> Option<String> {
        let Some(Frame { path, place, .. }) = self.stack.last_mut() else { return Some(String::new()) };
        match std::mem::replace(place, Place::Key) {
            // A mapping or list that is a key has no path, and its value none either.
            Place::Key => {
                *place = Place::Value(None);
                None
            }
            Place::Value(path) => path,
            Place::Item(index) => {
                *place = Place::Item(index + 1);
                let path = join(path.as_deref(), &index.to_string());
                self.found.keep_key(path.clone(), line);
                path
            }
        }
    }

    fn grow(&mut self, anchor: usize, bytes: usize) {
        self.found.size = self.found.size.saturating_add(bytes);
        if anchor != 0 {
            self.anchored.insert(anchor, bytes);
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span) {
        let line = span.start.line();
        match event {
            Event::Scalar(text, style, anchor, _) => {
                self.grow(anchor, text.len() + 1);
                if let Some(Frame { path, place: place @ Place::Key, .. }) = self.stack.last_mut() {
                    let path = join(path.as_deref(), &text);
                    *place = Place::Value(path.clone());
                    self.found.keep_key(path, line);
                    return;
                }
                let path = self.value_path(line).filter(|_| !self.found.is_full());
                if let Some(path) = path {
                    let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                    let first =
                        if block { self.found.keys.get(&path).map_or(line, |key| key + 1) } else { line };
                    let named = path.strip_suffix(".name").or_else(|| path.strip_suffix(".id"));
                    if let Some(named) = named.filter(|_| (1..=MAX_NAME).contains(&text.len())) {
                        self.found.names.insert(named.to_owned(), text.clone().into_owned());
                    }
                    self.found.contents.insert(path, first);
                }
            }
            Event::Alias(anchor) => {
                let size = self.anchored.get(&anchor).copied().unwrap_or_default();
                self.grow(0, size.saturating_add(1));
                self.value_path(line);
            }
            Event::MappingStart(anchor, _) => self.open(Place::Key, anchor, line),
            Event::SequenceStart(anchor, _) => self.open(Place::Item(0), anchor, line),
            Event::MappingEnd | Event::SequenceEnd => {
                if let Some(Frame { anchor, before, .. }) = self.stack.pop().filter(|frame| frame.anchor != 0)
                {
                    self.anchored.insert(anchor, self.found.size - before);
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, place: Place, anchor: usize, line: usize) {
        let path = self.value_path(line);
        let before = self.found.size;
        self.grow(0, 1);
        self.stack.push(Frame { path, place, anchor, before });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_line() {
        let text = "name: x\ntools:\n  - name: a\n    lua: |\n      return 1\n  - {name: b, lua: return 2}\nlast: 1\n";
        let positions = Positions::of(text);
        assert_eq!(positions.line("name"), Some(1));
        assert_eq!(positions.line("tools.0.lua"), Some(4));
        assert_eq!(positions.content_line("tools.0.lua"), Some(5));
        assert_eq!(positions.line("tools.1.name"), Some(6));
        assert_eq!(positions.content_line("tools.1.lua"), Some(6));
        assert_eq!(positions.line("tools.1.nothing"), Some(6), "an unknown path falls back to its parent");
        assert_eq!(positions.line("last"), Some(7));
    }

    #[test]
    fn what_is_beyond_the_caps_has_the_line_of_its_parent() {
        let long = "k".repeat(100_000);
        let positions = Positions::of(&format!("a: 1\n{long}:\n{}", "  - x\n".repeat(50_000)));
        assert_eq!(positions.line(&format!("{long}.7")), None);
        assert_eq!(positions.keys.len(), 1, "nothing is recorded below a long key");
        let many = Positions::of(&format!("a:\n{}", "  - x\n".repeat(50_000)));
        assert_eq!(many.keys.len() + many.contents.len(), MAX_RECORDED);
        assert_eq!((many.line("a.9"), many.line("a.49999")), (Some(11), Some(1)));
        assert_eq!(many.line(&format!("a{}", ".a".repeat(100_000))), Some(1));
    }

    #[test]
    fn an_alias_weighs_what_it_stands_for() {
        assert_eq!(Positions::of("a: &x [bc, d]\n").size(), 1 + 2 + 1 + 3 + 2);
        assert_eq!(Positions::of("a: &x [bc, d]\ne: *x\n").size(), 9 + 2 + 6 + 1);
        let doubling: String = (1..200).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
        assert_eq!(Positions::of(&format!("a0: &a0 [x]\n{doubling}")).size(), usize::MAX);
    }
}
