//! `nbctl install`.

use std::io::Write as _;
use std::path::PathBuf;

use nb_api::agents::{AgentView, InstallOptions, Installed, PackageView, PermissionView, SignerView};
use nb_api::{ApiError, Client, ErrorKind};

use super::agents::{agent_path, model_name};
use super::grants::{self, Request};
use crate::can_ask;
use crate::context::{Context, read_file};
use crate::error::Error;
use crate::page::{Page, Span, Tint};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --grant you are asked, when there is a terminal to ask on.

Examples:
  nbctl install hello-0.1.0.nap
  nbctl install hello-0.1.0.nap --grant all
  nbctl install hello-0.1.0.nap --grant kv.read,notify.user")]
pub(crate) struct Install {
    /// The package.
    file: PathBuf,
    /// What it may do: all it asks for, none of it, or permissions with commas between.
    #[arg(long, value_name = "all|none|P1,P2")]
    grant: Option<String>,
    /// Install although nobody, or a key that is not trusted, signed it.
    #[arg(long)]
    allow_unsigned: bool,
    /// Install although a newer build was installed before.
    #[arg(long)]
    allow_downgrade: bool,
}

impl Install {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let client = context.client()?;
        let bytes = read_file(&self.file)?;
        let package: PackageView = client.upload("/v1/packages/inspect", &(), bytes.clone()).await?;
        let installed =
            if package.installed.is_some() { granted_now(&client, &package.name).await? } else { Vec::new() };
        let request = Request::new(&package.permissions, &installed);
        context.output.text(|page| preview(&package, &request, page))?;

        // The daemon refuses it and says why; nobody needs to decide about permissions before that.
        let will_be_refused = !package.signer.trusted && !self.allow_unsigned;
        let grant = match self.grant {
            Some(grant) => grant,
            None if request.new.is_empty() || will_be_refused => request.grant(&[]),
            None => ask(context, &package, &request).await?,
        };
        let options = InstallOptions {
            grant,
            allow_unsigned: self.allow_unsigned,
            allow_downgrade: self.allow_downgrade,
        };
        let done: Installed = client.upload("/v1/agents", &options, bytes).await?;
        context.output.show(&done, |done, page| result(done, &package.warnings, page))
    }
}

/// What the installed version of an agent has; nothing when it was uninstalled in this moment.
async fn granted_now(client: &Client, agent: &str) -> Result<Vec<PermissionView>, Error> {
    match client.get::<AgentView>(&agent_path(agent), &()).await {
        Ok(agent) => Ok(agent.permissions),
        Err(ApiError { kind: ErrorKind::NotFound, .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

async fn ask(context: &Context, package: &PackageView, request: &Request) -> Result<String, Error> {
    if !can_ask() {
        let new: Vec<&str> = request.new.iter().map(|view| view.permission.as_str()).collect();
        return Err(Error::usage_hint(
            format!("{} asks for permissions that nobody decided about: {}", package.name, new.join(", ")),
            format!("decide with --grant all, --grant none or --grant {}", new.join(",")),
        ));
    }
    if context.output.json {
        context.output.note(|page| preview(package, request, page));
    }
    let count = request.new.len();
    // Reading a terminal blocks; on a thread of its own it leaves Ctrl-C its effect.
    let asked = tokio::task::spawn_blocking(move || {
        grants::ask(count, &mut std::io::stdin().lock(), &mut |text| {
            // The answer still comes, or the input ends, when the question cannot be shown.
            let _ = std::io::stderr().write_all(text.as_bytes());
        })
    });
    let chosen = asked.await.map_err(|_| Error::Cancelled)?;
    let failed = |source| Error::Io { action: "read", path: "stdin".into(), source };
    match chosen.map_err(failed)? {
        Some(chosen) => Ok(request.grant(&chosen)),
        None => Err(Error::usage("no decision was made; nothing was installed")),
    }
}

fn preview(package: &PackageView, request: &Request, page: &mut Page) {
    page.spans(&[
        Span::new(format!("{} {}", package.name, package.version), Tint::Strong),
        Span::new(format!(" (serial {})", package.serial), Tint::Faint),
    ]);
    if !package.description.is_empty() {
        page.quote(2, &package.description);
    }
    let mut fields = vec![("signed by", signer(&package.signer)), ("digest", (&package.digest).into())];
    if let Some(model) = &package.model {
        fields.push(("model", model_name(model).into()));
    }
    if let Some(installed) = &package.installed {
        fields.push(("replaces", installed.into()));
    }
    page.fields(&fields);
    request.show(page);
    package.warnings.iter().for_each(|warning| page.warning(warning));
    page.gap();
}

/// A signer in words.
pub(crate) fn signer(signer: &SignerView) -> Span {
    let key = signer.key.as_deref();
    if signer.trusted {
        let label = signer.label.as_deref().or(key).unwrap_or("a trusted key");
        let id = key.filter(|id| *id != label).map(|id| format!(" ({id})")).unwrap_or_default();
        return Span::new(format!("{label}{id}"), Tint::Good);
    }
    let who = key.unwrap_or("nobody");
    let reason = signer.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    Span::new(format!("{who}, not trusted{reason}"), Tint::Bad)
}

fn result(done: &Installed, told: &[String], page: &mut Page) {
    let replaces =
        done.replaces.as_ref().map(|version| format!(" in place of {version}")).unwrap_or_default();
    page.line(format!("installed {} {}{replaces}", done.name, done.version));
    let list = |permissions: &[String]| -> Span {
        if permissions.is_empty() { "nothing".into() } else { permissions.join(", ").into() }
    };
    let mut fields = vec![("granted", list(&done.granted))];
    if !done.refused.is_empty() {
        fields.push(("not granted", list(&done.refused)));
    }
    if !done.withdrawn.is_empty() {
        fields.push(("withdrawn", list(&done.withdrawn)));
    }
    page.fields(&fields);
    done.warnings.iter().filter(|warning| !told.contains(warning)).for_each(|warning| page.warning(warning));
    page.next(&format!("nbctl show {}", done.name));
}

#[cfg(test)]
mod tests {
    use nb_api::agents::ModelView;

    use super::*;
    use crate::page::render;

    fn package() -> PackageView {
        let permission = |permission: &str, words: &str, granted| PermissionView {
            permission: permission.to_owned(),
            words: words.to_owned(),
            known: true,
            granted,
        };
        PackageView {
            name: "hello".to_owned(),
            version: "0.2.0".to_owned(),
            serial: 7,
            digest: "ab".repeat(32),
            description: "Greets people".to_owned(),
            signer: SignerView {
                trusted: true,
                key: Some("0123456789ABCDEF".to_owned()),
                label: Some("ada".to_owned()),
                reason: None,
            },
            permissions: vec![
                permission("log.info", "write to its log", true),
                permission("notify.user", "show you notifications", false),
            ],
            model: Some(ModelView {
                provider: "openai".to_owned(),
                model: Some("gpt-4o".to_owned()),
                usd_per_day: None,
                tokens_per_day: None,
                tokens_today: 0,
                usd_today: 0.0,
            }),
            warnings: vec!["chains/a.yaml:2: an unused parameter".to_owned()],
            installed: Some("0.1.0".to_owned()),
        }
    }

    #[test]
    fn a_person_sees_what_is_decided() {
        let package = package();
        let request = Request::new(&package.permissions, &[]);
        insta::assert_snapshot!(render(None, |page| preview(&package, &request, page)), @"
        hello 0.2.0 (serial 7)
          Greets people
          signed by  ada (0123456789ABCDEF)
          digest     abababababababababababababababababababababababababababababababab
          model      openai gpt-4o
          replaces   0.1.0
        asks for
           1  new   notify.user  show you notifications
              kept  log.info     write to its log
        warning: chains/a.yaml:2: an unused parameter
        ");
    }

    #[test]
    fn a_signer_who_is_not_trusted_is_named_with_the_reason() {
        let stranger = SignerView {
            trusted: false,
            key: Some("00000000000000AA".to_owned()),
            label: None,
            reason: Some("the key is not trusted here".to_owned()),
        };
        assert_eq!(signer(&stranger).text, "00000000000000AA, not trusted: the key is not trusted here");
        let nobody = SignerView { trusted: false, key: None, label: None, reason: None };
        assert_eq!(signer(&nobody).text, "nobody, not trusted");
    }

    #[test]
    fn the_result_says_what_was_granted_and_what_comes_next() {
        let done = Installed {
            name: "hello".to_owned(),
            version: "0.2.0".to_owned(),
            digest: "ab".repeat(32),
            signer: Some("0123456789ABCDEF".to_owned()),
            granted: vec!["log.info".to_owned()],
            refused: vec!["notify.user".to_owned()],
            withdrawn: vec!["http.fetch".to_owned()],
            replaces: Some("0.1.0".to_owned()),
            warnings: vec!["told".to_owned(), "new".to_owned()],
        };
        insta::assert_snapshot!(render(None, |page| result(&done, &["told".to_owned()], page)), @"
        installed hello 0.2.0 in place of 0.1.0
          granted      log.info
          not granted  notify.user
          withdrawn    http.fetch
        warning: new
        next: nbctl show hello
        ");
    }
}
