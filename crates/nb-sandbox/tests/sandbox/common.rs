//! A sandbox that all tests of a file share, and a builder that makes a call of it readable.

use std::sync::{Arc, LazyLock, Mutex};

use nb_sandbox::{
    Call, CancelFlag, Chunk, ComponentTool, Finished, Folder, Host, Lang, Limit, Limits, Module, Program,
    Sandbox, SandboxConfig, SandboxError, ScriptError, Source, ToolError,
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

/// One call of a script, or of a component.
pub struct Script {
    component: Option<ComponentTool>,
    folders: Vec<Folder>,
    lang: Lang,
    name: String,
    source: String,
    modules: Vec<Module>,
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

/// A component's variable `do` says what it does.
pub fn component(tool: &ComponentTool, action: &str) -> Script {
    let script = Script::new(Lang::Lua, tool.file(), action);
    Script { component: Some(tool.clone()), ..script }.with(format!(r#"{{"do":"{action}"}}"#))
}

impl Script {
    fn new(lang: Lang, name: &str, source: &str) -> Self {
        Self {
            component: None,
            folders: Vec::new(),
            lang,
            name: name.into(),
            source: source.into(),
            modules: Vec::new(),
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

    /// A file that the script can require, named as below `tools/lib`: `text.lua`.
    pub fn module(mut self, file: &str, text: &str) -> Self {
        let (name, ending) = file.rsplit_once('.').expect("an ending");
        let name = name.strip_suffix("/init").unwrap_or(name);
        let lang = if ending == "lua" { Lang::Lua } else { Lang::Fennel };
        let source = Source::new(lang, format!("tools/lib/{file}"), text);
        self.modules.push(Module { name: name.replace('/', ".").into(), source });
        self
    }

    pub fn with(mut self, variables: impl Into<String>) -> Self {
        self.variables = variables.into();
        self
    }

    /// Adds a variable to those of a component.
    pub fn and(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.variables.truncate(self.variables.len() - 1);
        self.variables.push_str(&format!(r#","{name}":{}}}"#, value.into()));
        self
    }

    /// A folder that a component can read, by this name.
    pub fn reading(mut self, name: &str, path: &std::path::Path) -> Self {
        self.folders.push(Folder { name: name.into(), path: path.into(), opened: None });
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
        let source = Source::new(self.lang, self.name.as_str(), self.source.as_str());
        sandbox().compile(&source, &self.modules)
    }

    pub fn run(self) -> (Finished, Seen) {
        let program: Program = match &self.component {
            Some(tool) => tool.clone().into(),
            None => self.compile().unwrap_or_else(|error| panic!("{}: {error}", self.source)).into(),
        };
        let seen = Arc::clone(&self.host.seen);
        let Self { variables, limits, cancel, folders, host, .. } = self;
        let finished =
            sandbox().run(Call { program, variables, limits, cancel, folders, host: Box::new(host) });
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

    /// The error of a script that raised one.
    pub fn script_error(self) -> ScriptError {
        let source = self.source.clone();
        match self.error() {
            ToolError::Script(error) => *error,
            other => panic!("{source}: {other}"),
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
