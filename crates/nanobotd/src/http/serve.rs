//! Connections: HTTP/1.1 and nothing else, with a deadline for each request's head.
//!
//! `axum::serve` would take HTTP/2 as well as soon as any crate of the build enables it, and would wait for ever for
//! a head that never ends.

use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;

use super::follow::left;

/// A client may take this long for a request line and its headers, and so stay silent between two requests.
const HEAD_DEADLINE: Duration = Duration::from_secs(10);

/// Serves until the daemon leaves. A connection that is being answered then gets its answer.
pub async fn serve<L: Listener>(mut listener: L, router: Router, leaving: watch::Receiver<bool>) {
    let mut leaving_here = leaving.clone();
    loop {
        let io = tokio::select! {
            (io, _) = listener.accept() => io,
            () = left(&mut leaving_here) => return,
        };
        tokio::spawn(connection(TokioIo::new(io), router.clone(), leaving.clone()));
    }
}

async fn connection<I>(io: TokioIo<I>, router: Router, mut leaving: watch::Receiver<bool>)
where
    TokioIo<I>: hyper::rt::Read + hyper::rt::Write + Unpin,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_DEADLINE)
        .serve_connection(io, TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = left(&mut leaving) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection broke off: {error}");
    }
}
