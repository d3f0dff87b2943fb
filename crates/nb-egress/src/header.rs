//! The headers of a request: what may be given, and what is dropped on the way to another origin.

use reqwest::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH,
    CONTENT_LOCATION, CONTENT_TYPE, COOKIE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use url::Url;

use crate::secret::{self, Part};
use crate::{EgressError, Secret};

/// Headers that frame the message or choose the host; a caller who set them could smuggle a second request, or
/// reach another site of the same server than the one that was checked.
const RESERVED: &[HeaderName] =
    &[HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, UPGRADE, TE, TRAILER, EXPECT];
const RESERVED_BY_TEXT: &[&str] = &["keep-alive", "proxy-connection", "http2-settings"];

/// The headers of one hop, their secrets not yet filled in.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing(Vec<Line>);

#[derive(Clone, Debug)]
struct Line {
    name: HeaderName,
    template: String,
    has_secret: bool,
}

impl Outgoing {
    /// Checks all names and values before anything is sent, or even looked up.
    pub(crate) fn new(headers: &[(String, String)]) -> Result<Self, EgressError> {
        let lines = headers.iter().map(|(name, value)| Line::new(name, value)).collect::<Result<_, _>>()?;
        Ok(Self(lines))
    }

    pub(crate) fn has_secret(&self) -> bool {
        self.0.iter().any(|line| line.has_secret)
    }

    /// For a redirect to another origin: credentials stay behind, and do not come back when it returns.
    pub(crate) fn drop_credentials(&mut self) {
        self.0.retain(|line| {
            !line.has_secret && ![AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(&line.name)
        });
    }

    /// For a redirect that becomes a `GET`: what described the body goes with it.
    pub(crate) fn drop_body_headers(&mut self) {
        let described = [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION];
        self.0.retain(|line| !described.contains(&line.name));
    }

    /// The headers as they go over the wire to this URL.
    ///
    /// `plain` asks for an unencoded body whatever the caller wanted: nothing is decompressed here, and a secret
    /// could not be found in a compressed body.
    pub(crate) fn fill(&self, secrets: &[Secret], url: &Url, plain: bool) -> Result<HeaderMap, EgressError> {
        let mut map = HeaderMap::with_capacity(self.0.len() + 1);
        for line in &self.0 {
            if !(plain && line.name == ACCEPT_ENCODING) {
                map.append(line.name.clone(), line.fill(secrets, url)?);
            }
        }
        if !map.contains_key(ACCEPT_ENCODING) {
            map.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        Ok(map)
    }
}

impl Line {
    fn new(name: &str, value: &str) -> Result<Self, EgressError> {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| EgressError::HeaderName { name: name.escape_default().to_string() })?;
        if RESERVED.contains(&parsed) || RESERVED_BY_TEXT.contains(&parsed.as_str()) {
            return Err(EgressError::HeaderReserved { name: parsed.to_string() });
        }
        if HeaderValue::from_bytes(value.as_bytes()).is_err() {
            return Err(EgressError::HeaderValue { name: parsed.to_string() });
        }
        let parts = secret::parts(value.as_bytes())
            .ok_or_else(|| EgressError::SecretReference { header: parsed.to_string() })?;
        let has_secret = parts.iter().any(Part::is_secret);
        Ok(Self { name: parsed, template: value.to_owned(), has_secret })
    }

    fn fill(&self, secrets: &[Secret], url: &Url) -> Result<HeaderValue, EgressError> {
        let header = || self.name.to_string();
        let mut filled = Vec::with_capacity(self.template.len());
        let parts = secret::parts(self.template.as_bytes())
            .ok_or_else(|| EgressError::SecretReference { header: header() })?;
        for part in parts {
            match part {
                Part::Text(text) => filled.extend_from_slice(text),
                Part::Secret(name) => {
                    let value = secret::value_for(name, secrets, url)?;
                    if HeaderValue::from_bytes(value).is_err() {
                        return Err(EgressError::SecretNotOneLine {
                            name: name.to_owned(),
                            header: header(),
                        });
                    }
                    filled.extend_from_slice(value);
                }
            }
        }
        let mut value =
            HeaderValue::from_bytes(&filled).map_err(|_| EgressError::HeaderValue { name: header() })?;
        value.set_sensitive(self.has_secret);
        Ok(value)
    }
}
