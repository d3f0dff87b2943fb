//! Packages and agents.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use nb_api::agents::{
    AgentSummary, AgentView, InstallOptions, Installed, PackageView, UninstallOptions, Uninstalled,
};
use nb_store::AgentState;

use super::App;
use super::error::Answer;
use crate::refusal::{failed, no_agent};
use crate::views;

pub(super) async fn inspect(State(app): State<Arc<App>>, body: Bytes) -> Answer<PackageView> {
    Ok(Json(app.installer.inspect(body).await?))
}

pub(super) async fn install(
    State(app): State<Arc<App>>,
    Query(options): Query<InstallOptions>,
    body: Bytes,
) -> Answer<Installed> {
    Ok(Json(app.installer.install(body, options).await?))
}

pub(super) async fn list(State(app): State<Arc<App>>) -> Answer<Vec<AgentSummary>> {
    let trust = app.installer.trust().ok();
    let all = app.engine.agents().all();
    Ok(Json(all.iter().map(|entry| views::agent_summary(entry, trust.as_ref())).collect()))
}

pub(super) async fn show(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<AgentView> {
    let entry = app.engine.agents().get(&name).ok_or_else(|| no_agent(&name))?;
    let trust = app.installer.trust().ok();
    let spent = app.engine.spent_today(&name).map_err(failed)?;
    Ok(Json(views::agent_view(&entry, trust.as_ref(), &app.engine.services().limits, spent)))
}

pub(super) async fn uninstall(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Query(options): Query<UninstallOptions>,
) -> Answer<Uninstalled> {
    Ok(Json(app.installer.uninstall(&name, options.purge).await?))
}

pub(super) async fn start(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<AgentSummary> {
    set_state(&app, &name, AgentState::Running).await
}

pub(super) async fn stop(State(app): State<Arc<App>>, Path(name): Path<String>) -> Answer<AgentSummary> {
    set_state(&app, &name, AgentState::Stopped).await
}

async fn set_state(app: &App, name: &str, state: AgentState) -> Answer<AgentSummary> {
    app.installer.set_state(name, state).await?;
    let entry = app.engine.agents().get(name).ok_or_else(|| no_agent(name))?;
    Ok(Json(views::agent_summary(&entry, app.installer.trust().ok().as_ref())))
}
