//! What `compile` takes: a Lua or Fennel script with its modules, as [`program`](super::program) writes them.

use nb_sandbox::{Module, SandboxError, ScriptErrorKind, Source, ToolError};

use super::host::Answers;
use super::program;
use super::watch::{self, check_error, no_crash, sandbox};

/// The budget of compiling is large, because programs are; a fuzzer needs many small ones.
const MAX_BYTES: usize = 4 << 10;

/// What the Fennel compiler marks a place with on a terminal.
const PINPOINT: &str = "\x1b[7m";

const ESCAPE: char = '\x1b';

pub fn run(input: &[u8]) {
    if input.len() > MAX_BYTES {
        return;
    }
    let text = String::from_utf8_lossy(input);
    let (script, modules) = program::parse(&text);
    let error = match sandbox().compile(&script, &modules) {
        Ok(chunk) => {
            assert_eq!(chunk.file(), &*script.file);
            watch::run(chunk, r#"{"parameters": {"name": "Ada"}}"#, Answers::default()).0.err()
        }
        Err(SandboxError::Compile(error)) => {
            check_error(&error);
            check_kind(&error);
            Some(error)
        }
        Err(error) => panic!("{error}"),
    };
    if let Some(error) = error {
        no_crash(&error);
        check_place(&error, &script, &modules);
        // Unless the program says so itself, in one way or another.
        assert!(text.contains(ESCAPE) || !error.to_string().contains(PINPOINT), "{error}");
    }
}

fn check_kind(error: &ToolError) {
    if let ToolError::Script(error) = error {
        assert!(matches!(error.kind, ScriptErrorKind::Syntax | ScriptErrorKind::Runtime), "{error:?}");
    }
}

/// An error points into one of the files.
fn check_place(error: &ToolError, script: &Source, modules: &[Module]) {
    let ToolError::Script(error) = error else { return };
    let Some(position) = &error.position else { return };
    let mut files = modules.iter().map(|module| &module.source.file).chain([&script.file]);
    assert!(files.any(|file| **file == *position.file), "{position:?} is in none of the files");
}
