//! What a call may use up.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// WebAssembly instructions to one unit of fuel. A unit is one step of the script's own program. An instruction of
/// Lua's virtual machine takes some 40 to 70 for arithmetic and jumps (counted in loops and `fib(24)`), about 300 for a
/// new element of a table, and some hundred for a new string.
pub const FUEL_PER_UNIT: u64 = 128;

/// The most memory that a call can be given.
pub const MAX_MEMORY_BYTES: u64 = 512 << 20;

/// What a call may use up. A call that exceeds one of them ends with [`ToolError::Limit`](crate::ToolError::Limit),
/// but for the log, whose excess is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Steps of the script: one unit is one instruction of Lua's virtual machine, which is [`FUEL_PER_UNIT`]
    /// WebAssembly instructions. What the guest does for a script, such as matching a pattern, costs as well.
    pub fuel: u64,
    /// The guest's memory, at most [`MAX_MEMORY_BYTES`]. The Fennel compiler is in it, so that about 2 MB are used
    /// before the script starts.
    pub memory_bytes: u64,
    /// Time of running. The time that the host takes to answer is not counted.
    pub wall: Duration,
    /// The size of the result as JSON.
    pub output_bytes: u64,
    /// How often the host may be asked, including the clock and randomness.
    pub host_calls: u64,
    /// Bytes sent to the host, and as many received from it.
    pub host_bytes: u64,
    /// Bytes of the log, and 64 for each line. More is dropped, and one line says how much.
    pub log_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 1_000_000,
            memory_bytes: 64 << 20,
            wall: Duration::from_secs(5),
            output_bytes: 1 << 20,
            host_calls: 10_000,
            host_bytes: 16 << 20,
            log_bytes: 256 << 10,
        }
    }
}

/// What comes beside the bytes of a message: names, an error with its traceback.
const AROUND_BYTES: u64 = 1 << 20;

/// The most that the host copies out of a guest at once, whatever the limits are.
const MAX_MESSAGE_BYTES: u64 = 128 << 20;

impl Limits {
    /// The most that the host copies out of the guest at once, before it knows what that is: a little more than
    /// whatever may be handed over, so that what is just too much is told with its own limit.
    pub fn message_bytes(&self) -> u64 {
        let largest = self.output_bytes.max(self.host_bytes).max(self.log_bytes);
        largest.saturating_add(AROUND_BYTES).min(MAX_MESSAGE_BYTES)
    }
}

/// Which limit a call exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// [`Limits::fuel`], in units.
    Fuel,
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::wall`], in milliseconds.
    WallClock,
    /// [`Limits::output_bytes`].
    Output,
    /// [`Limits::host_calls`].
    HostCalls,
    /// [`Limits::host_bytes`].
    HostBytes,
    /// [`Limits::message_bytes`].
    Message,
}

impl Limit {
    /// What is counted, to follow a figure: `"bytes"`, `"ms"`; empty for fuel and calls.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Fuel | Self::HostCalls => "",
            Self::Memory | Self::Output | Self::HostBytes | Self::Message => " bytes",
            Self::WallClock => " ms",
        }
    }
}

impl Limit {
    /// Which key raises it, and where that stands: the manifest's for what an agent asks for, the daemon's for the rest.
    pub fn how_to_raise(self) -> &'static str {
        match self {
            Self::Fuel => "raise `fuel_limit` and `resources.max_fuel` in the manifest; the smaller counts",
            Self::Memory => {
                "raise `memory_limit_mb` and `resources.max_memory_mb` in the manifest; the smaller counts"
            }
            Self::WallClock => "raise `limits.wall_ms` in the daemon's config.yaml",
            Self::Output => "return less, or raise `limits.output_bytes` in the daemon's config.yaml",
            Self::HostCalls => "ask less often, or raise `limits.host_calls` in the daemon's config.yaml",
            Self::HostBytes => {
                "send and fetch less in one call, or raise `limits.host_bytes` in the daemon's config.yaml"
            }
            Self::Message => {
                "return or send less; `limits.output_bytes` and `limits.host_bytes` are in the daemon's config.yaml"
            }
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fuel => "out of fuel",
            Self::Memory => "out of memory",
            Self::WallClock => "out of time",
            Self::Output => "the result is too large",
            Self::HostCalls => "too many host calls",
            Self::HostBytes => "too much data exchanged with the host",
            Self::Message => "too much data handed over at once",
        })
    }
}
