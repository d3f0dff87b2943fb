//! The daemon: wires the parts together and serves them.
//!
//! # Layout
//!
//! - [`cli`]: the command line. [`config`]: `config.yaml`.
//! - [`daemon`]: start, run, leave. Begin here. [`log`]: what it says meanwhile.
//! - [`instance`]: one daemon a home. [`secrets`]: values of secrets. [`desktop`]: notifications over D-Bus.
//! - [`refusal`]: what is refused or failed, in words.
//! - [`installer`]: packages in, agents out. [`grants`]: what a person grants. [`owners`]: whose data is in a kv
//!   namespace. [`unpacked`]: the files of installed agents. [`leftovers`]: what a crash left of an install.
//! - [`views`]: agents and runs as the API shows them.
//! - [`socket`]: the Unix socket and who may use it. [`http`]: the API, one file a subject, and the webhooks.
//!
//! # Invariants
//!
//! - What an agent does is decided below; this crate only connects.
//! - The API is served on the Unix socket alone; the TCP port serves webhooks alone.

pub mod cli;
pub mod config;
pub mod daemon;
pub mod desktop;
pub mod grants;
pub mod http;
pub mod installer;
pub mod instance;
pub mod leftovers;
pub mod log;
pub mod owners;
pub mod refusal;
pub mod secrets;
pub mod socket;
pub mod unpacked;
pub mod views;
