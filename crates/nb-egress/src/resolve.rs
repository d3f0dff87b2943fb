//! Names to addresses.

use std::io;
use std::net::IpAddr;

use futures_util::future::BoxFuture;

/// Looks a name up. [`Egress`](crate::Egress) asks once per hop and connects to nothing but the answer.
pub trait Resolve: Send + Sync {
    /// All addresses of the name, in the order of preference. Never called for an address.
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the machine (`getaddrinfo`), with its hosts file and search domains.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
