//! What a person grants of what a package asks for.

use nb_api::{ApiError, ErrorKind};
use nb_spec::permission::FILES_READ;
use nb_spec::{Agent, Permission};

/// Whether one of the grants includes a permission, given as text.
pub fn includes(grants: &[String], permission: &str) -> bool {
    let permission = Permission::parse(permission);
    grants.iter().any(|grant| Permission::parse(grant).covers(&permission))
}

/// The grants of a part of a permission: those with a scope where it has none.
pub fn parts<'a>(grants: &'a [String], permission: &str) -> impl Iterator<Item = &'a String> {
    let permission = Permission::parse(permission);
    grants.iter().filter(move |grant| {
        let grant = Permission::parse(grant);
        permission.covers(&grant) && !grant.covers(&permission)
    })
}

/// The permissions of `old` that `new` does not include.
pub fn withdrawn<'a>(old: &'a [String], new: &'a [String]) -> impl Iterator<Item = &'a String> {
    old.iter().filter(move |permission| !includes(new, permission))
}

/// Reads a decision: `all`, `none`, or permissions with commas between. Unknown permissions are never granted.
/// Nothing said: what the installed version had, as far as this one still asks for it.
pub fn read(agent: &Agent, decision: &str, before: &[String]) -> Result<Vec<String>, ApiError> {
    let requested = &agent.manifest.requested_permissions();
    let known = |text: &&String| Permission::parse(text).is_known();
    match decision.trim() {
        "" => Ok(kept(requested, before)),
        "all" => Ok(requested.iter().filter(known).cloned().collect()),
        "none" => Ok(Vec::new()),
        list => {
            let mut granted = Vec::new();
            for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                if !includes(requested, text) {
                    let asked =
                        if requested.is_empty() { "nothing".to_owned() } else { requested.join(", ") };
                    let message =
                        format!("{} does not ask for `{text}`; it asks for {asked}", agent.manifest.name);
                    return Err(ApiError::new(ErrorKind::Usage, message));
                }
                if Permission::parse(text).is_known() && !granted.contains(&text.to_owned()) {
                    granted.push(text.to_owned());
                }
            }
            Ok(granted)
        }
    }
}

fn kept(requested: &[String], before: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for asked in requested {
        // A folder in one that was granted may lead elsewhere, by a link: a person is asked for it.
        let is_folder = Permission::parse(asked).ability == FILES_READ;
        let included = if is_folder { before.contains(asked) } else { includes(before, asked) };
        let still: Vec<&String> = if included { vec![asked] } else { parts(before, asked).collect() };
        for grant in still {
            if !kept.contains(grant) {
                kept.push(grant.clone());
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_was_granted_is_kept_and_never_widened() {
        for (requested, before, expected) in [
            (["http.fetch", "kv.read"], ["http.fetch", "kv.write"], vec!["http.fetch"]),
            (
                ["http.fetch", "kv.read"],
                ["http.fetch:a.example", "kv.read"],
                vec!["http.fetch:a.example", "kv.read"],
            ),
            (["http.fetch:a.example", "kv.read"], ["http.fetch", "log.info"], vec!["http.fetch:a.example"]),
            (["http.fetch:b.example", "kv.read"], ["http.fetch:a.example", "log.info"], vec![]),
            (["files.read:/a/b", "files.read:/a/../c"], ["files.read:/a", "kv.read"], vec![]),
            (["files.read:/a", "kv.read"], ["files.read:/a", "kv.write"], vec!["files.read:/a"]),
        ] {
            assert_eq!(kept(&texts(&requested), &texts(&before)), texts(&expected), "{before:?}");
        }
    }

    #[test]
    fn a_grant_that_became_narrower_is_withdrawn_and_one_that_became_wider_is_not() {
        let (all, one) = (texts(&["http.fetch"]), texts(&["http.fetch:a.example"]));
        assert_eq!(withdrawn(&all, &one).collect::<Vec<_>>(), ["http.fetch"]);
        assert_eq!(withdrawn(&one, &all).count(), 0);
    }
}
