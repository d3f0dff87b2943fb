//! What a tool and its programs write to their standard output and error, as lines of the log.

/// Bytes of a line; a longer one becomes several.
const MAX_LINE: usize = 64 << 10;

/// The line that is not finished yet.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Takes what was read and hands over each line that it finishes.
    pub(crate) fn take(&mut self, bytes: &[u8], mut line: impl FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(part);
            if self.0.ends_with(b"\n") || self.0.len() >= MAX_LINE {
                self.finish(&mut line);
            }
        }
    }

    /// Hands over a last line without a newline.
    pub(crate) fn finish(&mut self, mut line: impl FnMut(&str)) {
        if self.0.is_empty() {
            return;
        }
        line(&String::from_utf8_lossy(self.0.strip_suffix(b"\n").unwrap_or(&self.0)));
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_when_it_is_finished() {
        let mut seen = Vec::new();
        let mut lines = Lines::default();
        lines.take(b"a", |line| seen.push(line.to_owned()));
        lines.take(b"b\n\nc\xff\nd", |line| seen.push(line.to_owned()));
        lines.finish(|line| seen.push(line.to_owned()));
        lines.finish(|line| seen.push(line.to_owned()));
        assert_eq!(seen, ["ab", "", "c\u{fffd}", "d"]);
    }

    #[test]
    fn a_line_without_end_does_not_grow_for_ever() {
        let mut seen = 0;
        let mut lines = Lines::default();
        for _ in 0..4 * MAX_LINE {
            lines.take(b"x", |line| seen += line.len());
        }
        assert_eq!(seen, 4 * MAX_LINE);
    }
}
