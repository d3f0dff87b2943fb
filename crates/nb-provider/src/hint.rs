//! What a person can do about a provider's error.

use std::time::{Duration, SystemTime};

use nb_egress::EgressError;

use crate::ProviderId;
use crate::refusal::Refusal;

/// Words by which providers say that the conversation does not fit the model.
const TOO_LONG: [&str; 8] = [
    "context_length",
    "context length",
    "context window",
    "maximum context",
    "prompt is too long",
    "too many tokens",
    "input token count",
    "too large for model",
];

/// A hint for an error that the provider told, when there is one.
pub(crate) fn for_refusal(refusal: &Refusal, key_source: &str) -> Option<String> {
    let text = format!("{} {}", refusal.message, refusal.code.as_deref().unwrap_or_default()).to_lowercase();
    let hint = match refusal.status? {
        _ if TOO_LONG.iter().any(|words| text.contains(words)) => {
            "the conversation is longer than the model can read; shorten it, or take a model with a larger context"
                .to_owned()
        }
        400 | 422 if text.contains("api key") || text.contains("api_key") => key(key_source),
        401 => key(key_source),
        402 => "the account has no credit left".to_owned(),
        403 => format!("the key of {key_source} is not allowed to do this; check what it was made for"),
        404 if text.contains("model") => "check the name of the model, and that your account may use it".to_owned(),
        404 => "check provider.credentials.address and the name of the model".to_owned(),
        429 if text.contains("quota") || text.contains("billing") => {
            "the account's quota is used up; check its plan".to_owned()
        }
        429 => "too many requests at the moment; wait, or ask the provider for a higher limit".to_owned(),
        500 | 502..=504 | 529 => "the provider has a problem of its own; try again later".to_owned(),
        _ => return None,
    };
    Some(hint)
}

fn key(source: &str) -> String {
    format!("the provider does not take the key; check {source}")
}

/// A hint for a connection that was refused by a rule or did not come about.
pub(crate) fn for_egress(provider: ProviderId, error: &EgressError) -> Option<String> {
    match error {
        EgressError::NotPublic { .. } | EgressError::ResolvesToNotPublic { .. } => {
            Some("a server on this machine or in your network is allowed with egress.allow in the daemon's configuration".to_owned())
        }
        EgressError::Connect { .. } if provider == ProviderId::Ollama => {
            Some("is Ollama running? Start it with `ollama serve`, or set provider.credentials.address".to_owned())
        }
        EgressError::Connect { .. } | EgressError::ConnectTimeout { .. } | EgressError::Dns { .. } => {
            Some("check provider.credentials.address and the network".to_owned())
        }
        _ => None,
    }
}

/// How long a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. None: it does not say,
/// or says 0; then it is waited as usual, so that the repeats are not used up at once.
pub(crate) fn retry_after(headers: &[(String, String)]) -> Option<Duration> {
    asked_wait(headers).filter(|wait| !wait.is_zero())
}

fn asked_wait(headers: &[(String, String)]) -> Option<Duration> {
    let find = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.trim());
    let seconds =
        |text: &str| text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    if let Some(wait) = find("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let value = find("retry-after")?;
    seconds(value).or_else(|| {
        let at = chrono::DateTime::parse_from_rfc2822(value).ok()?;
        Some(SystemTime::from(at).duration_since(SystemTime::now()).unwrap_or_default())
    })
}

/// How long a provider asks to wait, in words.
pub(crate) fn for_wait(wait: Duration) -> String {
    format!("the provider asks to wait {:.0} s", wait.as_secs_f64().ceil())
}

/// What to tell of an error that is not in the provider's form: the page of a proxy, or nothing.
pub(crate) fn page_text(body: &[u8], status: u16) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(body);
    let begins: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect();
    if begins.is_empty() { format!("it answered with status {status} and nothing else") } else { begins }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_nothing_is_none_that_is_asked_for() {
        let asked = |name: &str, value: &str| retry_after(&[(name.to_owned(), value.to_owned())]);
        assert_eq!(asked("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(asked("retry-after-ms", "20"), Some(Duration::from_millis(20)));
        for (name, value) in [
            ("retry-after", "0"),
            ("retry-after", "0.0"),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("retry-after", "soon"),
            ("retry-after-ms", "0"),
        ] {
            assert_eq!(asked(name, value), None, "{name}: {value}");
        }
    }
}
