//! A builder that makes a call of a native tool readable.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use nb_native::{NativeCall, NativeTool, Runner, check, evaluate, run};
use nb_sandbox::{CancelFlag, Finished, Host, Lang, Limit, Limits, Module, ScriptError, Source, ToolError};

/// The example `native_child`. `cargo test -p nb-native` builds it; with `--test` it is taken as it is.
pub fn runner() -> Runner {
    let tests = std::env::current_exe().unwrap();
    let program: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples/native_child");
    assert!(program.exists(), "cargo build -p nb-native --examples");
    Runner { program, arguments: Vec::new() }
}

/// What a host was asked, in order, and the lines that it was given.
#[derive(Default)]
pub struct Seen {
    pub asked: Vec<String>,
    pub lines: Vec<String>,
}

type Answer = Box<dyn FnMut(&str, &str) -> Result<String, String> + Send>;
type OnLine = Box<dyn FnMut(&str) + Send>;

/// Answers each ability by one function, and the clock and randomness by counting.
pub struct TestHost {
    seen: Arc<Mutex<Seen>>,
    answer: Answer,
    on_line: OnLine,
    ticks: u64,
}

impl Host for TestHost {
    fn invoke(&mut self, ability: &str, args: &str) -> Result<String, String> {
        self.seen.lock().unwrap().asked.push(format!("{ability} {args}"));
        (self.answer)(ability, args)
    }

    fn log(&mut self, line: &str) {
        (self.on_line)(line);
        self.seen.lock().unwrap().lines.push(line.to_owned());
    }

    fn now_ns(&mut self) -> u64 {
        self.ticks += 1;
        1_700_000_000_000_000_000 + self.ticks
    }

    fn random(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }
}

/// File, line and message of an error. Column and hint are the sandbox's to find.
pub fn place_and_message(error: &ToolError) -> String {
    let ToolError::Script(error) = error else { panic!("{error:?}") };
    match &error.position {
        Some(position) => format!("{}:{}: {}", position.file, position.line, error.message),
        None => format!("{}: {}", error.tool, error.message),
    }
}

/// One call of a native tool.
pub struct Script {
    tool: NativeTool,
    variables: String,
    limits: Limits,
    cancel: CancelFlag,
    host: TestHost,
}

pub fn lua(source: &str) -> Script {
    Script::new(Source::new(Lang::Lua, "test.lua", source))
}

pub fn fennel(source: &str) -> Script {
    Script::new(Source::new(Lang::Fennel, "test.fnl", source))
}

impl Script {
    fn new(source: Source) -> Self {
        Self {
            tool: NativeTool { source, modules: Vec::new() },
            variables: "{}".into(),
            limits: Limits::default(),
            cancel: CancelFlag::default(),
            host: TestHost {
                seen: Arc::default(),
                answer: Box::new(|_, args| Ok(args.to_owned())),
                on_line: Box::new(|_| {}),
                ticks: 0,
            },
        }
    }

    pub fn named(mut self, name: &str) -> Self {
        self.tool.source.file = name.into();
        self
    }

    /// A module `tools/lib/NAME.lua`, or `.fnl`.
    pub fn module(mut self, file: &str, text: &str) -> Self {
        let (name, ending) = file.rsplit_once('.').unwrap();
        let name = name.strip_suffix("/init").unwrap_or(name);
        let lang = if ending == "fnl" { Lang::Fennel } else { Lang::Lua };
        let source = Source::new(lang, format!("tools/lib/{file}"), text);
        self.tool.modules.push(Module { name: name.replace('/', ".").into(), source });
        self
    }

    pub fn with(mut self, variables: impl Into<String>) -> Self {
        self.variables = variables.into();
        self
    }

    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub fn cancelled_by(mut self, cancel: &CancelFlag) -> Self {
        self.cancel = cancel.clone();
        self
    }

    pub fn answering(
        mut self,
        answer: impl FnMut(&str, &str) -> Result<String, String> + Send + 'static,
    ) -> Self {
        self.host.answer = Box::new(answer);
        self
    }

    pub fn on_line(mut self, on_line: impl FnMut(&str) + Send + 'static) -> Self {
        self.host.on_line = Box::new(on_line);
        self
    }

    pub fn run(self) -> (Finished, Seen) {
        let Self { tool, variables, limits, cancel, host } = self;
        let seen = Arc::clone(&host.seen);
        let host = Box::new(host);
        let finished = run(NativeCall { tool, variables, limits, cancel, host, runner: runner() });
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        (finished, seen)
    }

    pub fn lines(self) -> Vec<String> {
        let (finished, seen) = self.run();
        finished.outcome.unwrap();
        seen.lines
    }

    pub fn check(&self) -> Result<(), ToolError> {
        check(&self.tool, &runner())
    }

    /// In this process.
    pub fn evaluate(mut self) -> Result<String, ToolError> {
        evaluate(&self.tool, &self.variables, &self.limits, &mut self.host)
    }

    /// The result as JSON; the script must end well.
    pub fn result(self) -> String {
        let text = self.tool.source.text.clone();
        self.run().0.outcome.unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// The error of running; the script must fail.
    pub fn error(self) -> ToolError {
        let text = self.tool.source.text.clone();
        match self.run().0.outcome {
            Ok(result) => panic!("{text}: gave {result}"),
            Err(error) => error,
        }
    }

    /// Where and what the error of running is.
    pub fn fails(self) -> String {
        place_and_message(&self.error())
    }

    /// The same in this process.
    pub fn fails_here(self) -> String {
        place_and_message(&self.evaluate().unwrap_err())
    }

    /// The error of a script.
    pub fn script_error(self) -> ScriptError {
        match self.error() {
            ToolError::Script(error) => *error,
            other => panic!("{other:?}"),
        }
    }

    /// What is told about a tool that ended its process.
    pub fn crash(self) -> String {
        match self.error() {
            ToolError::Crashed { message, .. } => message,
            other => panic!("{other:?}"),
        }
    }

    /// Asserts that the call ends with this limit, and that both figures are told.
    pub fn exceeds(self, expected: Limit) -> (u64, u64) {
        let text = self.tool.source.text.clone();
        match self.error() {
            ToolError::Limit { limit, allowed, used, .. } if limit == expected => {
                assert!(used >= allowed, "{text}: {used} used of {allowed}");
                (allowed, used)
            }
            other => panic!("{text}: expected {expected:?}, but it is {other:?}"),
        }
    }
}
