//! Sources to functions: Lua's own compiler, and Fennel's, which is a Lua program.

use std::rc::Rc;

use mlua::{Error, Function, Lua, Table, Value};
use nb_sandbox::{Lang, ScriptError, ScriptErrorKind, Source};

use crate::failure::{COMPILER, Files, Raised, chunk_name, plain, script_error};
use crate::tool::NativeTool;

/// The Fennel compiler that is in the guest as well.
const FENNEL: &str = include_str!("../../../guest-lua/vendor/fennel.lua");

/// What the guest adds to it, so that errors have the same places.
const PLACES: &str = include_str!("../../../guest-lua/src/places.lua");

/// Compiles for one Lua state.
#[derive(Clone)]
pub(crate) struct Compiler {
    lua: Lua,
    files: Rc<Files>,
    translate: Function,
    translate_macros: Function,
}

impl Compiler {
    /// Loads Fennel, and makes the tool's modules known to `require` and to macros.
    pub(crate) fn new(lua: &Lua, tool: &NativeTool) -> mlua::Result<Self> {
        let mut files = Files::default();
        for source in tool.sources() {
            files.add(lua, &source.file)?;
        }
        let files = Rc::new(files);

        let fennel: Table = lua.load(FENNEL).set_name("=fennel").call(())?;
        lua.load(PLACES).set_name(format!("={COMPILER}")).call::<()>(&fennel)?;
        lua.globals().get::<Table>("package")?.get::<Table>("loaded")?.set("fennel", &fennel)?;
        lua.globals().set("fennel", &fennel)?;
        forget_parts_of_fennel(lua)?;

        let modules = lua.create_table()?;
        for module in &tool.modules {
            let entry = lua.create_table()?;
            entry.set("name", &*module.name)?;
            entry.set("file", &*module.source.file)?;
            entry.set("text", &*module.source.text)?;
            entry.set("fennel", module.source.lang == Lang::Fennel)?;
            modules.push(entry)?;
        }
        let load_lua = lua.create_function(|lua, (text, file, env): (String, String, Option<Table>)| {
            load(lua, &text, &file, env).map_err(|error| Error::external(Raised(plain(&error))))
        })?;
        // The searcher needs the translator, which comes out of the chunk that sets them up.
        let shared = lua.create_table()?;
        let load_fennel = lua.create_function({
            let (shared, files) = (shared.clone(), Rc::clone(&files));
            move |lua, (text, file): (String, String)| {
                let translate: Function = shared.get("translate")?;
                let translated = translate.call::<String>((text, &*file));
                let loaded = translated.and_then(|translated| load(lua, &translated, &file, None));
                loaded.map_err(|error| Error::external(Raised(files.as_lua_writes(plain(&error)))))
            }
        })?;
        let chunk = lua.load(include_str!("compiler.lua")).set_name(format!("={COMPILER}"));
        let (translate, translate_macros): (Function, Function) =
            chunk.call((fennel, modules, load_lua, load_fennel))?;
        shared.set("translate", &translate)?;
        Ok(Self { lua: lua.clone(), files, translate, translate_macros })
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// The function that a source is, or what is wrong with it.
    pub(crate) fn compile(&self, tool: &str, source: &Source) -> Result<Function, Box<ScriptError>> {
        let text = match source.lang {
            Lang::Lua => Ok(source.text.to_string()),
            Lang::Fennel => self.translate.call::<String>((&*source.text, &*source.file)),
        };
        let loaded = text.and_then(|text| load(&self.lua, &text, &source.file, None));
        loaded.map_err(|error| Box::new(self.syntax_error(tool, &plain(&error))))
    }

    /// Like [`compile`](Self::compile), for a module: it may also be one that defines macros.
    pub(crate) fn compile_module(&self, tool: &str, source: &Source) -> Result<(), Box<ScriptError>> {
        let compiled = self.compile(tool, source);
        if compiled.is_err() && source.lang == Lang::Fennel {
            let macros = self.translate_macros.call::<String>((&*source.text, &*source.file));
            if macros.is_ok() {
                return Ok(());
            }
        }
        compiled.map(drop)
    }

    fn syntax_error(&self, tool: &str, message: &str) -> ScriptError {
        let message = &Files::fennel_text(message);
        match self.files.fennel_position(message) {
            Some((position, rest)) => ScriptError {
                position: Some(position),
                ..script_error(tool, &self.files, ScriptErrorKind::Syntax, rest)
            },
            None => script_error(tool, &self.files, ScriptErrorKind::Syntax, message),
        }
    }
}

/// Lua names a function by the first loaded module that holds it, and Fennel's own hold some of Lua's.
fn forget_parts_of_fennel(lua: &Lua) -> mlua::Result<()> {
    let loaded: Table = lua.globals().get::<Table>("package")?.get("loaded")?;
    let names: Vec<String> = loaded.pairs::<String, Value>().filter_map(|pair| Some(pair.ok()?.0)).collect();
    names
        .iter()
        .filter(|name| name.starts_with("fennel."))
        .try_for_each(|name| loaded.set(name.as_str(), Value::Nil))
}

fn load(lua: &Lua, text: &str, file: &str, env: Option<Table>) -> mlua::Result<Function> {
    let chunk = lua.load(text).set_name(chunk_name(file)).set_mode(mlua::chunk::ChunkMode::Text);
    match env {
        Some(env) => chunk.set_environment(env),
        None => chunk,
    }
    .into_function()
}
