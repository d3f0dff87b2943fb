//! `nbctl runs`, `nbctl run-show`: what ran, and its record.

use nb_api::client::segment;
use nb_api::runs::{RecordedEvent, RunRecord, RunView, RunsQuery};
use serde_json::Value;

use super::name;
use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::table::Table;
use crate::text::Told;
use crate::time;

#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// Only runs of this agent.
    #[arg(value_parser = name())]
    agent: Option<String>,
    /// At most so many; else 50.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunShow {
    /// The run's id, as `nbctl runs` lists it.
    #[arg(value_parser = name())]
    run: String,
}

impl Runs {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let query = RunsQuery { agent: self.agent, limit: self.limit };
        let runs: Vec<RunView> = context.client()?.get("/v1/runs", &query).await?;
        context.output.show(&runs, |runs, page| list(runs, page))
    }
}

impl RunShow {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let record: RunRecord =
            context.client()?.get(&format!("/v1/runs/{}", segment(&self.run)), &()).await?;
        context.output.show(&record, show)
    }
}

fn list(runs: &[RunView], page: &mut Page) {
    if runs.is_empty() {
        page.line("nothing ran yet");
        return page.next("nbctl run AGENT");
    }
    let mut table = Table::new(&["RUN", "AGENT", "STATUS", "WHEN", "TOOK", "WHAT"]).right(4);
    for run in runs {
        table.row([
            (&run.id).into(),
            (&run.agent).into(),
            Span::status(&run.status),
            page.ago(run.created_at).into(),
            took(run).into(),
            what(run).into(),
        ]);
    }
    page.table(&table);
}

fn what(run: &RunView) -> String {
    let mark = if run.unsandboxed { " [unsandboxed]" } else { "" };
    match (&run.tool, &run.task) {
        (Some(tool), _) => format!("tool {tool}{mark}"),
        (None, Some(task)) => format!("task {task}{mark}"),
        (None, None) => format!("{}{mark}", run.kind),
    }
}

fn took(run: &RunView) -> String {
    run.duration_ms.map_or_else(|| "-".to_owned(), time::duration)
}

fn show(record: &RunRecord, page: &mut Page) {
    let run = &record.run;
    page.spans(&[
        Span::new(&run.id, Tint::Strong),
        format!(": {} of {} ", what(run), run.agent).into(),
        Span::status(&run.status),
    ]);
    let created = format!("{} ({})", page.clock(run.created_at), page.ago(run.created_at));
    let mut fields =
        vec![("started by", (&run.actor).into()), ("recorded", created.into()), ("took", took(run).into())];
    if let Some(outcome) = &run.outcome {
        fields.push(("outcome", outcome.into()));
    }
    let told = run.error.as_deref().map(Told::new);
    if let Some(told) = &told {
        fields.push(("error", Span::new(told.first, Tint::Bad)));
    }
    page.fields(&fields);
    if let Some(below) = told.and_then(|told| told.below()) {
        page.gap();
        page.block(2, &below);
    }
    match &run.output {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => {
            page.heading("output");
            page.quote(2, text);
        }
        Some(value) => {
            page.heading("output");
            page.block(2, &format!("{value:#}"));
        }
    }
    page.heading("record");
    let width = record.events.iter().map(|event| event.event.chars().count()).max().unwrap_or(0);
    for event in &record.events {
        show_event(event, run, width, page);
    }
}

/// Short values stand in the event's line, long ones below it.
fn show_event(event: &RecordedEvent, run: &RunView, width: usize, page: &mut Page) {
    let after = event.at.signed_duration_since(run.created_at);
    let after_ms = after.num_microseconds().unwrap_or(i64::MAX) as f64 / 1000.0;
    let mut line = format!(
        "  {:>4}  {:>10}  {:width$}",
        event.seq,
        format!("+{}", time::duration(after_ms)),
        event.event
    );
    let mut below = Vec::new();
    for (key, value) in &event.fields {
        match short(key, value) {
            Some(text) => line.push_str(&format!("  {key}={text}")),
            None => below.push((key, value)),
        }
    }
    page.line(line.trim_end());
    for (key, value) in below {
        page.line(format!("{:20}{key}:", ""));
        match value {
            Value::String(text) => page.quote(22, text),
            other => page.block(22, &format!("{other:#}")),
        }
    }
}

/// A value as it fits into a line: no text of several lines, nothing long, nothing nested.
fn short(key: &str, value: &Value) -> Option<String> {
    const LONGEST: usize = 60;
    let is_duration = key == "ms" || key.ends_with("_ms");
    let text = match value {
        Value::Number(ms) if is_duration && ms.is_f64() => format!("{:.2}", ms.as_f64()?),
        Value::String(text) if text.contains('\n') => return None,
        Value::String(text) if text.is_empty() || text.contains([' ', '=', '"']) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) if !items.is_empty() => return None,
        Value::Object(fields) if !fields.is_empty() => return None,
        other => other.to_string(),
    };
    (text.chars().count() <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;
    use serde_json::json;

    fn run() -> RunView {
        RunView {
            id: "run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C".to_owned(),
            kind: "task".to_owned(),
            agent: "hello".to_owned(),
            task: Some("welcome".to_owned()),
            tool: None,
            unsandboxed: false,
            status: "completed".to_owned(),
            outcome: Some("done".to_owned()),
            error: None,
            output: Some(json!({"text": "hello, Ada"})),
            actor: "you, with nbctl".to_owned(),
            created_at: "2026-03-01T11:59:57Z".parse().unwrap(),
            finished_at: Some("2026-03-01T11:59:57.012Z".parse().unwrap()),
            duration_ms: Some(12.3),
        }
    }

    #[test]
    fn runs_are_listed_with_when_and_how_long() {
        let failed = RunView {
            id: "run_01KJN4R5ZB3V0T6Q2W8X9Y7A1B".to_owned(),
            kind: "tool".to_owned(),
            task: None,
            tool: Some("greet".to_owned()),
            unsandboxed: true,
            status: "failed".to_owned(),
            created_at: "2026-03-01T10:00:00Z".parse().unwrap(),
            duration_ms: None,
            ..run()
        };
        insta::assert_snapshot!(render(None, |page| list(&[run(), failed], page)), @"
        RUN                             AGENT  STATUS     WHEN      TOOK  WHAT
        run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C  hello  completed  3 s ago  12 ms  task welcome
        run_01KJN4R5ZB3V0T6Q2W8X9Y7A1B  hello  failed     2 h ago      -  tool greet [unsandboxed]
        ");
        insta::assert_snapshot!(render(None, |page| list(&[], page)), @"
        nothing ran yet
        next: nbctl run AGENT
        ");
    }

    #[test]
    fn a_record_reads_like_a_story() {
        let event = |seq, millisecond: &str, name: &str, fields: Value| RecordedEvent {
            seq,
            at: format!("2026-03-01T11:59:57.{millisecond}Z").parse().unwrap(),
            event: name.to_owned(),
            fields: fields.as_object().unwrap().clone(),
        };
        let record = RunRecord {
            run: RunView {
                status: "failed".to_owned(),
                error: Some("tool greet: out of fuel".to_owned()),
                ..run()
            },
            events: vec![
                event(1, "0001", "started", json!({})),
                event(
                    2,
                    "001",
                    "tool.started",
                    json!({"tool": "greet", "args": {"name": "Ada", "tags": [1, 2]}}),
                ),
                event(
                    3,
                    "009",
                    "log",
                    json!({"level": "info", "message": "two\nlines\u{1b}", "empty": [], "said": "a b"}),
                ),
                event(
                    4,
                    "012",
                    "finished",
                    json!({"status": "failed", "fuel": 1_000_000, "ms": 0.173_924_999_9, "waiting_ms": 3, "n": 1.2345}),
                ),
            ],
        };
        insta::assert_snapshot!(render(None, |page| show(&record, page)), @r#"
        run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C: task welcome of hello failed
          started by  you, with nbctl
          recorded    2026-03-01 11:59:57 (3 s ago)
          took        12 ms
          outcome     done
          error       tool greet: out of fuel

        output
          {
            "text": "hello, Ada"
          }

        record
             1    +0.10 ms  started
             2    +1.00 ms  tool.started  tool=greet
                            args:
                              {
                                "name": "Ada",
                                "tags": [
                                  1,
                                  2
                                ]
                              }
             3    +9.00 ms  log           level=info  empty=[]  said="a b"
                            message:
                              | two
                              | lines\x1b
             4      +12 ms  finished      status=failed  fuel=1000000  ms=0.17  waiting_ms=3  n=1.2345
        "#);
    }

    #[test]
    fn an_error_has_its_source_below_the_table() {
        let error =
            "tool `greet`: tools/greet.lua:3:8: a is nil\n  3 | return a.b\n    |        ^\nhint: set it";
        let failed =
            RunView { status: "failed".to_owned(), error: Some(error.to_owned()), output: None, ..run() };
        let record = RunRecord { run: RunView { outcome: None, ..failed }, events: vec![] };
        insta::assert_snapshot!(render(None, |page| show(&record, page)), @"
        run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C: task welcome of hello failed
          started by  you, with nbctl
          recorded    2026-03-01 11:59:57 (3 s ago)
          took        12 ms
          error       tool `greet`: tools/greet.lua:3:8: a is nil

          |   3 | return a.b
          |     |        ^
          | hint: set it

        record
        ");
    }
}
