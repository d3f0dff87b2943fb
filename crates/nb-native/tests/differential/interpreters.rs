//! The two interpreters, and what comes of a program in each.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use nb_native::{NativeTool, evaluate};
use nb_sandbox::{
    Call, CancelFlag, Host, Limits, Module, Sandbox, SandboxConfig, SandboxError, ScriptError, ToolError,
};
use serde_json::Value;

use crate::program::{Program, modules};

pub struct Interpreters {
    sandbox: Sandbox,
    modules: Vec<Module>,
    limits: Limits,
}

/// All that can be seen of a program that ran.
#[derive(PartialEq)]
struct Outcome {
    /// What it asked the host for and printed, in order.
    seen: Vec<String>,
    /// Its result, or how it failed; one line.
    end: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.seen.iter().try_for_each(|line| write!(formatter, "{line}; "))?;
        formatter.write_str(&self.end)
    }
}

impl Interpreters {
    pub fn new() -> Self {
        let config = SandboxConfig { max_concurrent: 4, ..SandboxConfig::default() };
        // Enough for any of these programs.
        let limits = Limits { fuel: 10_000_000, ..Limits::default() };
        Self { sandbox: Sandbox::new(&config).unwrap(), modules: modules(), limits }
    }

    /// What is wrong, for a reader, if the two do not do what they should.
    pub fn compare(&self, program: &Program) -> Option<String> {
        let (guest, native) = (self.guest(program), self.native(program));
        let Program { name, source, known } = program;
        let told = format!("{name}\n  guest:  {guest}\n  native: {native}\n");
        match known {
            Some(known) if guest.to_string() == known.guest && native.to_string() == known.native => None,
            Some(known) => Some(format!("{told}  known:  {}\n          {}\n\n", known.guest, known.native)),
            None if guest == native => None,
            // A program that nobody wrote is shown.
            None if name.starts_with("random") => Some(format!("{told}{}\n", source.text)),
            None => Some(format!("{told}\n")),
        }
    }

    fn guest(&self, program: &Program) -> Outcome {
        let host = EchoingHost::default();
        let seen = Arc::clone(&host.seen);
        let compiled = self.sandbox.compile(&program.source, &self.modules);
        let outcome = compiled.map(|chunk| {
            let call = Call {
                program: chunk.into(),
                variables: VARIABLES.into(),
                limits: self.limits.clone(),
                cancel: CancelFlag::default(),
                folders: Vec::new(),
                host: Box::new(host),
            };
            self.sandbox.run(call).outcome
        });
        let outcome = outcome.unwrap_or_else(|error| match error {
            SandboxError::Compile(error) => Err(error),
            other => panic!("{}: {other}", program.name),
        });
        Outcome::new(&seen, outcome)
    }

    fn native(&self, program: &Program) -> Outcome {
        let mut host = EchoingHost::default();
        let tool = NativeTool { source: program.source.clone(), modules: self.modules.clone() };
        let outcome = evaluate(&tool, VARIABLES, &self.limits, &mut host);
        Outcome::new(&host.seen, outcome)
    }

    /// The array of names that a program gives.
    pub fn names_in_guest(&self, program: &Program) -> BTreeSet<String> {
        serde_json::from_str(&self.guest(program).end).unwrap()
    }

    pub fn names_in_native(&self, program: &Program) -> BTreeSet<String> {
        serde_json::from_str(&self.native(program).end).unwrap()
    }
}

impl Outcome {
    fn new(seen: &Mutex<Vec<String>>, outcome: Result<String, ToolError>) -> Self {
        let end = match outcome {
            Ok(result) => sorted(&result),
            Err(ToolError::Script(error)) => script_error(&error),
            // The two reckon with different units, so that only the limit is the same.
            Err(ToolError::Limit { limit, .. }) => format!("limit: {limit}"),
            Err(other) => other.to_string(),
        };
        let seen = seen.lock().unwrap().iter().map(|line| one_line(line)).collect();
        Self { seen, end: one_line(&end) }
    }
}

/// The members of objects in one order: that of a table differs from state to state.
fn sorted(json: &str) -> String {
    if !json.contains('{') {
        return json.to_owned();
    }
    let mut value: Value = serde_json::from_str(json).unwrap();
    value.sort_all_objects();
    value.to_string()
}

fn script_error(error: &ScriptError) -> String {
    let kind = serde_json::to_string(&error.kind).unwrap();
    let kind = kind.trim_matches('"');
    match &error.position {
        Some(position) => format!("{kind} error: {}:{}: {}", position.file, position.line, error.message),
        None => format!("{kind} error: {}", error.message),
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

/// The global variables of each program.
const VARIABLES: &str = r#"{"parameters": {"name": "Ada", "list": [1, null, 2.5], "empty": [], "none": {}}}"#;

/// Answers with what it was asked; refuses the ability `refuse`.
#[derive(Default)]
struct EchoingHost {
    seen: Arc<Mutex<Vec<String>>>,
    ticks: u64,
}

impl EchoingHost {
    fn tick(&mut self, what: &str) -> u64 {
        self.seen.lock().unwrap().push(what.to_owned());
        self.ticks += 1;
        self.ticks
    }
}

impl Host for EchoingHost {
    fn invoke(&mut self, ability: &str, args: &str) -> Result<String, String> {
        self.seen.lock().unwrap().push(format!("{ability} {}", sorted(args)));
        match ability {
            "refuse" => Err("that is refused".into()),
            "broken" => Ok("{".into()),
            _ => Ok(args.into()),
        }
    }

    fn log(&mut self, line: &str) {
        self.seen.lock().unwrap().push(format!("printed {line}"));
    }

    fn now_ns(&mut self) -> u64 {
        1_700_000_000_000_000_000 + self.tick("time")
    }

    fn random(&mut self) -> u64 {
        self.tick("random")
    }
}
