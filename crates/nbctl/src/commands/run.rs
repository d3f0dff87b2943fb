//! `nbctl run`.

use nb_api::client::Lines;
use nb_api::runs::{RunRequest, RunView};
use nb_api::{ApiError, ErrorKind};
use serde_json::{Map, Value};

use super::name;
use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::time;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ends with 0 when the run completed, 1 when it failed, 130 when it was cancelled.
Ctrl-C ends the waiting, with 130, and not the run: `nbctl cancel` does.

Examples:
  nbctl run hello                              the only task of hello
  nbctl run hello welcome -p name=Ada
  nbctl run hello --tool greet -p name=Ada
  nbctl run hello --tool greet --input '{\"name\": \"Ada\"}'")]
pub(crate) struct Run {
    /// The agent.
    #[arg(value_parser = name())]
    agent: String,
    /// Its task; may be left out when it has only one.
    #[arg(value_parser = name())]
    task: Option<String>,
    /// The input of the task, or the parameters of the tool.
    #[arg(long, value_name = "JSON", value_parser = json)]
    input: Option<Value>,
    /// A parameter of the task or the tool; may be given several times.
    #[arg(short, long = "param", value_name = "KEY=VALUE", value_parser = parameter)]
    params: Vec<(String, String)>,
    /// Call this tool instead of a task.
    #[arg(long, value_name = "NAME", conflicts_with = "task", value_parser = name())]
    tool: Option<String>,
    /// Return as soon as the run is recorded, without waiting for its end.
    #[arg(long)]
    detach: bool,
}

impl Run {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let request = self.request()?;
        let detached = request.detach;
        let client = context.client()?;
        context.asked_to_run.get_or_init(|| ());
        let run: RunView = if detached {
            client.post("/v1/runs", &request).await?
        } else {
            wait(context, client.post_lines("/v1/runs", &request).await?).await?
        };
        // What was waited for and has not ended will not be told here any more: the daemon stopped.
        let ended_badly =
            matches!(run.status.as_str(), "failed" | "cancelled") || (!detached && run.status != "completed");
        if context.output.json || !ended_badly {
            context
                .output
                .show(&run, |run, page| if detached { started(run, page) } else { output(run, page) })?;
        }
        if ended_badly {
            return Err(Error::Run(Box::new(run)));
        }
        if !detached {
            context.output.note(|page| ended(&run, page));
        }
        Ok(())
    }

    fn request(self) -> Result<RunRequest, Error> {
        let mut params = Map::new();
        for (key, value) in self.params {
            if params.insert(key.clone(), Value::String(value)).is_some() {
                return Err(Error::usage(format!("the parameter `{key}` is given twice")));
            }
        }
        Ok(RunRequest {
            agent: self.agent,
            task: self.task,
            tool: self.tool,
            input: self.input,
            params,
            detach: self.detach,
            follow: !self.detach,
        })
    }
}

/// Waits for the end of a run. From its first line on, the run is known and goes on without this process.
async fn wait(context: &Context, mut lines: Lines<RunView>) -> Result<RunView, Error> {
    let mut latest = None;
    loop {
        match lines.next().await {
            Ok(Some(run)) if matches!(run.status.as_str(), "completed" | "failed" | "cancelled") => {
                return Ok(run);
            }
            Ok(Some(run)) => {
                context.waits_for.get_or_init(|| run.id.clone());
                latest = Some(run);
            }
            // The daemon is gone, or leaves: what is known of the run tells more.
            Ok(None) => return latest.ok_or_else(|| no_run_told().into()),
            Err(error) if error.kind == ErrorKind::Unreachable => return latest.ok_or(error.into()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn no_run_told() -> ApiError {
    ApiError::new(ErrorKind::Failed, "the daemon does not say what became of the run")
        .hint("nbctl runs lists what ran")
}

/// A JSON value from the command line.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        format!("{error}; a text is written with its quotes, such as '\"{}\"'", text.replace('"', ""))
    })
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("it is written KEY=VALUE".to_owned()),
    }
}

fn started(run: &RunView, page: &mut Page) {
    page.line(format!("{} of {} is {}", run.id, run.agent, run.status));
    page.next(&format!("nbctl run-show {}", run.id));
}

fn output(run: &RunView, page: &mut Page) {
    match &run.output {
        None | Some(Value::Null) => {}
        Some(value) => page.value(value),
    }
}

fn ended(run: &RunView, page: &mut Page) {
    let took = run.duration_ms.map(|ms| format!(" in {}", time::duration(ms))).unwrap_or_default();
    let mark = if run.unsandboxed { " [unsandboxed]" } else { "" };
    page.line(Span::new(format!("{} {}{took}{mark}", run.id, run.status), Tint::Faint));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_may_have_an_equals_sign_in_its_value() {
        assert_eq!(parameter("query=a=b"), Ok(("query".to_owned(), "a=b".to_owned())));
        assert_eq!(parameter("empty="), Ok(("empty".to_owned(), String::new())));
        assert!(parameter("=x").is_err() && parameter("x").is_err());
    }

    #[test]
    fn an_unquoted_text_is_explained() {
        insta::assert_snapshot!(json("Ada").unwrap_err(), @r#"expected value at line 1 column 1; a text is written with its quotes, such as '"Ada"'"#);
        assert_eq!(json("[1]"), Ok(serde_json::json!([1])));
    }
}
