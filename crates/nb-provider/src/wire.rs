//! What one provider's module is: its requests, and how its answers are read.

use async_trait::async_trait;
use nb_egress::{Egress, Secret};
use serde_json::Value;

use crate::answer::{Answer, Delta};
use crate::chat::Chat;
use crate::error::ProviderError;
use crate::frame::{Frame, Framing};
use crate::names::Names;
use crate::refusal::Refusal;

/// One provider's wire format. It sends nothing itself: [`crate::transport`] does.
#[async_trait]
pub(crate) trait Wire: Send + Sync {
    /// The request for a conversation. It is the same for the same conversation.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Request`] when the conversation has something that the provider cannot take: a tool's schema.
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError>;

    /// Headers that prove who asks, with the secrets that they name. Called before each attempt.
    ///
    /// # Errors
    /// When a token cannot be had.
    async fn authorization(
        &self,
        egress: &Egress,
        outgoing: &Outgoing,
    ) -> Result<Authorization, ProviderError>;

    /// The provider did not take what proves who asks: what was kept of it is dropped.
    async fn unauthorized(&self) {}

    /// Reads the stream that answers this request.
    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader>;

    /// Reads an answer that came in one piece.
    ///
    /// # Errors
    /// When it cannot be read, or tells an error.
    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad>;

    /// What the body of an error says. The usual forms are read already.
    fn refusal(&self, body: &Value) -> Refusal {
        Refusal::read(body)
    }

    /// The header in which the provider names a request.
    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    /// Where to.
    pub url: String,
    /// Headers beside the authorization and the content type.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// How the answer is cut, when it is streamed. None: it comes in one piece.
    pub framing: Option<Framing>,
    /// The names of the tools in it.
    pub names: Names,
}

/// Headers with `{{secret.NAME}}` in them, and those secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Authorization {
    pub headers: Vec<(String, String)>,
    pub secrets: Vec<Secret>,
}

/// Reads the frames of one stream.
pub(crate) trait Reader: Send {
    /// Takes one frame, and hands on what is new in it.
    ///
    /// # Errors
    /// When the frame cannot be read, or tells an error.
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad>;

    /// Whether the provider said that the answer is whole. A stream that ends before is one that broke off.
    fn is_whole(&self) -> bool;

    /// Whether the provider marks the end of an answer. Where it does not, the end of the connection is all there is.
    fn marks_end(&self) -> bool {
        true
    }

    /// Whether nothing more is to be read, as after `[DONE]`. Other streams are read to their end.
    fn is_over(&self) -> bool {
        false
    }

    /// What was read so far; calls of which only a part came are left out.
    fn answer(&mut self) -> Answer;
}

/// Why an answer, or a frame of its stream, gives nothing.
#[derive(Debug, Clone)]
pub(crate) enum Bad {
    /// It is not what the provider documents.
    Malformed(String),
    /// The provider tells an error.
    Refused(Refusal),
}

impl From<&str> for Bad {
    fn from(reason: &str) -> Self {
        Self::Malformed(reason.to_owned())
    }
}
