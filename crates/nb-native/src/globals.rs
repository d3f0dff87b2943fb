//! What a script sees beside Lua's own libraries: `json`, `print`, a seeded `math.random`, `debug.traceback`, and `nb`,
//! which is in `api`.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{Function, IntoLua, LightUserData, Lua, MultiValue, Result, Scope, Table, Value, Variadic};

use crate::api::{self, Api, Body, SharedHost, raised};
use crate::arguments::Arguments;
use crate::failure::{PRELUDE, lossy, plain, raise, without_prelude};
use crate::fuel::is_out_of_fuel;
use crate::json::{self, ArrayMark, JsonError};

/// Adds everything to a fresh state.
pub(crate) fn install<'scope, 'env>(
    lua: &Lua,
    scope: &'scope Scope<'scope, 'env>,
    host: SharedHost<'env>,
    mark: &ArrayMark,
) -> Result<()> {
    let globals = lua.globals();
    let api = Api { host, mark: mark.clone(), tostring: globals.get("tostring")? };
    let add = |table: &Table, functions: &[(&str, Body<'env>)]| -> Result<()> {
        for (name, body) in functions {
            let (api, body) = (api.clone(), *body);
            let function = scope.create_function(move |lua, values: Variadic<Value>| {
                body(&api, lua, &Arguments::new(lua, values))
            })?;
            table.raw_set(*name, function)?;
        }
        Ok(())
    };
    let library = |parent: &Table, name: &str, functions: &[(&str, Body<'env>)]| -> Result<Table> {
        let table = lua.create_table()?;
        add(&table, functions)?;
        parent.raw_set(name, &table)?;
        Ok(table)
    };

    add(&globals, &[("print", print)])?;
    let json = library(&globals, "json", &[("encode", encode), ("decode", decode), ("array", array)])?;
    json.raw_set("null", Value::NULL)?;
    name_null(lua)?;
    let nb = lua.create_table()?;
    for (part, functions) in api::functions() {
        add(&if part.is_empty() { nb.clone() } else { library(&nb, part, &[])? }, &functions)?;
    }
    globals.raw_set("nb", nb)?;

    seed_random(lua, scope, &api.host)?;
    add_debug(lua)?;
    let unwrap = lua.create_function(|lua, value: Value| match value {
        Value::Error(error) => Ok((plain(&error).into_lua(lua)?, is_out_of_fuel(&error))),
        Value::String(text) => match text.to_str() {
            Ok(text) if text.starts_with(PRELUDE) => Ok((without_prelude(&text).into_lua(lua)?, false)),
            _ => Ok((Value::String(text), false)),
        },
        other => Ok((other, false)),
    })?;
    lua.load(include_str!("prelude.lua")).set_name(format!("={PRELUDE}")).call(unwrap)
}

fn name_null(lua: &Lua) -> Result<()> {
    let metatable = lua.create_table()?;
    metatable.raw_set("__tostring", lua.create_function(|_, _: Value| Ok("null"))?)?;
    metatable.raw_set("__metatable", "json.null")?;
    lua.set_type_metatable::<LightUserData>(Some(metatable));
    Ok(())
}

/// Seeded by the run, but only when it is used, because asking the host is counted.
fn seed_random<'scope, 'env>(
    lua: &Lua,
    scope: &'scope Scope<'scope, 'env>,
    host: &SharedHost<'env>,
) -> Result<()> {
    let math: Table = lua.globals().get("math")?;
    let (random, randomseed): (Function, Function) = (math.get("random")?, math.get("randomseed")?);
    let seeded = Rc::new(Cell::new(false));
    let from_host = {
        let host = Rc::clone(host);
        move || {
            let mut host = host.borrow_mut();
            (host.random() as i64, host.random() as i64)
        }
    };
    let own_randomseed = scope.create_function({
        let (randomseed, seeded, from_host) = (randomseed.clone(), Rc::clone(&seeded), from_host.clone());
        move |lua, values: Variadic<Value>| {
            seeded.set(true);
            if values.first().is_none_or(Value::is_nil) {
                return randomseed.call::<MultiValue>(from_host());
            }
            call_as("math.randomseed", &randomseed, lua, values)
        }
    })?;
    let own_random = scope.create_function(move |lua, values: Variadic<Value>| {
        if !seeded.replace(true) {
            randomseed.call::<()>(from_host())?;
        }
        call_as("math.random", &random, lua, values)
    })?;
    math.raw_set("random", own_random)?;
    math.raw_set("randomseed", own_randomseed)
}

/// Calls a function of Lua in place of the one that is running, which Lua finds under that name: its errors are those
/// of the script's call.
fn call_as(name: &str, function: &Function, lua: &Lua, values: Variadic<Value>) -> Result<MultiValue> {
    function.call(values.clone()).map_err(|error| {
        let message = plain(&error);
        let bad = message.strip_prefix("bad argument #").and_then(|rest| {
            let (position, what) = rest.strip_suffix(')')?.split_once(" to '?' (")?;
            Some((position.parse().ok()?, what))
        });
        match bad {
            Some((position, what)) => Arguments::new(lua, values).bad_to(name, position, what),
            None => raise(lua, message),
        }
    })
}

/// The whole of `debug` cannot be had: with it a script could break Rust's memory safety.
fn add_debug(lua: &Lua) -> Result<()> {
    let debug = lua.create_table()?;
    let traceback = |lua: &Lua, mut values: MultiValue| {
        if let Some(Value::Thread(_)) = values.front() {
            return Err(raise(lua, "the calls of another coroutine cannot be listed here"));
        }
        let message = match values.pop_front() {
            None | Some(Value::Nil) => None,
            Some(Value::String(message)) => Some(lossy(&message.as_bytes())),
            Some(other) => return Ok(other),
        };
        let level = values.pop_front().and_then(|level| level.as_usize()).unwrap_or(1);
        lua.traceback(message.as_deref(), level).map(Value::String)
    };
    debug.raw_set("traceback", lua.create_function(traceback)?)?;
    lua.globals().get::<Table>("package")?.get::<Table>("loaded")?.raw_set("debug", &debug)?;
    lua.globals().raw_set("debug", debug)
}

fn print(api: &Api<'_>, _: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let mut line = String::new();
    for (index, value) in arguments.all().iter().enumerate() {
        if index > 0 {
            line.push('\t');
        }
        line.push_str(&lossy(&api.to_string(value)?.as_bytes()));
    }
    api.host.borrow_mut().log(&line);
    Ok(Value::Nil)
}

fn encode(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let text = json::encode(&api.mark, arguments.any(1)?);
    text.map_err(|error| raised(lua, error))?.into_lua(lua)
}

fn decode(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let text = arguments.text(1)?;
    if let Err(error) = str::from_utf8(&text.as_bytes()) {
        let byte = error.valid_up_to() + 1;
        return Err(raise(lua, format!("this is not JSON: it is not UTF-8 (byte {byte})")));
    }
    let decoded = json::decode(lua, &api.mark, &text.as_bytes());
    decoded.map_err(|error| match error {
        JsonError::Refused(what) => raise(lua, format!("this is not JSON: {what}")),
        JsonError::Lua(error) => error,
    })
}

fn array(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let table = if arguments.is_nil(1) { lua.create_table()? } else { arguments.table(1)?.clone() };
    json::require_list(&table).map_err(|error| raised(lua, error))?;
    api.mark.put_on(&table)?;
    Ok(Value::Table(table))
}
