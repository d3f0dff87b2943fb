//! The engine through its public interface: real store, sandbox and network; time, desktop and secrets are doubles.

mod abilities;
mod chains;
mod common;
mod logs;
mod record;
mod server;
