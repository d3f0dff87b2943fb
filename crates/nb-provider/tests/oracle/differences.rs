//! What may differ, one by one, with its reason: `differences.yaml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::sdk::here;

/// One place where two values differ.
#[derive(Debug)]
pub struct Found {
    /// In which case.
    case: String,
    /// As a JSON pointer.
    at: String,
    ours: Option<Value>,
    theirs: Option<Value>,
}

/// A difference that is right. What is left out of it is absent on that side; `"*"` is anything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    /// A JSON pointer. A part of it that ends in `*` is any that begins so.
    at: String,
    #[serde(default, deserialize_with = "present")]
    ours: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    theirs: Option<Value>,
    why: String,
}

/// A null that is written is a value.
pub fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// A problem that they find in a value of ours.
pub fn at(case: &str, at: &str, problem: Value) -> Found {
    Found { case: case.to_owned(), at: at.to_owned(), ours: None, theirs: Some(problem) }
}

/// The places where a value of ours and one of theirs differ.
pub fn between(case: &str, ours: &Value, theirs: &Value) -> Vec<Found> {
    let mut found = Vec::new();
    compare(case, "", Some(ours), Some(theirs), &mut found);
    found
}

fn compare(case: &str, at: &str, ours: Option<&Value>, theirs: Option<&Value>, found: &mut Vec<Found>) {
    match (ours, theirs) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                compare(case, &format!("{at}/{key}"), a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (number, (a, b)) in a.iter().zip(b).enumerate() {
                compare(case, &format!("{at}/{number}"), Some(a), Some(b), found);
            }
        }
        (Some(Value::Number(a)), Some(Value::Number(b))) if a.as_f64() == b.as_f64() => {}
        (a, b) if a == b => {}
        (a, b) => found.push(Found {
            case: case.to_owned(),
            at: at.to_owned(),
            ours: a.cloned(),
            theirs: b.cloned(),
        }),
    }
}

/// Fails with what is not listed for a service, and with what is listed and was not found.
pub fn expect(kind: &str, service: &str, found: &[Found]) {
    let mut file: serde_yaml::Value =
        serde_yaml::from_str(&fs::read_to_string(here().join("differences.yaml")).unwrap()).unwrap();
    file.apply_merge().unwrap();
    let listed: Vec<Listed> =
        file[kind].get(service).map_or(Vec::new(), |list| serde_yaml::from_value(list.clone()).unwrap());
    assert!(listed.iter().all(|listed| !listed.why.is_empty()), "a difference without a reason");
    let mut unlisted: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for found in found.iter().filter(|found| !listed.iter().any(|listed| listed.is(found))) {
        unlisted.entry(found.to_string()).or_default().push(&found.case);
    }
    let mut wrong: Vec<String> = unlisted
        .into_iter()
        .map(|(found, cases)| format!("{found} ({} times, first in \"{}\")", cases.len(), cases[0]))
        .collect();
    let gone = listed.iter().filter(|listed| !found.iter().any(|found| listed.is(found)));
    wrong.extend(
        gone.map(|listed| format!("{}: it is listed, and nothing differs so: {}", listed.at, listed.why)),
    );
    assert!(wrong.is_empty(), "{kind} of {service}, beside differences.yaml:\n{}", wrong.join("\n"));
}

impl Listed {
    fn is(&self, found: &Found) -> bool {
        let same = |listed: &Option<Value>, found: &Option<Value>| match (listed, found) {
            (Some(Value::String(any)), Some(_)) if any == "*" => true,
            (Some(listed), Some(found)) => listed == found,
            (None, None) => true,
            _ => false,
        };
        let (listed, at): (Vec<&str>, Vec<&str>) =
            (self.at.split('/').collect(), found.at.split('/').collect());
        listed.len() == at.len()
            && listed.iter().zip(at).all(|(listed, at)| is_part(listed, at))
            && same(&self.ours, &found.ours)
            && same(&self.theirs, &found.theirs)
    }
}

fn is_part(listed: &str, found: &str) -> bool {
    listed.strip_suffix('*').map_or(listed == found, |begin| found.starts_with(begin))
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| value.as_ref().map_or("absent".to_owned(), Value::to_string);
        // Places in lists are of no interest here.
        let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let at: Vec<&str> = self.at.split('/').map(|part| if number(part) { "*" } else { part }).collect();
        write!(f, "{}: ours is {}, theirs is {}", at.join("/"), shown(&self.ours), shown(&self.theirs))
    }
}
