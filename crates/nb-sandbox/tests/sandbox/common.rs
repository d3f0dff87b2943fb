//! A sandbox that all tests of a file share, and a builder that makes a call of it readable.

use std::sync::{Arc, LazyLock, Mutex};

use nb_sandbox::{
    Call, CancelFlag, Chunk, Finished, Host, Lang, Limit, Limits, Sandbox, SandboxConfig, SandboxError,
    ToolError,
};

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| {
    let config = SandboxConfig { max_concurrent: 4, ..SandboxConfig::default() };
    Sandbox::new(&config).expect("the sandbox starts")
});

pub fn sandbox() -> Sandbox {
    SANDBOX.clone()
}

/// What a host was asked, in order, and the lines that it was given.
#[derive(Default)]
pub struct Seen {
    pub asked: Vec<(String, String)>,
    pub lines: Vec<String>,
}

type Answer = Box<dyn FnMut(&str, &str) -> Result<String, String> + Send>;

/// Answers each ability by one function, and the clock and randomness by counting.
pub struct TestHost {
    pub seen: Arc<Mutex<Seen>>,
    pub answer: Answer,
    ticks: u64,
}

impl Host for TestHost {
    fn invoke(&mut self, ability: &str, args: &str) -> Result<String, String> {
        self.seen.lock().unwrap().asked.push((ability.to_owned(), args.to_owned()));
        (self.answer)(ability, args)
    }

    fn log(&mut self, line: &str) {
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

/// One call of a script.
pub struct Script {
    lang: Lang,
    name: String,
    source: String,
    variables: String,
    limits: Limits,
    cancel: CancelFlag,
    host: TestHost,
}

pub fn lua(source: &str) -> Script {
    Script::new(Lang::Lua, "test.lua", source)
}

pub fn fennel(source: &str) -> Script {
    Script::new(Lang::Fennel, "test.fnl", source)
}

impl Script {
    fn new(lang: Lang, name: &str, source: &str) -> Self {
        Self {
            lang,
            name: name.into(),
            source: source.into(),
            variables: "{}".into(),
            limits: Limits::default(),
            cancel: CancelFlag::default(),
            host: TestHost {
                seen: Arc::default(),
                answer: Box::new(|_, args| Ok(args.to_owned())),
                ticks: 0,
            },
        }
    }

    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
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

    pub fn compile(&self) -> Result<Chunk, SandboxError> {
        sandbox().compile(self.lang, &self.name, &self.source)
    }

    pub fn run(self) -> (Finished, Seen) {
        let chunk = self.compile().unwrap_or_else(|error| panic!("{}: {error}", self.source));
        let seen = Arc::clone(&self.host.seen);
        let Self { variables, limits, cancel, host, .. } = self;
        let finished = sandbox().run(Call { chunk, variables, limits, cancel, host: Box::new(host) });
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        (finished, seen)
    }

    /// The result as JSON; the script must end well.
    pub fn result(self) -> String {
        let source = self.source.clone();
        self.run().0.outcome.unwrap_or_else(|error| panic!("{source}: {error}"))
    }

    /// The error of running; the script must fail.
    pub fn error(self) -> ToolError {
        let source = self.source.clone();
        match self.run().0.outcome {
            Ok(result) => panic!("{source}: gave {result}"),
            Err(error) => error,
        }
    }

    /// The error of compiling.
    pub fn compile_error(self) -> ToolError {
        match self.compile() {
            Err(SandboxError::Compile(error)) => error,
            other => panic!("{}: gave {other:?}", self.source),
        }
    }

    /// Asserts that the call ends with this limit, and that both figures are told.
    pub fn exceeds(self, expected: Limit) -> (u64, u64) {
        let source = self.source.clone();
        match self.error() {
            ToolError::Limit { limit, allowed, used, .. } if limit == expected => {
                assert!(used >= allowed, "{source}: {used} used of {allowed}");
                (allowed, used)
            }
            other => panic!("{source}: expected {expected:?}, but it is {other:?}"),
        }
    }
}
