//! One script in a Lua state of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{Function, Lua, MultiValue, Scope, Table, Value};
use nb_sandbox::{Host, Limit, Limits, ScriptError, ScriptErrorKind, Stop, ToolError, explain_native};

use crate::api::SharedHost;
use crate::compiler::Compiler;
use crate::failure::{Handler, plain, script_error};
use crate::fuel::Fuel;
use crate::globals;
use crate::json::{self, ArrayMark, JsonError};
use crate::tool::NativeTool;

/// Instructions for compiling: that of a tool is not charged to it, but a macro can run for ever.
pub(crate) const COMPILE_FUEL: u64 = 1 << 28;

/// Lua's memory while it compiles.
pub(crate) const COMPILE_MEMORY_BYTES: u64 = 256 << 20;

/// What came of a script.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) outcome: Result<String, ToolError>,
    pub(crate) fuel: u64,
    pub(crate) peak_memory_bytes: u64,
}

/// Runs a native tool in this process, with nothing around it: of the limits, `fuel` and `memory_bytes` count, and a
/// script that ends or crashes its process ends or crashes this one. To compare interpreters with; tools are run by
/// [`run`](crate::run).
///
/// # Errors
/// As in [`nb_sandbox::Finished::outcome`].
#[doc(hidden)]
pub fn evaluate(
    tool: &NativeTool,
    variables: &str,
    limits: &Limits,
    host: &mut dyn Host,
) -> Result<String, ToolError> {
    evaluate_counted(tool, variables, limits, host).outcome
}

/// [`evaluate`] with what was used up.
pub(crate) fn evaluate_counted(
    tool: &NativeTool,
    variables: &str,
    limits: &Limits,
    host: &mut dyn Host,
) -> Evaluated {
    let fuel = Rc::new(Fuel::default());
    let outcome = in_a_state(tool, &fuel, limits.memory_bytes, host, |script| script.run(variables, limits));
    Evaluated { outcome, fuel: fuel.used(), peak_memory_bytes: fuel.peak_memory() }
}

/// Compiles a tool and all of its modules. Fennel's macros run meanwhile.
pub(crate) fn compile_all(tool: &NativeTool, host: &mut dyn Host) -> Result<String, ToolError> {
    let fuel = Rc::new(Fuel::default());
    in_a_state(tool, &fuel, COMPILE_MEMORY_BYTES, host, |script| {
        script.compiler.compile(script.file(), &tool.source)?;
        for module in &tool.modules {
            script.compiler.compile_module(script.file(), &module.source)?;
        }
        Ok("null".into())
    })
}

/// Why a script gave no result.
enum Failed {
    Script(Box<ScriptError>),
    Memory,
    /// One of our own steps failed.
    Lua(mlua::Error),
}

impl From<mlua::Error> for Failed {
    fn from(error: mlua::Error) -> Self {
        match error {
            mlua::Error::MemoryError(_) => Self::Memory,
            other => Self::Lua(other),
        }
    }
}

impl From<Box<ScriptError>> for Failed {
    fn from(error: Box<ScriptError>) -> Self {
        if error.kind == ScriptErrorKind::Memory { Self::Memory } else { Self::Script(error) }
    }
}

/// A state that is ready for a tool.
struct Script<'a> {
    lua: &'a Lua,
    tool: &'a NativeTool,
    fuel: &'a Rc<Fuel>,
    /// Until the tool's own limits count.
    compiling: &'a Cell<bool>,
    mark: ArrayMark,
    compiler: Compiler,
    xpcall: Function,
    tostring: Function,
}

fn in_a_state(
    tool: &NativeTool,
    fuel: &Rc<Fuel>,
    memory_bytes: u64,
    host: &mut dyn Host,
    work: impl FnOnce(&Script<'_>) -> Result<String, Failed>,
) -> Result<String, ToolError> {
    let lua = Lua::new();
    let host: SharedHost<'_> = Rc::new(RefCell::new(host));
    let mut done = None;
    let compiling = Cell::new(true);
    let prepared = lua.scope(|scope| {
        let script = Script::prepare(&lua, scope, tool, fuel, &compiling, host)?;
        done = Some(work(&script));
        fuel.look_at_memory(&lua);
        Ok(())
    });
    let failed = match (prepared, done) {
        (_, Some(Ok(result))) if fuel.stop().is_none() => return Ok(result),
        (_, Some(Err(failed))) => Some(failed),
        (Err(error), None) => Some(error.into()),
        _ => None,
    };
    let file = &*tool.source.file;
    let error = match (fuel.stop(), failed) {
        (Some(stop), _) => stop.into_error(file),
        (None, Some(Failed::Script(mut error))) => {
            explain_native(&mut error, &tool.sources().cloned().collect::<Vec<_>>());
            ToolError::Script(error)
        }
        (None, Some(Failed::Lua(error))) => {
            ToolError::Script(Box::new(ScriptError::new(file, plain(&error))))
        }
        // How much it asked for is not known; it used what there was.
        (None, _) => {
            let allowed = if compiling.get() { COMPILE_MEMORY_BYTES } else { memory_bytes };
            Stop::Limit { limit: Limit::Memory, allowed, used: allowed }.into_error(file)
        }
    };
    Err(if compiling.get() { error.while_compiling() } else { error })
}

impl<'a> Script<'a> {
    fn prepare<'scope, 'env>(
        lua: &'a Lua,
        scope: &'scope Scope<'scope, 'env>,
        tool: &'a NativeTool,
        fuel: &'a Rc<Fuel>,
        compiling: &'a Cell<bool>,
        host: SharedHost<'env>,
    ) -> mlua::Result<Self> {
        let mark = ArrayMark::new(lua)?;
        // Before the prelude replaces it.
        let (xpcall, tostring) = (lua.globals().get("xpcall")?, lua.globals().get("tostring")?);
        globals::install(lua, scope, host, &mark)?;
        let compiler = Compiler::new(lua, tool)?;
        fuel.give(lua, COMPILE_FUEL)?;
        lua.set_memory_limit(COMPILE_MEMORY_BYTES as usize)?;
        Ok(Self { lua, tool, fuel, compiling, mark, compiler, xpcall, tostring })
    }

    fn file(&self) -> &'a str {
        &self.tool.source.file
    }

    fn run(&self, variables: &str, limits: &Limits) -> Result<String, Failed> {
        let main = self.compiler.compile(self.file(), &self.tool.source)?;
        if self.fuel.stop().is_some() {
            return Ok(String::new());
        }
        self.compiling.set(false);
        self.lua.gc_collect()?;
        self.lua.set_memory_limit(usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX))?;
        self.set_variables(variables)?;
        self.fuel.give(self.lua, limits.fuel)?;
        let value = self.call(main)?;
        json::encode(&self.mark, &value).map_err(|error| match error {
            JsonError::Refused(message) => Failed::Script(Box::new(self.value_error(&message))),
            JsonError::Lua(error) => error.into(),
        })
    }

    fn value_error(&self, message: &str) -> ScriptError {
        script_error(self.file(), self.compiler.files(), ScriptErrorKind::Value, message)
    }

    /// Each key of the object becomes a global.
    fn set_variables(&self, variables: &str) -> Result<(), Failed> {
        let refused = |what: &str| {
            let message = format!("the variables are not a JSON object: {what}");
            Failed::Script(Box::new(self.value_error(&message)))
        };
        let value = json::decode(self.lua, &self.mark, variables.as_bytes());
        let value = value.map_err(|error| match error {
            JsonError::Refused(what) => refused(&what),
            JsonError::Lua(error) => error.into(),
        })?;
        let object: Table = self.mark.object(value).ok_or_else(|| refused("an object was expected"))?;
        let globals = self.lua.globals();
        object.for_each(|key: Value, value: Value| globals.raw_set(key, value))?;
        Ok(())
    }

    /// Calls the script, and catches what it raises where it is raised.
    fn call(&self, main: Function) -> Result<Value, Failed> {
        let handler = Handler {
            tool: self.file(),
            files: self.compiler.files(),
            tostring: self.tostring.clone(),
            mark: self.mark.clone(),
            seen: RefCell::new(None),
        };
        let returned = self.lua.scope(|scope| {
            // Lua asks the handler for errors that `load` catches as well, and the script sees what comes back.
            let handle = scope.create_function(|lua, value: Value| {
                handler.handle(lua, &value)?;
                Ok(value)
            })?;
            self.xpcall.call::<MultiValue>((main, handle))
        });
        let mut values = returned?;
        if values.pop_front() == Some(Value::Boolean(true)) {
            return Ok(values.pop_front().unwrap_or(Value::Nil));
        }
        // Lua calls no handler when memory is short; what was seen then is an error that was caught before.
        const NO_MEMORY: &str = "not enough memory";
        let seen = handler.seen.into_inner();
        if matches!(values.front(), Some(Value::String(message)) if *message == NO_MEMORY)
            && seen.as_ref().is_none_or(|error| error.message != NO_MEMORY)
        {
            return Err(Failed::Memory);
        }
        let gave_up = "an error was raised while another one was handled";
        Err(Box::new(seen.unwrap_or_else(|| ScriptError::new(self.file(), gave_up))).into())
    }
}
