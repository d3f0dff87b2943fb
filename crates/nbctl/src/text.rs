//! Small pieces of text: counts, and text of others made fit for a terminal.

use nb_api::visible;

/// A text of others as it may stand in one line: line breaks and control characters escaped, so that it can neither
/// move the cursor nor pass for something else. A tab is a space.
pub(crate) fn line(text: &str) -> String {
    shown(text, |character| (character == '\t').then_some(' '))
}

/// The same for a text of several lines, which keeps its line breaks and tabs.
pub(crate) fn block(text: &str) -> String {
    shown(text, |character| matches!(character, '\n' | '\t').then_some(character))
}

/// The text with some characters in place of others, and the rest made visible.
fn shown(text: &str, replaced: impl Fn(char) -> Option<char>) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        match replaced(character) {
            Some(replaced) => out.push(replaced),
            // Writing into a text does not fail.
            None => drop(visible::write_char(&mut out, character)),
        }
        out
    })
}

/// Prose of several lines in one: it is for reading, and where its lines break does not matter.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error taken apart, as tools of an agent tell them. Its words are the agent's: below the first line each gets a mark,
/// so that none can pass for a line of ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told<'e> {
    /// Where, and what.
    pub first: &'e str,
    /// The lines below it: lines of the source, with a caret under the place, and a hint.
    rest: Vec<&'e str>,
}

impl<'e> Told<'e> {
    /// Takes an error apart.
    pub fn new(error: &'e str) -> Self {
        let mut lines = error.lines();
        let first = lines.next().unwrap_or_default();
        Self { first, rest: lines.collect() }
    }

    /// The first line, with a mark when there are more.
    pub fn in_one_line(&self) -> String {
        let more = if self.rest.is_empty() { "" } else { " …" };
        format!("{}{more}", self.first)
    }

    /// The lines below the first one, marked. None when there are none.
    pub fn below(&self) -> Option<String> {
        let marked: Vec<String> = self.rest.iter().map(|line| format!("| {line}")).collect();
        (!marked.is_empty()).then(|| marked.join("\n"))
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Bytes in the unit that gives the shortest number.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    let mut value = number as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" || value.fract() == 0.0 { format!("{value} {unit}") } else { format!("{value:.1} {unit}") }
}

/// A number with thin groups of three: `1 000 000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    digits.char_indices().fold(String::new(), |mut out, (index, digit)| {
        if index > 0 && index % 3 == first {
            out.push(' ');
        }
        out.push(digit);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_cannot_steer_the_terminal() {
        assert_eq!(line("a\tb\x1b[31mc\r\nd\u{202e}e\u{9b}"), r"a b\x1b[31mc\r\nd\u{202e}e\u{9b}");
        assert_eq!(block("é\n\tx\x07\r"), "é\n\tx\\x07\\r");
    }

    #[test]
    fn an_error_is_told_in_one_line_without_its_source() {
        let error = "tools/a.lua:1:3: no\n  1 | nil.x\n    |   ^\nhint: look";
        let told = Told::new(error);
        assert_eq!(told.in_one_line(), "tools/a.lua:1:3: no …");
        assert_eq!(told.below().unwrap(), "|   1 | nil.x\n|     |   ^\n| hint: look");
        let plain = Told::new("hint: none");
        assert_eq!((plain.in_one_line().as_str(), plain.below()), ("hint: none", None));
        assert_eq!(Told::new("").in_one_line(), "");
        assert_eq!(folded(" two\n  lines\n"), "two lines");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!((count(1, "tool"), count(0, "tool")), ("1 tool".into(), "0 tools".into()));
        assert_eq!([bytes(812), bytes(1 << 20), bytes(40_000_000)], ["812 B", "1 MiB", "38.1 MiB"]);
        assert_eq!([grouped(7), grouped(1_000), grouped(12_345_678)], ["7", "1 000", "12 345 678"]);
    }
}
