//! The bytes of a stream to an answer, whichever pieces they come in.

use crate::answer::{Answer, Delta};
use crate::frame::{Decoder, Framing};
use crate::wire::{Bad, Reader};

/// How much of a stream is kept as long as nothing of it could be read.
const KEPT: usize = 200;

/// A stream that is being read.
pub(crate) struct Reading {
    decoder: Decoder,
    reader: Box<dyn Reader>,
    began: bool,
    /// Whether a frame of it was read.
    read_any: bool,
    /// How it begins, until something of it could be read.
    beginning: Vec<u8>,
}

/// What of a stream could not be read, and why.
pub(crate) struct Unread {
    pub bad: Bad,
    pub data: Vec<u8>,
}

impl Reading {
    pub fn new(framing: Framing, reader: Box<dyn Reader>) -> Self {
        Self { decoder: Decoder::new(framing), reader, began: false, read_any: false, beginning: Vec::new() }
    }

    /// Takes the next bytes, or the end, and hands on what is new in them.
    pub fn take(
        &mut self,
        piece: Option<&[u8]>,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), Unread> {
        if let Some(bytes) = piece {
            self.began |= !bytes.is_empty();
            if !self.read_any {
                let room = KEPT.saturating_sub(self.beginning.len());
                self.beginning.extend(bytes.iter().take(room));
            }
            self.decoder.push(bytes);
        }
        while !self.reader.is_over() {
            let frame = match self.decoder.next() {
                Ok(None) if piece.is_none() => self.decoder.last(),
                Ok(frame) => frame,
                Err(too_long) => {
                    let bad = Bad::Malformed(too_long.to_string());
                    return Err(Unread { bad, data: Vec::new() });
                }
            };
            let Some(frame) = frame else { break };
            self.reader.read(&frame, on).map_err(|bad| Unread { bad, data: frame.data })?;
            self.read_any = true;
        }
        Ok(())
    }

    /// Whether any of it came.
    pub fn began(&self) -> bool {
        self.began
    }

    /// Whether a frame of it was read.
    pub fn has_frames(&self) -> bool {
        self.read_any
    }

    /// How it begins, when nothing of it could be read: it may be something else than a stream.
    pub fn unread(&self) -> Option<&[u8]> {
        (!self.read_any && self.began).then_some(&self.beginning)
    }

    /// Whether the answer may end here, when the stream ends.
    pub fn is_whole(&self) -> bool {
        self.reader.is_whole()
    }

    /// Whether the provider said that the answer ends here, however the stream goes on.
    pub fn has_ended(&self) -> bool {
        self.reader.is_whole() && self.reader.marks_end()
    }

    /// Whether nothing more is to be read.
    pub fn is_over(&self) -> bool {
        self.reader.is_over()
    }

    /// What was read so far.
    pub fn answer(&mut self) -> Answer {
        self.reader.answer()
    }
}
