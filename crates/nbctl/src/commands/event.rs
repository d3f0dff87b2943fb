//! `nbctl event`.

use nb_api::wake::{EventView, EventsQuery, PublishRequest};
use serde_json::Value;

use super::run::json;
use super::{logs, name};
use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbctl event publish weather.alert --data '{\"city\": \"Rome\"}'
  nbctl event tail")]
pub(crate) struct Event {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Publish an event, which wakes the agents that listen to it.
    Publish {
        /// Its name, such as weather.alert.
        #[arg(value_parser = name())]
        name: String,
        /// Its payload.
        #[arg(long, value_name = "JSON", value_parser = json)]
        data: Option<Value>,
    },
    /// Show the latest events and those that follow, until Ctrl-C; with --json one document a line.
    Tail {
        /// Begin after the event of this number.
        #[arg(long, value_name = "SEQ")]
        after: Option<u64>,
        /// Show what is there and end; with --json one document with all of it.
        #[arg(long)]
        no_follow: bool,
    },
}

impl Event {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let client = context.client()?;
        match self.command {
            Command::Publish { name, data } => {
                let request = PublishRequest { name, data: data.unwrap_or_default() };
                let event: EventView = client.post("/v1/events", &request).await?;
                context.output.show(&event, |event, page| {
                    page.line(format!("published {} as {} (number {})", event.name, event.id, event.seq));
                })
            }
            Command::Tail { after, no_follow } => {
                let lines = client.follow("/v1/events", &EventsQuery { after, follow: !no_follow }).await?;
                logs::print(context, lines, !no_follow, line).await
            }
        }
    }
}

fn line(event: &EventView, page: &mut Page) {
    let data = if event.data.is_null() { String::new() } else { format!("  {}", event.data) };
    page.spans(&[
        Span::new(page.clock(event.at), Tint::Faint),
        format!("  {:>5}  ", event.seq).into(),
        Span::new(&event.name, Tint::Strong),
        format!("  from {}{data}", event.source).into(),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    #[test]
    fn an_event_is_one_line() {
        let event = EventView {
            seq: 42,
            id: "evt_01KJN4R5ZB3V0T6Q2W8X9Y7A1C".to_owned(),
            name: "weather.alert".to_owned(),
            data: serde_json::json!({"city": "Rome"}),
            source: "person".to_owned(),
            at: "2026-03-01T11:59:57Z".parse().unwrap(),
        };
        insta::assert_snapshot!(render(None, |page| line(&event, page)), @r#"2026-03-01 11:59:57     42  weather.alert  from person  {"city":"Rome"}"#);
        let empty = EventView { data: Value::Null, ..event };
        insta::assert_snapshot!(render(None, |page| line(&empty, page)), @"2026-03-01 11:59:57     42  weather.alert  from person");
    }
}
