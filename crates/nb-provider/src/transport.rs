//! One request and its answer: tried again before the first byte, read as it comes, kept when it breaks off.

use std::time::Duration;

use nb_egress::{Egress, EgressError, Incoming, Request};
use serde_json::Value;

use crate::ProviderId;
use crate::address::Address;
use crate::answer::{Answer, Delta};
use crate::error::{ErrorKind, ProviderError};
use crate::frame::{Decoder, Frame, Framing};
use crate::hint::{self, retry_after};
use crate::listener::Listener;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::wire::{Bad, Outgoing, Reader, Wire};

/// The largest answer, in bytes: some hundred times what the longest answers of today have.
const MAX_BYTES: u64 = 64 << 20;
/// How long the end of a body is waited for, after its last frame.
const LAST_BYTES: Duration = Duration::from_millis(20);
/// The largest error that is read.
const MAX_ERROR_BYTES: usize = 1 << 20;

/// Where the answer to a conversation comes from.
pub(crate) struct Transport {
    pub provider: ProviderId,
    pub address: Address,
    pub egress: Egress,
    pub options: Options,
    /// From 0 to 1, to spread out repeated requests.
    pub chance: Box<dyn Fn() -> f64 + Send + Sync>,
}

type Sink<'a> = &'a mut (dyn FnMut(Delta<'_>) + Send);

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
            let mut hear = |delta: Delta<'_>| listener.hear(delta);
            let error = match self.attempt(wire, outgoing, &mut hear).await {
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
            tracing::info!(%error, "asking again in {wait:?} (attempt {attempt} of {})", self.options.retries);
            tokio::time::sleep(wait).await;
        }
    }

    /// What the provider says, or half a second and twice that each time, up to 8 s, less a part by chance.
    fn backoff(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doubled = Duration::from_millis(500).saturating_mul(1 << attempt.min(4));
        asked.unwrap_or_else(|| doubled.min(Duration::from_secs(8)).mul_f64(0.75 + (self.chance)() * 0.25))
    }

    async fn attempt(
        &self,
        wire: &dyn Wire,
        outgoing: &Outgoing,
        on: Sink<'_>,
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
            hidden: Vec::new(),
        };
        let mut incoming = self.egress.open(request).await.map_err(|error| self.unreachable(&error))?;
        let request_id = header(&incoming, wire.request_id_header());
        if !(200..300).contains(&incoming.status()) {
            return Err(self.refused(wire, &mut incoming, request_id).await);
        }
        let streamed = outgoing.framing.and_then(|framing| framing_of(&incoming, framing));
        let mut answer = match streamed {
            Some(framing) => {
                let mut reader = wire.reader(outgoing);
                self.stream(&mut incoming, Decoder::new(framing), reader.as_mut(), on).await.map_err(
                    |error| ProviderError {
                        request_id: error.request_id.clone().or(request_id.clone()),
                        ..error
                    },
                )?
            }
            None => {
                let body = self.whole(&mut incoming).await?;
                let parsed: Value = serde_json::from_slice(&body)
                    .map_err(|error| self.malformed(&format!("its answer is no JSON: {error}"), &body))?;
                let answer =
                    wire.whole(&parsed, outgoing).map_err(|reason| self.malformed(&reason, &body))?;
                if !answer.thinking.is_empty() {
                    on(Delta::Thinking(&answer.thinking));
                }
                if !answer.text.is_empty() {
                    on(Delta::Text(&answer.text));
                }
                answer
            }
        };
        answer.request_id = request_id.or(answer.request_id);
        Ok(answer)
    }

    async fn stream(
        &self,
        incoming: &mut Incoming,
        mut decoder: Decoder,
        reader: &mut dyn Reader,
        on: Sink<'_>,
    ) -> Result<Answer, ProviderError> {
        let mut began = false;
        loop {
            let piece = match self.piece(incoming).await {
                Ok(piece) => piece,
                Err(error) if began => return Err(error.after(reader.answer())),
                Err(error) => return Err(error),
            };
            let ended = piece.is_none();
            if let Some(piece) = piece {
                began |= !piece.is_empty();
                decoder.push(&piece);
            }
            loop {
                let frame = match decoder.next() {
                    Ok(Some(frame)) => Some(frame),
                    Ok(None) if ended => decoder.last(),
                    Ok(None) => None,
                    Err(_) => {
                        let error = self.malformed("it sent a line without an end", b"");
                        return Err(error.after(reader.answer()));
                    }
                };
                let Some(frame) = frame else { break };
                let frame = Frame { event: frame.event, data: incoming.mask().bytes(frame.data) };
                if let Err(bad) = reader.read(&frame, on) {
                    return Err(self.bad(bad, &frame.data).after(reader.answer()));
                }
                if reader.is_over() {
                    // The end of the body is on its way: a connection that was read to its end can be used again.
                    let _ = tokio::time::timeout(LAST_BYTES, incoming.piece()).await;
                    return Ok(reader.answer());
                }
            }
            if ended {
                if reader.is_whole() {
                    return Ok(reader.answer());
                }
                let error = ProviderError::new(
                    self.provider,
                    ErrorKind::Ended,
                    "the answer broke off: the connection closed before its end",
                );
                return Err(if began { error.after(reader.answer()) } else { error });
            }
        }
    }

    async fn piece(&self, incoming: &mut Incoming) -> Result<Option<bytes::Bytes>, ProviderError> {
        match tokio::time::timeout(self.options.idle_timeout, incoming.piece()).await {
            Ok(piece) => piece.map_err(|error| self.unreachable(&error)),
            Err(_) => Err(ProviderError::new(
                self.provider,
                ErrorKind::TimedOut,
                format!("nothing came for {:?} (options.idle_timeout)", self.options.idle_timeout),
            )),
        }
    }

    async fn whole(&self, incoming: &mut Incoming) -> Result<Vec<u8>, ProviderError> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(incoming).await? {
            body.extend_from_slice(&piece);
        }
        Ok(incoming.mask().bytes(body))
    }

    /// The error that an answer with such a status tells. What cannot be read of it is left out.
    async fn refused(
        &self,
        wire: &dyn Wire,
        incoming: &mut Incoming,
        request_id: Option<String>,
    ) -> ProviderError {
        let status = incoming.status();
        let retry_after = retry_after(&incoming.headers());
        let location = header(incoming, "location");
        let mut body = Vec::new();
        while let Ok(Some(piece)) = self.piece(incoming).await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ERROR_BYTES {
                break;
            }
        }
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
        refusal.request_id = request_id.or(refusal.request_id);
        let told = self.told(refusal);
        let hint = match retry_after {
            Some(wait) => Some(hint::for_wait(wait)),
            None => told.hint.clone(),
        };
        ProviderError { retry_after, hint, ..told }
    }

    fn bad(&self, bad: Bad, data: &[u8]) -> ProviderError {
        match bad {
            Bad::Malformed(reason) => self.malformed(&reason, data),
            Bad::Refused(refusal) => self.told(refusal),
        }
    }

    fn told(&self, refusal: Refusal) -> ProviderError {
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
        let begins: String = String::from_utf8_lossy(data).chars().take(200).collect();
        let shown = if begins.is_empty() { String::new() } else { format!("; it began with {begins:?}") };
        ProviderError::new(self.provider, ErrorKind::Malformed, format!("{reason}{shown}"))
            .hinting("check that provider.credentials.address leads to this provider's interface")
    }

    fn unreachable(&self, error: &EgressError) -> ProviderError {
        let failed = ProviderError::egress(self.provider, error);
        match hint::for_egress(self.provider, error) {
            Some(hint) => failed.hinting(hint),
            None => failed,
        }
    }
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
        "application/json" if usual == Framing::Events => None,
        _ => Some(usual),
    }
}
