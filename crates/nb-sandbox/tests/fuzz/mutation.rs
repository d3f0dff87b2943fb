//! Changes of an input, the same ones for the same number to begin with.

use fastrand::Rng;

/// What a text or a binary form takes apart at its edges.
const EDGES: [&[u8]; 16] = [
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\x7f",
    b"\x80",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"(",
    b")",
    b"\n",
    b"-1",
    b"4294967295",
    b"9223372036854775808",
];

/// The most places of an input that are changed at once.
const MOST_CHANGES: usize = 8;

pub struct Mutation(Rng);

impl Mutation {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end.max(1))
    }

    /// `input` with a few changes, some of them taken from `other`.
    pub fn of(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(MOST_CHANGES) {
            self.change(&mut bytes, other);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(16)).min(bytes.len());
        match self.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.0.u8(..),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let from = self.below(other.len());
                let to = (from + 1 + self.below(64)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let edge = EDGES[self.below(EDGES.len())];
                bytes.splice(at..at, edge.iter().copied());
            }
        }
    }
}
