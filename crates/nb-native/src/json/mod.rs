//! How JSON's values map to Lua's: as in the guest, byte for byte and message for message.
//!
//! An array stays an array even when it is empty: a decoded one carries a metatable that marks it. An integer stays an
//! integer. `null` is nil, except inside of an array, where it is `json.null`. A general JSON library knows none of
//! this, and reads `-0` as a float; so both directions are written out.

mod keys;
mod read;
mod write;

use mlua::{Lua, Table, Value};

pub(crate) use self::read::decode;
pub(crate) use self::write::{ObjectWriter, encode, require_list};

/// How deep arrays and objects nest.
const MAX_DEPTH: usize = 128;

/// Why there is no value, or no text.
pub(crate) enum JsonError {
    /// In words.
    Refused(String),
    /// Lua has no memory for it.
    Lua(mlua::Error),
}

impl From<mlua::Error> for JsonError {
    fn from(error: mlua::Error) -> Self {
        Self::Lua(error)
    }
}

/// The metatable of arrays, of one Lua state.
#[derive(Clone)]
pub(crate) struct ArrayMark(Table);

impl ArrayMark {
    pub(crate) fn new(lua: &Lua) -> mlua::Result<Self> {
        Ok(Self(lua.create_table()?))
    }

    pub(crate) fn put_on(&self, table: &Table) -> mlua::Result<()> {
        table.set_metatable(Some(self.0.clone()))
    }

    fn is_on(&self, table: &Table) -> bool {
        table.metatable().is_some_and(|metatable| metatable.to_pointer() == self.0.to_pointer())
    }

    /// The table, when a decoded value was an object.
    pub(crate) fn object(&self, value: Value) -> Option<Table> {
        match value {
            Value::Table(table) if !self.is_on(&table) => Some(table),
            _ => None,
        }
    }
}
