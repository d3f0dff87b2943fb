//! The line of a source as an error shows it.

/// The longest line that is shown whole, in characters.
const WIDTH: usize = 120;

/// How many characters behind the caret are shown at least of a line that is cut.
const BEHIND: usize = 20;

/// Where the caret stands in an excerpt whose beginning is cut off.
const MIDDLE: usize = WIDTH / 2 + 1;

/// The line without the white space at its end, cut around the column when it is long; nothing for a blank line.
/// Control characters, which could steer a terminal, are replaced one for one.
pub(super) fn excerpt(line: &str, column: Option<u32>) -> Option<String> {
    let line: Vec<char> = line.trim_end().chars().map(printable).collect();
    if line.iter().all(|c| c.is_whitespace()) {
        return None;
    }
    if line.len() <= WIDTH {
        return Some(line.into_iter().collect());
    }
    let column = column.unwrap_or(1) as usize;
    let (start, end) = if is_shifted(column) {
        let start = (column - MIDDLE + 1).min(line.len());
        (start, start + WIDTH - 2)
    } else {
        (0, (column + BEHIND).max(WIDTH - 1))
    };
    let end = end.min(line.len());
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    let shown: String = line.get(start..end)?.iter().collect();
    Some(format!("{before}{shown}{after}"))
}

/// Where the caret for that column of the source stands in its excerpt, from 1, in characters.
pub(crate) fn caret(column: u32) -> usize {
    let column = column as usize;
    if is_shifted(column) { MIDDLE } else { column }
}

/// A column of the line; behind its last character when it lies in the white space at its end. `None` when the line
/// has no such column.
pub(super) fn within(column: u32, line: &str) -> Option<u32> {
    let end = |text: &str| u32::try_from(text.chars().count()).ok()?.checked_add(1);
    (column >= 1 && column <= end(line)?).then_some(())?;
    Some(column.min(end(line.trim_end())?))
}

/// Whether the beginning of the line is cut off. It depends on the column alone, so that the caret can be placed
/// without the line; the column behind a line that is shown whole counts as in view.
fn is_shifted(column: usize) -> bool {
    column > WIDTH + 1
}

fn printable(c: char) -> char {
    if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_loses_the_white_space_at_its_end_and_what_steers_a_terminal() {
        assert_eq!(excerpt("\tx = 1 \t\r", None).as_deref(), Some("\tx = 1"));
        assert_eq!(excerpt("x = '\u{1b}[2J'", None).as_deref(), Some("x = '\u{fffd}[2J'"));
        assert_eq!(excerpt(" \t ", Some(1)), None);
        assert_eq!(excerpt("", None), None);
    }

    #[test]
    fn the_caret_stays_under_its_character_however_the_line_is_cut() {
        for length in [1, 119, 120, 121, 122, 141, 180, 181, 182, 240, 1000] {
            // Each character tells its own column, among more letters than an excerpt has.
            let letter = |column: usize| char::from_u32(0x4e00 + column as u32).unwrap();
            let line: String = (1..=length).map(letter).collect();
            for column in 1..=length + 1 {
                let shown: Vec<char> = excerpt(&line, Some(column as u32)).unwrap().chars().collect();
                let under = shown.get(caret(column as u32) - 1).copied();
                let expected = (column <= length).then(|| letter(column));
                assert_eq!(under, expected, "column {column} of {length}");
                assert!(shown.len() <= WIDTH + 1 + BEHIND + 1, "{}", shown.len());
            }
        }
    }

    #[test]
    fn a_cut_is_marked_where_it_is() {
        let line = "x".repeat(400);
        let shown = |column| excerpt(&line, column).unwrap();
        assert!(!shown(Some(5)).starts_with('…') && shown(Some(5)).ends_with('…'));
        assert!(shown(Some(200)).starts_with('…') && shown(Some(200)).ends_with('…'));
        assert!(shown(Some(400)).starts_with('…') && !shown(Some(400)).ends_with('…'));
        assert_eq!(shown(None).chars().count(), WIDTH);
    }

    #[test]
    fn a_column_outside_of_the_line_is_none() {
        for (column, line, expected) in
            [(0, "ab", None), (1, "ab", Some(1)), (3, "ab", Some(3)), (4, "ab", None), (5, "ab  ", Some(3))]
        {
            assert_eq!(within(column, line), expected, "{column} of {line:?}");
        }
    }
}
