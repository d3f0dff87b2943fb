//! One gzip stream, unpacked piece by piece under caps.

use std::io::{ErrorKind, Read};

use flate2::bufread::GzDecoder;

use crate::error::PackageError;

/// The most that one compressed byte may unpack to, on average. Source text and YAML stay far below 50; deflate can
/// reach 1032.
pub const MAX_RATIO: u64 = 200;

/// What may unpack at any ratio. A small package of empty tar blocks is above the ratio and harmless.
pub const RATIO_FREE_BYTES: u64 = 1 << 20;

/// The most zero bytes after the archive's end. `tar` fills up to a block of 10 KiB, tapes of old to some hundred.
const MAX_PADDING: u64 = 1 << 20;

/// One read; what is held at once beyond the entries themselves.
const CHUNK: usize = 64 << 10;

/// Counts what goes in and out, and stops as soon as a cap is passed.
pub(crate) struct Gunzip<'a> {
    decoder: GzDecoder<&'a [u8]>,
    packed_total: u64,
    unpacked: u64,
}

impl<'a> Gunzip<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, PackageError> {
        // RFC 1952, 2.3.1: the two magic bytes, then method 8.
        if !bytes.starts_with(&[0x1f, 0x8b, 8]) {
            return Err(PackageError::NotGzip);
        }
        Ok(Self { decoder: GzDecoder::new(bytes), packed_total: bytes.len() as u64, unpacked: 0 })
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, PackageError> {
        let count = self.decoder.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => PackageError::Truncated,
            _ => PackageError::Damaged(error.to_string()),
        })?;
        self.unpacked += count as u64;
        let packed = self.packed_total - self.decoder.get_ref().len() as u64;
        if self.unpacked > RATIO_FREE_BYTES && self.unpacked / MAX_RATIO > packed {
            return Err(PackageError::Bomb { packed, unpacked: self.unpacked });
        }
        Ok(count)
    }

    /// Fills the buffer; a stream that ends before is cut off.
    pub(crate) fn fill(&mut self, mut buffer: &mut [u8]) -> Result<(), PackageError> {
        while !buffer.is_empty() {
            let count = self.read(buffer)?;
            if count == 0 {
                return Err(PackageError::Truncated);
            }
            buffer = buffer.split_at_mut(count).1;
        }
        Ok(())
    }

    /// The next `size` bytes. Memory grows with what arrives, never with what `size` announces.
    pub(crate) fn bytes(&mut self, size: u64) -> Result<Vec<u8>, PackageError> {
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK.min(usize::try_from(size).unwrap_or(CHUNK))];
        let mut left = size;
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(CHUNK).min(chunk.len());
            let part = chunk.split_at_mut(wanted).0;
            self.fill(part)?;
            bytes.extend_from_slice(part);
            left -= wanted as u64;
        }
        Ok(bytes)
    }

    /// Reads to the end, which also checks the stream's CRC: only zeros may be left, and nothing after the stream.
    pub(crate) fn finish(mut self) -> Result<(), PackageError> {
        let mut chunk = vec![0; CHUNK];
        let mut padding = 0;
        loop {
            let count = self.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            padding += count as u64;
            if padding > MAX_PADDING || chunk.iter().take(count).any(|byte| *byte != 0) {
                return Err(PackageError::TrailingData("after the end of the archive"));
            }
        }
        if self.decoder.get_ref().is_empty() {
            Ok(())
        } else {
            Err(PackageError::TrailingData("after the gzip stream"))
        }
    }
}
