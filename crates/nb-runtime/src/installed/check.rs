//! Everything of an agent that does not compile, told at once.

use std::collections::BTreeSet;

use nb_sandbox::{Lang, Module, Sandbox, SandboxError, ScriptError, ScriptErrorKind, Source, ToolError};
use nb_spec::Severity;
use serde_json::json;

use super::{Executable, Installed};
use crate::services::Services;

/// The most errors that are told: each has some lines.
const TOLD: usize = 10;

/// The file of a script that stands for a tool which imports a module's macros.
const IMPORTS: &str = "a tool that imports it";

impl Installed {
    /// Compiles every tool and every module, so that an error shows at install and not at the first call. What would
    /// run outside of the sandbox is left alone unless that is granted: a Fennel macro is a program, too.
    ///
    /// # Errors
    /// All errors, each with its place and its line; of more than ten the first ones.
    pub fn compile_all(&self, services: &Services) -> Result<(), String> {
        let mut errors = Errors::default();
        for problem in
            self.spec.missing_modules().iter().filter(|problem| problem.severity == Severity::Error)
        {
            errors.add(problem.to_string());
        }
        let mut broken = BTreeSet::new();
        for (module, error) in self
            .modules
            .iter()
            .filter_map(|module| Some((module, self.module_error(module, &services.sandbox)?)))
        {
            broken.insert(&*module.source.file);
            errors.add(error.to_string());
        }
        for (name, tool) in &self.spec.tools {
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
#[derive(Default)]
struct Errors {
    told: Vec<String>,
    more: usize,
}

impl Errors {
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
        }
        Err(self.told.join("\n"))
    }
}
