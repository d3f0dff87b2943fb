//! What a script sees beside Lua's own libraries: `json`, `nb`, `print`, a seeded `math.random`, `debug.traceback`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use mlua::{Function, IntoLua, LightUserData, Lua, MultiValue, Result, Scope, Table, Value, Variadic};
use nb_sandbox::Host;

use crate::arguments::Arguments;
use crate::failure::{PRELUDE, Raised, lossy, plain, raise};
use crate::fuel::is_out_of_fuel;
use crate::json::{self, ArrayMark, JsonError, ObjectWriter};

/// The host, while a script runs.
pub(crate) type SharedHost<'h> = Rc<RefCell<&'h mut (dyn Host + 'h)>>;

type Body<'h> = fn(&Api<'h>, &Lua, &Arguments<'_>) -> Result<Value>;

/// What our functions work with.
#[derive(Clone)]
struct Api<'h> {
    host: SharedHost<'h>,
    mark: ArrayMark,
    tostring: Function,
}

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
    let nb = library(&globals, "nb", &[("call", call), ("time", time), ("notify", notify)])?;
    library(
        &nb,
        "kv",
        &[
            ("get", kv_get),
            ("set", kv_set),
            ("delete", kv_delete),
            ("list", kv_list),
            ("increment", kv_increment),
            ("compare_and_set", kv_compare_and_set),
        ],
    )?;
    library(&nb, "http", &[("fetch", http_fetch)])?;
    library(&nb, "log", &[("info", log_info), ("error", log_error)])?;
    library(&nb, "event", &[("publish", event_publish)])?;

    seed_random(lua, scope, &api.host)?;
    add_debug(lua)?;
    let unwrap = lua.create_function(|lua, value: Value| match value {
        Value::Error(error) => Ok((plain(&error).into_lua(lua)?, is_out_of_fuel(&error))),
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
    let pass = |error: mlua::Error| mlua::Error::external(Raised(plain(&error)));
    let own_randomseed = scope.create_function({
        let (randomseed, seeded, from_host) = (randomseed.clone(), Rc::clone(&seeded), from_host.clone());
        move |_, values: MultiValue| {
            seeded.set(true);
            if values.front().is_none_or(Value::is_nil) {
                return randomseed.call::<MultiValue>(from_host()).map_err(pass);
            }
            randomseed.call(values).map_err(pass)
        }
    })?;
    let own_random = scope.create_function(move |_, values: MultiValue| {
        if !seeded.replace(true) {
            randomseed.call::<()>(from_host())?;
        }
        random.call::<MultiValue>(values).map_err(pass)
    })?;
    math.raw_set("random", own_random)?;
    math.raw_set("randomseed", own_randomseed)
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
    let text = arguments.string(1)?;
    let decoded = json::decode(lua, &api.mark, &text.as_bytes());
    decoded.map_err(|error| match error {
        JsonError::Refused(what) => raise(lua, format!("this is not JSON: {what}")),
        JsonError::Lua(error) => error,
    })
}

fn array(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let table = if arguments.is_nil(1) { lua.create_table()? } else { arguments.table(1)?.clone() };
    api.mark.put_on(&table)?;
    Ok(Value::Table(table))
}

/// `nb.call(ability, args)`
fn call(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let ability = arguments.string(1)?;
    let Ok(ability) = ability.to_str() else {
        return Err(arguments.bad(1, "the ability's name is not UTF-8"));
    };
    let args = if arguments.is_nil(2) {
        "{}".to_owned()
    } else {
        arguments.table(2)?;
        json::encode(&api.mark, arguments.get(2)).map_err(|error| raised(lua, error))?
    };
    api.invoke(lua, &ability, &args)
}

/// `nb.time()`: seconds since 1970-01-01 UTC, with a fraction
fn time(api: &Api<'_>, _: &Lua, _: &Arguments<'_>) -> Result<Value> {
    Ok(Value::Number(api.host.borrow_mut().now_ns() as f64 / 1e9))
}

/// `nb.notify(title, body, priority)` or `nb.notify{title=…, body=…, priority=…}`
fn notify(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let table = arguments.table(1).ok();
    let mut members = Vec::new();
    for (index, key) in ["title", "body", "priority"].into_iter().enumerate() {
        let value = table.map_or_else(|| Ok(arguments.get(index + 1).clone()), |table| table.get(key))?;
        if index == 0 || !value.is_nil() {
            let text = arguments.string_of(index + 1, &value, false)?;
            members.push((key, Value::String(text)));
        }
    }
    api.request(lua, "notify.user", &members)
}

fn kv_get(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let key = Value::String(arguments.string(1)?);
    api.request(lua, "kv.read", &[("op", word(lua, "get")?), ("key", key)])
}

fn kv_list(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let mut members = vec![("op", word(lua, "list")?)];
    if !arguments.is_nil(1) {
        members.push(("prefix", Value::String(arguments.string(1)?)));
    }
    api.request(lua, "kv.read", &members)
}

fn kv_set(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let value = arguments.any(2)?.clone();
    let key = Value::String(arguments.string(1)?);
    api.request(lua, "kv.write", &[("op", word(lua, "set")?), ("key", key), ("value", value)])
}

fn kv_delete(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let key = Value::String(arguments.string(1)?);
    api.request(lua, "kv.write", &[("op", word(lua, "delete")?), ("key", key)])
}

fn kv_increment(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let by = if arguments.is_nil(2) {
        Value::Integer(1)
    } else {
        arguments.number(2)?;
        arguments.get(2).clone()
    };
    let key = Value::String(arguments.string(1)?);
    api.request(lua, "kv.write", &[("op", word(lua, "increment")?), ("key", key), ("by", by)])
}

/// `nb.kv.compare_and_set(key, expected, value)`
fn kv_compare_and_set(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let value = arguments.any(3)?.clone();
    let key = Value::String(arguments.string(1)?);
    let members = [
        ("op", word(lua, "compare_and_set")?),
        ("key", key),
        ("expected", arguments.get(2).clone()),
        ("value", value),
    ];
    api.request(lua, "kv.write", &members)
}

/// `nb.http.fetch(url)` or `nb.http.fetch{method=…, url=…, headers=…, body=…, timeout_ms=…}`
fn http_fetch(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    if let Value::Table(_) = arguments.get(1) {
        let args = json::encode(&api.mark, arguments.get(1)).map_err(|error| raised(lua, error))?;
        return api.invoke(lua, "http.fetch", &args);
    }
    api.request(lua, "http.fetch", &[("url", Value::String(arguments.string(1)?))])
}

fn log_info(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let message = api.to_string(arguments.any(1)?)?;
    api.request(lua, "log.info", &[("message", Value::String(message))])
}

fn log_error(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let message = api.to_string(arguments.any(1)?)?;
    api.request(lua, "log.error", &[("message", Value::String(message))])
}

fn event_publish(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let mut members = vec![("name", Value::String(arguments.string(1)?))];
    if !arguments.is_nil(2) {
        members.push(("data", arguments.get(2).clone()));
    }
    api.request(lua, "event.publish", &members)
}

fn word(lua: &Lua, word: &str) -> Result<Value> {
    word.into_lua(lua)
}

fn raised(lua: &Lua, error: JsonError) -> mlua::Error {
    match error {
        JsonError::Refused(message) => raise(lua, message),
        JsonError::Lua(error) => error,
    }
}

impl Api<'_> {
    fn to_string(&self, value: &Value) -> Result<mlua::LuaString> {
        let text = self.tostring.call(value);
        text.map_err(|error| mlua::Error::external(Raised(plain(&error))))
    }

    /// Asks the host with these members as arguments.
    fn request(&self, lua: &Lua, ability: &str, members: &[(&str, Value)]) -> Result<Value> {
        let mut args = ObjectWriter::new(&self.mark);
        for (key, value) in members {
            args.put(key, value).map_err(|error| raised(lua, error))?;
        }
        self.invoke(lua, ability, &args.finish())
    }

    /// An answer of the host is a value, its refusal an error at the line of the script that asked.
    fn invoke(&self, lua: &Lua, ability: &str, args: &str) -> Result<Value> {
        let answer = self.host.borrow_mut().invoke(ability, args);
        let answer = answer.map_err(|refusal| raise(lua, refusal))?;
        json::decode(lua, &self.mark, answer.as_bytes()).map_err(|error| match error {
            JsonError::Refused(what) => raise(lua, format!("the host's answer is not JSON: {what}")),
            JsonError::Lua(error) => error,
        })
    }
}
