//! On which line each value of a YAML document stands.
//!
//! `serde_yaml` tells the line of a wrong type; a value that has the right type and is wrong all the same (a chain that
//! does not exist) needs the line as well. Paths are written as `serde_ignored` writes them: `triggers.events.0.on`.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

/// Deeper documents are refused by serde_yaml; their paths would be long and many.
const MAX_DEPTH: usize = 128;

/// Lines by path. The line of a mapping's value is the line of its key.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    keys: HashMap<String, usize>,
    contents: HashMap<String, usize>,
}

impl Positions {
    /// Reads the positions of the first document; of a broken one, those up to the break.
    pub(crate) fn of(text: &str) -> Self {
        let mut walk = Walk::default();
        // A syntax error ends the walk and is reported by serde_yaml; what was found before it is right.
        for (event, span) in Parser::new_from_str(text).map_while(Result::ok) {
            if walk.stack.len() > MAX_DEPTH || matches!(event, Event::DocumentEnd) {
                break;
            }
            walk.take(event, span);
        }
        walk.found
    }

    /// The line of the key (or list item) at `path`, or of its nearest parent that is known.
    pub(crate) fn line(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
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
}

enum Frame {
    Mapping { path: String, key: Option<String> },
    Sequence { path: String, next: usize },
}

#[derive(Default)]
struct Walk {
    stack: Vec<Frame>,
    found: Positions,
}

impl Walk {
    /// The path of the value that begins now; none when the scalar is a mapping's key.
    fn value_path(&mut self, line: usize) -> String {
        match self.stack.last_mut() {
            None => String::new(),
            Some(Frame::Mapping { path, key }) => join(path, &key.take().unwrap_or_default()),
            Some(Frame::Sequence { path, next }) => {
                let path = join(path, &next.to_string());
                *next += 1;
                self.found.keys.insert(path.clone(), line);
                path
            }
        }
    }
}

fn join(path: &str, part: &str) -> String {
    if path.is_empty() { part.to_owned() } else { format!("{path}.{part}") }
}

impl Walk {
    fn take(&mut self, event: Event<'_>, span: Span) {
        let line = span.start.line();
        match event {
            Event::Scalar(text, style, ..) => {
                if let Some(Frame::Mapping { path, key: key @ None }) = self.stack.last_mut() {
                    self.found.keys.insert(join(path, &text), line);
                    *key = Some(text.into_owned());
                    return;
                }
                let path = self.value_path(line);
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let first = if block { self.found.keys.get(&path).map_or(line, |key| key + 1) } else { line };
                self.found.contents.insert(path, first);
            }
            Event::Alias(_) => {
                self.value_path(line);
            }
            Event::MappingStart(..) => {
                let path = self.value_path(line);
                self.stack.push(Frame::Mapping { path, key: None });
            }
            Event::SequenceStart(..) => {
                let path = self.value_path(line);
                self.stack.push(Frame::Sequence { path, next: 0 });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                self.stack.pop();
            }
            _ => {}
        }
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
}
