//! What the benchmark and the soak share: a host, a call, and the memory of the process.

use nb_sandbox::{Call, CancelFlag, Chunk, Finished, Host, Lang, Limits, Program, Sandbox, Source};

/// A tool as users write it: three lines of Fennel.
pub const FENNEL_TOOL: &str = "(fn greet [name]\n  (.. \"Hello, \" name \"!\"))\n(greet parameters.name)";

/// What the tool is given.
pub const VARIABLES: &str = r#"{"parameters": {"name": "Ada"}}"#;

/// Answers each ability with what it was given.
pub struct Echo;

impl Host for Echo {
    fn invoke(&mut self, _ability: &str, args: &str) -> Result<String, String> {
        Ok(args.to_owned())
    }

    fn log(&mut self, _line: &str) {}

    fn now_ns(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }
}

/// Translates a script that is known to be one.
pub fn compile(sandbox: &Sandbox, lang: Lang, text: &str) -> Chunk {
    sandbox.compile(&Source::new(lang, "bench", text), &[]).expect("it compiles")
}

/// One call, with everything that a call of the daemon has but the daemon's host.
pub fn call(sandbox: &Sandbox, program: impl Into<Program>, limits: Limits, cancel: CancelFlag) -> Finished {
    sandbox.run(Call {
        program: program.into(),
        variables: VARIABLES.to_owned(),
        limits,
        cancel,
        folders: Vec::new(),
        host: Box::new(Echo),
    })
}

/// The memory of this process that is in the machine, in bytes.
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells the memory of a process");
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * rustix::param::page_size() as u64
}
