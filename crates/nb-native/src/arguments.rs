//! What a script gave to one of our functions, checked as the functions of Lua's C interface do it.

use mlua::{Error, Lua, LuaString, Number, Result, Table, Value, Variadic};

use crate::failure::raise;

/// The arguments of the function that is running.
pub(crate) struct Arguments<'a> {
    lua: &'a Lua,
    values: Variadic<Value>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(lua: &'a Lua, values: Variadic<Value>) -> Self {
        Self { lua, values }
    }

    pub(crate) fn all(&self) -> &[Value] {
        &self.values
    }

    /// An argument, from 1; nil when it is not there.
    pub(crate) fn get(&self, position: usize) -> &Value {
        self.values.get(position - 1).unwrap_or(&Value::Nil)
    }

    pub(crate) fn is_nil(&self, position: usize) -> bool {
        self.get(position).is_nil()
    }

    /// An argument that may be nil but must be there.
    pub(crate) fn any(&self, position: usize) -> Result<&Value> {
        match self.values.get(position - 1) {
            Some(value) => Ok(value),
            None => Err(self.bad(position, "value expected")),
        }
    }

    /// Refuses what a function would not look at, and so lose. None of ours is a method: with a `:` it is its table that
    /// is one too many.
    pub(crate) fn at_most(&self, count: usize, what: &str) -> Result<()> {
        if self.values.iter().skip(count).all(Value::is_nil) {
            return Ok(());
        }
        let (_, is_method) = self.called();
        Err(self.bad(if is_method { 1 } else { count + 1 }, what))
    }

    pub(crate) fn table(&self, position: usize) -> Result<&Table> {
        match self.get(position) {
            Value::Table(table) => Ok(table),
            _ => Err(self.bad_type(position, "table")),
        }
    }

    /// A string, and not a number as one.
    pub(crate) fn text(&self, position: usize) -> Result<&LuaString> {
        match self.get(position) {
            Value::String(text) => Ok(text),
            _ => Err(self.bad_type(position, "string")),
        }
    }

    /// A string, or a number as one.
    pub(crate) fn string(&self, position: usize) -> Result<LuaString> {
        self.string_of(position, self.get(position), self.values.len() < position)
    }

    /// The same for a value that was taken out of an argument.
    pub(crate) fn string_of(&self, position: usize, value: &Value, absent: bool) -> Result<LuaString> {
        match value {
            Value::String(string) => Ok(string.clone()),
            Value::Integer(_) | Value::Number(_) => match self.lua.coerce_string(value.clone())? {
                Some(string) => Ok(string),
                None => Err(self.bad(position, "string expected, got number")),
            },
            _ => Err(self.bad(position, &format!("string expected, got {}", type_name(value, absent)))),
        }
    }

    /// A number, or a string that is one.
    pub(crate) fn number(&self, position: usize) -> Result<Number> {
        let number = self.lua.coerce_number(self.get(position).clone())?;
        number.ok_or_else(|| self.bad_type(position, "number"))
    }

    fn bad_type(&self, position: usize, expected: &str) -> Error {
        let got = type_name(self.get(position), self.values.len() < position);
        self.bad(position, &format!("{expected} expected, got {got}"))
    }

    /// The name under which the script called the function, where it has one, and whether as a method.
    fn called(&self) -> (Option<String>, bool) {
        let called = self.lua.inspect_stack(0, |info| {
            let names = info.names();
            (names.name.map(|name| name.into_owned()), names.name_what == Some("method"))
        });
        called.unwrap_or_default()
    }

    /// `luaL_argerror`.
    pub(crate) fn bad(&self, position: usize, message: &str) -> Error {
        self.bad_to("?", position, message)
    }

    /// The same for a function that Lua finds under this name when the call has none.
    pub(crate) fn bad_to(&self, known_as: &str, position: usize, message: &str) -> Error {
        let (name, method) = self.called();
        let name = name.as_deref().unwrap_or(known_as);
        if method && position == 1 {
            return raise(self.lua, format!("calling '{name}' on bad self ({message})"));
        }
        let position = position - usize::from(method);
        raise(self.lua, format!("bad argument #{position} to '{name}' ({message})"))
    }
}

/// What a message calls the type of a value.
pub(crate) fn type_name(value: &Value, absent: bool) -> String {
    match value {
        _ if absent => "no value".into(),
        Value::Nil => "nil".into(),
        Value::LightUserData(_) => "light userdata".into(),
        Value::Integer(_) | Value::Number(_) => "number".into(),
        Value::Table(table) => {
            let name = table.metatable().and_then(|metatable| metatable.raw_get::<Value>("__name").ok());
            match name {
                Some(Value::String(name)) => name.to_string_lossy(),
                _ => "table".into(),
            }
        }
        other => other.type_name().into(),
    }
}
