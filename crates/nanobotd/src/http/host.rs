//! The daemon itself: status, inbox, trusted keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use nb_api::host::{InboxItem, KeyView, Status, TrustRequest};
use nb_api::{ApiError, ErrorKind};
use nb_package::{KeyId, PublicKey, TrustedKey};
use nb_store::AgentState;

use super::App;
use super::error::Answer;
use crate::refusal::failed;

/// So many notifications are shown, the newest first.
const SHOWN: usize = 100;

pub(super) async fn status(State(app): State<Arc<App>>) -> Answer<Status> {
    let store = &app.engine.services().store;
    let agents = app.engine.agents().all();
    let now = app.engine.services().world.now();
    let (started_at, start_ms) = app.ready.get().copied().unwrap_or((now, 0.0));
    Ok(Json(Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started_at,
        start_ms,
        state_dir: app.state_dir.clone(),
        webhooks_at: format!("http://{}", app.webhooks_at),
        timezone: app.wake.timezone().to_string(),
        agents: agents.len(),
        agents_running: agents.iter().filter(|entry| entry.row().state == AgentState::Running).count(),
        runs_unfinished: store.count_unfinished().map_err(failed)?,
        inbox: store.count_inbox().map_err(failed)?,
        resident_bytes: resident_bytes(),
        notifications: match app.desktop.server().await {
            Ok(server) => format!("desktop ({server})"),
            Err(reason) => format!("inbox ({reason})"),
        },
    }))
}

/// proc(5): the second field of statm is the resident set in pages.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
    pages * rustix::param::page_size() as u64
}

pub(super) async fn inbox(State(app): State<Arc<App>>) -> Answer<Vec<InboxItem>> {
    let rows = app.engine.services().store.inbox(SHOWN).map_err(failed)?;
    let item = |row: nb_store::InboxRow| InboxItem {
        seq: row.seq,
        at: row.at,
        agent: row.agent,
        run: row.run,
        title: row.title,
        body: row.body,
        priority: row.priority,
    };
    Ok(Json(rows.into_iter().map(item).collect()))
}

fn key_view(key: &TrustedKey) -> KeyView {
    KeyView {
        id: key.id.to_string(),
        label: key.label.clone(),
        names: key.globs.clone(),
        revoked: key.revoked,
    }
}

pub(super) async fn keys(State(app): State<Arc<App>>) -> Answer<Vec<KeyView>> {
    Ok(Json(app.installer.trust()?.list().iter().map(key_view).collect()))
}

pub(super) async fn trust(State(app): State<Arc<App>>, Json(request): Json<TrustRequest>) -> Answer<KeyView> {
    let key = PublicKey::parse(&request.public_key)
        .map_err(|error| ApiError::new(ErrorKind::Usage, error.to_string()))?;
    let trust = app.installer.trust_key(&key, &request.label, &request.names).await?;
    let added = trust.find(key.id()).ok_or_else(|| failed("the key is not in the trust store"))?;
    Ok(Json(key_view(added)))
}

pub(super) async fn revoke(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<KeyView> {
    let id: KeyId = id.parse().map_err(|_| {
        ApiError::new(ErrorKind::Usage, format!("`{id}` is not a key id: 16 hexadecimal digits"))
    })?;
    let trust = app.installer.revoke_key(id).await?;
    // A key may be revoked that was never trusted.
    let unknown = || KeyView { id: id.to_string(), label: String::new(), names: Vec::new(), revoked: true };
    Ok(Json(trust.find(id).map_or_else(unknown, key_view)))
}
