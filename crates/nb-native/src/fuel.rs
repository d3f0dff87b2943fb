//! Counting the instructions of a script, and ending it when they are used up.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{HookTriggers, Lua, VmState};
use nb_sandbox::{Limit, Stop};

/// How many instructions pass between two looks. In a loop of additions, a look at each 100 instructions costs a fifth
/// of the time or more; one at each 1,000 does not show.
const STEP: u32 = 1_000;

/// What a Lua state has used up. A coroutine counts its steps by itself, and its last one, which is not full, is not
/// counted.
#[derive(Debug, Default)]
pub(crate) struct Fuel {
    allowed: Cell<u64>,
    used: Cell<u64>,
    step: Cell<u64>,
    peak_memory: Cell<u64>,
    out: Cell<bool>,
}

impl Fuel {
    /// Gives the state this many instructions from here on, and forgets what was used before.
    pub(crate) fn give(self: &Rc<Self>, lua: &Lua, allowed: u64) -> mlua::Result<()> {
        self.allowed.set(allowed);
        self.used.set(0);
        self.peak_memory.set(lua.used_memory() as u64);
        let step = u32::try_from(allowed).unwrap_or(STEP).clamp(1, STEP);
        self.step.set(step.into());
        let fuel = Rc::clone(self);
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(step), move |lua, _| {
            fuel.take(lua, step)
        })
    }

    fn take(&self, lua: &Lua, step: u32) -> mlua::Result<VmState> {
        self.used.set(self.used.get() + u64::from(step));
        self.look_at_memory(lua);
        if self.used.get() <= self.allowed.get() {
            return Ok(VmState::Continue);
        }
        self.out.set(true);
        // From now on each instruction fails: whatever catches this error fails at once in turn.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |_, _| Err(out_of_fuel()))?;
        Err(out_of_fuel())
    }

    /// Lua does not tell the most memory that it had, so this looks now and then.
    pub(crate) fn look_at_memory(&self, lua: &Lua) {
        self.peak_memory.set(self.peak_memory.get().max(lua.used_memory() as u64));
    }

    /// Why the script was ended, if it was.
    pub(crate) fn stop(&self) -> Option<Stop> {
        let (allowed, used) = (self.allowed.get(), self.used.get());
        self.out.get().then_some(Stop::Limit { limit: Limit::Fuel, allowed, used })
    }

    /// The steps that were done, and the one that was begun: no script is for nothing. The last step is cut at what was
    /// allowed, which a script that ended well has not used up.
    pub(crate) fn used(&self) -> u64 {
        self.used.get().saturating_add(self.step.get()).min(self.allowed.get())
    }

    pub(crate) fn peak_memory(&self) -> u64 {
        self.peak_memory.get()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{}", Limit::Fuel)]
struct OutOfFuel;

fn out_of_fuel() -> mlua::Error {
    mlua::Error::external(OutOfFuel)
}

/// Whether an error is the one that ends a script.
pub(crate) fn is_out_of_fuel(error: &mlua::Error) -> bool {
    error.downcast_ref::<OutOfFuel>().is_some()
}
