//! The API on the Unix socket, and the webhooks on the TCP port.

pub mod agents;
pub mod error;
pub mod follow;
pub mod host;
pub mod logs;
pub mod runs;
pub mod serve;
pub mod wake;
pub mod webhooks;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use chrono::{DateTime, Utc};
use nb_runtime::Engine;
use nb_wake::Wake;
use tokio::sync::watch;

use crate::config::Config;
use crate::desktop::Desktop;
use crate::installer::Installer;

/// The largest body of an API request: a package.
const MAX_BODY_BYTES: usize = 80 << 20;

/// What the handlers share.
pub struct App {
    /// The run engine.
    pub engine: Engine,
    /// Schedules, events, webhooks.
    pub wake: Arc<Wake>,
    /// Packages.
    pub installer: Arc<Installer>,
    /// Notifications.
    pub desktop: Arc<Desktop>,
    /// The operator's decisions.
    pub config: Config,
    /// Where webhooks are served.
    pub webhooks_at: String,
    /// The state folder.
    pub state_dir: String,
    /// When the process began.
    pub began: Instant,
    /// When the daemon was ready, and how long that took in milliseconds.
    pub ready: std::sync::OnceLock<(DateTime<Utc>, f64)>,
    /// True when the daemon is leaving: endless answers end.
    pub leaving: watch::Receiver<bool>,
}

/// The routes of the API.
pub fn api(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/status", get(host::status))
        .route("/v1/inbox", get(host::inbox))
        .route("/v1/keys", get(host::keys).post(host::trust))
        .route("/v1/keys/{id}", axum::routing::delete(host::revoke))
        .route("/v1/packages/inspect", post(agents::inspect))
        .route("/v1/agents", get(agents::list).post(agents::install))
        .route("/v1/agents/{name}", get(agents::show).delete(agents::uninstall))
        .route("/v1/agents/{name}/start", post(agents::start))
        .route("/v1/agents/{name}/stop", post(agents::stop))
        .route("/v1/runs", get(runs::list).post(runs::run))
        .route("/v1/runs/{id}", get(runs::show))
        .route("/v1/runs/{id}/cancel", post(runs::cancel))
        .route("/v1/logs", get(logs::logs))
        .route("/v1/events", get(wake::events).post(wake::publish))
        .route("/v1/schedules", get(wake::schedules))
        .route("/v1/webhooks", get(wake::webhooks))
        .route("/v1/webhooks/sign", post(wake::sign))
        .fallback(error::no_route)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(app)
}
