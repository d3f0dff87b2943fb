//! Bytes to frames: server-sent events, or one JSON value a line. The bytes may be cut anywhere.
//!
//! Source for events: HTML Living Standard, "Server-sent events", section "Parsing an event stream".

use std::fmt;

/// How a stream is cut into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events: `event:` and `data:` lines, an empty line after each event.
    Events,
    /// A frame a line.
    Lines,
}

/// The longest line, in bytes. Providers send whole documents in one; nobody sends more than this by intention.
pub(crate) const LONGEST_LINE: usize = 16 << 20;

/// One event, or one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The name of an event that has one.
    pub event: Option<String>,
    /// Its data; several `data:` lines are joined by newlines.
    pub data: Vec<u8>,
}

/// A line over [`LONGEST_LINE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTooLong;

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it sent a line of more than {} MiB", LONGEST_LINE >> 20)
    }
}

/// Puts frames together from pieces.
#[derive(Debug)]
pub(crate) struct Decoder {
    framing: Framing,
    buffer: Vec<u8>,
    /// Where the line that is not complete begins.
    line: usize,
    /// How far that line was searched for its end.
    searched: usize,
    /// The line before ended in a carriage return: a newline that follows belongs to it.
    after_return: bool,
    /// Nothing was read before: a byte order mark may come.
    at_start: bool,
    event: Option<String>,
    data: Option<Vec<u8>>,
}

impl Decoder {
    pub fn new(framing: Framing) -> Self {
        Self {
            framing,
            buffer: Vec::new(),
            line: 0,
            searched: 0,
            after_return: false,
            at_start: true,
            event: None,
            data: None,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        // Lines that were read leave once for all their frames.
        self.buffer.drain(..self.line);
        self.searched -= self.line;
        self.line = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next frame that is complete.
    pub fn next(&mut self) -> Result<Option<Frame>, LineTooLong> {
        while let Some((start, end)) = self.next_line()? {
            if let Some(frame) = self.take(start, end) {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// What the stream ended with, without the line end that it should have had. Servers forget the last empty line.
    pub fn last(&mut self) -> Option<Frame> {
        let (start, end) = (self.line, self.buffer.len());
        self.line = end;
        self.searched = end;
        let frame = if start < end { self.take(start, end) } else { None };
        frame.or_else(|| self.dispatch())
    }

    /// The bounds of the next complete line, without its end.
    fn next_line(&mut self) -> Result<Option<(usize, usize)>, LineTooLong> {
        if self.after_return && self.line < self.buffer.len() {
            self.after_return = false;
            if self.buffer[self.line] == b'\n' {
                self.line += 1;
                self.searched = self.searched.max(self.line);
            }
        }
        let returns = self.framing == Framing::Events;
        let rest = &self.buffer[self.searched..];
        let Some(found) = rest.iter().position(|byte| *byte == b'\n' || (returns && *byte == b'\r')) else {
            self.searched = self.buffer.len();
            return if self.searched - self.line > LONGEST_LINE { Err(LineTooLong) } else { Ok(None) };
        };
        let (start, end) = (self.line, self.searched + found);
        self.after_return = self.buffer[end] == b'\r';
        self.line = end + 1;
        self.searched = self.line;
        if end - start > LONGEST_LINE { Err(LineTooLong) } else { Ok(Some((start, end))) }
    }

    fn take(&mut self, start: usize, end: usize) -> Option<Frame> {
        let mut line = &self.buffer[start..end];
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if self.framing == Framing::Lines {
            let line = line.trim_ascii();
            return (!line.is_empty()).then(|| Frame { event: None, data: line.to_vec() });
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match name {
            b"event" => self.event = Some(String::from_utf8_lossy(value).into_owned()),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            // A comment has an empty name; `id` and `retry` are for clients that connect again.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let event = self.event.take();
        self.data.take().map(|data| Frame { event, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames(framing: Framing, pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut decoder = Decoder::new(framing);
        let mut found = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(frame) = decoder.next().unwrap() {
                found.push(frame);
            }
        }
        found.extend(decoder.last());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        found.into_iter().map(|frame| (frame.event.unwrap_or_default(), text(frame.data))).collect()
    }

    const EVENTS: &[u8] =
        "\u{feff}: hello\r\nevent: a\r\ndata: 1\r\n\r\ndata:2\ndata: 3\n\n:\n\nid: 7\rdata\r\r\
        event: lost\n\ndata: é—🤖\r\n\r\nretry: 5\ndata: [DONE]"
            .as_bytes();

    fn expected() -> Vec<(String, String)> {
        [("a", "1"), ("", "2\n3"), ("", ""), ("", "é—🤖"), ("", "[DONE]")]
            .map(|(event, data)| (event.to_owned(), data.to_owned()))
            .to_vec()
    }

    #[test]
    fn events_with_comments_line_ends_of_all_kinds_and_many_lines_are_read() {
        assert_eq!(frames(Framing::Events, &[EVENTS]), expected());
    }

    #[test]
    fn every_split_in_two_gives_the_same_frames() {
        for at in 0..=EVENTS.len() {
            let (first, second) = EVENTS.split_at(at);
            assert_eq!(frames(Framing::Events, &[first, second]), expected(), "split at {at}");
        }
        let single: Vec<&[u8]> = EVENTS.chunks(1).collect();
        assert_eq!(frames(Framing::Events, &single), expected());
    }

    #[test]
    fn lines_are_frames_without_what_is_around_them() {
        let found = frames(Framing::Lines, &[b"{\"a\":1}\r\n\r\n", b"  {\"b\"", b":2}\n{\"c\":3}"]);
        let found: Vec<&str> = found.iter().map(|(_, data)| data.as_str()).collect();
        assert_eq!(found, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
    }

    #[test]
    fn a_line_of_a_mebibyte_is_read_and_one_without_end_is_not_kept() {
        let long = format!("data: {}\n\n", "x".repeat(1 << 20));
        let pieces: Vec<&[u8]> = long.as_bytes().chunks(1000).collect();
        assert_eq!(frames(Framing::Events, &pieces)[0].1.len(), 1 << 20);
        let mut decoder = Decoder::new(Framing::Events);
        let endless = (0..20).find_map(|_| {
            decoder.push(&vec![b'x'; 1 << 20]);
            decoder.next().err()
        });
        assert_eq!(endless, Some(LineTooLong));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_frames(
            bytes in prop::collection::vec(prop_oneof![
                Just(b'\n'), Just(b'\r'), Just(b':'), Just(b' '), Just(b'd'), any::<u8>()
            ], 0..200),
            cuts in prop::collection::vec(0..200usize, 0..8),
        ) {
            for framing in [Framing::Events, Framing::Lines] {
                let whole = decoded(framing, &[&bytes]);
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
                prop_assert_eq!(decoded(framing, &pieces), whole);
            }
        }
    }

    fn decoded(framing: Framing, pieces: &[&[u8]]) -> Vec<Frame> {
        let mut decoder = Decoder::new(framing);
        let mut found = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(frame) = decoder.next().unwrap() {
                found.push(frame);
            }
        }
        found.extend(decoder.last());
        found
    }
}
