//! Tokens of access for accounts.
//!
//! Source: RFC 7523 (JWT bearer grant), RFC 6749 section 6 (refresh); Google's documentation, "Using OAuth 2.0 for Server
//! to Server Applications".

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use nb_egress::{Egress, HostPattern, HostScope, Request};
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

/// The longest, in seconds, that a token is kept. Google's are good for an hour; the number is another machine's word.
const LONGEST: i64 = 86_400;
/// The most characters that are told of an error.
const TOLD: usize = 2_000;

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
        let request = self.request(account, now)?;
        let (token, good_for) = ask(account, egress, request).await?;
        *kept = now.checked_add_signed(good_for).map(|ends| (token.clone(), ends));
        Ok(token)
    }

    /// Drops the kept token, so that the next request asks for another.
    pub async fn forget(&self) {
        *self.kept.lock().await = None;
    }

    /// Where tokens of an account may go.
    pub fn hosts(&self, account: &Account) -> Option<Vec<HostPattern>> {
        account.hosts().or_else(|| self.environment.hosts())
    }

    /// The request for a token: to one host, and nothing of what it proves comes back.
    fn request(&self, account: &Account, now: DateTime<Utc>) -> Result<Request, ProviderError> {
        let (mut request, secrets) = match &account.kind {
            AccountKind::Service { email, key_id, key, token_uri } => {
                let assertion = assertion(email, key_id.as_deref(), key, now)?;
                let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
                let request = post(token_uri, &[("grant_type", grant), ("assertion", &assertion)]);
                (request, vec![assertion.as_str().into(), key.as_str().into()])
            }
            AccountKind::User { client_id, client_secret, refresh_token, token_uri } => {
                let fields = [
                    ("grant_type", "refresh_token"),
                    ("client_id", client_id),
                    ("client_secret", client_secret),
                    ("refresh_token", refresh_token),
                ];
                let request = post(token_uri, &fields);
                (request, vec![client_secret.as_str().into(), refresh_token.as_str().into()])
            }
            AccountKind::Machine { host } => {
                let path = "computeMetadata/v1/instance/service-accounts/default/token";
                let mut request = Request::get(format!("http://{host}/{path}"));
                request.headers.push(("metadata-flavor".to_owned(), "Google".to_owned()));
                (request, Vec::new())
            }
        };
        request.max_redirects = 0;
        request.scope = HostScope::Hosts(vec![self.host(account, &request.url)?]);
        request.hidden = secrets;
        request.hidden.extend(self.environment.hidden());
        Ok(request)
    }

    /// The host that a token is asked for, when it may be asked.
    fn host(&self, account: &Account, address: &str) -> Result<HostPattern, ProviderError> {
        let source = match account.kind {
            AccountKind::Machine { .. } => "GCE_METADATA_HOST",
            _ => "the key file's `token_uri`",
        };
        let url = Url::parse(address).map_err(|_| fail(format!("{source} is not an address")))?;
        let host = url.host_str().unwrap_or_default();
        for hosts in [account.hosts(), self.environment.hosts()].into_iter().flatten() {
            if !hosts.iter().any(|allowed| allowed.matches(&url)) {
                let allowed = HostScope::Hosts(hosts);
                return Err(fail(format!(
                    "a token of access has to be asked for at {host}, which is not allowed, only: {allowed}"
                ))
                .hinting(format!(
                    "beside the host of the model, grant that of its tokens: `llm.query:{host}`"
                )));
            }
        }
        let port = url.port_or_known_default().unwrap_or_default();
        format!("{host}:{port}").parse().map_err(|_| fail(format!("{source} has no host that can be read")))
    }
}

fn fail(message: impl Into<String>) -> ProviderError {
    ProviderError::new(ProviderId::Google, ErrorKind::Setup, message)
}

/// Asks for a token; gives it with the time that it is good for.
async fn ask(
    account: &Account,
    egress: &Egress,
    request: Request,
) -> Result<(String, TimeDelta), ProviderError> {
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
        let words = body.get("error_description").and_then(Value::as_str).unwrap_or(&told.message);
        return Err(ProviderError {
            status: Some(response.status),
            code: body.get("error").and_then(Value::as_str).map(begin),
            ..ProviderError::new(
                ProviderId::Google,
                ErrorKind::Refused,
                format!("no token of access: {}", begin(words)),
            )
        }
        .hinting("check the account's key file, and the clock of this machine"));
    }
    let token = body.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| fail("the answer to the request for a token has no `access_token`"))?;
    let seconds = body.get("expires_in").and_then(Value::as_i64).unwrap_or(3600);
    Ok((token.to_owned(), TimeDelta::seconds(seconds.clamp(0, LONGEST))))
}

fn begin(text: &str) -> String {
    text.chars().take(TOLD).collect()
}

fn post(address: &str, fields: &[(&str, &str)]) -> Request {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    let mut request = Request::get(address);
    request.method = "POST".to_owned();
    request.headers.push(("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()));
    request.body = form.extend_pairs(fields).finish().into_bytes();
    request
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
