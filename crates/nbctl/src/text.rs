//! Small pieces of text: counts, and text of others made fit for a terminal.

/// A text of others as it may stand in one line: no line breaks, and control characters escaped, so that it can
/// neither move the cursor nor pass for something else.
pub(crate) fn line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        match character {
            '\n' | '\t' => out.push(' '),
            other => push_visible(&mut out, other),
        }
        out
    })
}

/// The same for a text of several lines, which keeps its line breaks and tabs.
pub(crate) fn block(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        match character {
            '\n' | '\t' => out.push(character),
            other => push_visible(&mut out, other),
        }
        out
    })
}

fn push_visible(out: &mut String, character: char) {
    // The second group turns the reading direction round, and with it the meaning of what is shown.
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || turns {
        out.extend(character.escape_unicode());
    } else {
        out.push(character);
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
        assert_eq!(line("a\x1b[31mb\r\nc\u{202e}d\u{9b}"), r"a\u{1b}[31mb\u{d} c\u{202e}d\u{9b}");
        assert_eq!(block("é\n\tx\x07"), "é\n\tx\\u{7}");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!((count(1, "tool"), count(0, "tool")), ("1 tool".into(), "0 tools".into()));
        assert_eq!([bytes(812), bytes(1 << 20), bytes(40_000_000)], ["812 B", "1 MiB", "38.1 MiB"]);
        assert_eq!([grouped(7), grouped(1_000), grouped(12_345_678)], ["7", "1 000", "12 345 678"]);
    }
}
