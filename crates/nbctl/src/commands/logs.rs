//! `nbctl logs`.

use nb_api::client::Lines;
use nb_api::runs::{LogLine, LogQuery};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::name;
use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::text::Told;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --json: one document with all lines; with --follow one document a line.")]
pub(crate) struct Logs {
    /// Only this agent, or only this run.
    #[arg(value_name = "AGENT|RUN", value_parser = name())]
    of: Option<String>,
    /// Go on with what happens next, until Ctrl-C.
    #[arg(short, long)]
    follow: bool,
    /// The lines of at most so many runs; else 20.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

impl Logs {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let (run, agent) = match self.of {
            Some(id) if is_run_id(&id) => (Some(id), None),
            agent => (None, agent),
        };
        let query = LogQuery { agent, run, follow: self.follow, limit: self.limit };
        let lines = context.client()?.follow("/v1/logs", &query).await?;
        print(context, lines, self.follow, line).await
    }
}

/// Prints an answer of many lines: each when it comes when there is no end to wait for, else as one document.
pub(crate) async fn print<T: Serialize + DeserializeOwned>(
    context: &Context,
    mut lines: Lines<T>,
    endless: bool,
    render: fn(&T, &mut Page),
) -> Result<(), Error> {
    if context.output.json && !endless {
        let mut all = Vec::new();
        while let Some(line) = lines.next().await? {
            all.push(line);
        }
        return context.output.show(&all, |_, _| {});
    }
    while let Some(line) = lines.next().await? {
        context.output.line(&line, render)?;
    }
    Ok(())
}

/// `run_` and a ULID. An agent's name has no upper-case letters, so nothing is both.
fn is_run_id(text: &str) -> bool {
    let ulid = |id: &str| {
        id.len() == 26
            && id.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
            && id.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    text.strip_prefix("run_").is_some_and(ulid)
}

fn line(line: &LogLine, page: &mut Page) {
    let text = match line.event.event.as_str() {
        "log" => line.text.clone(),
        _ => Told::new(&line.text).in_one_line(),
    };
    page.spans(&[
        Span::new(page.clock(line.event.at), Tint::Faint),
        format!("  {}  ", line.agent).into(),
        Span::new(&line.run, Tint::Faint),
        format!("  {text}").into(),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;
    use nb_api::runs::RecordedEvent;

    #[test]
    fn a_run_is_told_from_an_agent_by_its_id() {
        assert!(is_run_id("run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C"));
        assert!(
            !is_run_id("run_01234567890123456789012345") && !is_run_id("run_watch") && !is_run_id("hello")
        );
    }

    #[test]
    fn a_line_says_when_who_and_what() {
        let shown = |event: &str, text: &str| {
            let event = RecordedEvent {
                seq: 3,
                at: "2026-03-01T11:59:57Z".parse().unwrap(),
                event: event.to_owned(),
                fields: serde_json::Map::new(),
            };
            let (run, agent) = ("run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C".to_owned(), "hello".to_owned());
            let told = LogLine { run, agent, event, text: text.to_owned() };
            render(None, |page| line(&told, page))
        };
        insta::assert_snapshot!(shown("log", "print: greeted\tAda\nand \x1b[2JBob"), @r"2026-03-01 11:59:57  hello  run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C  print: greeted Ada\nand \x1b[2JBob");
        let error = "failed: tools/a.lua:1:3: no\n  1 | nil.x\n    |   ^\nhint: look";
        insta::assert_snapshot!(shown("finished", error), @"2026-03-01 11:59:57  hello  run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C  failed: tools/a.lua:1:3: no …");
    }
}
