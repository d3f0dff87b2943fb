//! The one permission check.

use nb_spec::Permission;

/// What an agent may do: what its package asks for, as far as a person granted it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    requested: Vec<Permission>,
    effective: Vec<Permission>,
}

/// The answer to "may this agent use this ability?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may, everywhere or within these scopes.
    Allow(Scopes),
    /// It may not, for this reason.
    Deny(String),
}

/// Where an allowed ability may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scopes {
    /// Everywhere.
    Unlimited,
    /// Within any of these, in the ability's own terms.
    Limited(Vec<String>),
}

impl Grants {
    /// Requested ∩ granted. A grant of something that was not requested gives nothing.
    pub fn new(requested: &[Permission], granted: &[Permission]) -> Self {
        let effective = granted
            .iter()
            .filter(|grant| grant.is_known() && requested.iter().any(|request| request.covers(grant)))
            .cloned()
            .collect();
        Self { requested: requested.to_vec(), effective }
    }

    /// The grants that count.
    pub fn effective(&self) -> &[Permission] {
        &self.effective
    }
}

/// Decides whether the agent may use the ability.
pub fn decide(agent: &str, grants: &Grants, ability: &str) -> Decision {
    let mut scopes = Vec::new();
    for grant in grants.effective.iter().filter(|grant| grant.ability == ability) {
        match &grant.scope {
            None => return Decision::Allow(Scopes::Unlimited),
            Some(scope) => scopes.push(scope.clone()),
        }
    }
    if !scopes.is_empty() {
        return Decision::Allow(Scopes::Limited(scopes));
    }
    let requested = grants.requested.iter().any(|request| request.ability == ability);
    Decision::Deny(if requested {
        format!("permission `{ability}` was not granted to {agent}; install it again and grant it")
    } else {
        format!("permission `{ability}` is not in the manifest of {agent}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(requested: &[&str], granted: &[&str]) -> Grants {
        let parse = |list: &[&str]| list.iter().map(|text| Permission::parse(text)).collect::<Vec<_>>();
        Grants::new(&parse(requested), &parse(granted))
    }

    #[test]
    fn least_power_is_what_was_both_requested_and_granted() {
        let allow = Decision::Allow(Scopes::Unlimited);
        assert_eq!(decide("a", &grants(&["kv.read"], &["kv.read"]), "kv.read"), allow);
        for (requested, granted, word) in [
            (vec!["kv.read"], vec![], "was not granted"),
            (vec![], vec!["kv.read"], "not in the manifest"),
            (vec!["http.fetch:a.example"], vec!["http.fetch"], "was not granted"),
            (vec!["search.web"], vec!["search.web"], "was not granted"),
        ] {
            let ability = requested.first().or(granted.first()).unwrap().split(':').next().unwrap();
            match decide("a", &grants(&requested, &granted), ability) {
                Decision::Deny(reason) => assert!(reason.contains(word), "{reason}"),
                allowed => panic!("{requested:?} {granted:?}: {allowed:?}"),
            }
        }
    }

    #[test]
    fn scopes_add_up_and_a_narrower_grant_stays_narrow() {
        let found = decide(
            "a",
            &grants(&["http.fetch"], &["http.fetch:a.example", "http.fetch:b.example"]),
            "http.fetch",
        );
        assert_eq!(found, Decision::Allow(Scopes::Limited(vec!["a.example".into(), "b.example".into()])));
    }
}
