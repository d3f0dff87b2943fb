//! Everything of an agent that does not compile, told at once.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nb_sandbox::{Lang, Module, Sandbox, SandboxError, ScriptError, ScriptErrorKind, Source, ToolError};
use nb_spec::Severity;
use serde_json::json;

use super::{Executable, Installed};
use crate::services::Services;

/// The most errors that are told: each has some lines.
const TOLD: usize = 10;
/// How long everything is compiled, at most, but for the one that is at work then. A large agent takes a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file of a script that stands for a tool which imports a module's macros.
const IMPORTS: &str = "a tool that imports it";

impl Installed {
    /// Compiles every tool and every module, and reads the provider of its cartridge, so that an error shows at install and not at the first call. What would
    /// run outside of the sandbox is left alone unless that is granted: a Fennel macro is a program, too.
    ///
    /// # Errors
    /// All errors, each with its place and its line; of more than ten the first ones. Nothing more is compiled after
    /// those, or after a minute: other installs wait for this one.
    pub fn compile_all(&self, services: &Services) -> Result<(), String> {
        let mut errors = Errors::new();
        for problem in
            self.spec.missing_modules().iter().filter(|problem| problem.severity == Severity::Error)
        {
            errors.add(problem.to_string());
        }
        let mut broken = BTreeSet::new();
        for module in self.modules.iter() {
            if errors.is_enough() {
                return errors.into_result();
            }
            if let Some(error) = self.module_error(module, &services.sandbox) {
                broken.insert(&*module.source.file);
                errors.add(error.to_string());
            }
        }
        for (name, tool) in &self.spec.tools {
            if errors.is_enough() {
                break;
            }
            if tool.is_sandboxed() || self.may_leave_the_sandbox().is_ok() {
                let ready = self.executable(name, services).and_then(|executable| match executable {
                    Executable::Native(tool) => Ok(nb_native::check(&tool, &services.native)?),
                    Executable::Sandboxed(_) => Ok(()),
                });
                match ready {
                    // Told already, and of that file alone: a tool is not wrong because a module is.
                    Err(error) if file_of(&error).is_some_and(|file| broken.contains(file)) => {}
                    Err(error) => errors.add(format!("tool `{name}`: {error}")),
                    Ok(()) => {}
                }
            }
            if let Err(mismatch) = self.check_parameters(name, &json!({}))
                && mismatch.is_schema
            {
                errors.add(format!("tool `{name}`: {}", mismatch.message));
            }
        }
        if let Some(problem) = self.model_problem(services) {
            errors.add(problem);
        }
        errors.into_result()
    }

    /// Why a module does not compile, whoever requires it. One that defines macros is no program of its own.
    fn module_error(&self, module: &Module, sandbox: &Sandbox) -> Option<SandboxError> {
        // By names that nothing requires: what a module requires is looked at by itself. Macros are found by files.
        let nameless = |(number, other): (usize, &Module)| Module {
            name: format!("\0{number}").into(),
            source: other.source.clone(),
        };
        let others: Vec<Module> = self.modules.iter().enumerate().map(nameless).collect();
        let error = sandbox.compile(&module.source, &others).err()?;
        if module.source.lang == Lang::Lua {
            return Some(error);
        }
        let name = module.name.replace('\\', "\\\\").replace('"', "\\\"");
        let imports = format!("(import-macros macros \"{name}\")");
        let error = match sandbox.compile(&Source::new(Lang::Fennel, IMPORTS, imports), &self.modules) {
            Ok(_) => return None,
            // Written for macros: as a program it fails at the first mark of those.
            Err(SandboxError::Compile(ToolError::Script(of_macros))) if module.source.text.contains('`') => {
                SandboxError::Compile(ToolError::Script(Box::new(without_importer(*of_macros))))
            }
            Err(_) => error,
        };
        // Outside of the sandbox, macros may come from the machine; that is looked at with the tools.
        let may_be_elsewhere = self.spec.tools.values().any(|tool| !tool.is_sandboxed());
        (!may_be_elsewhere || !is_missing_macros(&error)).then_some(error)
    }
}

/// The file in which an error of compiling is.
fn file_of(error: &SandboxError) -> Option<&str> {
    match error {
        SandboxError::Compile(ToolError::Script(error)) => error.position.as_ref().map(|at| at.file.as_str()),
        _ => None,
    }
}

/// Fennel's word for macros that nobody has.
fn is_missing_macros(error: &SandboxError) -> bool {
    matches!(error, SandboxError::Compile(ToolError::Script(error))
        if error.kind == ScriptErrorKind::Syntax && error.message.contains(" module not found."))
}

fn without_importer(mut error: ScriptError) -> ScriptError {
    error.message = error.message.replace(&format!(" (used at {IMPORTS}:1)"), "");
    error
}

/// Errors in the order in which they were found, each once.
struct Errors {
    told: Vec<String>,
    more: usize,
    begun: Instant,
}

impl Errors {
    fn new() -> Self {
        Self { told: Vec::new(), more: 0, begun: Instant::now() }
    }

    /// Whether nothing more is to be looked for.
    fn is_enough(&mut self) -> bool {
        if self.begun.elapsed() > PATIENCE {
            let message =
                format!("compiling all of it takes longer than {} s, so it was given up", PATIENCE.as_secs());
            self.told.push(message);
            return true;
        }
        self.told.len() >= TOLD
    }

    fn add(&mut self, error: String) {
        if self.told.contains(&error) {
            return;
        }
        if self.told.len() < TOLD {
            self.told.push(error);
        } else {
            self.more += 1;
        }
    }

    fn into_result(mut self) -> Result<(), String> {
        if self.told.is_empty() {
            return Ok(());
        }
        if self.more > 0 {
            self.told.push(format!("and {} more", self.more));
        } else if self.told.len() >= TOLD {
            self.told.push("there may be more".to_owned());
        }
        Err(self.told.join("\n"))
    }
}
