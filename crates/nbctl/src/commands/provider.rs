//! `nbctl provider`: ask a language model, and imitate one. Neither needs the daemon.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nb_egress::{Egress, EgressConfig};
use nb_provider::{Answer, Chat, Delta, Listener, ProviderError, Script, Terminal, Turn};
use nb_spec::{Cartridge, Problems};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::context::{Context, read_file};
use crate::error::Error;
use crate::text;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbctl provider ask bot.yml 'Who are you?'
  nbctl provider serve-script talk.yaml --port 8080")]
pub(crate) struct Provider {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Send one message to the model of a cartridge, and print the answer as it comes. Tools are not offered.
    Ask {
        /// The cartridge: a YAML file with a `provider:` section.
        cartridge: PathBuf,
        /// What to say.
        message: String,
        /// Wait for the whole answer.
        #[arg(long)]
        no_stream: bool,
    },
    /// Answer like OpenAI from a transcript, for this machine alone, until Ctrl-C.
    ServeScript {
        /// The transcript.
        transcript: PathBuf,
        /// The port; without it, one that is free.
        #[arg(long, default_value_t = 0)]
        port: u16,
    },
}

impl Provider {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        match self.command {
            Command::Ask { cartridge, message, no_stream } => {
                ask(context, &cartridge, message, !no_stream).await
            }
            Command::ServeScript { transcript, port } => serve_script(context, &transcript, port).await,
        }
    }
}

async fn ask(context: &Context, file: &Path, message: String, stream: bool) -> Result<(), Error> {
    let mut problems = Problems::default();
    let name = file.display().to_string();
    let cartridge = Cartridge::read(&name, &read_file(file)?, &mut problems)
        .ok_or_else(|| Error::usage(problems.to_string()))?;
    let shown = !context.output.json;
    let warnings: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if shown {
        warnings.iter().for_each(|warning| aside(warning));
    }
    let section = cartridge.provider.clone().ok_or_else(|| {
        Error::usage_hint(
            format!("{name} has no `provider:`"),
            "a provider begins with its `id`, such as openai",
        )
    })?;
    let folder = file.parent().map(Path::to_owned).unwrap_or_default();
    let surroundings = Terminal { folder };
    let allow = surroundings.allowed(&section);
    let egress = Egress::new(EgressConfig { allow, ..EgressConfig::default() })
        .map_err(|error| Error::usage(error.to_string()))?;
    let provider = nb_provider::Provider::new(&section, Arc::new(surroundings), egress)?;
    let chat = Chat::new(cartridge.interaction(), vec![Turn::User(message)]);
    let begun = Instant::now();
    let mut printer = Printer { begun, shown, first: None };
    let answer = provider.ask(&chat, stream, &mut printer).await;
    let first = printer.first;
    if shown && first.is_some() {
        writeln!(io::stdout()).map_err(Error::Stdout)?;
    }
    // What came before a break is kept: in words it is on the page already.
    let (answer, error) = match answer {
        Ok(answer) => (answer, None),
        Err(error) => match error.received.clone() {
            Some(received) if !shown => (*received, Some(error)),
            _ => return Err(error.into()),
        },
    };
    let cost = answer.usage.and_then(|usage| Some(provider.prices()?.cost(usage)));
    if shown {
        if !answer.calls.is_empty() {
            let names: Vec<&str> = answer.calls.iter().map(|call| call.name.as_str()).collect();
            aside(&format!("it wants to call {}; nothing is called here", names.join(", ")));
        }
        aside(&summary(&provider, &answer, cost));
        return Ok(());
    }
    let ms = |time: Option<Duration>| time.map(|time| time.as_millis());
    context.output.show(
        &json!({
            "provider": provider.id(), "model": answer.model.as_deref().unwrap_or(provider.model()),
            "text": answer.text, "thinking": answer.thinking, "calls": answer.calls,
            "stop": answer.stop, "stop_reason": answer.stop_reason,
            "usage": answer.usage, "usd": cost, "request_id": answer.request_id, "whole": error.is_none(),
            "first_ms": ms(first), "ms": ms(Some(begun.elapsed())), "warnings": warnings,
        }),
        |_: &Value, _| {},
    )?;
    error.map_or(Ok(()), |error| Err(error.into()))
}

/// A line on stderr, beside the answer.
fn aside(line: &str) {
    // Whoever closed stderr does not want to know.
    let _ = writeln!(io::stderr(), "{}", text::line(line));
}

/// Prints an answer as it comes.
struct Printer {
    begun: Instant,
    shown: bool,
    /// How long the first of its text took; thoughts come before.
    first: Option<Duration>,
}

impl Listener for Printer {
    fn hear(&mut self, delta: Delta<'_>) {
        let Delta::Text(words) = delta else { return };
        self.first.get_or_insert_with(|| self.begun.elapsed());
        if self.shown {
            // A closed stdout is told by the last line.
            let mut out = io::stdout().lock();
            let _ = out.write_all(text::block(words).as_bytes()).and_then(|()| out.flush());
        }
    }

    fn again(&mut self, failed: &ProviderError, wait: Duration) -> Result<(), String> {
        if self.shown {
            aside(&format!("{failed}; asking again in {:.1} s", wait.as_secs_f64()));
        }
        Ok(())
    }
}

/// `openai gpt-4o: stop; 12 tokens in (8 cached), 40 out; $0.00043`.
fn summary(provider: &nb_provider::Provider, answer: &Answer, cost: Option<f64>) -> String {
    let model = answer.model.as_deref().unwrap_or(provider.model());
    let reason = answer.stop_reason.as_deref().unwrap_or("no reason given");
    let mut line = format!("{} {model}: {reason}", provider.id());
    if let Some(usage) = answer.usage {
        let cached = if usage.cached > 0 { format!(" ({} cached)", usage.cached) } else { String::new() };
        line += &format!("; {} tokens in{cached}, {} out", usage.input, usage.output);
    }
    if let Some(usd) = cost {
        line += &format!("; ${usd:.6}");
    }
    line
}

async fn serve_script(context: &Context, file: &Path, port: u16) -> Result<(), Error> {
    let text = String::from_utf8(read_file(file)?)
        .map_err(|_| Error::usage(format!("{}: it is not UTF-8 text", file.display())))?;
    let script =
        Script::parse(&text).map_err(|reason| Error::usage(format!("{}: {reason}", file.display())))?;
    let taken = |source| Error::Io { action: "listen on", path: format!("127.0.0.1:{port}").into(), source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(taken)?;
    let address = format!("http://{}/v1", listener.local_addr().map_err(taken)?);
    context.output.line(&json!({ "address": address }), |_: &Value, page| {
        page.line(format!("serving {} at {address}", file.display()));
    })?;
    nb_provider::serve(script, listener, |served| {
        let turn = served.turn.map_or_else(|| "no turn".to_owned(), |turn| format!("turn {turn}"));
        aside(&format!("{turn} answered {}", served.asked));
    })
    .await
    .map_err(taken)
}

impl From<ProviderError> for Error {
    fn from(error: ProviderError) -> Self {
        let told = nb_api::ApiError::new(nb_api::ErrorKind::Failed, error.to_string());
        Self::Api(match error.hint {
            Some(hint) => told.hint(hint),
            None => told,
        })
    }
}
