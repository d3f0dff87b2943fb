//! What `run` takes as a chunk: bytes that begin like one, or a real chunk with changes.
//!
//! An input that begins with `Nb` is the chunk. Of another one the first byte chooses a program that is compiled, and
//! each four bytes after it are a change: two of the place, one of the kind, one of the value.

use std::sync::LazyLock;

use nb_sandbox::{Chunk, Lang, Source};

use super::host::Answers;
use super::program;
use super::watch::{self, sandbox};

const MARK: &[u8] = b"Nb";

const PROGRAMS: [&str; 4] = [
    include_str!("../../../fuzz/seeds/compile/closures"),
    include_str!("../../../fuzz/seeds/compile/libraries"),
    include_str!("../../../fuzz/seeds/compile/modules"),
    include_str!("../../../fuzz/seeds/compile/fennel"),
];

pub fn run(input: &[u8]) {
    let chunk = match input.split_first() {
        Some((first, changes)) if !input.starts_with(MARK) => {
            let (source, bytes) = &COMPILED[*first as usize % COMPILED.len()];
            Chunk::from_bytes(source.clone(), changed(bytes.clone(), changes))
        }
        _ => Chunk::from_bytes(Source::new(Lang::Lua, "chunk.lua", "return 1"), input.to_vec()),
    };
    // What comes of it may be anything; the promises are checked there.
    let _ = watch::run(chunk, r#"{"parameters": {"name": "Ada"}}"#, Answers::default());
}

static COMPILED: LazyLock<Vec<(Source, Vec<u8>)>> = LazyLock::new(|| {
    let compile = |text| {
        let (script, modules) = program::parse(text);
        let chunk = sandbox().compile(&script, &modules).unwrap_or_else(|error| panic!("{error}"));
        (script, chunk.bytes().to_vec())
    };
    PROGRAMS.map(compile).to_vec()
});

fn changed(mut bytes: Vec<u8>, changes: &[u8]) -> Vec<u8> {
    for change in changes.chunks_exact(4) {
        let [low, high, kind, value] = *change else { continue };
        if bytes.is_empty() {
            break;
        }
        let at = usize::from(u16::from_le_bytes([low, high])) % bytes.len();
        match kind % 16 {
            // Rarely, because hardly anything is a chunk afterwards.
            0 => bytes.insert(at, value),
            1 => drop(bytes.drain(at..bytes.len().min(at + usize::from(value)))),
            2..5 => bytes[at] = value,
            5..8 => bytes[at] ^= 1 << (value % 8),
            8..11 => bytes[at] = bytes[at].wrapping_add(value),
            // An instruction in place of another one, where they lie as they should.
            _ => {
                let from = usize::from(value) * 4 % bytes.len();
                let word: Vec<u8> = bytes[from..].iter().take(4).copied().collect();
                let end = bytes.len().min(at + word.len());
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
        }
    }
    bytes
}
