//! The short name of a key.

use std::fmt;
use std::str::FromStr;

use crate::error::KeyError;
use crate::paths::shown;

/// Eight bytes that minisign keys and signatures carry. Printed as minisign prints it: 16 upper-case hex digits of the
/// bytes as a little-endian number. It tells keys apart; it proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u64);

impl KeyId {
    /// None when there are not exactly eight bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(u64::from_le_bytes(bytes.try_into().ok()?)))
    }

    pub(crate) fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for KeyId {
    type Err = KeyError;

    /// Takes 16 hex digits in upper or lower case.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| plain);
        number.map(Self).ok_or_else(|| KeyError::NotKeyId(shown(text.as_bytes())))
    }
}
