//! What surrounds a provider: variables, files, time and chance. A trait, so that the daemon can give secrets in place of
//! its environment, and a test what it likes.

use chrono::{DateTime, Utc};
use nb_egress::{HostPattern, SecretValue};

/// A value that stands outside of the cartridge.
#[derive(Clone)]
pub struct Variable {
    /// The value.
    pub value: String,
    /// The hosts that it may be sent to. None: to the address of the provider, whichever that is.
    pub hosts: Option<Vec<HostPattern>>,
}

/// The surroundings of a provider.
pub trait Environment: Send + Sync {
    /// What `ENV/NAME` stands for. `Ok(None)` when there is no such variable.
    ///
    /// # Errors
    /// A sentence when there is one that may not be used.
    fn variable(&self, name: &str) -> Result<Option<Variable>, String>;

    /// A file that a credential names, or one of the cartridge.
    ///
    /// # Errors
    /// A sentence with the reason, without the path.
    fn file(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The hosts that may be asked: the provider's own, and where tokens of access come from. None: any.
    fn hosts(&self) -> Option<Vec<HostPattern>> {
        None
    }

    /// Values that nothing may show, beside the credentials and the tokens that come of them.
    fn hidden(&self) -> Vec<SecretValue> {
        Vec::new()
    }

    /// The time of day: tokens of access end by it.
    fn now(&self) -> DateTime<Utc>;

    /// A number from 0 to 1, to spread out repeated requests.
    fn chance(&self) -> f64;
}
