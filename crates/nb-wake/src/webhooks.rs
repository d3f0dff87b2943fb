//! Which webhook a request is for, and what becomes of it.
//!
//! Order: find, rate, (the caller reads the body within its cap), verify, record, answer. An answer of 2xx means that
//! the delivery is on disk.
//!
//! A delivery is a repeat when its id was seen before. An id that no signature covers proves nothing: whoever captured
//! a request could send it again under another one. Where the scheme signs no id, or has none, the same body within
//! five minutes is a repeat as well, under whatever id.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use chrono::{DateTime, TimeDelta, Utc};
use nb_runtime::{Actor, Engine, RunRequest, StartError, Started, Target};
use nb_spec::trigger::{MIN_SECRET_BYTES, Verify};
use nb_store::{DeliveryMark, LedgerKey};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::rate::Bucket;
use crate::verify::{self, Headers};

/// A repeat of a body within this time is the same delivery, where the scheme signs no id.
const BODY_WINDOW: TimeDelta = TimeDelta::minutes(5);
/// The longest delivery id that is taken from a sender, in bytes.
const MAX_ID_BYTES: usize = 200;

/// A webhook of an agent that may be woken.
#[derive(Clone, PartialEq)]
pub struct Hook {
    /// The agent.
    pub agent: String,
    /// The path as written.
    pub path: String,
    /// The chain it runs.
    pub chain: String,
    /// How requests are verified; none for an open webhook.
    pub verify: Option<Verify>,
    /// The methods it takes.
    pub methods: Vec<String>,
    params: Map<String, Value>,
    secret: Option<String>,
}

/// Without the secret, which may stand in the manifest itself, and the parameters, which may hold one.
impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("agent", &self.agent)
            .field("path", &self.path)
            .field("chain", &self.chain)
            .field("verify", &self.verify)
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}

/// The secret of a webhook.
enum Secret {
    /// It has none: any request that reaches it counts.
    Open,
    /// Requests are verified with this.
    Known(Vec<u8>),
    /// It has one that cannot be found. Every request is turned away.
    Missing(String),
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// It is on disk and its run goes on.
    Accepted(String),
    /// It was accepted before; that run was started.
    Repeated(String),
}

/// Why a request is turned away. Says no more than it must.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// 404.
    #[error("not found")]
    NotFound,
    /// 405, with the methods that are allowed.
    #[error("method not allowed")]
    Method(Vec<String>),
    /// 429.
    #[error("too many requests")]
    TooMany,
    /// 401.
    #[error("unauthorized")]
    Unauthorized,
    /// 503.
    #[error("unavailable")]
    Unavailable(#[source] StartError),
}

/// The webhooks of an engine's agents.
pub struct Webhooks {
    engine: Engine,
    per_second: u32,
    hooks: RwLock<Arc<HashMap<String, Arc<Hook>>>>,
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Webhooks {
    /// Webhooks that take at most so many requests a second on each path.
    pub fn new(engine: Engine, per_second: u32) -> Self {
        let webhooks = Self { engine, per_second, hooks: RwLock::default(), buckets: Mutex::default() };
        webhooks.reload();
        webhooks
    }

    /// Reads the webhooks of the agents anew. Paths of two agents do not clash: that is checked at install.
    pub fn reload(&self) {
        let mut hooks = HashMap::new();
        for agent in self.engine.agents().running() {
            for webhook in &agent.spec.manifest.triggers.webhooks {
                let hook = Hook {
                    agent: agent.name().to_owned(),
                    path: webhook.path.clone(),
                    chain: webhook.chain.clone(),
                    verify: webhook.verify.or(webhook.secret.as_ref().map(|_| Verify::Hmac)),
                    methods: webhook.methods.clone(),
                    params: webhook.params.clone(),
                    secret: webhook.secret.clone(),
                };
                hooks.insert(webhook.path.clone(), Arc::new(hook));
            }
        }
        self.lock_buckets().retain(|path, _| hooks.contains_key(path));
        *self.hooks.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(hooks);
    }

    fn lock_buckets(&self) -> std::sync::MutexGuard<'_, HashMap<String, Bucket>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All webhooks.
    pub fn all(&self) -> Vec<Arc<Hook>> {
        let hooks = self.hooks.read().unwrap_or_else(PoisonError::into_inner).clone();
        hooks.values().cloned().collect()
    }

    /// The webhook for a request line. Takes one of the path's requests for this second.
    pub fn find(&self, method: &str, path: &str) -> Result<Arc<Hook>, Refusal> {
        let hooks = self.hooks.read().unwrap_or_else(PoisonError::into_inner).clone();
        let hook = hooks.get(path).ok_or(Refusal::NotFound)?;
        if !hook.methods.iter().any(|allowed| allowed == method) {
            return Err(Refusal::Method(hook.methods.clone()));
        }
        let now = self.now();
        let mut buckets = self.lock_buckets();
        let bucket = buckets.entry(path.to_owned()).or_insert_with(|| Bucket::new(self.per_second, now));
        if bucket.take(now) { Ok(Arc::clone(hook)) } else { Err(Refusal::TooMany) }
    }

    /// Verifies a delivery, records it and starts its run. `headers` have their names in lower case.
    pub async fn deliver(
        &self,
        hook: &Hook,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Delivered, Refusal> {
        let now = self.now();
        let sender_id = match (self.secret(hook), hook.verify) {
            (Secret::Known(secret), Some(verify)) => {
                verify::verify(verify, &secret, Headers(headers), body, now).map_err(|_| {
                    tracing::warn!(
                        agent = hook.agent,
                        path = hook.path,
                        "a webhook request has no valid signature"
                    );
                    Refusal::Unauthorized
                })?
            }
            (Secret::Open, _) => None,
            (Secret::Known(_), None) => return Err(Refusal::Unauthorized),
            (Secret::Missing(problem), _) => {
                tracing::error!(
                    agent = hook.agent,
                    path = hook.path,
                    "a webhook request is turned away: {problem}"
                );
                return Err(Refusal::Unauthorized);
            }
        };
        let marks = marks(hook, sender_id, body);
        let delivery = marks.first().map(|mark| mark.id.clone()).unwrap_or_default();
        let mut context = Map::new();
        context.insert("webhook".to_owned(), shown(hook, headers, body));
        let request = RunRequest {
            agent: hook.agent.clone(),
            target: Target::Task(hook.chain.clone()),
            params: hook.params.clone(),
            context,
            actor: Actor::Webhook { path: hook.path.clone(), delivery },
            depth: 0,
            ledger: LedgerKey::Delivery { path: hook.path.clone(), marks, at: now },
        };
        match self.engine.start(request).await {
            Ok(Started::Run(run)) => Ok(Delivered::Accepted(run)),
            Ok(Started::Already(run)) => self.repeated(run).await,
            Err(error) => {
                tracing::error!(
                    agent = hook.agent,
                    path = hook.path,
                    "a webhook delivery started no run: {error}"
                );
                Err(Refusal::Unavailable(error))
            }
        }
    }

    /// The first delivery may have been recorded a moment ago: its 2xx, and so that of its repeat, waits for the disk.
    async fn repeated(&self, run: Option<String>) -> Result<Delivered, Refusal> {
        self.engine.services().store.commit().await.map_err(|error| Refusal::Unavailable(error.into()))?;
        Ok(Delivered::Repeated(run.unwrap_or_default()))
    }

    /// The headers with which a sender would sign a body, for a person who tries a webhook out. The error is a sentence.
    pub fn sign(&self, hook: &Hook, body: &[u8]) -> Result<Vec<(String, String)>, String> {
        let now = self.now();
        let id = format!("{:016x}", self.engine.services().world.random());
        match (self.secret(hook), hook.verify) {
            (Secret::Known(secret), Some(verify)) => Ok(verify::sign(verify, &secret, body, now, &id)),
            (Secret::Missing(problem), _) => Err(problem),
            _ => Ok(Vec::new()),
        }
    }

    /// Why every request to the webhook is turned away, when it is.
    pub fn problem(&self, hook: &Hook) -> Option<String> {
        match self.secret(hook) {
            Secret::Missing(problem) => Some(problem),
            _ => None,
        }
    }

    fn secret(&self, hook: &Hook) -> Secret {
        let Some(written) = &hook.secret else { return Secret::Open };
        let secrets = &self.engine.services().secrets;
        let (found, which, problem) = if let Some(name) = written.strip_prefix("ENV/") {
            let problem = format!("the daemon's environment has no variable {name}");
            (secrets.variable(name), written.as_str(), problem)
        } else if let Some(name) = written.strip_prefix("secret.") {
            (secrets.value(name), written.as_str(), format!("there is no secret {name}"))
        } else {
            (Some(written.clone()), "in the manifest", String::new())
        };
        match found {
            None => Secret::Missing(problem),
            Some(value) if value.len() < MIN_SECRET_BYTES => {
                Secret::Missing(format!("the secret {which} has fewer than {MIN_SECRET_BYTES} bytes"))
            }
            Some(value) => Secret::Known(value.into_bytes()),
        }
    }

    fn now(&self) -> DateTime<Utc> {
        self.engine.services().world.now()
    }
}

/// What a repeat of a delivery is recognised by: the sender's id for ever, the body within its window.
fn marks(hook: &Hook, sender_id: Option<String>, body: &[u8]) -> Vec<DeliveryMark> {
    let id = sender_id.filter(|id| (1..=MAX_ID_BYTES).contains(&id.len()));
    let is_signed = id.is_some() && hook.verify.is_some_and(verify::signs_id);
    let by_id = id.map(|id| DeliveryMark { id: format!("id:{id}"), lasts: None });
    let by_body = (!is_signed).then(|| DeliveryMark {
        id: format!("body:{}", hex::encode(Sha256::digest(body))),
        lasts: Some(BODY_WINDOW),
    });
    by_id.into_iter().chain(by_body).collect()
}

/// What a task sees of a delivery: no signature and no password among the headers.
fn shown(hook: &Hook, headers: &[(String, String)], body: &[u8]) -> Value {
    let raw = String::from_utf8_lossy(body).into_owned();
    let headers: Map<String, Value> = headers
        .iter()
        .filter(|(name, _)| !verify::is_secret_header(name))
        .map(|(name, value)| (name.clone(), Value::String(value.clone())))
        .collect();
    let parsed = serde_json::from_slice(body).unwrap_or_else(|_| Value::String(raw.clone()));
    json!({"path": hook.path, "headers": headers, "body": parsed, "raw": raw})
}
