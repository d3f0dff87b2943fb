//! Names of tools on the wire. Every provider has rules for them; people and records see the real name.

use std::collections::BTreeMap;

use crate::Tool;

/// What a name may look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRule {
    /// Characters beside ASCII letters and digits.
    pub also: &'static [char],
    /// Whether the first may be a digit or one of `also`; an underscore always may.
    pub any_first: bool,
    /// The most characters.
    pub longest: usize,
}

impl NameRule {
    /// `[A-Za-z0-9_-]{1,64}`: OpenAI, Mistral and Anthropic.
    pub const COMMON: Self = Self { also: &['_', '-'], any_first: true, longest: 64 };

    fn allows(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.also.contains(&c)
    }

    /// The name with `_` for what is not allowed.
    fn fit(self, name: &str) -> String {
        let mut fitted: String = name.chars().map(|c| if self.allows(c) { c } else { '_' }).collect();
        let first = fitted.chars().next();
        if first.is_none() || (!self.any_first && first.is_some_and(|c| !c.is_ascii_alphabetic() && c != '_'))
        {
            fitted.insert(0, '_');
        }
        fitted.truncate(self.longest);
        fitted
    }
}

/// The names of one conversation's tools, in both directions. Nothing is computed back: a table is looked up.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    rule: NameRule,
    wire: BTreeMap<String, String>,
    real: BTreeMap<String, String>,
}

impl Names {
    /// Gives each tool a name that the rule allows. Names that would fall together get a number.
    pub fn new(rule: NameRule, tools: &[Tool]) -> Self {
        let mut names = Self { rule, wire: BTreeMap::new(), real: BTreeMap::new() };
        // Those that fit keep their name, whatever the others would become.
        let (fitting, others): (Vec<&Tool>, Vec<&Tool>) =
            tools.iter().partition(|tool| rule.fit(&tool.name) == tool.name);
        for tool in fitting.into_iter().chain(others) {
            names.add(&tool.name);
        }
        names
    }

    fn add(&mut self, name: &str) {
        if self.wire.contains_key(name) {
            return;
        }
        let plain = self.rule.fit(name);
        let mut candidate = plain.clone();
        let mut number = 2;
        while self.real.contains_key(&candidate) {
            let suffix = format!("_{number}");
            candidate = plain.chars().take(self.rule.longest - suffix.len()).collect::<String>() + &suffix;
            number += 1;
        }
        self.wire.insert(name.to_owned(), candidate.clone());
        self.real.insert(candidate, name.to_owned());
    }

    /// The name on the wire. A tool that the conversation had before and has no more is fitted to the rule.
    pub fn to_wire(&self, name: &str) -> String {
        self.wire.get(name).cloned().unwrap_or_else(|| self.rule.fit(name))
    }

    /// The real name. Models change names slightly (`what-time` to `what_time`): when exactly one tool differs in no more
    /// than case and separators, it is meant. What no tool is called stays as it came.
    pub fn to_real(&self, wire: &str) -> String {
        if let Some(real) = self.real.get(wire) {
            return real.clone();
        }
        if self.wire.contains_key(wire) {
            return wire.to_owned();
        }
        let meant = folded(wire);
        let mut close = self.wire.keys().filter(|name| folded(name) == meant);
        match (close.next(), close.next()) {
            (Some(only), None) => only.clone(),
            _ => wire.to_owned(),
        }
    }
}

fn folded(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NARROW: NameRule = NameRule { also: &['_'], any_first: false, longest: 12 };

    fn tools(names: &[&str]) -> Vec<Tool> {
        let tool =
            |name: &&str| Tool { name: (*name).to_owned(), description: String::new(), parameters: None };
        names.iter().map(tool).collect()
    }

    #[test]
    fn a_name_that_fits_is_kept_and_others_get_out_of_its_way() {
        let names = Names::new(NARROW, &tools(&["random-number", "a b", "a_b", "7up", "ação"]));
        assert_eq!(names.to_wire("a_b"), "a_b");
        assert_eq!(names.to_wire("a b"), "a_b_2");
        assert_eq!(names.to_wire("7up"), "_7up");
        assert_eq!(names.to_wire("random-number"), "random_numbe");
        assert_eq!(names.to_real("a_b_2"), "a b");
        assert_eq!(names.to_real("Random-Number"), "random-number");
        assert_eq!(names.to_real("unknown"), "unknown");
    }

    proptest! {
        #[test]
        fn every_name_fits_and_comes_back(names in prop::collection::btree_set(".{1,40}", 1..20)) {
            let listed: Vec<&str> = names.iter().map(String::as_str).collect();
            for rule in [NARROW, NameRule::COMMON] {
                let table = Names::new(rule, &tools(&listed));
                for name in &listed {
                    let wire = table.to_wire(name);
                    prop_assert!(!wire.is_empty() && wire.len() <= rule.longest);
                    prop_assert!(wire.chars().all(|c| rule.allows(c)));
                    prop_assert_eq!(&table.to_real(&wire), name);
                }
            }
        }
    }
}
