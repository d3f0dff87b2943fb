//! Events, schedules and webhooks, as the API shows them.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::response::Response;
use nb_api::wake::{
    EventView, EventsQuery, PublishRequest, ScheduleView, SignQuery, SignedRequest, SlotView, WebhookView,
};
use nb_api::{ApiError, ErrorKind};
use nb_runtime::installed::Entry;
use nb_runtime::record::status_name;
use nb_spec::trigger::{Verify, check_event_name};
use nb_store::{AgentState, EventRow};
use nb_wake::schedule::Schedule;
use nb_wake::webhooks::Hook;

use super::App;
use super::error::Answer;
use super::follow;
use crate::refusal::failed;

/// So many events are shown without `after`.
const SHOWN: u64 = 20;
const PAGE: usize = 500;
/// So many coming slots and decided slots are shown.
const SLOTS: usize = 3;

fn event(row: EventRow) -> EventView {
    EventView { seq: row.seq, id: row.id, name: row.name, data: row.data, source: row.source, at: row.at }
}

pub(super) async fn publish(
    State(app): State<Arc<App>>,
    Json(request): Json<PublishRequest>,
) -> Answer<EventView> {
    check_event_name(&request.name).map_err(|message| ApiError::new(ErrorKind::Usage, message))?;
    let store = &app.engine.services().store;
    let seq = app.engine.publish(&request.name, request.data, "person", 0).map_err(failed)?;
    store.commit().await.map_err(failed)?;
    let row = store.events(seq - 1, 1).map_err(failed)?.pop();
    let row = row.ok_or_else(|| ApiError::new(ErrorKind::Failed, "the event is not in the log"))?;
    Ok(Json(event(row)))
}

pub(super) async fn events(State(app): State<Arc<App>>, Query(query): Query<EventsQuery>) -> Response {
    follow::answer(move |lines| async move {
        let store = &app.engine.services().store;
        let mut changes = store.watch();
        let mut leaving = app.leaving.clone();
        let mut after = query.after.unwrap_or_else(|| store.last_event_seq().saturating_sub(SHOWN));
        loop {
            changes.mark_unchanged();
            loop {
                let page = store.events(after, PAGE).map_err(failed)?;
                if page.is_empty() {
                    break;
                }
                // Nobody is shown what a crash could take back.
                store.commit().await.map_err(failed)?;
                for row in page {
                    after = row.seq;
                    if lines.write(&event(row)).await.is_err() {
                        return Ok(());
                    }
                }
            }
            if !query.follow {
                return Ok(());
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = follow::left(&mut leaving) => return Ok(()),
                () = lines.gone() => return Ok(()),
            }
        }
    })
}

pub(super) async fn schedules(State(app): State<Arc<App>>) -> Answer<Vec<ScheduleView>> {
    let store = &app.engine.services().store;
    let now = app.engine.services().world.now();
    let mut views = Vec::new();
    for entry in app.engine.agents().all() {
        let Entry::Ready(agent) = entry else { continue };
        for schedule in Schedule::of(&agent, app.wake.timezone()) {
            let rows = store.slots(agent.name(), &schedule.trigger, SLOTS).map_err(failed)?;
            let mut last = Vec::new();
            for row in rows {
                let run = row.run.as_ref().and_then(|id| store.run(id).ok().flatten());
                let status = run.map(|run| status_name(run.status).to_owned());
                last.push(SlotView { at: row.at, run: row.run, status, skipped: row.skipped });
            }
            let next = std::iter::successors(schedule.next_after(now), |slot| schedule.next_after(*slot));
            let runs = agent.row.state == AgentState::Running;
            views.push(ScheduleView {
                agent: agent.name().to_owned(),
                next: next.take(if runs { SLOTS } else { 0 }).collect(),
                trigger: schedule.trigger,
                chain: schedule.chain,
                timing: schedule.in_words,
                last,
            });
        }
    }
    Ok(Json(views))
}

pub(super) async fn webhooks(State(app): State<Arc<App>>) -> Answer<Vec<WebhookView>> {
    let mut hooks = app.wake.webhooks().all();
    hooks.sort_by(|a, b| (&a.agent, &a.path).cmp(&(&b.agent, &b.path)));
    let view = |hook: &Arc<Hook>| WebhookView {
        agent: hook.agent.clone(),
        path: hook.path.clone(),
        url: url(&app, hook),
        chain: hook.chain.clone(),
        verify: hook.verify.map_or("none", Verify::name).to_owned(),
        methods: hook.methods.clone(),
        problem: app.wake.webhooks().problem(hook),
    };
    Ok(Json(hooks.iter().map(view).collect()))
}

fn url(app: &App, hook: &Hook) -> String {
    format!("http://{}{}", app.webhooks_at, hook.path)
}

pub(super) async fn sign(
    State(app): State<Arc<App>>,
    Query(query): Query<SignQuery>,
    body: Bytes,
) -> Answer<SignedRequest> {
    let hooks = app.wake.webhooks().all();
    let found = hooks.iter().find(|hook| hook.agent == query.agent && hook.path == query.path);
    let hook = found.ok_or_else(|| {
        let message = format!("agent `{}` serves no webhook at {}", query.agent, query.path);
        ApiError::new(ErrorKind::NotFound, message).hint("nbctl webhook ls shows which there are")
    })?;
    let mut headers = app
        .wake
        .webhooks()
        .sign(hook, &body)
        .map_err(|problem| ApiError::new(ErrorKind::Refused, problem))?;
    headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    let method = hook.methods.first().cloned().unwrap_or_else(|| "POST".to_owned());
    Ok(Json(SignedRequest { method, url: url(&app, hook), headers }))
}
