//! The table `nb`: the host's abilities as functions.
//!
//! All of them come down to `nb.call(ability, args)`; the others spare a script the names.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Function, IntoLua, Lua, LuaString, Result, Value};
use nb_sandbox::Host;

use crate::arguments::Arguments;
use crate::failure::{Raised, has_text, plain, raise};
use crate::json::{self, ArrayMark, JsonError, ObjectWriter};

/// The host, while a script runs.
pub(crate) type SharedHost<'h> = Rc<RefCell<&'h mut (dyn Host + 'h)>>;

/// One of our functions.
pub(crate) type Body<'h> = fn(&Api<'h>, &Lua, &Arguments<'_>) -> Result<Value>;

/// What our functions work with.
#[derive(Clone)]
pub(crate) struct Api<'h> {
    pub(crate) host: SharedHost<'h>,
    pub(crate) mark: ArrayMark,
    pub(crate) tostring: Function,
}

/// All of them, by the table in `nb` where they are; without a name for `nb` itself.
pub(crate) fn functions<'h>() -> [(&'static str, Vec<(&'static str, Body<'h>)>); 5] {
    [
        ("", vec![("call", call as Body<'h>), ("time", time), ("notify", notify)]),
        (
            "kv",
            vec![
                ("get", kv_get as Body<'h>),
                ("set", kv_set),
                ("delete", kv_delete),
                ("list", kv_list),
                ("increment", kv_increment),
                ("compare_and_set", kv_compare_and_set),
            ],
        ),
        ("http", vec![("fetch", http_fetch as Body<'h>)]),
        ("log", vec![("info", log_info as Body<'h>), ("error", log_error)]),
        ("event", vec![("publish", event_publish as Body<'h>)]),
    ]
}

/// `nb.call(ability, args)`
fn call(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let ability = arguments.string(1)?;
    let Ok(ability) = ability.to_str() else {
        return Err(arguments.bad(1, "the ability's name is not UTF-8"));
    };
    if !arguments.is_nil(2) {
        arguments.table(2)?;
    }
    arguments.at_most(2, "it takes only an ability and a table")?;
    if arguments.is_nil(2) {
        return api.invoke(lua, &ability, "{}");
    }
    api.invoke_with_table(lua, &ability, arguments.get(2))
}

/// `nb.time()`: seconds since 1970-01-01 UTC, with a fraction
fn time(api: &Api<'_>, _: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    arguments.at_most(0, "it takes nothing")?;
    Ok(Value::Number(api.host.borrow_mut().now_ns() as f64 / 1e9))
}

/// `nb.notify(title, body, priority)` or `nb.notify{title=…, body=…, priority=…}`
fn notify(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    if let table @ Value::Table(_) = arguments.get(1) {
        arguments.at_most(1, "it takes only one table")?;
        return api.invoke_with_table(lua, "notify.user", table);
    }
    let mut members = vec![("title", Value::String(arguments.string(1)?))];
    for (position, key) in [(2, "body"), (3, "priority")] {
        if !arguments.is_nil(position) {
            members.push((key, Value::String(arguments.string(position)?)));
        }
    }
    arguments.at_most(3, "it takes only a title, a body and a priority")?;
    api.request(lua, "notify.user", &members)
}

fn kv_get(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let key = Value::String(arguments.string(1)?);
    arguments.at_most(1, "it takes only a key")?;
    api.request(lua, "kv.read", &[("op", word(lua, "get")?), ("key", key)])
}

fn kv_list(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let mut members = vec![("op", word(lua, "list")?)];
    if !arguments.is_nil(1) {
        members.push(("prefix", Value::String(arguments.string(1)?)));
    }
    if !arguments.is_nil(2) {
        members.push(("after", Value::String(arguments.string(2)?)));
    }
    arguments.at_most(2, "it takes a prefix and a key to go on after")?;
    api.request(lua, "kv.read", &members)
}

fn kv_set(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let value = arguments.any(2)?.clone();
    let key = Value::String(arguments.string(1)?);
    arguments.at_most(2, "it takes only a key and a value")?;
    api.request(lua, "kv.write", &[("op", word(lua, "set")?), ("key", key), ("value", value)])
}

fn kv_delete(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let key = Value::String(arguments.string(1)?);
    arguments.at_most(1, "it takes only a key")?;
    api.request(lua, "kv.write", &[("op", word(lua, "delete")?), ("key", key)])
}

fn kv_increment(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let key = Value::String(arguments.string(1)?);
    arguments.at_most(2, "it takes only a key and a number")?;
    let by = if arguments.is_nil(2) {
        Value::Integer(1)
    } else {
        arguments.number(2)?;
        arguments.get(2).clone()
    };
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
    arguments.at_most(3, "it takes only a key, the expected value and the new one")?;
    api.request(lua, "kv.write", &members)
}

/// `nb.http.fetch(url)` or `nb.http.fetch{method=…, url=…, headers=…, body=…, timeout_ms=…}`
fn http_fetch(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    if let table @ Value::Table(_) = arguments.get(1) {
        arguments.at_most(1, "it takes only one table")?;
        return api.invoke_with_table(lua, "http.fetch", table);
    }
    let url = Value::String(arguments.string(1)?);
    arguments.at_most(1, "it takes only an address, or one table with `url`, `method` and the like")?;
    api.request(lua, "http.fetch", &[("url", url)])
}

fn log_info(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    log(api, lua, arguments, "log.info")
}

fn log_error(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    log(api, lua, arguments, "log.error")
}

/// A table is logged as JSON, unless it has a text of its own.
fn log(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>, ability: &str) -> Result<Value> {
    let message = arguments.any(1)?;
    arguments.at_most(1, "it takes only a message")?;
    let message = match message {
        Value::Table(table) if !has_text(table)? => message.clone(),
        other => Value::String(api.to_string(other)?),
    };
    api.request(lua, ability, &[("message", message)])
}

fn event_publish(api: &Api<'_>, lua: &Lua, arguments: &Arguments<'_>) -> Result<Value> {
    let mut members = vec![("name", Value::String(arguments.string(1)?))];
    if !arguments.is_nil(2) {
        members.push(("data", arguments.get(2).clone()));
    }
    arguments.at_most(2, "it takes only a name and data")?;
    api.request(lua, "event.publish", &members)
}

fn word(lua: &Lua, word: &str) -> Result<Value> {
    word.into_lua(lua)
}

/// A value that has no JSON form, as an error of the script.
pub(crate) fn raised(lua: &Lua, error: JsonError) -> mlua::Error {
    match error {
        JsonError::Refused(message) => raise(lua, message),
        JsonError::Lua(error) => error,
    }
}

impl Api<'_> {
    /// What `tostring` says.
    pub(crate) fn to_string(&self, value: &Value) -> Result<LuaString> {
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

    /// Asks the host with a table, whose fields it checks.
    fn invoke_with_table(&self, lua: &Lua, ability: &str, table: &Value) -> Result<Value> {
        let args = json::encode(&self.mark, table).map_err(|error| raised(lua, error))?;
        self.invoke(lua, ability, &args)
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
