//! Runs, their records, and the log.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use nb_api::runs::{LogQuery, RunRecord, RunRequest, RunView, RunsQuery};
use nb_api::{ApiError, ErrorKind};
use nb_runtime::{Actor, Started, Target};
use nb_store::{LedgerKey, RunFilter, RunRow, Store};
use serde_json::{Map, Value};

use super::App;
use super::error::{Answer, Refusal};
use super::follow::{self, Gone, Lines};
use crate::refusal::{failed, no_agent, not_started};
use crate::views;

/// So many events of a record are read at once.
const PAGE: usize = 500;
/// A burst of records is looked at once, this much later.
const BURST: Duration = Duration::from_millis(20);

pub(super) async fn run(State(app): State<Arc<App>>, Json(request): Json<RunRequest>) -> Answer<RunView> {
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
    let row =
        if request.detach { app.engine.services().store.run(&id) } else { app.engine.finished(&id).await };
    Ok(Json(views::run(&row.map_err(failed)?.ok_or_else(|| no_run(&id))?)))
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
    let filter = RunFilter { agent: query.agent, limit: query.limit.unwrap_or(50), before: None };
    let rows = app.engine.services().store.runs(&filter).map_err(failed)?;
    Ok(Json(rows.iter().map(views::run).collect()))
}

pub(super) async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<RunRecord> {
    let store = &app.engine.services().store;
    let row = store.run(&id).ok().flatten().ok_or_else(|| no_run(&id))?;
    let mut events = Vec::new();
    let mut after = 0;
    loop {
        let page = store.run_events(&id, after, PAGE).map_err(failed)?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        events.extend(page.into_iter().map(|(seq, stored)| views::recorded(seq, stored)));
    }
    Ok(Json(RunRecord { run: views::run(&row), events }))
}

fn no_run(id: &str) -> ApiError {
    ApiError::new(ErrorKind::NotFound, format!("there is no run `{id}`")).hint("nbctl runs lists them")
}

pub(super) async fn logs(
    State(app): State<Arc<App>>,
    Query(query): Query<LogQuery>,
) -> Result<Response, Refusal> {
    if let Some(id) = &query.run
        && app.engine.services().store.run(id).ok().flatten().is_none()
    {
        return Err(no_run(id).into());
    }
    if let Some(name) = &query.agent
        && app.engine.agents().get(name).is_none()
    {
        return Err(no_agent(name).into());
    }
    Ok(follow::answer(move |lines| async move { write_log(&app, &query, &lines).await }))
}

/// A reader of the records: how far each run that grows was read.
struct Reader<'a> {
    store: &'a Store,
    query: &'a LogQuery,
    /// Runs that have not ended, with the last event that was read.
    growing: BTreeMap<String, u64>,
    /// The newest run that was looked at.
    newest: String,
}

async fn write_log(app: &App, query: &LogQuery, lines: &Lines) -> Result<(), ApiError> {
    let store = &app.engine.services().store;
    let mut changes = store.watch();
    let mut leaving = app.leaving.clone();
    let mut reader = Reader { store, query, growing: BTreeMap::new(), newest: String::new() };
    let mut limit = query.limit.unwrap_or(20);
    loop {
        changes.mark_unchanged();
        if reader.write_new(limit, lines).await?.is_err() || !query.follow {
            return Ok(());
        }
        limit = usize::MAX;
        if query.run.is_some() && reader.growing.is_empty() {
            return Ok(());
        }
        tokio::select! {
            _ = changes.changed() => tokio::time::sleep(BURST).await,
            () = follow::left(&mut leaving) => return Ok(()),
            () = lines.gone() => return Ok(()),
        }
    }
}

impl Reader<'_> {
    /// Writes what is new: of runs that grow, and of runs that are younger than the newest one seen.
    async fn write_new(&mut self, limit: usize, lines: &Lines) -> Result<Result<(), Gone>, ApiError> {
        for id in self.growing.keys().cloned().collect::<Vec<_>>() {
            let Some(row) = self.store.run(&id).map_err(failed)? else { continue };
            if self.write_run(&row, lines).await?.is_err() {
                return Ok(Err(Gone));
            }
        }
        for row in self.younger(limit)?.into_iter().rev() {
            self.newest = self.newest.clone().max(row.id.clone());
            self.growing.insert(row.id.clone(), 0);
            if self.write_run(&row, lines).await?.is_err() {
                return Ok(Err(Gone));
            }
        }
        Ok(Ok(()))
    }

    /// Runs that were not seen yet, the newest first, at most `limit`.
    fn younger(&self, limit: usize) -> Result<Vec<RunRow>, ApiError> {
        if let Some(id) = &self.query.run {
            let row = if self.newest.is_empty() { self.store.run(id).map_err(failed)? } else { None };
            return Ok(row.into_iter().collect());
        }
        let mut found: Vec<RunRow> = Vec::new();
        loop {
            let before = found.last().map(|row| row.id.clone());
            let filter =
                RunFilter { agent: self.query.agent.clone(), limit: PAGE.min(limit - found.len()), before };
            let page = self.store.runs(&filter).map_err(failed)?;
            let all = page.len();
            found.extend(page.into_iter().take_while(|row| row.id > self.newest));
            if all < filter.limit
                || found.len() >= limit
                || found.last().is_none_or(|row| row.id <= self.newest)
            {
                return Ok(found);
            }
        }
    }

    async fn write_run(&mut self, row: &RunRow, lines: &Lines) -> Result<Result<(), Gone>, ApiError> {
        let mut after = self.growing.get(&row.id).copied().unwrap_or_default();
        loop {
            let page = self.store.run_events(&row.id, after, PAGE).map_err(failed)?;
            if page.is_empty() {
                break;
            }
            for (seq, stored) in page {
                after = seq;
                if lines.write(&views::log_line(row, seq, stored)).await.is_err() {
                    return Ok(Err(Gone));
                }
            }
        }
        if row.status.is_final() {
            self.growing.remove(&row.id);
        } else {
            self.growing.insert(row.id.clone(), after);
        }
        Ok(Ok(()))
    }
}
