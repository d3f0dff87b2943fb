//! The only way out: every HTTP request of the project is made here.
//!
//! A tool, an ability or a provider hands in a [`Request`] and gets a [`Response`] or an [`EgressError`] whose
//! text its author understands. Nothing else in the project opens a connection to a host that an agent named.
//!
//! # Layout
//! - [`Request`] and [`Response`] (`request.rs`, `response.rs`): what goes in and what comes out.
//! - [`Incoming`] (`incoming.rs`): an answer whose body is still on its way.
//! - [`HostPattern`], [`HostRule`], [`HostScope`] (`host.rs`): hosts in words, and whether a URL is one of them.
//! - `address.rs`: [`refusal`], which addresses are not public, and why.
//! - `resolve.rs`: names to addresses, as a trait that tests replace.
//! - `guard.rs`: the checks of one hop. Their result is the addresses that may be connected to.
//! - `pinned.rs`: clients that can reach exactly those addresses, kept for their open connections.
//! - `tls.rs`: certificate authorities, loaded at the first https request.
//! - `header.rs`, `secret.rs`, `mask.rs`: what is sent, what is filled in, and what is hidden on the way back.
//! - `redirect.rs`: the next hop, when there is one.
//! - [`Egress`] (`egress.rs`): the loop over the hops, under one timeout.
//! - [`EgressError`] (`error.rs`) and `failure.rs`: refusals and failures in words.
//!
//! # Invariants
//! - A connection is only made to an address that [`refusal`] has passed in the same hop, unless the operator
//!   allowed the host *and port* of the URL. A name is resolved once; the connector never resolves again.
//! - The URL that was checked is the URL that is sent: `url` is the only parser, and nothing re-reads its text.
//! - Every hop of a redirect goes through the same scope and address checks as the first.
//! - A secret is filled in after those checks, for its own hosts, and no response or error carries its value.
//! - Only the values of headers are filled in. A body and a URL may hold text of anybody.
//! - Never more than `max_bytes` of a body are kept, never longer than `timeout` is waited (for the head alone, when the
//!   body is read piece by piece).
//! - No system proxy, no cookies, no decompression.

mod address;
mod egress;
mod error;
mod failure;
mod guard;
mod header;
mod host;
mod incoming;
mod mask;
mod pinned;
mod redirect;
mod request;
mod resolve;
mod response;
mod secret;
mod tls;

pub use address::refusal;
pub use egress::{Egress, EgressConfig};
pub use error::EgressError;
pub use host::{HostPattern, HostRule, HostScope};
pub use incoming::Incoming;
pub use mask::{Mask, MaskedPieces};
pub use request::{DEFAULT_MAX_BYTES, DEFAULT_MAX_REDIRECTS, DEFAULT_TIMEOUT, Request};
pub use resolve::{Resolve, SystemResolver};
pub use response::Response;
pub use secret::{Secret, SecretValue, names_secret};
