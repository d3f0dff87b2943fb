//! One request and its answer: tried again before the first byte, read as it comes, kept when it breaks off.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nb_egress::{Egress, EgressError, Incoming, Mask, Request};
use serde_json::Value;

use crate::ProviderId;
use crate::address::Address;
use crate::answer::{Answer, Delta};
use crate::environment::Environment;
use crate::error::{ErrorKind, ProviderError};
use crate::frame::Framing;
use crate::hint::{self, retry_after};
use crate::listener::Listener;
use crate::masked::{self, Masked};
use crate::options::Options;
use crate::reading::{Reading, Unread};
use crate::refusal::Refusal;
use crate::wire::{Bad, Outgoing, Wire};

/// The largest answer, in bytes: some hundred times what the longest answers of today have.
const MAX_BYTES: u64 = 64 << 20;
/// How long the rest of a body is waited for, once the provider said that the answer is whole.
const REST: Duration = Duration::from_secs(2);
/// The same after the last frame.
const LAST_BYTES: Duration = Duration::from_millis(20);
/// The largest error that is read, in bytes, and how long it is read.
const MAX_ERROR_BYTES: usize = 1 << 20;
const ERROR_TIME: Duration = Duration::from_secs(10);

/// Where the answer to a conversation comes from.
pub(crate) struct Transport {
    pub provider: ProviderId,
    pub address: Address,
    pub egress: Egress,
    pub options: Options,
    pub environment: Arc<dyn Environment>,
}

impl Transport {
    /// Sends and reads. Dropping the future closes the connection.
    pub async fn send(
        &self,
        wire: &dyn Wire,
        outgoing: &Outgoing,
        listener: &mut dyn Listener,
    ) -> Result<Answer, ProviderError> {
        let mut attempt = 0;
        loop {
            let error = match self.attempt(wire, outgoing, listener).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if !error.is_passing() || attempt >= self.options.retries {
                return Err(error);
            }
            let wait = self.backoff(attempt, error.retry_after);
            // A provider that wants a long wait is not waited for: whoever asked decides.
            if wait > self.options.longest_wait {
                return Err(error);
            }
            if let Err(reason) = listener.again(&error, wait) {
                return Err(error.hinting(format!("it was not sent again: {reason}")));
            }
            attempt += 1;
            tokio::time::sleep(wait).await;
        }
    }

    /// What the provider says, or half a second and twice that each time, up to 8 s, less a part by chance.
    fn backoff(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doubled =
            Duration::from_millis(500).saturating_mul(1 << attempt.min(4)).min(Duration::from_secs(8));
        let usual = doubled.mul_f64(0.75 + self.environment.chance() * 0.25);
        asked.filter(|wait| !wait.is_zero()).unwrap_or(usual)
    }

    async fn attempt(
        &self,
        wire: &dyn Wire,
        outgoing: &Outgoing,
        listener: &mut dyn Listener,
    ) -> Result<Answer, ProviderError> {
        let authorization = wire.authorization(&self.egress, outgoing).await?;
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(authorization.headers);
        headers.extend(outgoing.headers.iter().cloned());
        let request = Request {
            method: "POST".to_owned(),
            url: outgoing.url.clone(),
            headers,
            body: outgoing.body.to_string().into_bytes(),
            timeout: self.options.timeout,
            max_bytes: MAX_BYTES,
            // A provider that moved is told to the person: a conversation does not follow to another place.
            max_redirects: 0,
            scope: self.address.scope(),
            secrets: authorization.secrets,
            hidden: self.environment.hidden(),
        };
        let mut incoming = self.egress.open(request).await.map_err(|error| self.unreachable(&error))?;
        let request_id = header(&incoming, wire.request_id_header());
        let mask = incoming.mask().clone();
        if incoming.status() == 401 {
            wire.unauthorized().await;
        }
        let result = match incoming.status() {
            200..300 => {
                let mut masked = Masked::new(listener, &mask);
                let mut hear = |delta: Delta<'_>| masked.hear(delta);
                let result = self.answer(wire, outgoing, &mut incoming, &mut hear).await;
                masked.end();
                result
            }
            _ => Err(self.refused(wire, &mut incoming).await),
        };
        match result {
            Ok(mut answer) => {
                answer.request_id = request_id.or(answer.request_id);
                Ok(masked::answer(answer, &mask))
            }
            Err(mut error) => {
                error.request_id = error.request_id.or(request_id);
                error.received = error.received.map(|answer| Box::new(masked::answer(*answer, &mask)));
                Err(error)
            }
        }
    }

    async fn answer(
        &self,
        wire: &dyn Wire,
        outgoing: &Outgoing,
        incoming: &mut Incoming,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, ProviderError> {
        if let Some(framing) = outgoing.framing.and_then(|framing| framing_of(incoming, framing)) {
            return self.stream(incoming, Reading::new(framing, wire.reader(outgoing)), on).await;
        }
        let body = self.whole(incoming).await?;
        let parsed: Value = serde_json::from_slice(&body)
            .map_err(|error| self.malformed(&format!("its answer is no JSON: {error}"), &body))?;
        let answer = wire.whole(&parsed, outgoing).map_err(|bad| {
            // Servers that imitate a provider put errors under a status of success.
            let has_error = parsed.get("error").is_some_and(|error| !error.is_null());
            let bad = if has_error { Bad::Refused(wire.refusal(&parsed)) } else { bad };
            self.bad(bad, &body, incoming.mask())
        })?;
        on(Delta::Thinking(&answer.thinking));
        on(Delta::Text(&answer.text));
        Ok(answer)
    }

    async fn stream(
        &self,
        incoming: &mut Incoming,
        mut reading: Reading,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, ProviderError> {
        let begun = Instant::now();
        let mut ended = None;
        loop {
            let longest = if reading.has_ended() {
                REST.saturating_sub(ended.get_or_insert_with(Instant::now).elapsed())
            } else if reading.has_frames() {
                self.options.idle_timeout
            } else {
                // What keeps a connection open is no answer.
                self.options.timeout.saturating_sub(begun.elapsed()).min(self.options.idle_timeout)
            };
            let piece = match self.piece(incoming, longest).await {
                Ok(piece) => piece,
                // Only what comes behind an answer is missing.
                Err(_) if reading.has_ended() => return Ok(reading.answer()),
                Err(error) if reading.began() => return Err(error.after(reading.answer())),
                Err(error) => return Err(error),
            };
            if let Err(Unread { bad, data }) = reading.take(piece.as_deref(), on) {
                return Err(self.bad(bad, &data, incoming.mask()).after(reading.answer()));
            }
            if reading.is_over() {
                // The end of the body is on its way: a connection that was read to its end can be used again.
                let _ = tokio::time::timeout(LAST_BYTES, incoming.piece()).await;
                return Ok(reading.answer());
            }
            if piece.is_none() {
                return if reading.is_whole() {
                    Ok(reading.answer())
                } else {
                    Err(self.ended(incoming, reading))
                };
            }
        }
    }

    /// A stream that ended before its answer did.
    fn ended(&self, incoming: &Incoming, mut reading: Reading) -> ProviderError {
        let message = "the answer broke off: the connection closed before its end";
        let error = ProviderError::new(self.provider, ErrorKind::Ended, message);
        if let Some(bytes) = reading.unread() {
            let begins = beginning(bytes, incoming.mask());
            let told = ProviderError { message: format!("{message}{begins}"), ..error };
            return told.hinting(WRONG_PLACE).after(reading.answer());
        }
        if reading.began() { error.after(reading.answer()) } else { error }
    }

    /// The next bytes, waited for no longer than this.
    async fn piece(
        &self,
        incoming: &mut Incoming,
        longest: Duration,
    ) -> Result<Option<bytes::Bytes>, ProviderError> {
        match tokio::time::timeout(longest, incoming.piece()).await {
            Ok(piece) => piece.map_err(|error| self.unreachable(&error)),
            Err(_) => {
                // Shorter than that it is only before an answer, or behind it, where nobody is told.
                let message = if longest < self.options.idle_timeout {
                    format!("no answer began within {:?} (options.timeout)", self.options.timeout)
                } else {
                    format!("nothing came for {longest:?} (options.idle_timeout)")
                };
                Err(ProviderError::new(self.provider, ErrorKind::TimedOut, message))
            }
        }
    }

    /// A body in one piece, masked.
    async fn whole(&self, incoming: &mut Incoming) -> Result<Vec<u8>, ProviderError> {
        let mut body = Vec::new();
        let longest = self.options.timeout;
        let read = async {
            while let Some(piece) = self.piece(incoming, self.options.idle_timeout).await? {
                body.extend_from_slice(&piece);
            }
            Ok(())
        };
        tokio::time::timeout(longest, read).await.unwrap_or_else(|_| {
            let message = format!("its answer was not whole after {longest:?} (options.timeout)");
            Err(ProviderError::new(self.provider, ErrorKind::TimedOut, message))
        })?;
        Ok(incoming.mask().bytes(body))
    }

    /// The error that an answer with such a status tells. What cannot be read of it is left out.
    async fn refused(&self, wire: &dyn Wire, incoming: &mut Incoming) -> ProviderError {
        let status = incoming.status();
        let retry_after = retry_after(&incoming.headers());
        let location = header(incoming, "location");
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(piece)) = self.piece(incoming, self.options.idle_timeout).await {
                body.extend_from_slice(&piece);
                if body.len() > MAX_ERROR_BYTES {
                    break;
                }
            }
        };
        // What had come by then has to do.
        let _ = tokio::time::timeout(ERROR_TIME.min(self.options.timeout), read).await;
        let body = incoming.mask().bytes(body);
        let mut refusal =
            serde_json::from_slice(&body).map(|body: Value| wire.refusal(&body)).unwrap_or_default();
        if refusal.message.is_empty() {
            refusal.message = match location {
                Some(to) if (300..400).contains(&status) => {
                    format!("it moved to {to}, which is not followed")
                }
                _ => hint::page_text(&body, status),
            };
        }
        refusal.status = Some(status);
        let told = self.told(masked::refusal(refusal, incoming.mask()));
        let hint = match retry_after.filter(|_| told.is_passing()) {
            Some(wait) => Some(hint::for_wait(wait)),
            None => told.hint.clone(),
        };
        ProviderError { retry_after, hint, ..told }
    }

    fn bad(&self, bad: Bad, data: &[u8], mask: &Mask) -> ProviderError {
        match bad {
            Bad::Malformed(reason) => self.malformed(&mask.text(&reason), &mask.bytes(data.to_vec())),
            Bad::Refused(refusal) => self.told(masked::refusal(refusal, mask)),
        }
    }

    fn told(&self, refusal: Refusal) -> ProviderError {
        let refusal = refusal.bounded();
        let hint = hint::for_refusal(&refusal, &self.options.key_source);
        ProviderError {
            status: refusal.status,
            code: refusal.code,
            request_id: refusal.request_id,
            hint,
            ..ProviderError::new(self.provider, ErrorKind::Refused, refusal.message)
        }
    }

    fn malformed(&self, reason: &str, data: &[u8]) -> ProviderError {
        let begins = beginning(data, &Mask::default());
        ProviderError::new(self.provider, ErrorKind::Malformed, format!("{reason}{begins}"))
            .hinting(WRONG_PLACE)
    }

    fn unreachable(&self, error: &EgressError) -> ProviderError {
        let failed = ProviderError::egress(self.provider, error);
        match hint::for_egress(self.provider, error) {
            Some(hint) => failed.hinting(hint),
            None => failed,
        }
    }
}

const WRONG_PLACE: &str = "check that provider.credentials.address leads to this provider's interface";

/// How something that is no answer begins.
fn beginning(data: &[u8], mask: &Mask) -> String {
    let begins: String = mask.text(&String::from_utf8_lossy(data)).chars().take(200).collect();
    if begins.is_empty() { String::new() } else { format!("; it began with {begins:?}") }
}

fn header(incoming: &Incoming, name: &str) -> Option<String> {
    incoming.headers().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// How the answer to a request for a stream is cut. Its type tells; where it does not, the provider's usual way is right.
/// None: it came in one piece although a stream was asked for. (Lines of JSON come under that type as well.)
fn framing_of(incoming: &Incoming, usual: Framing) -> Option<Framing> {
    let kind = header(incoming, "content-type").unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "text/event-stream" => Some(Framing::Events),
        "application/x-ndjson" | "application/stream+json" | "application/jsonl" => Some(Framing::Lines),
        // A page is read as a whole as well, to be told.
        "text/html" => None,
        "application/json" if usual == Framing::Events => None,
        _ => Some(usual),
    }
}
