//! What `compile` takes: a Lua or Fennel script with its modules, as [`program`](super::program) writes them.

use nb_sandbox::{Module, SandboxError, ScriptErrorKind, Source, ToolError};

use super::host::Answers;
use super::program;
use super::watch::{self, check_error, no_crash, sandbox};

/// The budget of compiling is large, because programs are; a fuzzer needs many small ones.
const MAX_BYTES: usize = 4 << 10;

/// What a sequence for a terminal begins with.
const ESCAPE: char = '\x1b';

pub fn run(input: &[u8]) {
    if input.len() > MAX_BYTES {
        return;
    }
    let (script, modules) = program::parse(&String::from_utf8_lossy(input));
    match sandbox().compile(&script, &modules) {
        Ok(chunk) => {
            assert_eq!(chunk.file(), &*script.file);
            if let Err(error) = watch::run(chunk, r#"{"parameters": {"name": "Ada"}}"#, Answers::default()).0
            {
                no_crash(&error);
                check_place(&error, &script, &modules);
            }
        }
        Err(SandboxError::Compile(error)) => {
            check_error(&error);
            no_crash(&error);
            check_place(&error, &script, &modules);
            if let ToolError::Script(error) = &error {
                assert!(
                    matches!(error.kind, ScriptErrorKind::Syntax | ScriptErrorKind::Runtime),
                    "{error:?}"
                );
            }
        }
        Err(error) => panic!("{error}"),
    }
}

/// An error points into one of the files, and is no text for a terminal.
fn check_place(error: &ToolError, script: &Source, modules: &[Module]) {
    let ToolError::Script(error) = error else { return };
    let mut texts = modules.iter().map(|module| &module.source.text).chain([&script.text]);
    let escapes = texts.any(|text| text.contains(ESCAPE) || text.contains('\\'));
    assert!(escapes || !error.message.contains(ESCAPE), "{:?}", error.message);
    let Some(position) = &error.position else { return };
    let mut files = modules.iter().map(|module| &module.source.file).chain([&script.file]);
    assert!(files.any(|file| **file == *position.file), "{position:?} is in none of the files");
}
