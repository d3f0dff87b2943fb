//! `nbctl ls`, `show`, `start`, `stop`, `uninstall`: the installed agents.

use nb_api::agents::{
    AgentState, AgentSummary, AgentView, ModelView, PermissionView, TaskView, ToolView, UninstallOptions,
    Uninstalled,
};
use nb_api::client::segment;
use serde_json::Value;

use super::name;
use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::table::Table;
use crate::text::Told;
use crate::{text, time};

#[derive(Debug, clap::Args)]
pub(crate) struct Ls {}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// The agent.
    #[arg(value_parser = name())]
    agent: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Start {
    /// The agent.
    #[arg(value_parser = name())]
    agent: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Stop {
    /// The agent.
    #[arg(value_parser = name())]
    agent: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Uninstall {
    /// The agent.
    #[arg(value_parser = name())]
    agent: String,
    /// Delete its stored data as well.
    #[arg(long)]
    purge: bool,
}

impl Ls {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let agents: Vec<AgentSummary> = context.client()?.get("/v1/agents", &()).await?;
        context.output.show(&agents, |agents, page| list(agents, page))
    }
}

impl Show {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let agent: AgentView = context.client()?.get(&agent_path(&self.agent), &()).await?;
        context.output.show(&agent, show)
    }
}

impl Start {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        switch(context, &self.agent, "start").await
    }
}

impl Stop {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        switch(context, &self.agent, "stop").await
    }
}

impl Uninstall {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let options = UninstallOptions { purge: self.purge };
        let gone: Uninstalled = context.client()?.delete(&agent_path(&self.agent), &options).await?;
        context.output.show(&gone, |gone, page| {
            let data = if gone.purged { "its data is deleted" } else { "its data is kept" };
            page.line(format!("uninstalled {}; {data}", gone.name));
        })
    }
}

/// The mark of what runs outside of the sandbox.
const UNSANDBOXED: &str = "[unsandboxed]";

/// Where the daemon has an agent.
pub(crate) fn agent_path(agent: &str) -> String {
    format!("/v1/agents/{}", segment(agent))
}

async fn switch(context: &Context, agent: &str, verb: &str) -> Result<(), Error> {
    let path = format!("{}/{verb}", agent_path(agent));
    let agent: AgentSummary = context.client()?.post(&path, &()).await?;
    context.output.show(&agent, |agent, page| page.line(format!("{} is {}", agent.name, state(agent))))
}

fn state(agent: &AgentSummary) -> &'static str {
    match agent.state {
        _ if agent.problem.is_some() => "broken",
        AgentState::Running => "running",
        AgentState::Stopped => "stopped",
    }
}

fn list(agents: &[AgentSummary], page: &mut Page) {
    if agents.is_empty() {
        page.line("no agent is installed");
        return page.next("nbctl install FILE");
    }
    let headers = ["NAME", "VERSION", "STATE", "TOOLS", "TASKS", "TRIGGERS", "SIGNED BY", "DESCRIPTION"];
    let mut table = Table::new(&headers).right(3).right(4).right(5);
    for agent in agents {
        let about = match &agent.problem {
            Some(problem) => {
                Span::new(format!("does not load: {}", Told::new(problem).in_one_line()), Tint::Bad)
            }
            None if agent.unsandboxed => {
                Span::new(format!("{UNSANDBOXED} {}", text::folded(&agent.description)), Tint::Warning)
            }
            None => text::folded(&agent.description).into(),
        };
        table.row([
            Span::new(&agent.name, Tint::Strong),
            (&agent.version).into(),
            Span::status(state(agent)),
            agent.tools.to_string().into(),
            agent.tasks.to_string().into(),
            agent.triggers.to_string().into(),
            signer(agent),
            about,
        ]);
    }
    page.table(&table);
}

fn signer(agent: &AgentSummary) -> Span {
    agent.signer.as_ref().map_or_else(|| Span::new("nobody", Tint::Warning), Span::from)
}

fn show(agent: &AgentView, page: &mut Page) {
    let summary = &agent.summary;
    page.spans(&[
        Span::new(format!("{} {}", summary.name, summary.version), Tint::Strong),
        " is ".into(),
        Span::status(state(summary)),
    ]);
    if summary.unsandboxed {
        page.spans(&[Span::new(
            format!("  {UNSANDBOXED} it runs tools outside of the sandbox"),
            Tint::Warning,
        )]);
    }
    if !summary.description.is_empty() {
        page.quote(2, &summary.description);
    }
    if let Some(problem) = &summary.problem {
        let told = Told::new(problem);
        page.spans(&[Span::new("  does not load: ", Tint::Bad), told.in_one_line().into()]);
        page.block(4, &told.below().unwrap_or_default());
    }
    let installed = format!("{} ({})", page.clock(agent.installed_at), page.ago(agent.installed_at));
    let limits = &agent.limits;
    page.gap();
    let mut fields = vec![
        ("signed by", signer(summary)),
        ("installed", installed.into()),
        ("digest", (&agent.digest).into()),
        ("serial", agent.serial.to_string().into()),
        (
            "limits",
            format!(
                "a tool call has {} fuel, {} of memory and {}; {} calls to the outside an hour",
                text::grouped(limits.fuel),
                text::bytes(limits.memory_bytes),
                time::duration(limits.wall_ms as f64),
                text::grouped(limits.api_calls_per_hour),
            )
            .into(),
        ),
    ];
    if let Some(model) = &agent.model {
        fields.push(("model", model_name(model).into()));
        fields.push(("budget", budget(model).into()));
    }
    page.fields(&fields);
    if !agent.permissions.is_empty() {
        page.heading("permissions");
        permissions(&agent.permissions, page);
    }
    if !agent.tool_list.is_empty() {
        page.heading("tools");
        agent.tool_list.iter().for_each(|tool| show_tool(tool, page));
    }
    if !agent.task_list.is_empty() {
        page.heading("tasks");
        agent.task_list.iter().for_each(|task| show_task(task, page));
    }
    if !agent.trigger_list.is_empty() {
        page.heading("triggers");
        agent.trigger_list.iter().for_each(|trigger| page.block(2, trigger));
    }
    if !agent.warnings.is_empty() {
        page.gap();
        agent.warnings.iter().for_each(|warning| page.warning(warning));
    }
}

/// A model and its provider in words.
pub(crate) fn model_name(model: &ModelView) -> String {
    let name = model.model.as_deref().unwrap_or_default();
    format!("{} {name}", model.provider).trim_end().to_owned()
}

/// What the model has cost today, and what it may.
fn budget(model: &ModelView) -> String {
    let tokens = match model.tokens_per_day {
        Some(limit) => format!("{} tokens of {}", text::grouped(model.tokens_today), text::grouped(limit)),
        None => format!("{} tokens", text::grouped(model.tokens_today)),
    };
    match model.usd_per_day {
        Some(limit) => format!("{tokens} and ${:.4} of ${limit} today", model.usd_today),
        None if model.usd_today > 0.0 => format!("{tokens} and ${:.4} today", model.usd_today),
        None => format!("{tokens} today"),
    }
}

fn permissions(permissions: &[PermissionView], page: &mut Page) {
    let width = permissions.iter().map(|view| view.permission.chars().count()).max().unwrap_or(0);
    for view in permissions {
        let state = match (view.known, view.granted) {
            (false, _) => Span::new("unknown    ", Tint::Warning),
            (true, true) => Span::new("granted    ", Tint::Good),
            (true, false) => Span::new("not granted", Tint::Warning),
        };
        page.spans(&["  ".into(), state, format!("  {:width$}  {}", view.permission, view.words).into()]);
    }
}

fn show_tool(tool: &ToolView, page: &mut Page) {
    page.spans(&[
        "  ".into(),
        Span::new(&tool.name, Tint::Strong),
        Span::new(format!("  {} in {}", tool.lang, tool.file), Tint::Faint),
        Span::new(if tool.sandboxed { "" } else { " [unsandboxed]" }, Tint::Warning),
    ]);
    page.quote(4, &tool.description);
    parameters(&tool.parameters, page);
}

/// One line for each property of a JSON Schema: name, type, what it is for.
fn parameters(schema: &Value, page: &mut Page) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let shown: Vec<(String, String, String)> = properties
        .iter()
        .map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) { "*" } else { "" };
            let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
            (format!("{name}{mark}"), type_name(property), text::folded(description))
        })
        .collect();
    let name_width = shown.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let type_width = shown.iter().map(|(_, kind, _)| kind.chars().count()).max().unwrap_or(0);
    for (name, kind, description) in &shown {
        let line = format!("      {name:name_width$}  {kind:type_width$}  {description}");
        page.line(line.trim_end());
    }
}

fn type_name(property: &Value) -> String {
    match property.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

fn show_task(task: &TaskView, page: &mut Page) {
    page.spans(&["  ".into(), Span::new(&task.id, Tint::Strong)]);
    page.quote(4, &task.description);
    if !task.parameters.is_empty() {
        page.line(format!("      takes {}", task.parameters.join(", ")));
    }
    page.line(format!("      does {}", task.steps.join(", ")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;
    use nb_api::agents::LimitsView;
    use serde_json::json;

    fn summary() -> AgentSummary {
        AgentSummary {
            name: "hello".to_owned(),
            version: "0.1.0".to_owned(),
            state: AgentState::Running,
            description: "Greets people in two languages".to_owned(),
            signer: Some("ada".to_owned()),
            tools: 2,
            unsandboxed: false,
            tasks: 1,
            triggers: 1,
            problem: None,
        }
    }

    #[test]
    fn agents_are_listed_in_one_line_each() {
        let broken = AgentSummary {
            name: "repo-watch".to_owned(),
            state: AgentState::Stopped,
            signer: None,
            problem: Some("manifest.yaml:3: unknown key `nmae`\n  3 | nmae: hello".to_owned()),
            ..summary()
        };
        insta::assert_snapshot!(render(None, |page| list(&[summary(), broken.clone()], page)), @"
        NAME        VERSION  STATE    TOOLS  TASKS  TRIGGERS  SIGNED BY  DESCRIPTION
        hello       0.1.0    running      2      1         1  ada        Greets people in two languages
        repo-watch  0.1.0    broken       2      1         1  nobody     does not load: manifest.yaml:3: unknown key `nmae` …
        ");
        insta::assert_snapshot!(render(Some(90), |page| list(&[summary(), broken], page)), @"
        NAME        VERSION  STATE    TOOLS  TASKS  TRIGGERS  SIGNED BY  DESCRIPTION
        hello       0.1.0    running      2      1         1  ada        Greets people in two…
        repo-watch  0.1.0    broken       2      1         1  nobody     does not load:…
        ");
        insta::assert_snapshot!(render(None, |page| list(&[], page)), @"
        no agent is installed
        next: nbctl install FILE
        ");
    }

    #[test]
    fn an_agent_that_leaves_the_sandbox_is_marked() {
        let agent = AgentSummary { unsandboxed: true, ..summary() };
        insta::assert_snapshot!(render(None, |page| list(&[agent], page)), @"
        NAME   VERSION  STATE    TOOLS  TASKS  TRIGGERS  SIGNED BY  DESCRIPTION
        hello  0.1.0    running      2      1         1  ada        [unsandboxed] Greets people in two languages
        ");
    }

    #[test]
    fn an_agent_is_shown_with_what_it_can_and_may_do() {
        let permission = |permission: &str, words: &str, known, granted| PermissionView {
            permission: permission.to_owned(),
            words: words.to_owned(),
            known,
            granted,
        };
        let agent = AgentView {
            summary: summary(),
            digest: "ab".repeat(32),
            serial: 3,
            installed_at: "2026-02-27T09:30:00Z".parse().unwrap(),
            permissions: vec![
                permission("log.info", "write to its log", true, true),
                permission("http.fetch:api.example.com", "send requests (only api.example.com)", true, false),
                permission("search.web", "unknown here: grants nothing", false, false),
            ],
            tool_list: vec![ToolView {
                name: "greet".to_owned(),
                description: "Says hello.".to_owned(),
                lang: "lua".to_owned(),
                file: "tools/greet.lua".to_owned(),
                sandboxed: false,
                parameters: json!({
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "Who to greet."},
                        "times": {"type": ["integer", "null"]},
                        "extra": {},
                    },
                    "required": ["name"],
                }),
            }],
            task_list: vec![TaskView {
                id: "welcome".to_owned(),
                description: "Greets and tells you.".to_owned(),
                parameters: vec!["name*".to_owned(), "language".to_owned()],
                steps: vec!["greet".to_owned(), "tell".to_owned()],
            }],
            trigger_list: vec!["every 10m runs welcome".to_owned()],
            limits: LimitsView {
                fuel: 1_000_000,
                memory_bytes: 64 << 20,
                wall_ms: 5_000,
                api_calls_per_hour: 100,
            },
            model: Some(ModelView {
                provider: "openai".to_owned(),
                model: Some("gpt-4o".to_owned()),
                usd_per_day: Some(0.5),
                tokens_per_day: None,
                tokens_today: 12_345,
                usd_today: 0.04,
            }),
            warnings: vec!["manifest.yaml:9: there is no ability `search.web` here".to_owned()],
        };
        insta::assert_snapshot!(render(None, |page| show(&agent, page)), @"
        hello 0.1.0 is running
          Greets people in two languages

          signed by  ada
          installed  2026-02-27 09:30:00 (2 days ago)
          digest     abababababababababababababababababababababababababababababababab
          serial     3
          limits     a tool call has 1 000 000 fuel, 64 MiB of memory and 5.0 s; 100 calls to the outside an hour
          model      openai gpt-4o
          budget     12 345 tokens and $0.0400 of $0.5 today

        permissions
          granted      log.info                    write to its log
          not granted  http.fetch:api.example.com  send requests (only api.example.com)
          unknown      search.web                  unknown here: grants nothing

        tools
          greet  lua in tools/greet.lua [unsandboxed]
            Says hello.
              name*  string           Who to greet.
              times  integer or null
              extra  any

        tasks
          welcome
            Greets and tells you.
              takes name*, language
              does greet, tell

        triggers
          every 10m runs welcome

        warning: manifest.yaml:9: there is no ability `search.web` here
        ");
    }
}
