//! What does not fit a JSON Schema, in words for the author of a tool.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// The most that are told at once.
const MAX_TOLD: usize = 5;

/// The longest value that is shown, in bytes.
const MAX_SHOWN: usize = 60;

/// Everything that does not fit, in one sentence; empty when all fits.
pub(crate) fn mismatches(schema: &Validator, value: &Value) -> String {
    let told: Vec<String> = schema.iter_errors(value).take(MAX_TOLD).map(|error| words(&error)).collect();
    told.join("; ")
}

/// One of them, with its place: `headers.x`, or nothing for the whole.
fn words(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    let what = what(error);
    if place.is_empty() { what } else { format!("`{place}` {what}") }
}

fn what(error: &ValidationError<'_>) -> String {
    let is = |what: String| format!("is {}, and {what}", shown(error.instance()));
    match error.kind() {
        ValidationErrorKind::Required { property } => format!("needs {}", name(property)),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names: Vec<String> = unexpected.iter().map(|name| format!("`{name}`")).collect();
            format!("has no {}", names.join(" and no "))
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => {
            is(format!("must be {}", kind_in_words(&wanted.to_string())))
        }
        ValidationErrorKind::Type { kind: TypeKind::Multiple(wanted) } => {
            let wanted: Vec<&str> = wanted.iter().map(|wanted| kind_in_words(&wanted.to_string())).collect();
            is(format!("must be {}", wanted.join(" or ")))
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(Value::to_string).collect();
            is(format!("must be one of {}", options.join(", ")))
        }
        ValidationErrorKind::Constant { expected_value } => is(format!("must be {expected_value}")),
        ValidationErrorKind::Minimum { limit } => is(format!("must be at least {limit}")),
        ValidationErrorKind::Maximum { limit } => is(format!("must be at most {limit}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => is(format!("must be more than {limit}")),
        ValidationErrorKind::ExclusiveMaximum { limit } => is(format!("must be less than {limit}")),
        ValidationErrorKind::MinLength { limit } => is(format!("must have at least {limit} characters")),
        ValidationErrorKind::MaxLength { limit } => is(format!("must have at most {limit} characters")),
        ValidationErrorKind::MinItems { limit } => is(format!("must have at least {limit} items")),
        ValidationErrorKind::MaxItems { limit } => is(format!("must have at most {limit} items")),
        ValidationErrorKind::Pattern { pattern } => is(format!("must match the pattern {pattern}")),
        ValidationErrorKind::Format { format } => is(format!("must be a {format}")),
        ValidationErrorKind::AnyOf { context } => match needed(context) {
            Some(needed) => format!("needs {}", needed.join(" or ")),
            None => is("fits none of the forms that are allowed".to_owned()),
        },
        // Rare in what people write; the library's words for it.
        _ => error.to_string(),
    }
}

/// The names, when all that each of the forms lacks is one member.
fn needed(forms: &[Vec<ValidationError<'static>>]) -> Option<Vec<String>> {
    let form = |errors: &Vec<ValidationError<'static>>| match errors.as_slice() {
        [error] => match error.kind() {
            ValidationErrorKind::Required { property } => Some(name(property)),
            _ => None,
        },
        _ => None,
    };
    forms.iter().map(form).collect()
}

fn name(property: &Value) -> String {
    format!("`{}`", property.as_str().unwrap_or_default())
}

fn kind_in_words(kind: &str) -> &'static str {
    match kind {
        "array" => "a list",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "null" => "null",
        "number" => "a number",
        "object" => "an object",
        _ => "a text",
    }
}

/// A value as JSON; of a long one its beginning.
fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > MAX_SHOWN {
        text.truncate(text.floor_char_boundary(MAX_SHOWN));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_told_in_plain_words() {
        let schema = json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "maxLength": 3},
                "n": {"type": "integer", "minimum": 1, "maximum": 9},
                "priority": {"enum": ["low", "normal", "high", "urgent", "a", "b", "c", "d"]},
                "headers": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
                "list": {"type": "array", "minItems": 1, "items": {"type": "boolean"}}
            },
            "anyOf": [{"required": ["title"]}, {"required": ["n"]}],
            "additionalProperties": false
        });
        let schema = jsonschema::validator_for(&schema).unwrap();
        for (value, expected) in [
            (json!({"title": "a"}), ""),
            (json!({}), "needs `title` or `n`"),
            (json!({"n": 1, "colour": 1, "size": 2}), "has no `colour` and no `size`"),
            (json!({"n": "many"}), "`n` is \"many\", and must be a whole number"),
            (json!({"n": 0}), "`n` is 0, and must be at least 1"),
            (json!({"n": 10}), "`n` is 10, and must be at most 9"),
            (json!({"title": "long"}), "`title` is \"long\", and must have at most 3 characters"),
            (
                json!({"n": 1, "priority": "shouting"}),
                "`priority` is \"shouting\", and must be one of \"low\", \"normal\", \"high\", \"urgent\", \"a\", \
                 \"b\", \"c\", \"d\"",
            ),
            (json!({"n": 1, "headers": {"x": true}}), "`headers.x` is true, and must be a number or a text"),
            (json!({"n": 1, "list": []}), "`list` is [], and must have at least 1 items"),
            (json!({"n": 1, "list": [true, 1]}), "`list.1` is 1, and must be true or false"),
            (json!([]), "is [], and must be an object"),
        ] {
            assert_eq!(mismatches(&schema, &value), expected, "{value}");
        }
        let long = mismatches(&schema, &json!({"n": "é".repeat(1000)}));
        assert!(long.len() < 200, "{long}");
    }
}
