//! How keys are written so that they sort: texts separated by NUL, numbers and times big-endian.

use chrono::{DateTime, Utc};

use crate::StoreError;

/// Longest name in a key, in bytes.
///
/// The sum of the parts of any key stays below 960 bytes. An inner page of the tree holds up to about 260 keys
/// and must stay below a quarter of a log segment (256 KiB); a larger page would leave the log for a file of
/// its own, which the database does not sync.
pub(crate) const NAME_CAP: usize = 255;
/// Longest id that comes from outside (delivery ids), in bytes.
pub(crate) const ID_CAP: usize = 512;

/// A key under construction.
#[derive(Debug, Clone)]
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// A key that begins with a name; `what` names it in an error.
    pub(crate) fn name(what: &'static str, text: &str) -> Result<Self, StoreError> {
        Self(Vec::with_capacity(64)).text(what, text, NAME_CAP)
    }

    /// A key that is a number, or begins with one.
    pub(crate) fn number(number: u64) -> Self {
        Self(number.to_be_bytes().to_vec())
    }

    /// A key that begins with a time.
    pub(crate) fn time(at: DateTime<Utc>) -> Self {
        Self(time_bytes(at).to_vec())
    }

    /// Another name.
    pub(crate) fn and_name(self, what: &'static str, text: &str) -> Result<Self, StoreError> {
        self.prefix().text(what, text, NAME_CAP)
    }

    /// Another text with its own length limit.
    pub(crate) fn and_text(self, what: &'static str, text: &str, cap: usize) -> Result<Self, StoreError> {
        self.prefix().text(what, text, cap)
    }

    /// A number at the end.
    pub(crate) fn and_number(self, number: u64) -> Self {
        self.raw(&number.to_be_bytes())
    }

    /// A time at the end.
    pub(crate) fn and_time(self, at: DateTime<Utc>) -> Self {
        self.raw(&time_bytes(at))
    }

    /// The prefix of every key that has more parts than this one.
    pub(crate) fn prefix(mut self) -> Self {
        self.0.push(0);
        self
    }

    /// A key as it was read from a table.
    pub(crate) fn stored(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn raw(self, bytes: &[u8]) -> Self {
        let mut key = self.prefix();
        key.0.extend_from_slice(bytes);
        key
    }

    fn text(mut self, what: &'static str, text: &str, cap: usize) -> Result<Self, StoreError> {
        check_text(what, text, cap)?;
        self.0.extend_from_slice(text.as_bytes());
        Ok(self)
    }
}

/// Whether a text can stand in a key.
pub(crate) fn check_text(what: &'static str, text: &str, cap: usize) -> Result<(), StoreError> {
    if text.is_empty() || text.len() > cap {
        return Err(StoreError::KeyLength { what, length: text.len(), cap });
    }
    if text.as_bytes().contains(&0) {
        return Err(StoreError::KeyNul { what });
    }
    Ok(())
}

/// The number at the end of a key.
pub(crate) fn trailing_number(key: &[u8]) -> Option<u64> {
    key.last_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes))
}

/// A key that ends with a time, as what is before the time and the time in an order that compares.
pub(crate) fn split_time(key: &[u8]) -> Option<(&[u8], &[u8])> {
    key.split_last_chunk::<8>().map(|(before, time)| (before, time.as_slice()))
}

/// Microseconds since 1970; flipping the sign bit makes times before 1970 sort first.
fn time_bytes(at: DateTime<Utc>) -> [u8; 8] {
    (at.timestamp_micros() ^ i64::MIN).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_sort_before_later_ones() {
        let at = |micros| Key::time(DateTime::from_timestamp_micros(micros).unwrap());
        let keys = [at(-2), at(-1), at(0), at(1), at(1_700_000_000_000_000)];
        assert!(keys.is_sorted_by_key(|key| key.bytes().to_vec()));
    }

    #[test]
    fn a_name_that_begins_like_another_stays_outside_of_its_prefix() {
        let prefix = Key::name("agent", "ab").unwrap().prefix();
        let longer = Key::name("agent", "abc").unwrap().and_number(1);
        assert!(!longer.bytes().starts_with(prefix.bytes()));
    }

    #[test]
    fn a_nul_an_empty_and_an_overlong_name_are_refused() {
        let refused = |text: &str| Key::name("agent", text).unwrap_err().to_string();
        assert_eq!(refused("a\0b"), "agent contains a NUL byte: remove it");
        assert_eq!(refused(""), "agent has 0 bytes; it must have 1 to 255");
        assert_eq!(refused(&"x".repeat(256)), "agent has 256 bytes; it must have 1 to 255");
    }
}
