//! What an agent may ask for.
//!
//! A permission is an ability's name, optionally with a scope: `http.fetch:*.example.com`. The scope narrows it. One
//! permission is not an ability: `secret.use:NAME`, which each secret of a manifest asks for.

use std::fmt;

/// The abilities of this version, each in words for the person who grants it.
const KNOWN: &[(&str, &str)] = &[
    ("data.fetch_url", "read pages from the web"),
    ("event.publish", "publish events, which may wake other agents"),
    ("flow.branch", "decide between steps of its chains"),
    ("flow.stop", "end its chains early"),
    ("http.fetch", "send requests to servers on the internet"),
    ("kv.read", "read its own stored values"),
    ("kv.write", "change its own stored values"),
    ("llm.chat", "talk with its language model, which costs what the model costs"),
    ("llm.query", "ask its language model, which costs what the model costs"),
    ("llm.summarize", "have its language model summarize, which costs what the model costs"),
    ("log.error", "write errors to its log"),
    ("log.info", "write to its log"),
    ("notify.user", "show you notifications"),
];

/// Those whose scope is a host.
const HOSTS: &[&str] = &["data.fetch_url", "http.fetch", "llm.chat", "llm.query", "llm.summarize"];

/// What the names of the abilities begin with that need a language model.
pub const MODELS: &str = "llm.";

/// The permission to read the files of one folder, which is its scope; for components that use WASI.
pub const FILES_READ: &str = "files.read";

/// The permission to run the tools that say `sandboxed: false`.
pub const UNSANDBOXED: &str = "unsandboxed";

/// The permission of one secret, which is its scope. Without a scope it means nothing: a secret is granted by name.
pub const SECRET_USE: &str = "secret.use";

/// A permission as it is asked for or granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// The ability's name.
    pub ability: String,
    /// What it is limited to, in the ability's own terms: for `http.fetch` and `llm.chat` a host pattern.
    pub scope: Option<String>,
}

impl Permission {
    /// Splits `ability[:scope]`. Every text is a permission; whether it is known is another question.
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some((ability, scope)) => Self { ability: ability.to_owned(), scope: Some(scope.to_owned()) },
            None => Self { ability: text.to_owned(), scope: None },
        }
    }

    /// The permission to send the secret of that name.
    pub fn of_secret(name: &str) -> Self {
        Self { ability: SECRET_USE.to_owned(), scope: Some(name.to_owned()) }
    }

    /// Whether it is about secrets, and so asked for under `secrets` of a manifest.
    pub fn is_about_secrets(&self) -> bool {
        self.ability == SECRET_USE
    }

    /// Whether this version gives it a meaning.
    pub fn is_known(&self) -> bool {
        match self.ability.as_str() {
            SECRET_USE => self.scope.is_some(),
            // A path that leads out of its folder must not be granted by the folder it seems to be in.
            FILES_READ => self.scope.as_deref().is_some_and(|folder| folder_problem(folder).is_none()),
            // What a later version means by a part of it is less than all of it.
            UNSANDBOXED => self.scope.is_none(),
            ability => meaning(ability).is_some(),
        }
    }

    /// The permission in words for the person who grants it.
    pub fn in_words(&self) -> String {
        match (self.ability.as_str(), &self.scope) {
            (SECRET_USE, Some(name)) => {
                return format!("send your secret {name} to the servers it may reach by name");
            }
            (FILES_READ, Some(folder)) => return format!("read the files in {folder}"),
            (UNSANDBOXED, _) => {
                return "run tools OUTSIDE of the sandbox: with your files, your network and other programs"
                    .to_owned();
            }
            _ => {}
        }
        let words = meaning(&self.ability).unwrap_or("unknown here: grants nothing");
        match &self.scope {
            Some(scope) => format!("{words} (only {scope})"),
            None => words.to_owned(),
        }
    }

    /// Why its scope makes no sense, in a sentence.
    pub fn scope_problem(&self) -> Option<String> {
        let scope = self.scope.as_deref()?;
        match self.ability.as_str() {
            ability if HOSTS.contains(&ability) && !is_host_pattern(scope) => Some(format!(
                "`{self}`: `{scope}` is not a host; write for example {0}:api.example.com, {0}:*.example.com or {0}:example.com:8443",
                self.ability
            )),
            FILES_READ => folder_problem(scope).map(|what| format!("`{self}`: {what}")),
            SECRET_USE => None,
            ability if HOSTS.contains(&ability) => None,
            _ => Some(format!("`{self}`: `{}` has no scopes", self.ability)),
        }
    }

    /// Whether holding `self` includes what `other` asks for: the same ability, and no scope or the same one; a folder
    /// includes those below it.
    pub fn covers(&self, other: &Self) -> bool {
        let below = |folder: &String, other: &String| {
            let folder = folder.trim_end_matches('/');
            let rest = other.strip_prefix(folder).filter(|_| folder_problem(other).is_none());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.ability == other.ability
            && match (&self.scope, &other.scope) {
                (None, _) => true,
                (Some(folder), Some(other)) if self.ability == FILES_READ => below(folder, other),
                (scope, other) => scope == other,
            }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.ability)?;
        self.scope.as_ref().map_or(Ok(()), |scope| write!(f, ":{scope}"))
    }
}

fn meaning(ability: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(name, _)| *name == ability).map(|(_, words)| *words)
}

/// A folder is named from the root or from the home of the daemon's user.
fn folder_problem(scope: &str) -> Option<&'static str> {
    if !(scope.starts_with('/') || scope == "~" || scope.starts_with("~/")) {
        Some("a folder begins with `/` or `~/`; write for example files.read:~/notes")
    } else if scope.split('/').any(|part| part == ".." || part == ".") {
        Some("a folder is named without `.` and `..`")
    } else {
        None
    }
}

/// `host`, `*.host`, either with `:port`; an IPv6 address in brackets.
fn is_host_pattern(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text, None),
    };
    let host = host.strip_prefix("*.").unwrap_or(host);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_address = bracketed.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    let is_name = !host.is_empty() && !host.starts_with('.') && host.chars().all(plain);
    (is_address || is_name) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// The names of all known abilities.
pub fn known_abilities() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_narrows_a_permission() {
        let all = Permission::parse("http.fetch");
        let one = Permission::parse("http.fetch:api.example.com:8443");
        assert_eq!(one.scope.as_deref(), Some("api.example.com:8443"));
        assert!(all.covers(&one) && !one.covers(&all) && one.covers(&one));
        assert_eq!(one.to_string(), "http.fetch:api.example.com:8443");
    }

    #[test]
    fn a_scope_that_makes_no_sense_is_told() {
        for good in [
            "http.fetch",
            "http.fetch:a.example",
            "http.fetch:*.a.example:8443",
            "http.fetch:[::1]:80",
            "llm.chat:api.example.com",
            "kv.read",
        ] {
            assert_eq!(Permission::parse(good).scope_problem(), None, "{good}");
        }
        for bad in
            ["http.fetch:", "http.fetch:http://x", "http.fetch:a b", "llm.query:a:99999", "kv.read:abc"]
        {
            assert!(Permission::parse(bad).scope_problem().is_some(), "{bad}");
        }
    }

    #[test]
    fn a_secret_is_a_permission_of_its_own_and_no_ability() {
        let one = Permission::of_secret("TOKEN");
        assert_eq!(one, Permission::parse("secret.use:TOKEN"));
        assert_eq!(one.in_words(), "send your secret TOKEN to the servers it may reach by name");
        assert!(one.is_known() && !one.covers(&Permission::of_secret("OTHER")));
        assert!(!Permission::parse("secret.use").is_known(), "all secrets at once cannot be granted");
        assert!(known_abilities().all(|ability| ability != SECRET_USE));
    }

    #[test]
    fn an_unknown_permission_says_that_it_grants_nothing() {
        assert_eq!(Permission::parse("search.web").in_words(), "unknown here: grants nothing");
    }
}
