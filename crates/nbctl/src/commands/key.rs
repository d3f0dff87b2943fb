//! `nbctl key`: keys that sign packages, and keys that are trusted.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nb_api::client::segment;
use nb_api::host::{KeyView, TrustRequest};
use nb_package::{PublicKey, SecretKey};
use serde::Serialize;

use super::name;
use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span};
use crate::table::Table;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbctl key generate me
  nbctl key trust ~/.config/nanobot/keys/me.pub
  nbctl key trust team.pub --for 'repo-*' --for hello")]
pub(crate) struct Key {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a signing key: NAME.key, which stays secret, and NAME.pub, which others may have.
    Generate {
        /// What to call it.
        #[arg(value_parser = name())]
        name: String,
    },
    /// Accept packages that this key signed.
    Trust {
        /// A file with a minisign public key, or the name of a key made here.
        file: PathBuf,
        /// Only agents whose name matches, such as 'repo-*'; may be given several times.
        #[arg(long = "for", value_name = "GLOB")]
        names: Vec<String>,
    },
    /// Accept nothing more that this key signed.
    Revoke {
        /// The id of the key: 16 hexadecimal digits.
        #[arg(value_parser = name())]
        id: String,
    },
    /// List the keys that are trusted or revoked.
    Ls,
}

/// The answer of `key generate`.
#[derive(Debug, Serialize)]
struct Generated {
    id: String,
    secret_key: PathBuf,
    public_key: PathBuf,
}

impl Key {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        match self.command {
            Command::Generate { name } => generate(context, &name),
            Command::Trust { file, names } => trust(context, &file, names).await,
            Command::Revoke { id } => {
                let key: KeyView =
                    context.client()?.delete(&format!("/v1/keys/{}", segment(&id)), &()).await?;
                context.output.show(&key, revoked)
            }
            Command::Ls => {
                let keys: Vec<KeyView> = context.client()?.get("/v1/keys", &()).await?;
                context.output.show(&keys, |keys, page| list(keys, page))
            }
        }
    }
}

/// The secret key of that name.
pub(crate) fn secret_key_file(context: &Context, name: &str) -> Result<PathBuf, Error> {
    key_file(context.places.keys()?, name, "key")
}

fn key_file(dir: &Path, name: &str, extension: &str) -> Result<PathBuf, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.len() > 64 || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(plain) {
        return Err(Error::usage_hint(
            format!("`{name}` cannot be the name of a key"),
            "use 1 to 64 letters, digits, `-`, `_` and `.`, with a letter or digit first",
        ));
    }
    Ok(dir.join(format!("{name}.{extension}")))
}

fn generate(context: &Context, name: &str) -> Result<(), Error> {
    let dir = context.places.keys()?;
    let (secret_key, public_key) = (key_file(dir, name, "key")?, key_file(dir, name, "pub")?);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|source| Error::Io {
        action: "create",
        path: dir.to_owned(),
        source,
    })?;
    let key = SecretKey::generate()?;
    key.save(&secret_key)?;
    key.public().save(&public_key)?;
    let generated = Generated { id: key.id().to_string(), secret_key, public_key };
    context.output.show(&generated, generated_text)
}

fn generated_text(generated: &Generated, page: &mut Page) {
    page.line(format!("made the key {}", generated.id));
    page.fields(&[
        ("secret", generated.secret_key.display().to_string().into()),
        ("public", generated.public_key.display().to_string().into()),
    ]);
    page.next(&format!("nbctl key trust {}", generated.public_key.file_stem().unwrap_or_default().display()));
}

async fn trust(context: &Context, file: &Path, names: Vec<String>) -> Result<(), Error> {
    // A name without a file is that of a key made here.
    let own = file.to_str().and_then(|name| key_file(context.places.keys().ok()?, name, "pub").ok());
    let own = own.filter(|own| !file.exists() && own.exists());
    let file = own.as_deref().unwrap_or(file);
    // Read as a public key first: a secret key that was named by mistake must not leave this process.
    let key = PublicKey::load(file)?;
    let label = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let request = TrustRequest { public_key: key.to_string(), label, names };
    let key: KeyView = context.client()?.post("/v1/keys", &request).await?;
    context.output.show(&key, |key, page| {
        page.line(format!("trusted {} ({}) for {}", key.label, key.id, may_sign(key)));
    })
}

fn revoked(key: &KeyView, page: &mut Page) {
    // A key can be revoked before it was ever trusted; then it has no label.
    page.line(if key.label.is_empty() {
        format!("revoked {}", key.id)
    } else {
        format!("revoked {} ({})", key.label, key.id)
    });
}

fn may_sign(key: &KeyView) -> String {
    if key.names.is_empty() { "all agents".to_owned() } else { key.names.join(", ") }
}

fn list(keys: &[KeyView], page: &mut Page) {
    if keys.is_empty() {
        page.line("no key is trusted");
        return page.next("nbctl key trust FILE");
    }
    let mut table = Table::new(&["ID", "LABEL", "STATE", "MAY SIGN"]);
    for key in keys {
        let state = if key.revoked { "revoked" } else { "trusted" };
        let names = if key.revoked { "nothing".to_owned() } else { may_sign(key) };
        table.row([(&key.id).into(), (&key.label).into(), Span::status(state), names.into()]);
    }
    page.table(&table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    #[test]
    fn keys_are_listed_with_what_they_may_sign() {
        let key = |id: &str, label: &str, names: &[&str], revoked| KeyView {
            id: id.to_owned(),
            label: label.to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            revoked,
        };
        let keys = [
            key("0123456789ABCDEF", "ada", &[], false),
            key("00000000000000AA", "team", &["repo-*", "hello"], false),
            key("00000000000000BB", "old", &[], true),
        ];
        insta::assert_snapshot!(render(None, |page| list(&keys, page)), @"
        ID                LABEL  STATE    MAY SIGN
        0123456789ABCDEF  ada    trusted  all agents
        00000000000000AA  team   trusted  repo-*, hello
        00000000000000BB  old    revoked  nothing
        ");
        insta::assert_snapshot!(render(None, |page| list(&[], page)), @"
        no key is trusted
        next: nbctl key trust FILE
        ");
    }

    #[test]
    fn a_key_cannot_leave_the_folder_of_keys() {
        for bad in ["../me", "a/b", ".me", "", "me key"] {
            assert_eq!(key_file(Path::new("/keys"), bad, "key").unwrap_err().exit_code(), 2, "{bad}");
        }
        assert_eq!(key_file(Path::new("/keys"), "me-2.0", "pub").unwrap(), Path::new("/keys/me-2.0.pub"));
    }
}
