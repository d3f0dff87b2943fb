//! Endless answers: one JSON document a line.

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use nb_api::ApiError;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

/// So many lines wait for a slow reader; then the writer waits.
const WAITING: usize = 64;

/// Writes lines to one reader.
#[derive(Debug, Clone)]
pub struct Lines(mpsc::Sender<Vec<u8>>);

/// The reader is gone.
#[derive(Debug)]
pub struct Gone;

impl Lines {
    /// Writes a line; waits while the reader is slow.
    pub async fn write(&self, line: &impl Serialize) -> Result<(), Gone> {
        let mut bytes = serde_json::to_vec(line).unwrap_or_default();
        bytes.push(b'\n');
        self.0.send(bytes).await.map_err(|_| Gone)
    }

    /// Returns when the reader is gone.
    pub async fn gone(&self) {
        self.0.closed().await;
    }
}

/// Returns when the daemon is leaving.
pub async fn left(leaving: &mut watch::Receiver<bool>) {
    // An error means that the daemon is gone already.
    drop(leaving.wait_for(|leaving| *leaving).await);
}

/// Lines and their reader.
pub(super) fn lines() -> (Lines, mpsc::Receiver<Vec<u8>>) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Lines(sender), receiver)
}

/// An answer that `write` fills for as long as it likes.
pub fn answer<F>(write: impl FnOnce(Lines) -> F) -> Response
where
    F: Future<Output = Result<(), ApiError>> + Send + 'static,
{
    let (lines, receiver) = lines();
    let writing = write(lines);
    tokio::spawn(async move {
        if let Err(error) = writing.await {
            tracing::error!("an answer breaks off: {error}");
        }
    });
    let lines = futures_util::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|line| (line, receiver))
    });
    let body = Body::from_stream(lines.map(Ok::<_, std::convert::Infallible>));
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}
