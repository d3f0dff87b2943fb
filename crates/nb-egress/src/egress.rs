//! The loop over the hops of a request.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderValue, LOCATION};
use reqwest::{Client, Method};

use crate::header::Outgoing;
use crate::mask::Mask;
use crate::pinned::PinnedClients;
use crate::redirect::{Hop, leads_on};
use crate::tls::Tls;
use crate::{
    EgressError, HostRule, Incoming, Request, Resolve, Response, SystemResolver, failure, guard, secret,
};

/// What the operator decides.
#[derive(Clone, Debug)]
pub struct EgressConfig {
    /// Hosts that may be reached although their address is not public.
    pub allow: Vec<HostRule>,
    /// Sent as `user-agent` when a request has none of its own.
    pub user_agent: String,
    /// For one connection, TLS handshake included; within the timeout of the request.
    pub connect_timeout: Duration,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            user_agent: concat!("nanobotd/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
        }
    }
}

/// The way out. Cloning is cheap, and clones share their open connections.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

struct Inner {
    allow: Vec<HostRule>,
    connect_timeout: Duration,
    resolver: Arc<dyn Resolve>,
    tls: Tls,
    clients: PinnedClients,
}

/// One hop after all checks, with its secrets filled in.
struct Ready {
    client: Client,
    request: reqwest::RequestBuilder,
    host: String,
}

impl Egress {
    /// With the resolver of the machine. Reads no file and opens no connection.
    ///
    /// # Errors
    /// [`EgressError::UserAgent`], or [`EgressError::Setup`] when TLS cannot be set up.
    pub fn new(config: EgressConfig) -> Result<Self, EgressError> {
        Self::with_resolver(config, Arc::new(SystemResolver))
    }

    /// With another resolver: for tests that need names with chosen addresses.
    ///
    /// # Errors
    /// As [`Egress::new`].
    pub fn with_resolver(config: EgressConfig, resolver: Arc<dyn Resolve>) -> Result<Self, EgressError> {
        Self::assemble(config, resolver, Tls::new()?)
    }

    pub(crate) fn assemble(
        config: EgressConfig,
        resolver: Arc<dyn Resolve>,
        tls: Tls,
    ) -> Result<Self, EgressError> {
        let user_agent =
            HeaderValue::from_bytes(config.user_agent.as_bytes()).map_err(|_| EgressError::UserAgent)?;
        Ok(Self(Arc::new(Inner {
            allow: config.allow,
            connect_timeout: config.connect_timeout,
            resolver,
            tls,
            clients: PinnedClients::new(user_agent, config.connect_timeout),
        })))
    }

    /// Sends the request, follows its redirects and reads the whole answer. Any HTTP status is an answer.
    ///
    /// # Errors
    /// Each [`EgressError`] but those of parsing and setting up; none holds a secret's value.
    pub async fn fetch(&self, request: Request) -> Result<Response, EgressError> {
        let mask = request.mask();
        told(self.0.fetch(&request, &mask).await, &mask)
    }

    /// Sends the request, follows its redirects and gives the answer as soon as its head is there; the body is read
    /// from it piece by piece. Any HTTP status is an answer.
    ///
    /// The timeout of the request ends with the head: how long to wait for the next piece is the reader's decision.
    ///
    /// # Errors
    /// As [`Egress::fetch`], but for those of the body, which reading it gives.
    pub async fn open(&self, request: Request) -> Result<Incoming, EgressError> {
        let mask = request.mask();
        let answer = told(self.0.open(&request, &mask).await, &mask)?;
        Ok(Incoming::new(answer.response, answer.host, request.max_bytes, mask))
    }
}

/// Hides secrets in an error, and logs it when it is a refusal.
fn told<T>(answer: Result<T, EgressError>, mask: &Mask) -> Result<T, EgressError> {
    if let Err(error) = &answer
        && error.is_refusal()
    {
        let error = mask.text(&error.to_string());
        tracing::debug!(error, "outbound request refused");
    }
    answer.map_err(|error| error.masked(mask))
}

/// The head of the last hop's answer; its body is not read yet.
struct Head {
    response: reqwest::Response,
    host: String,
}

impl Inner {
    async fn fetch(&self, request: &Request, mask: &Mask) -> Result<Response, EgressError> {
        let hop = first_hop(request)?;
        let host = guard::host_of(&hop.url);
        let whole = async {
            let Head { response, host } = self.follow(hop, request, mask).await?;
            Response::read(response, &host, request.max_bytes, mask).await
        };
        match tokio::time::timeout(request.timeout, whole).await {
            Ok(answer) => answer,
            Err(_) => Err(EgressError::Timeout { host, limit: request.timeout }),
        }
    }

    async fn open(&self, request: &Request, mask: &Mask) -> Result<Head, EgressError> {
        let hop = first_hop(request)?;
        let host = guard::host_of(&hop.url);
        match tokio::time::timeout(request.timeout, self.follow(hop, request, mask)).await {
            Ok(head) => head,
            Err(_) => Err(EgressError::HeadTimeout { host, limit: request.timeout }),
        }
    }

    async fn follow(&self, first: Hop, request: &Request, mask: &Mask) -> Result<Head, EgressError> {
        let mut hop = first;
        let mut from: Option<String> = None;
        let mut followed = 0;
        let mut secret_sent = false;
        loop {
            let has_secret = hop.headers.has_secret();
            let ready = self.ready(&hop, request, has_secret).await.map_err(|cause| match &from {
                Some(from) => EgressError::Redirected { from: from.clone(), cause: Box::new(cause) },
                None => cause,
            })?;
            secret_sent |= has_secret;
            let host = ready.host.clone();
            let response = self.send(ready).await?;
            let status = response.status();
            // A redirect may have put a secret into the host.
            let named = mask.text(&host);
            tracing::debug!(method = %hop.method, host = named, status = status.as_u16(), "outbound answer");

            let location = response.headers().get(LOCATION).filter(|_| leads_on(status));
            let Some(location) = location.filter(|_| request.max_redirects > 0) else {
                if secret_sent && let Some(encoding) = crate::response::encoding(response.headers()) {
                    return Err(EgressError::Encoded { host, encoding });
                }
                return Ok(Head { response, host });
            };
            let here = guard::shown(&hop.url);
            if followed == request.max_redirects {
                return Err(EgressError::TooManyRedirects { limit: request.max_redirects, from: here });
            }
            followed += 1;
            hop = hop.follow(status, location.as_bytes()).map_err(|cause| match cause {
                downgrade @ EgressError::Downgrade { .. } => downgrade,
                cause => EgressError::Redirected { from: here.clone(), cause: Box::new(cause) },
            })?;
            from = Some(here);
        }
    }

    /// The order matters: nothing is looked up before the scope is checked, and no secret is filled in before
    /// the addresses are.
    async fn ready(&self, hop: &Hop, request: &Request, has_secret: bool) -> Result<Ready, EgressError> {
        let admitted = guard::admit(&hop.url, &request.scope, &self.allow, self.resolver.as_ref()).await?;
        let headers = hop.headers.fill(&request.secrets, &hop.url, has_secret)?;
        let https = hop.url.scheme() == "https";
        let tls = if https { self.tls.for_https().await? } else { self.tls.for_http() };
        let client = self.clients.client(&admitted, https, tls)?;
        let mut request = client.request(hop.method.clone(), hop.url.clone()).headers(headers);
        // Without a body `GET` and its like have no content-length; the others say that theirs is 0.
        if !hop.body.is_empty() || matches!(hop.method, Method::POST | Method::PUT | Method::PATCH) {
            request = request.body(hop.body.clone());
        }
        Ok(Ready { client, request, host: admitted.host })
    }

    async fn send(&self, ready: Ready) -> Result<reqwest::Response, EgressError> {
        let Ready { client, request, host } = ready;
        let request = request
            .build()
            .map_err(|error| EgressError::Url { url: host.clone(), reason: failure::innermost(&error) })?;
        client
            .execute(request)
            .await
            .map_err(|error| failure::before_response(&error, &host, self.connect_timeout))
    }
}

fn first_hop(request: &Request) -> Result<Hop, EgressError> {
    if secret::names_secret(&request.url) {
        return Err(EgressError::SecretInUrl);
    }
    let method = Method::from_bytes(request.method.as_bytes())
        .ok()
        .filter(|method| *method != Method::CONNECT)
        .ok_or_else(|| EgressError::Method { method: request.method.escape_default().to_string() })?;
    Ok(Hop {
        method,
        url: guard::parse(&request.url)?,
        headers: Outgoing::new(&request.headers)?,
        body: request.body.clone(),
    })
}
