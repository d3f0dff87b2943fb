//! `nbctl webhook`.

use std::path::{Path, PathBuf};

use nb_api::wake::{SignQuery, SignedRequest, WebhookView};

use super::{name, shell};
use crate::context::{Context, read_file};
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbctl webhook sign repo-watch /github --file push.json
  eval \"$(nbctl webhook sign repo-watch /github --file push.json)\"")]
pub(crate) struct Webhook {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the webhooks with their addresses.
    Ls,
    /// Print a curl command that sends a file as the real sender would, with the right signature.
    Sign {
        /// The agent.
        #[arg(value_parser = name())]
        agent: String,
        /// The path of its webhook.
        #[arg(value_parser = name())]
        path: String,
        /// The body of the request.
        #[arg(long)]
        file: PathBuf,
    },
}

impl Webhook {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        match self.command {
            Command::Ls => {
                let webhooks: Vec<WebhookView> = context.client()?.get("/v1/webhooks", &()).await?;
                context.output.show(&webhooks, |webhooks, page| list(webhooks, page))
            }
            Command::Sign { agent, path, file } => {
                let body = read_file(&file)?;
                let query = SignQuery { agent, path };
                let signed: SignedRequest =
                    context.client()?.upload("/v1/webhooks/sign", &query, body).await?;
                context.output.show(&signed, |signed, page| page.line(curl(signed, &file)))
            }
        }
    }
}

/// A command for a shell: what it sends is byte by byte what was signed.
fn curl(signed: &SignedRequest, file: &Path) -> String {
    // Without --globoff curl would take brackets in the address for patterns.
    let mut command = format!("curl --globoff -X {}", shell::quote(signed.method.as_bytes()));
    for (name, value) in &signed.headers {
        command.push_str(&format!(" -H {}", shell::quote(format!("{name}: {value}").as_bytes())));
    }
    // `@` alone is no word of its own, so the path is quoted apart from it; `./-` keeps curl from reading stdin.
    command.push_str(&format!(" --data-binary @{}", shell::quote_path(file)));
    command.push_str(&format!(" {}", shell::quote(signed.url.as_bytes())));
    command
}

fn list(webhooks: &[WebhookView], page: &mut Page) {
    if webhooks.is_empty() {
        return page.line("no installed agent has a webhook");
    }
    let mut table = Table::new(&["AGENT", "PATH", "RUNS", "VERIFIES", "METHODS", "ADDRESS"]);
    for webhook in webhooks {
        table.row([
            (&webhook.agent).into(),
            (&webhook.path).into(),
            (&webhook.chain).into(),
            (&webhook.verify).into(),
            webhook.methods.join(",").into(),
            match &webhook.problem {
                Some(problem) => Span::new(format!("turns everything away: {problem}"), Tint::Bad),
                None => (&webhook.url).into(),
            },
        ]);
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;
    use std::process::Command as Process;

    fn signed() -> SignedRequest {
        SignedRequest {
            method: "POST".to_owned(),
            url: "http://127.0.0.1:7878/hooks/repo-watch/github?a=[1]&b=it's".to_owned(),
            headers: vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                ("X-Hub-Signature-256".to_owned(), "sha256=00ff".to_owned()),
            ],
        }
    }

    #[test]
    fn a_webhook_can_be_tried_with_curl() {
        insta::assert_snapshot!(curl(&signed(), Path::new("push.json")), @r#"curl --globoff -X POST -H 'Content-Type: application/json' -H 'X-Hub-Signature-256: sha256=00ff' --data-binary @push.json 'http://127.0.0.1:7878/hooks/repo-watch/github?a=[1]&b=it'\''s'"#);
    }

    #[test]
    fn a_shell_passes_any_file_name_on_to_curl() {
        for file in ["it's a $HOME.json", "-", "-o", "two\nlines", "&;|", "é"] {
            let command = curl(&signed(), Path::new(file));
            let script = format!("curl() {{ printf '%s\\0' \"$@\"; }}; {command}");
            let output = Process::new("bash").args(["-c", &script]).output().unwrap();
            let words: Vec<&str> =
                std::str::from_utf8(&output.stdout).unwrap().split_terminator('\0').collect();
            let path = if file.starts_with('-') { format!("@./{file}") } else { format!("@{file}") };
            assert_eq!(words[words.len() - 2], path);
            assert_eq!(words[words.len() - 1], signed().url);
        }
    }

    #[test]
    fn a_webhook_that_turns_everything_away_says_why() {
        let webhook = WebhookView {
            agent: "repo-watch".to_owned(),
            path: "/github".to_owned(),
            url: "http://127.0.0.1:7878/hooks/repo-watch/github".to_owned(),
            chain: "count".to_owned(),
            verify: "github".to_owned(),
            methods: vec!["POST".to_owned()],
            problem: None,
        };
        let broken = WebhookView {
            path: "/other".to_owned(),
            problem: Some("the secret GITHUB_SECRET is missing".to_owned()),
            ..webhook.clone()
        };
        insta::assert_snapshot!(render(None, |page| list(&[webhook, broken], page)), @"
        AGENT       PATH     RUNS   VERIFIES  METHODS  ADDRESS
        repo-watch  /github  count  github    POST     http://127.0.0.1:7878/hooks/repo-watch/github
        repo-watch  /other   count  github    POST     turns everything away: the secret GITHUB_SECRET is missing
        ");
    }
}
