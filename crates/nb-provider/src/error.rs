//! What can go wrong between us and a provider, in words for the person who wrote the bot.

use std::fmt;
use std::time::Duration;

use nb_egress::EgressError;

use crate::{Answer, ProviderId};

/// Why there is no whole answer. No text in here holds a credential.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderError {
    /// Which provider. None: the section names one that does not exist.
    pub provider: Option<ProviderId>,
    /// What kind of failure.
    pub kind: ErrorKind,
    /// What happened, in the provider's own words where it has some.
    pub message: String,
    /// The HTTP status, when the provider answered with one that is an error.
    pub status: Option<u16>,
    /// The provider's own code for the error.
    pub code: Option<String>,
    /// The provider's name for the request, for its support.
    pub request_id: Option<String>,
    /// How long the provider wants us to wait.
    pub retry_after: Option<Duration>,
    /// What a person can do.
    pub hint: Option<String>,
    /// What was received of the answer before it failed.
    pub received: Option<Box<Answer>>,
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The provider section cannot be used: an unknown provider, a missing credential, an address
    /// that may not be reached.
    Setup,
    /// The conversation cannot be put into the provider's form: a tool's schema, a setting in our place.
    Request,
    /// No connection came about.
    Unreachable,
    /// The provider answered with an error, at once or in the middle of a stream.
    Refused,
    /// Nothing came for too long.
    TimedOut,
    /// The answer ended before its end.
    Ended,
    /// What came is not what the provider documents.
    Malformed,
}

impl ProviderError {
    /// An error with a message alone.
    pub fn new(provider: impl Into<Option<ProviderId>>, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            kind,
            message: message.into(),
            status: None,
            code: None,
            request_id: None,
            retry_after: None,
            hint: None,
            received: None,
        }
    }

    /// The same with what a person can do.
    #[must_use]
    pub fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with what was received before.
    #[must_use]
    pub(crate) fn after(mut self, received: Answer) -> Self {
        self.received = Some(Box::new(received));
        self
    }

    /// A failure of the way out.
    pub(crate) fn egress(provider: ProviderId, error: &EgressError) -> Self {
        let kind = match error {
            EgressError::Timeout { .. } | EgressError::HeadTimeout { .. } => ErrorKind::TimedOut,
            EgressError::Interrupted { .. } => ErrorKind::Ended,
            // The same answer would be as large, and is paid for.
            EgressError::TooLarge { .. } => ErrorKind::Malformed,
            // What a rule of ours refuses stays refused.
            refused if refused.is_refusal() => ErrorKind::Setup,
            _ => ErrorKind::Unreachable,
        };
        Self::new(provider, kind, error.to_string())
    }

    /// Whether the same request may succeed when it is made again: nothing of the answer came, and the reason passes.
    pub fn is_passing(&self) -> bool {
        if self.received.is_some() {
            return false;
        }
        match self.kind {
            // OpenAI answers 429 as well when the account's quota is used up.
            ErrorKind::Refused if self.code.as_deref() == Some("insufficient_quota") => false,
            // 529 is Anthropic's "overloaded".
            ErrorKind::Refused => {
                self.status.is_some_and(|status| matches!(status, 408 | 429 | 500 | 502..=504 | 529))
            }
            ErrorKind::Unreachable | ErrorKind::Ended => true,
            _ => false,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provider = self.provider.map_or("provider", ProviderId::name);
        write!(f, "{provider}: {}", self.message)?;
        let status = self.status.map(|status| format!("HTTP {status}"));
        let code = self.code.as_ref().filter(|code| !self.message.contains(code.as_str())).cloned();
        let request = self.request_id.as_ref().map(|id| format!("request {id}"));
        let details: Vec<String> = [status, code, request].into_iter().flatten().collect();
        if !details.is_empty() {
            write!(f, " ({})", details.join(", "))?;
        }
        if let Some(received) = &self.received {
            let characters = received.text.chars().count();
            write!(f, "; {characters} characters of the answer had come")?;
        }
        Ok(())
    }
}

impl std::error::Error for ProviderError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_that_is_used_up_does_not_pass_by_waiting() {
        let refused = |code: &str| ProviderError {
            status: Some(429),
            code: Some(code.to_owned()),
            ..ProviderError::new(ProviderId::Openai, ErrorKind::Refused, "no")
        };
        assert!(refused("rate_limit_exceeded").is_passing());
        assert!(!refused("insufficient_quota").is_passing());
    }
}
