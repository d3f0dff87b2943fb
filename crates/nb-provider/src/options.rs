//! What we need to know and the provider is not sent: `provider.options`.

use std::time::Duration;

use serde_json::Value;

use crate::Prices;
use crate::error::ProviderError;
use crate::section::Section;

/// How an answer is waited for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// Until the answer begins: `timeout`, in seconds. Models that think first take minutes.
    pub timeout: Duration,
    /// Between two pieces of it: `idle_timeout`, in seconds.
    pub idle_timeout: Duration,
    /// How often a request is made again before the first byte came: `retries`.
    pub retries: u32,
    /// The longest wait that a provider may ask for, in seconds: `longest_wait`.
    pub longest_wait: Duration,
    /// What tokens cost: `prices`.
    pub prices: Option<Prices>,
    /// Where the key comes from, in words for a hint.
    pub key_source: String,
}

const TIMEOUT: u64 = 300;
const IDLE_TIMEOUT: u64 = 120;
const RETRIES: u64 = 2;
const LONGEST_WAIT: u64 = 60;

impl Options {
    pub fn new(section: &Section, key: &str) -> Result<Self, ProviderError> {
        let seconds = |name: &str, usual: u64| match section.options.get(name) {
            None | Some(Value::Null) => Ok(Duration::from_secs(usual)),
            Some(value) => value
                .as_f64()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .filter(|given| !given.is_zero() && *given <= Duration::from_secs(86_400))
                .ok_or_else(|| {
                    section.fail(format!("provider.options.{name} must be a number of seconds, up to 86400"))
                }),
        };
        let retries = match section.options.get("retries") {
            None | Some(Value::Null) => RETRIES,
            Some(value) => value.as_u64().filter(|retries| *retries <= 10).ok_or_else(|| {
                section.fail("provider.options.retries must be a whole number from 0 to 10")
            })?,
        };
        let prices = match section.options.get("prices") {
            None | Some(Value::Null) => None,
            Some(value) => Some(
                Prices::from_value(value)
                    .map_err(|reason| section.fail(format!("provider.options.prices: {reason}")))?,
            ),
        };
        let key_source = match section.variable_of(key) {
            Some(variable) => variable.to_owned(),
            None => format!("provider.credentials.{key}"),
        };
        Ok(Self {
            timeout: seconds("timeout", TIMEOUT)?,
            idle_timeout: seconds("idle_timeout", IDLE_TIMEOUT)?,
            retries: u32::try_from(retries).unwrap_or_default(),
            longest_wait: seconds("longest_wait", LONGEST_WAIT)?,
            prices,
            key_source,
        })
    }
}
