//! `http.fetch`: a request to a server, within the granted hosts.

use std::time::Duration;

use std::borrow::Cow;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nb_egress::{EgressError, HostPattern, HostScope, Request, Response, Secret};
use nb_spec::permission::{Permission, SECRET_USE};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};
use crate::policy::{Decision, Scopes, decide};

/// The longest that a tool may wait for one request, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 120_000;

pub(super) struct HttpFetch;

#[derive(Deserialize)]
struct Args {
    url: String,
    #[serde(default = "get")]
    method: String,
    #[serde(default)]
    headers: Map<String, Value>,
    body: Option<Value>,
    timeout_ms: Option<u64>,
}

fn get() -> String {
    "GET".to_owned()
}

#[async_trait]
impl Ability for HttpFetch {
    fn name(&self) -> &'static str {
        "http.fetch"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string"},
                "method": {"type": "string", "default": "GET"},
                "headers": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
                "body": {"description": "A text as it is; any other value as JSON."},
                "timeout_ms": {"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_MS}
            },
            "required": ["url"],
            "additionalProperties": false
        })
    }

    fn has_scopes(&self) -> bool {
        true
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::Outside
    }

    fn leaves_machine(&self) -> bool {
        true
    }

    fn may_repeat(&self, args: &Value) -> bool {
        // RFC 9110, 9.2.1: safe methods.
        args.get("method").and_then(Value::as_str).is_none_or(|method| matches!(method, "GET" | "HEAD"))
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let args: Args = super::parse(args)?;
        let mut request = Request::get(args.url);
        request.method = args.method;
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        request.headers = args.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        if let Some(body) = args.body {
            let named = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            if !body.is_string() && !named {
                request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
            request.body = text(&body).into_bytes();
        }
        if let Some(timeout) = args.timeout_ms {
            request.timeout = Duration::from_millis(timeout);
        }
        let response = send(call, request).await?;
        let headers: Map<String, Value> = response
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), Value::String(value.clone())))
            .collect();
        let body = String::from_utf8_lossy(&response.body);
        let mut answer =
            json!({"status": response.status, "headers": headers, "body": body, "url": response.url});
        // A text is borrowed; in anything else bytes were replaced, which must not go unnoticed.
        if let Cow::Owned(_) = body {
            answer["body_base64"] = json!(STANDARD.encode(&response.body));
        }
        Ok(Reply::Value(answer))
    }
}

/// Sends a request within the call's scopes. Its headers may name the secrets that a person granted to the agent, for
/// the hosts that were granted by name.
pub(super) async fn send(call: &AbilityCall<'_>, mut request: Request) -> Result<Response, String> {
    let hosts = match &call.scopes {
        Scopes::Unlimited => None,
        Scopes::Limited(scopes) => {
            let parsed: Result<Vec<HostPattern>, _> = scopes.iter().map(|scope| scope.parse()).collect();
            Some(parsed.map_err(|error| error.to_string())?)
        }
    };
    let services = call.run.engine.services();
    // A secret goes to hosts that a person granted by name; a grant for all hosts names none.
    let secret_hosts = hosts.clone().unwrap_or_default();
    let agent = &call.run.agent;
    let granted = match decide(agent.name(), &agent.grants, SECRET_USE) {
        Decision::Allow(Scopes::Limited(names)) => names,
        Decision::Allow(Scopes::Unlimited) | Decision::Deny(_) => Vec::new(),
    };
    for name in agent.spec.manifest.secrets.iter().filter(|name| granted.contains(name)) {
        if let Some(value) = services.secrets.value(name) {
            request.secrets.push(Secret {
                name: name.clone(),
                value: value.into(),
                hosts: secret_hosts.clone(),
            });
        }
    }
    request.scope = hosts.map_or(HostScope::Any, HostScope::Hosts);
    services.egress.fetch(request).await.map_err(|error| match error {
        EgressError::UnknownSecret { name } if agent.spec.manifest.secrets.contains(&name) => {
            if granted.contains(&name) {
                format!(
                    "secret {name} has no value that can be used; put it where the daemon keeps its secrets"
                )
            } else {
                let permission = Permission::of_secret(&name);
                format!(
                    "permission `{permission}` was not granted to {}; install it again and grant it",
                    agent.name()
                )
            }
        }
        error => error.to_string(),
    })
}
