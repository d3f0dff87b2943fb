//! Agents and runs as the API shows them.

use chrono::{DateTime, Utc};
use nb_api::agents::{
    AgentState, AgentSummary, AgentView, LimitsView, ModelView, PermissionView, TaskView, ToolView,
};
use nb_api::runs::{LogLine, RecordedEvent, RunView};
use nb_package::TrustStore;
use nb_runtime::installed::Entry;
use nb_runtime::record::{Actor, RunEvent, status_name};
use nb_sandbox::Limits;
use nb_spec::{Agent, Code, Lang, Permission, Problems};
use nb_store::{RunKind, RunRow, SpendingRow};
use serde_json::{Map, Value};

use crate::grants;

/// Permissions with a person's decision about each. Where only a part of one is granted, that part follows it.
pub fn permissions(requested: &[String], granted: &[String]) -> Vec<PermissionView> {
    let view = |text: &String, granted| {
        let permission = Permission::parse(text);
        PermissionView {
            permission: text.clone(),
            words: permission.in_words(),
            known: permission.is_known(),
            granted,
        }
    };
    let mut views = Vec::new();
    for asked in requested {
        let whole = grants::includes(granted, asked);
        views.push(view(asked, whole));
        if !whole {
            views.extend(grants::parts(granted, asked).map(|part| view(part, true)));
        }
    }
    views
}

/// Problems that keep nothing from working, a sentence each.
pub fn warnings(problems: &Problems) -> Vec<String> {
    let place = |line: Option<usize>| line.map(|line| format!(":{line}")).unwrap_or_default();
    problems.iter().map(|found| format!("{}{}: {}", found.file, place(found.line), found.message)).collect()
}

/// A line of the list of agents.
pub fn agent_summary(entry: &Entry, trust: Option<&TrustStore>) -> AgentSummary {
    let row = entry.row();
    let (spec, problem) = match entry {
        Entry::Ready(installed) => (Some(&installed.spec), None),
        Entry::Broken(_, problem) => (None, Some(problem.clone())),
    };
    let label = |id: &String| {
        let key = id.parse().ok().and_then(|id| trust.and_then(|trust| trust.find(id)));
        key.map_or_else(|| id.clone(), |key| key.label.clone())
    };
    AgentSummary {
        name: row.name.clone(),
        version: row.version.clone(),
        state: match row.state {
            nb_store::AgentState::Running => AgentState::Running,
            nb_store::AgentState::Stopped => AgentState::Stopped,
        },
        description: spec.map(|spec| spec.manifest.description.clone()).unwrap_or_default(),
        signer: row.signer.as_ref().map(label),
        tools: spec.map_or(0, |spec| spec.tools.len()),
        unsandboxed: match entry {
            Entry::Ready(installed) => installed.runs_unsandboxed(),
            Entry::Broken(..) => false,
        },
        tasks: spec.map_or(0, |spec| spec.tasks.len()),
        triggers: spec.map_or(0, |spec| triggers(spec).len()),
        problem,
    }
}

/// An agent in full.
pub fn agent_view(
    entry: &Entry,
    trust: Option<&TrustStore>,
    operator: &Limits,
    spent: SpendingRow,
) -> AgentView {
    let row = entry.row();
    let installed = match entry {
        Entry::Ready(installed) => Some(installed),
        Entry::Broken(..) => None,
    };
    let spec = installed.map(|installed| &installed.spec);
    let limits = installed.map_or_else(|| operator.clone(), |installed| installed.limits(operator));
    AgentView {
        summary: agent_summary(entry, trust),
        digest: row.digest.clone(),
        serial: row.serial,
        installed_at: row.installed_at,
        permissions: permissions(&row.permissions_requested, &row.grants),
        tool_list: spec.into_iter().flat_map(|spec| spec.tools.values()).map(tool).collect(),
        task_list: spec.into_iter().flat_map(|spec| spec.tasks.values()).map(task).collect(),
        trigger_list: spec.map(triggers).unwrap_or_default(),
        limits: LimitsView {
            fuel: limits.fuel,
            memory_bytes: limits.memory_bytes,
            wall_ms: u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX),
            api_calls_per_hour: spec.map_or(0, |spec| spec.manifest.resources.max_api_calls_per_hour),
        },
        model: spec.and_then(|spec| model(spec, spent)),
        warnings: spec.map(|spec| warnings(&spec.warnings)).unwrap_or_default(),
    }
}

/// The language model of an agent, and what it has spent today.
pub fn model(spec: &Agent, spent: SpendingRow) -> Option<ModelView> {
    let section = spec.cartridge.as_ref()?.provider()?;
    let budget = spec.manifest.budget.unwrap_or_default();
    let total = spent.total();
    Some(ModelView {
        provider: section.id.clone(),
        model: section.model().map(str::to_owned),
        usd_per_day: budget.usd_per_day,
        tokens_per_day: budget.tokens_per_day,
        tokens_today: total.tokens,
        usd_today: total.nano_usd as f64 / 1e9,
    })
}

fn tool(tool: &nb_spec::Tool) -> ToolView {
    ToolView {
        name: tool.name.clone(),
        description: tool.description.clone(),
        lang: match &tool.code {
            Code::Script { lang: Lang::Lua, .. } => "lua".to_owned(),
            Code::Script { lang: Lang::Fennel, .. } => "fennel".to_owned(),
            Code::Component(_) => "component".to_owned(),
        },
        file: tool.file.clone(),
        sandboxed: tool.is_sandboxed(),
        parameters: tool.parameters.clone(),
    }
}

fn task(task: &nb_spec::Task) -> TaskView {
    let marked = |parameter: &nb_spec::task::Parameter| {
        format!("{}{}", parameter.name, if parameter.required { "*" } else { "" })
    };
    TaskView {
        id: task.id.clone(),
        description: task.description.clone(),
        parameters: task.parameters.iter().map(marked).collect(),
        steps: task.steps.iter().map(|step| step.id.clone()).collect(),
    }
}

fn triggers(spec: &Agent) -> Vec<String> {
    let triggers = &spec.manifest.triggers;
    let scheduled = triggers.scheduled.iter().map(|trigger| {
        let when = match (&trigger.interval, &trigger.cron, &trigger.at) {
            (Some(interval), _, Some(at)) => format!("every {interval} at {at}"),
            (Some(interval), _, None) => format!("every {interval}"),
            (None, cron, _) => format!("cron {}", cron.as_deref().unwrap_or_default()),
        };
        let zone = trigger.timezone.as_ref().map(|zone| format!(" {zone}")).unwrap_or_default();
        format!("{when}{zone} runs {}", trigger.chain)
    });
    let events = triggers.events.iter().map(|trigger| format!("event {} runs {}", trigger.on, trigger.chain));
    let webhooks =
        triggers.webhooks.iter().map(|trigger| format!("webhook {} runs {}", trigger.path, trigger.chain));
    scheduled.chain(events).chain(webhooks).collect()
}

/// A run.
pub fn run(row: &RunRow) -> RunView {
    let ended = row.finished_at.zip(row.started_at);
    RunView {
        id: row.id.clone(),
        kind: kind_name(row.kind).to_owned(),
        agent: row.agent.clone(),
        task: row.task.clone(),
        tool: row.tool.clone(),
        unsandboxed: row.unsandboxed,
        status: status_name(row.status).to_owned(),
        outcome: row.outcome.clone(),
        error: row.error.clone(),
        output: row.output.clone(),
        actor: serde_json::from_value(row.actor.clone())
            .map_or_else(|_| row.actor.to_string(), |a: Actor| a.in_words()),
        created_at: row.created_at,
        finished_at: row.finished_at,
        duration_ms: ended
            .and_then(|(end, start)| (end - start).num_microseconds())
            .map(|us| us as f64 / 1e3),
    }
}

fn kind_name(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Chat => "chat",
        RunKind::Task => "task",
        RunKind::Tool => "tool",
        RunKind::Test => "test",
    }
}

/// An event of a run's record, as it was stored.
pub fn recorded(seq: u64, stored: Value) -> RecordedEvent {
    let mut fields = match stored {
        Value::Object(fields) => fields,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    let at = fields.remove("at").and_then(|at| serde_json::from_value(at).ok());
    let event = match fields.remove("event") {
        Some(Value::String(event)) => event,
        _ => "unknown".to_owned(),
    };
    RecordedEvent { seq, at: at.unwrap_or(DateTime::<Utc>::UNIX_EPOCH), event, fields }
}

/// A line of log: the event with its run, and in words.
pub fn log_line(row: &RunRow, seq: u64, stored: Value) -> LogLine {
    let text = RunEvent::read(&stored).map_or_else(|| stored.to_string(), |event| event.in_words());
    LogLine { run: row.id.clone(), agent: row.agent.clone(), event: recorded(seq, stored), text }
}
