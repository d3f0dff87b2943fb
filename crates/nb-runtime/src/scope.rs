//! What the references of a task see.

use std::collections::BTreeMap;

use nb_spec::Task;
use nb_spec::template;
use serde_json::{Map, Value};

use crate::error::RunError;

/// Values by name: the context of the run, its parameters, and the outputs so far.
#[derive(Debug)]
pub(crate) struct Scope {
    names: Map<String, Value>,
    outputs: BTreeMap<String, Value>,
}

impl Scope {
    /// `context` holds `input`, `event`, `webhook`, `trigger` and `params`.
    pub(crate) fn new(context: &Value) -> Self {
        let mut names = context.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(params)) = names.remove("params") {
            names.extend(params);
        }
        for always in ["input", "event", "webhook", "trigger"] {
            names.entry(always).or_insert(Value::Null);
        }
        Self { names, outputs: BTreeMap::new() }
    }

    /// Keeps what a step gave.
    pub(crate) fn keep(&mut self, task: &Task, step: &str, output: Value) {
        if let Some(key) = task.step(step).and_then(|step| step.output_key.as_ref()) {
            self.names.insert(key.clone(), output.clone());
        }
        self.outputs.insert(step.to_owned(), output);
    }

    /// The value of a dotted path. A text that is JSON can be looked into.
    pub(crate) fn find(&self, path: &str) -> Option<Value> {
        let parts: Vec<&str> = path.split('.').collect();
        let (first, rest) = parts.split_first()?;
        if *first == "secret" {
            // Only the gate to the network knows the value; until there it stays a name.
            return is_secret(path).then(|| Value::String(format!("{{{{{path}}}}}")));
        }
        if rest.first() == Some(&"output")
            && let Some(output) = self.outputs.get(*first)
        {
            return descend(output, &rest[1..]);
        }
        match (self.names.get(*first), self.outputs.get(*first)) {
            (Some(value), _) | (None, Some(value)) => descend(value, rest),
            (None, None) => None,
        }
    }

    /// Fills in the references of a value. What is filled into `headers` may not name a secret: in a header the gate to
    /// the network would put the secret there, at the wish of whoever sent the value.
    pub(crate) fn expand(&self, value: &Value) -> Result<Value, RunError> {
        if let Some(headers) = value.get("headers") {
            // Without the secrets that the chain itself names, so that any other shows, in one value or across several.
            let data = |path: &str| if is_secret(path) { Some(Value::Null) } else { self.find(path) };
            if let Some(header) = secret_in(&fill(headers, &data)?) {
                return Err(RunError::Reference(format!(
                    "header `{header}` is filled in with text that looks like a secret's name; only the chain itself may \
                     name one"
                )));
            }
        }
        fill(value, &|path| self.find(path))
    }
}

fn fill(value: &Value, resolve: &dyn Fn(&str) -> Option<Value>) -> Result<Value, RunError> {
    template::expand(value, resolve).map_err(|unknown| RunError::Reference(unknown.to_string()))
}

/// Whether a path is `secret.NAME`.
fn is_secret(path: &str) -> bool {
    path.strip_prefix("secret.").is_some_and(|name| !name.contains('.'))
}

/// The first header whose value names a secret.
fn secret_in(headers: &Value) -> Option<&str> {
    let headers = headers.as_object()?;
    let found = headers.iter().find(|(_, value)| value.as_str().is_some_and(nb_egress::names_secret));
    found.map(|(name, _)| name.as_str())
}

fn descend(value: &Value, path: &[&str]) -> Option<Value> {
    if path.is_empty() {
        return Some(value.clone());
    }
    match value {
        Value::String(text) => {
            let parsed: Value = serde_json::from_str(text).ok()?;
            template::lookup(&parsed, path.iter().copied()).cloned()
        }
        _ => template::lookup(value, path.iter().copied()).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_that_is_json_can_be_looked_into() {
        let scope = Scope::new(&json!({"params": {"w": "{\"temp\": 21}"}, "input": {"a": [1, 2]}}));
        assert_eq!(scope.find("w.temp"), Some(json!(21)));
        assert_eq!(scope.find("input.a.1"), Some(json!(2)));
        assert_eq!(scope.find("w.nothing"), None);
        assert_eq!(scope.find("event"), Some(Value::Null));
    }

    #[test]
    fn a_secret_stays_a_name() {
        let scope = Scope::new(&json!({"params": {"secret": {"TOKEN": "a parameter"}}}));
        assert_eq!(scope.find("secret.TOKEN"), Some(json!("{{secret.TOKEN}}")));
    }

    #[test]
    fn a_header_names_a_secret_only_where_the_chain_does() {
        let scope = Scope::new(&json!({"params": {
            "id": 7,
            "whole": "{{secret.TOKEN}}",
            "open": "{{ sec",
            "close": "ret.TOKEN}}",
            "brace": "{",
            "rest": "{secret.TOKEN}}",
            "headers": {"x-key": "{{secret.TOKEN}}"},
        }}));
        let headers = |template: Value| scope.expand(&json!({"headers": template}));
        let written = json!({"authorization": "Bearer {{ secret.TOKEN }}", "x-id": "{{id}}"});
        let filled = json!({"headers": {"authorization": "Bearer {{secret.TOKEN}}", "x-id": 7}});
        assert_eq!(headers(written).unwrap(), filled);
        for forged in [
            json!({"x-key": "{{whole}}"}),
            json!({"x-key": "Bearer {{whole}}"}),
            json!({"x-key": "{{secret.OTHER}} {{whole}}"}),
            json!({"x-key": "{{open}}{{close}}"}),
            json!({"x-key": "{{brace}}{{rest}}"}),
            json!("{{headers}}"),
        ] {
            let error = headers(forged.clone()).unwrap_err().to_string();
            assert!(
                error.starts_with("header `x-key` is filled in with text that looks"),
                "{forged}: {error}"
            );
        }
        assert!(scope.expand(&json!({"body": "{{whole}}"})).is_ok(), "a body is sent as it is");
    }
}
