//! What the kernel holds the interpreter to, and each program that it starts. They are nets below the limits of the
//! call: each is wide enough that a tool within its limits never meets it.

use nb_sandbox::Limits;
use rustix::io;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Address space beside Lua's memory. The program with an idle state maps some 10 MB; the Fennel compiler may use 256
/// MiB while it compiles; and a JSON text of 64 MiB is there up to seven times while it grows and is sent.
const ROOM_BYTES: u64 = 768 << 20;

/// Seconds of processor time beside the wall clock.
const ROOM_SECONDS: u64 = 2;

/// Open files.
const FILES: u64 = 256;

/// The size of a file that is written.
const FILE_BYTES: u64 = 1 << 30;

/// Sets all of them for this process.
pub(crate) fn apply(limits: &Limits) -> io::Result<()> {
    set(Resource::Core, 0)?;
    set(Resource::Nofile, FILES)?;
    set(Resource::Fsize, FILE_BYTES)?;
    set(Resource::As, limits.memory_bytes.saturating_add(ROOM_BYTES))?;
    let seconds = limits.wall.as_secs().saturating_add(1).saturating_add(ROOM_SECONDS);
    set(Resource::Cpu, seconds)
}

fn set(resource: Resource, value: u64) -> io::Result<()> {
    // A limit that the daemon itself is under stays.
    let value = getrlimit(resource).maximum.map_or(value, |maximum| value.min(maximum));
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
}
