//! Tokens of access for accounts.
//!
//! Source: RFC 7523 (JWT bearer grant), RFC 6749 section 6 (refresh); Google's documentation, "Using OAuth 2.0 for Server
//! to Server Applications".

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use nb_egress::{Egress, HostScope, Request};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use url::Url;

use crate::ProviderId;
use crate::environment::Environment;
use crate::error::{ErrorKind, ProviderError};
use crate::refusal::Refusal;

use super::credentials::{Account, AccountKind};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// What a statement is for, whichever address it is sent to.
const AUDIENCE: &str = "https://oauth2.googleapis.com/token";
/// A token is asked anew when it has less than this left: a conversation must not begin with one that ends in it.
const LEFT: TimeDelta = TimeDelta::minutes(5);

/// The token of one account, kept while it is good.
pub(super) struct Tokens {
    environment: Arc<dyn Environment>,
    kept: Mutex<Option<(String, DateTime<Utc>)>>,
}

impl Tokens {
    pub fn new(environment: Arc<dyn Environment>) -> Self {
        Self { environment, kept: Mutex::new(None) }
    }

    /// The kept token, or a new one. Many that ask at once wait for one request.
    pub async fn get(&self, account: &Account, egress: &Egress) -> Result<String, ProviderError> {
        let mut kept = self.kept.lock().await;
        let now = self.environment.now();
        if let Some((token, _)) = kept.as_ref().filter(|(_, ends)| *ends - LEFT > now) {
            return Ok(token.clone());
        }
        let (token, seconds) = ask(account, egress, now).await?;
        *kept = Some((token.clone(), now + TimeDelta::seconds(seconds)));
        Ok(token)
    }
}

fn fail(message: impl Into<String>) -> ProviderError {
    ProviderError::new(ProviderId::Google, ErrorKind::Setup, message)
}

/// Asks for a token; gives it with the seconds that it is good for.
async fn ask(account: &Account, egress: &Egress, now: DateTime<Utc>) -> Result<(String, i64), ProviderError> {
    let form = |fields: &[(&str, &str)]| {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields).finish().into_bytes()
    };
    let request = match &account.kind {
        AccountKind::Service { email, key_id, key, token_uri } => {
            let assertion = assertion(email, key_id.as_deref(), key, now)?;
            let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
            post(account, token_uri, form(&[("grant_type", grant), ("assertion", &assertion)]))?
        }
        AccountKind::User { client_id, client_secret, refresh_token, token_uri } => post(
            account,
            token_uri,
            form(&[
                ("grant_type", "refresh_token"),
                ("client_id", client_id),
                ("client_secret", client_secret),
                ("refresh_token", refresh_token),
            ]),
        )?,
        AccountKind::Machine { host } => {
            let path = "computeMetadata/v1/instance/service-accounts/default/token";
            let mut request = Request::get(format!("http://{host}/{path}"));
            request.headers.push(("metadata-flavor".to_owned(), "Google".to_owned()));
            request.max_redirects = 0;
            request
        }
    };
    let machine = matches!(account.kind, AccountKind::Machine { .. });
    let response = egress.fetch(request).await.map_err(|error| {
        let failed = ProviderError::egress(ProviderId::Google, &error);
        let failed = ProviderError { message: format!("no token of access: {}", failed.message), ..failed };
        if machine {
            failed.hinting(
                "there are no credentials: give `file-path` or `file-contents`, or sign in with `gcloud auth application-default login`",
            )
        } else {
            failed
        }
    })?;
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    if response.status != 200 {
        let told = Refusal::read(&body);
        let words = body.get("error_description").and_then(Value::as_str).map(str::to_owned);
        let message = words.unwrap_or(told.message);
        return Err(ProviderError {
            status: Some(response.status),
            code: body.get("error").and_then(Value::as_str).map(str::to_owned),
            ..ProviderError::new(
                ProviderId::Google,
                ErrorKind::Refused,
                format!("no token of access: {message}"),
            )
        }
        .hinting("check the account's key file, and the clock of this machine"));
    }
    let token = body.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| fail("the answer to the request for a token has no `access_token`"))?;
    let seconds = body.get("expires_in").and_then(Value::as_i64).unwrap_or(3600);
    Ok((token.to_owned(), seconds))
}

fn post(account: &Account, token_uri: &str, body: Vec<u8>) -> Result<Request, ProviderError> {
    let url = Url::parse(token_uri).map_err(|_| fail("the key file's `token_uri` is not an address"))?;
    let host = url.host_str().unwrap_or_default();
    if let Some(hosts) = account.hosts()
        && !hosts.iter().any(|allowed| allowed.matches(&url))
    {
        return Err(fail(format!("the key may not be sent to {host}, where its `token_uri` leads")));
    }
    let own = host.parse().map_err(|_| fail("the key file's `token_uri` has no host that can be read"))?;
    let mut request = Request::get(token_uri);
    request.method = "POST".to_owned();
    request.headers.push(("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()));
    request.body = body;
    request.max_redirects = 0;
    request.scope = HostScope::Hosts(vec![own]);
    Ok(request)
}

/// A signed statement: who asks, for what, and until when it counts.
fn assertion(
    email: &str,
    key_id: Option<&str>,
    key: &str,
    now: DateTime<Utc>,
) -> Result<String, ProviderError> {
    let pair = key_pair(key)?;
    let mut header = json!({"alg": "RS256", "typ": "JWT"});
    if let Some(id) = key_id {
        header["kid"] = json!(id);
    }
    let issued = now.timestamp();
    let claims = json!({
        "iss": email, "scope": SCOPE, "aud": AUDIENCE, "iat": issued, "exp": issued + 3600,
    });
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encode(&header), encode(&claims));
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
        .map_err(|_| fail("the key file's private key cannot sign"))?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Reads a PEM text: PKCS#8 as Google hands it out, or the older PKCS#1.
fn key_pair(pem: &str) -> Result<RsaKeyPair, ProviderError> {
    let wrong = || fail("the key file's `private_key` is not an RSA key in PEM form");
    let inner: String = pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(inner).map_err(|_| wrong())?;
    let pair = if pem.contains("BEGIN RSA PRIVATE KEY") {
        RsaKeyPair::from_der(&der)
    } else {
        RsaKeyPair::from_pkcs8(&der)
    };
    pair.map_err(|_| wrong())
}
