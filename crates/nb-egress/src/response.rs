//! What comes back.

use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use crate::mask::Mask;
use crate::{EgressError, failure};

/// A complete response, whatever its status. Values of secrets in it are masked as `***`.
#[derive(Clone, Debug)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case and values, in the order of arrival; bytes that are not UTF-8 become `U+FFFD`.
    pub headers: Vec<(String, String)>,
    /// The body as it came over the wire: when a `content-encoding` was asked for, it is still compressed.
    pub body: Vec<u8>,
    /// Where the response came from: the URL of the last hop.
    pub url: String,
}

impl Response {
    /// Reads the body up to `cap` bytes and masks everything.
    pub(crate) async fn read(
        mut response: reqwest::Response,
        host: &str,
        cap: u64,
        mask: &Mask,
    ) -> Result<Self, EgressError> {
        let too_large = || EgressError::TooLarge { host: host.to_owned(), cap };
        // What the server announces can only shorten the work: the bytes are counted as well.
        if response.content_length().is_some_and(|announced| announced > cap) {
            return Err(too_large());
        }
        let mut body: Vec<u8> = Vec::new();
        let received = |body: &Vec<u8>| u64::try_from(body.len()).unwrap_or(u64::MAX);
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(error) => return Err(failure::inside_body(&error, host, received(&body))),
            };
            body.extend_from_slice(&chunk);
            if received(&body) > cap {
                return Err(too_large());
            }
        }
        Ok(Self {
            status: response.status().as_u16(),
            headers: readable(response.headers(), mask),
            url: mask.text(response.url().as_str()),
            body: mask.bytes(body),
        })
    }
}

/// The encoding of the body when it is not plain.
pub(crate) fn encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(CONTENT_ENCODING);
    let mut names = values.iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    names.find(|name| !name.trim().is_empty() && !name.trim().eq_ignore_ascii_case("identity"))
}

pub(crate) fn readable(headers: &HeaderMap, mask: &Mask) -> Vec<(String, String)> {
    let lossy = |value: &[u8]| String::from_utf8_lossy(&mask.bytes(value.to_vec())).into_owned();
    headers.iter().map(|(name, value)| (mask.text(name.as_str()), lossy(value.as_bytes()))).collect()
}
