//! Who asks: a key, a key file, or what stands on a machine by default.
//!
//! Source: Google Cloud documentation, "How Application Default Credentials works".

use nb_egress::HostPattern;
use serde::Deserialize;

use crate::environment::{Environment, Variable};
use crate::error::ProviderError;
use crate::section::Section;

use super::place::is_vertex;

const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

/// What proves who asks.
pub(super) enum Proof {
    /// A key that goes into a header.
    Key(Variable),
    /// An account for which tokens are asked.
    Account(Account),
}

/// An account, and the hosts that its tokens may be sent to.
pub(super) struct Account {
    pub kind: AccountKind,
    project: Option<String>,
    billed: Option<String>,
    hosts: Option<Vec<HostPattern>>,
}

pub(super) enum AccountKind {
    /// A service account, which signs what it asks with.
    Service { email: String, key_id: Option<String>, key: String, token_uri: String },
    /// A person who has signed in.
    User { client_id: String, client_secret: String, refresh_token: String, token_uri: String },
    /// The account of the machine itself.
    Machine { host: String },
}

/// The files that Google hands out.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum KeyFile {
    ServiceAccount {
        project_id: Option<String>,
        private_key_id: Option<String>,
        private_key: String,
        client_email: String,
        token_uri: Option<String>,
        quota_project_id: Option<String>,
    },
    AuthorizedUser {
        client_id: String,
        client_secret: String,
        refresh_token: String,
        token_uri: Option<String>,
        quota_project_id: Option<String>,
    },
}

impl Account {
    /// The project that it belongs to, or that is billed for it.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref().or(self.billed.as_deref())
    }

    /// The project that is billed, when the account does not tell it by itself.
    pub fn billed_project(&self) -> Option<&str> {
        self.billed.as_deref()
    }

    /// Where its tokens may go.
    pub fn hosts(&self) -> Option<Vec<HostPattern>> {
        self.hosts.clone()
    }
}

/// Finds the one proof that the section names.
pub(super) fn read(section: &Section, environment: &dyn Environment) -> Result<Proof, ProviderError> {
    const WAYS: [&str; 3] = ["api-key", "file-path", "file-contents"];
    let vertex = is_vertex(section)?;
    let given: Vec<&str> = WAYS.into_iter().filter(|key| section.optional(key).is_some()).collect();
    if given.len() > 1 {
        let message = format!("provider.credentials has {}: give one of them", given.join(" and "));
        return Err(section.fail(message));
    }
    if let Some(key) = section.optional("api-key") {
        if vertex {
            return Err(section.fail("vertex-ai-api does not take an `api-key`").hinting(
                "give `file-path` or `file-contents` of a service account's key, or neither for the machine's own account",
            ));
        }
        return Ok(Proof::Key(key.clone()));
    }
    if let Some(path) = section.optional("file-path") {
        let text = environment.file(&path.value).map_err(|reason| {
            section.fail(format!("provider.credentials.file-path: {}: {reason}", path.value))
        })?;
        return account(section, &text, path.hosts.clone(), "file-path").map(Proof::Account);
    }
    if let Some(contents) = section.optional("file-contents") {
        return account(section, contents.value.as_bytes(), contents.hosts.clone(), "file-contents")
            .map(Proof::Account);
    }
    // What is named and not set was meant: the machine's account must not stand in for it.
    if let Some(key) = WAYS.into_iter().find(|key| section.variable_of(key).is_some()) {
        section.required(key, "")?;
    }
    if !vertex {
        section.required("api-key", "GOOGLE_API_KEY")?;
    }
    by_default(section, environment).map(Proof::Account)
}

fn account(
    section: &Section,
    text: &[u8],
    hosts: Option<Vec<HostPattern>>,
    place: &str,
) -> Result<Account, ProviderError> {
    // The reader's own error could repeat the key.
    let file: KeyFile = serde_json::from_slice(text).map_err(|error| {
        let kind = serde_json::from_slice::<serde_json::Value>(text)
            .ok()
            .and_then(|value| value.get("type").and_then(serde_json::Value::as_str).map(str::to_owned));
        let reason = match kind.as_deref() {
            Some("service_account" | "authorized_user") => "it is incomplete".to_owned(),
            Some(kind) => format!("accounts of type `{kind}` are not supported"),
            None => format!("it is no key file (line {}, column {})", error.line(), error.column()),
        };
        section
            .fail(format!("provider.credentials.{place}: {reason}"))
            .hinting("take the JSON key file of a service account")
    })?;
    let token_uri = |given: Option<String>| given.unwrap_or_else(|| TOKEN_URI.to_owned());
    Ok(match file {
        KeyFile::ServiceAccount {
            project_id,
            private_key_id,
            private_key,
            client_email,
            token_uri: uri,
            quota_project_id,
        } => Account {
            kind: AccountKind::Service {
                email: client_email,
                key_id: private_key_id,
                key: private_key,
                token_uri: token_uri(uri),
            },
            project: project_id,
            billed: quota_project_id,
            hosts,
        },
        KeyFile::AuthorizedUser {
            client_id,
            client_secret,
            refresh_token,
            token_uri: uri,
            quota_project_id,
        } => {
            let kind =
                AccountKind::User { client_id, client_secret, refresh_token, token_uri: token_uri(uri) };
            Account { kind, project: None, billed: quota_project_id, hosts }
        }
    })
}

/// A file that a variable names, the file of somebody who has signed in, or the machine's own account.
fn by_default(section: &Section, environment: &dyn Environment) -> Result<Account, ProviderError> {
    const NAMED: &str = "GOOGLE_APPLICATION_CREDENTIALS";
    let variable = |name: &str| environment.variable(name).map_err(|reason| section.fail(reason));
    if let Some(path) = variable(NAMED)?.filter(|path| !path.value.is_empty()) {
        let text = environment
            .file(&path.value)
            .map_err(|reason| section.fail(format!("{NAMED}: {}: {reason}", path.value)))?;
        return account(section, &text, path.hosts, NAMED);
    }
    let folder = match variable("CLOUDSDK_CONFIG")? {
        Some(folder) => Some(folder.value),
        None => variable("HOME")?.map(|home| format!("{}/.config/gcloud", home.value)),
    };
    let file = folder.map(|folder| format!("{folder}/application_default_credentials.json"));
    if let Some(text) = file.and_then(|file| environment.file(&file).ok()) {
        return account(section, &text, None, "the application default credentials");
    }
    let host = variable("GCE_METADATA_HOST")?;
    let host = host.map_or_else(|| "metadata.google.internal".to_owned(), |host| host.value);
    Ok(Account { kind: AccountKind::Machine { host }, project: None, billed: None, hosts: None })
}
