//! An answer whose body is still on its way.

use bytes::Bytes;

use crate::mask::Mask;
use crate::response::readable;
use crate::{EgressError, failure};

/// The head of an answer, and its body piece by piece as it arrives.
///
/// Dropping it closes the connection. The pieces are as they came: a secret that a server repeats may be cut in two by
/// them, so whoever puts them together hides it with [`Incoming::mask`] in what belongs together.
pub struct Incoming {
    response: reqwest::Response,
    host: String,
    cap: u64,
    received: u64,
    mask: Mask,
}

impl Incoming {
    pub(crate) fn new(response: reqwest::Response, host: String, cap: u64, mask: Mask) -> Self {
        Self { response, host, cap, received: 0, mask }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Names in lower case and values, in the order of arrival, masked; bytes that are not UTF-8 become `U+FFFD`.
    pub fn headers(&self) -> Vec<(String, String)> {
        readable(self.response.headers(), &self.mask)
    }

    /// The next bytes of the body, not masked. `None` at its end.
    ///
    /// # Errors
    /// [`EgressError::Interrupted`] when the connection breaks, [`EgressError::TooLarge`] over the cap of the request.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, EgressError> {
        let piece =
            self.response.chunk().await.map_err(|error| {
                failure::inside_body(&error, &self.host, self.received).masked(&self.mask)
            })?;
        let length = piece.as_ref().map_or(0, |piece| u64::try_from(piece.len()).unwrap_or(u64::MAX));
        self.received = self.received.saturating_add(length);
        if self.received > self.cap {
            return Err(EgressError::TooLarge { host: self.host.clone(), cap: self.cap });
        }
        Ok(piece)
    }

    /// What hides the values of the request's secrets.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }
}
