//! The same Lua without a sandbox, in this process.

use std::hint::black_box;

use mlua::{Function, Lua, Table};

use crate::common::FENNEL_TOOL;
use crate::measure::{Figures, measure};

const FENNEL_COMPILER: &str = include_str!("../../../../guest-lua/vendor/fennel.lua");

/// A new state and nothing else.
pub fn new_state() -> Figures {
    measure(5_000, || drop(black_box(Lua::new())))
}

/// A new state that loads the Fennel compiler and runs the tool.
pub fn fennel_tool() -> Figures {
    measure(200, || {
        let lua = Lua::new();
        let module: Table = lua.load(FENNEL_COMPILER).eval().expect("Fennel loads");
        let eval: Function = module.get("eval").expect("Fennel evaluates");
        let parameters = lua.create_table_from([("name", "Ada")]).expect("a table");
        lua.globals().set("parameters", parameters).expect("a global");
        let answer: String = eval.call(FENNEL_TOOL).expect("the tool works");
        assert_eq!(answer, "Hello, Ada!");
    })
}
