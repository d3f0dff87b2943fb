//! What the end-to-end tests share: the real daemon and the real command line in a throw-away home.
//!
//! # Layout
//!
//! - [`home`]: a folder with everything that one daemon needs. Begin here.
//! - [`daemon`]: a daemon at work: started, asked, killed.
//! - [`command`]: `nbctl`, and what is expected of its answers.
//! - [`agent`]: an agent that is written down in a test, and becomes a package.
//! - [`archive`]: packages that no honest tool would write.
//! - [`http`]: requests byte by byte, over TCP and the daemon's socket.
//! - [`sign`]: what a sender of webhooks computes.
//! - [`server`]: a server on the loopback address, for agents to reach.
//! - [`disk`]: a disk that can be filled without harm.
//! - [`skip`]: what a test says that has nothing to say here.
//! - [`wait`]: until something holds, with a deadline.
//!
//! # Invariants
//!
//! - A test has a home of its own, and so does its daemon: tests run side by side.
//! - A daemon is ended with its test, by its own process id.
//! - Nothing waits for a fixed time. What is waited for is asked for again and again until a deadline.
//! - Nothing leaves the machine: every address is a loopback address.

pub mod agent;
pub mod archive;
pub mod command;
pub mod daemon;
pub mod disk;
pub mod home;
pub mod http;
pub mod server;
pub mod sign;
pub mod skip;
pub mod wait;

pub use agent::Agent;
pub use command::Ended;
pub use daemon::Daemon;
pub use home::Home;
pub use skip::skip;
pub use wait::until;
