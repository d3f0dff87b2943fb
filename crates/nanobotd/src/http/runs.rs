//! Runs and their records.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use nb_api::runs::{RunRecord, RunRequest, RunView, RunsQuery};
use nb_api::{ApiError, ErrorKind};
use nb_runtime::engine::BY_A_PERSON;
use nb_runtime::record::status_name;
use nb_runtime::{Actor, Started, Target};
use nb_store::{LedgerKey, RunFilter, RunStatus};
use serde_json::{Map, Value};

use super::App;
use super::error::{Answer, Refusal};
use super::follow::{self, Lines};
use crate::refusal::{failed, not_started};
use crate::views;

/// So many events of a record are read at once.
const PAGE: usize = 500;
/// How many runs are listed without `limit`, and at most.
const LISTED: usize = 50;
const MOST_LISTED: usize = 1000;

pub(super) async fn run(
    State(app): State<Arc<App>>,
    Json(request): Json<RunRequest>,
) -> Result<Response, Refusal> {
    let target = match (&request.task, &request.tool) {
        (Some(_), Some(_)) => {
            return Err(ApiError::new(ErrorKind::Usage, "a run has a task or a tool, not both").into());
        }
        (Some(task), None) => Target::Task(task.clone()),
        (None, Some(tool)) => Target::Tool(tool.clone()),
        (None, None) => Target::Only,
    };
    let agent = app.engine.agents().runnable(&request.agent).map_err(|error| not_started(&error))?;
    let mut params = request.params;
    let mut context = Map::new();
    // The only tool of an agent without tasks is called like one that was named.
    let tool = match &target {
        Target::Tool(name) => agent.spec.tools.get(name),
        Target::Only if agent.spec.tasks.is_empty() => agent.spec.tools.values().next(),
        _ => None,
    };
    match tool {
        Some(tool) => {
            params = typed(params, &tool.parameters);
            match request.input {
                None | Some(Value::Null) => {}
                // What was said by name counts more than what the input says.
                Some(Value::Object(input)) => params = input.into_iter().chain(params).collect(),
                Some(_) => {
                    return Err(ApiError::new(
                        ErrorKind::Usage,
                        "the input of a tool is a JSON object: its parameters",
                    )
                    .into());
                }
            }
        }
        None => {
            context.insert("input".to_owned(), request.input.unwrap_or_default());
        }
    }
    let started = app.engine.start(nb_runtime::RunRequest {
        agent: request.agent,
        target,
        params,
        context,
        actor: Actor::Person,
        depth: 0,
        ledger: LedgerKey::None,
    });
    let id = match started.await.map_err(|error| not_started(&error))? {
        Started::Run(id) => id,
        Started::Already(_) => {
            return Err(ApiError::new(ErrorKind::Failed, "the run had been started before").into());
        }
    };
    if request.follow && !request.detach {
        return Ok(follow::answer(move |lines| async move { tell_twice(&app, &id, &lines).await }));
    }
    let row =
        if request.detach { app.engine.services().store.run(&id) } else { app.engine.finished(&id).await };
    Ok(Json(views::run(&row.map_err(failed)?.ok_or_else(|| no_run(&id))?)).into_response())
}

/// Writes a run as it was recorded, and as it ended.
async fn tell_twice(app: &App, id: &str, lines: &Lines) -> Result<(), ApiError> {
    let begun = app.engine.services().store.run(id).map_err(failed)?.ok_or_else(|| no_run(id))?;
    if lines.write(&views::run(&begun)).await.is_err() {
        return Ok(());
    }
    tokio::select! {
        ended = app.engine.finished(id) => {
            let ended = ended.map_err(failed)?.ok_or_else(|| no_run(id))?;
            // A reader that is gone in this moment misses nothing that it waited for.
            let _ = lines.write(&views::run(&ended)).await;
        }
        () = lines.gone() => {}
    }
    Ok(())
}

/// Texts from a command line become what the tool's schema says, where that is another type.
fn typed(params: Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let is_text = |name: &str| {
        let wanted =
            schema.pointer(&format!("/properties/{}/type", name.replace('~', "~0").replace('/', "~1")));
        wanted.is_none_or(|wanted| {
            wanted == "string" || wanted.as_array().is_some_and(|any| any.contains(&"string".into()))
        })
    };
    let convert = |(name, value): (String, Value)| {
        let converted = match &value {
            Value::String(text) if !is_text(&name) => serde_json::from_str(text).unwrap_or(value),
            _ => value,
        };
        (name, converted)
    };
    params.into_iter().map(convert).collect()
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Query(query): Query<RunsQuery>,
) -> Answer<Vec<RunView>> {
    let store = &app.engine.services().store;
    let limit = query.limit.unwrap_or(LISTED).min(MOST_LISTED);
    let rows = store.runs(&RunFilter { agent: query.agent, limit, before: None }).map_err(failed)?;
    // Nobody is shown what a crash could take back.
    store.commit().await.map_err(failed)?;
    Ok(Json(rows.iter().map(views::run).collect()))
}

pub(super) async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<RunRecord> {
    let store = &app.engine.services().store;
    let row = store.run(&id).map_err(failed)?.ok_or_else(|| no_run(&id))?;
    let mut events = Vec::new();
    let mut after = 0;
    loop {
        let page = store.run_events(&id, after, PAGE).map_err(failed)?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        events.extend(page.into_iter().map(|(seq, stored)| views::recorded(seq, stored)));
    }
    store.commit().await.map_err(failed)?;
    Ok(Json(RunRecord { run: views::run(&row), events }))
}

pub(super) async fn cancel(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<RunView> {
    let was_at_work = app.engine.cancel(&id, BY_A_PERSON);
    let row = app.engine.finished(&id).await.map_err(failed)?.ok_or_else(|| no_run(&id))?;
    if was_at_work && row.status == RunStatus::Cancelled {
        return Ok(Json(views::run(&row)));
    }
    let refusal = if row.status.is_final() {
        let message = format!("run {id} has already ended: {}", status_name(row.status));
        ApiError::new(ErrorKind::Conflict, message).hint(format!("nbctl run-show {id} shows what happened"))
    } else {
        let message = format!("run {id} is not at work now: the daemon is stopping, or its store failed");
        ApiError::new(ErrorKind::Failed, message)
            .hint("cancel it after the daemon's next start, which goes on with it")
    };
    Err(refusal.into())
}

pub(super) fn no_run(id: &str) -> ApiError {
    ApiError::new(ErrorKind::NotFound, format!("there is no run `{id}`")).hint("nbctl runs lists them")
}
