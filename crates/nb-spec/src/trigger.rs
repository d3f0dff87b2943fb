//! What wakes an agent: schedules, events and webhooks.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Duration;
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::document::Document;
use crate::problem::Problems;
use crate::timing::{Timing, parse_period};

/// The shortest secret, in bytes, that a webhook may have.
pub const MIN_SECRET_BYTES: usize = 16;

/// The farthest that missed slots are looked for, in days: each of them may become a run.
const MAX_CATCHUP_DAYS: i64 = 366;
/// The most that a slot is moved, in days.
const MAX_JITTER_DAYS: i64 = 1;

/// `triggers:` of a manifest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Triggers {
    /// Time-based.
    pub scheduled: Vec<Scheduled>,
    /// By a fact on the bus.
    pub events: Vec<OnEvent>,
    /// By an HTTP request from outside.
    pub webhooks: Vec<Webhook>,
}

/// A schedule, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scheduled {
    /// The chain to run.
    pub chain: String,
    /// `10m`, `1h`, `7d`; or `cron`.
    pub interval: Option<String>,
    /// Five or six fields; or `interval`.
    pub cron: Option<String>,
    /// With an interval of whole days: that wall-clock time.
    pub at: Option<String>,
    /// IANA name; default: the daemon's.
    pub timezone: Option<String>,
    /// What happens to slots that passed while nothing could run.
    #[serde(default)]
    pub missed: Missed,
    /// How far back `missed` looks. Default one day, at most 366.
    pub catchup_window: Option<String>,
    /// What happens when the previous run is still going on.
    #[serde(default)]
    pub overlap: Overlap,
    /// Spreads the agents that share a time; stable per agent. At most one day.
    pub jitter: Option<String>,
    /// Handed to the chain as parameters.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// Slots that passed while the daemon was off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// None of them runs.
    Skip,
    /// The latest of them runs.
    #[default]
    Once,
    /// All of them run.
    All,
}

/// A slot whose previous run is still going on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overlap {
    /// The slot does not run.
    #[default]
    Skip,
    /// It runs when the previous run has ended.
    Queue,
    /// Both run.
    Allow,
    /// The previous run is cancelled.
    Cancel,
}

/// An event subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnEvent {
    /// The event's name; `*` stands for one whole segment.
    pub on: String,
    /// The chain to run.
    pub chain: String,
    /// Payload fields by dotted path: equal, or any of a list.
    #[serde(default)]
    pub filter: BTreeMap<String, Value>,
    /// Handed to the chain as parameters.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// A webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Webhook {
    /// Served as written, such as `/hook/my-agent`.
    pub path: String,
    /// The chain to run.
    pub chain: String,
    /// The key of the HMAC: itself, `ENV/NAME` or `secret.NAME`.
    pub secret: Option<String>,
    /// How a request proves where it comes from. Default: `hmac` when there is a secret, else none.
    pub verify: Option<Verify>,
    /// Default: POST.
    #[serde(default = "post_only")]
    pub methods: Vec<String>,
    /// Handed to the chain as parameters.
    #[serde(default)]
    pub params: Map<String, Value>,
}

fn post_only() -> Vec<String> {
    vec!["POST".to_owned()]
}

/// A signature scheme of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// `X-Webhook-Signature`: hex HMAC-SHA256 of the body.
    Hmac,
    /// `X-Hub-Signature-256`, as GitHub sends it.
    Github,
    /// Standard Webhooks 1.0.
    Standard,
    /// `Stripe-Signature`.
    Stripe,
}

impl Verify {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hmac => "hmac",
            Self::Github => "github",
            Self::Standard => "standard",
            Self::Stripe => "stripe",
        }
    }
}

impl Scheduled {
    /// The timing in a zone that is known to exist; `default_zone` when none is written.
    pub fn timing(&self, default_zone: Tz) -> Result<Timing, String> {
        let zone = match &self.timezone {
            Some(name) => name.parse().map_err(|_| {
                format!("`{name}` is not a time zone; write an IANA name such as Europe/Rome")
            })?,
            None => default_zone,
        };
        match (&self.interval, &self.cron, &self.at) {
            (Some(interval), None, Some(at)) => Timing::daily(interval, at, zone),
            (Some(interval), None, None) => Timing::interval(interval),
            (None, Some(cron), None) => {
                Timing::cron(cron, zone).map_err(|reason| format!("cron `{cron}`: {reason}"))
            }
            (None, Some(_), Some(_)) => {
                Err("`at` goes with `interval`; a cron expression has its own time".to_owned())
            }
            (Some(_), Some(_), _) => Err("has both `interval` and `cron`; one of the two".to_owned()),
            (None, None, _) => Err("has neither `interval` nor `cron`; one of the two".to_owned()),
        }
    }

    /// How far back missed slots are looked for.
    pub fn catchup_window(&self) -> Result<Duration, String> {
        period_up_to(self.catchup_window.as_deref(), Duration::days(1), MAX_CATCHUP_DAYS)
    }

    /// The most that a slot is moved.
    pub fn jitter(&self) -> Result<Duration, String> {
        period_up_to(self.jitter.as_deref(), Duration::zero(), MAX_JITTER_DAYS)
    }
}

fn period_up_to(text: Option<&str>, default: Duration, max_days: i64) -> Result<Duration, String> {
    let Some(text) = text else { return Ok(default) };
    let period = parse_period(text)?;
    if period > Duration::days(max_days) {
        return Err(format!("`{text}` is above {max_days}d, the longest that is allowed here"));
    }
    Ok(period)
}

impl Triggers {
    /// What is wrong with the triggers by themselves; whether their chains exist is checked with the agent.
    pub(crate) fn check(&self, document: &Document<'_>, problems: &mut Problems) {
        for (index, schedule) in self.scheduled.iter().enumerate() {
            let path = format!("triggers.scheduled.{index}");
            let mut report = |key: &str, result: Result<(), String>| {
                if let Err(message) = result {
                    document.error(
                        problems,
                        &format!("{path}.{key}"),
                        format!("schedule of `{}`: {message}", schedule.chain),
                    );
                }
            };
            let key = if schedule.cron.is_some() { "cron" } else { "interval" };
            report(key, schedule.timing(Tz::UTC).map(drop));
            report("catchup_window", schedule.catchup_window().map(drop));
            report("jitter", schedule.jitter().map(drop));
        }
        for (index, event) in self.events.iter().enumerate() {
            if let Err(message) = check_pattern(&event.on) {
                document.error(problems, &format!("triggers.events.{index}.on"), message);
            }
        }
        let mut paths = BTreeSet::new();
        for (index, webhook) in self.webhooks.iter().enumerate() {
            webhook.check(&format!("triggers.webhooks.{index}"), document, problems);
            if !paths.insert(&webhook.path) {
                let message = format!("webhook path `{}` stands twice", webhook.path);
                document.error(problems, &format!("triggers.webhooks.{index}.path"), message);
            }
        }
    }
}

impl Webhook {
    fn check(&self, path: &str, document: &Document<'_>, problems: &mut Problems) {
        let mut error =
            |key: &str, message: String| document.error(problems, &format!("{path}.{key}"), message);
        let allowed = |c: char| c.is_ascii_alphanumeric() || "/-_.~".contains(c);
        let dots = self.path.split('/').any(|part| part == "." || part == "..");
        if !self.path.starts_with('/')
            || self.path.len() < 2
            || self.path.len() > 200
            || !self.path.chars().all(allowed)
            || dots
        {
            error(
                "path",
                format!(
                    "webhook path `{}` must begin with / and hold letters, digits and -_.~/ only",
                    self.path
                ),
            );
        }
        match &self.secret {
            Some(secret) if is_secret_reference(secret) => {}
            Some(secret) if secret.len() < MIN_SECRET_BYTES => {
                error(
                    "secret",
                    format!(
                        "a webhook secret has at least {MIN_SECRET_BYTES} bytes; this has {}",
                        secret.len()
                    ),
                );
            }
            Some(_) => {}
            None if self.verify.is_some() => error("verify", "`verify` needs a `secret`".to_owned()),
            None => {}
        }
        for method in &self.methods {
            if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
                error("methods", format!("`{method}` is not a method; GET, POST, PUT, PATCH or DELETE"));
            }
        }
        if self.methods.is_empty() {
            error("methods", "names no method".to_owned());
        }
    }
}

/// Whether a secret is named rather than written: `ENV/NAME` or `secret.NAME`.
pub fn is_secret_reference(text: &str) -> bool {
    let name = text.strip_prefix("ENV/").or_else(|| text.strip_prefix("secret."));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn check_pattern(pattern: &str) -> Result<(), String> {
    let segments = event_segments(pattern);
    let whole = segments.iter().all(|segment| !segment.contains('*') || segment == "*");
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '*';
    if !whole {
        Err(format!("event `{pattern}`: `*` stands for one whole segment, as in `weather.*`"))
    } else if segments.iter().any(|segment| segment.is_empty() || !segment.chars().all(plain)) {
        Err(format!("event `{pattern}`: a name is made of words with dots between, as in `weather.alert`"))
    } else {
        Ok(())
    }
}

/// Checks an event's name for publishing: a pattern without `*`.
pub fn check_event_name(name: &str) -> Result<(), String> {
    if name.contains('*') {
        return Err(format!("event `{name}`: only a subscription may have `*`"));
    }
    if name.len() > 200 {
        return Err("an event's name has at most 200 bytes".to_owned());
    }
    check_pattern(name)
}

/// The segments of an event's name, lower case: `DataChanged`, `data.changed` and `Data.Changed` are the same.
pub fn event_segments(name: &str) -> Vec<String> {
    if name.contains('.') {
        return name.split('.').map(str::to_lowercase).collect();
    }
    let mut segments = vec![String::new()];
    let mut previous_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && previous_lower {
            segments.push(String::new());
        }
        previous_lower = c.is_lowercase() || c.is_numeric();
        if let Some(last) = segments.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    segments
}

impl OnEvent {
    /// Whether an event wakes the agent: its name matches and every filter field agrees.
    pub fn matches(&self, name: &str, data: &Value) -> bool {
        let (pattern, name) = (event_segments(&self.on), event_segments(name));
        let same_name =
            pattern.len() == name.len() && pattern.iter().zip(&name).all(|(p, n)| p == "*" || p == n);
        same_name
            && self.filter.iter().all(|(path, wanted)| {
                let found = crate::template::lookup(data, path.split('.'));
                match (found, wanted) {
                    (None, _) => false,
                    (Some(found), Value::Array(any)) => any.contains(found) || found == wanted,
                    (Some(found), wanted) => found == wanted,
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn on(pattern: &str, filter: Value) -> OnEvent {
        serde_json::from_value(json!({"on": pattern, "chain": "c", "filter": filter})).unwrap()
    }

    #[test]
    fn event_names_compare_without_case_and_camel_case_equals_dots() {
        let any = json!({});
        assert!(on("DataChanged", any.clone()).matches("data.changed", &any));
        assert!(on("data.changed", any.clone()).matches("DataChanged", &any));
        assert!(on("Weather.*", any.clone()).matches("weather.alert", &any));
        assert!(!on("weather.*", any.clone()).matches("weather.alert.red", &any));
        assert!(!on("weather", any.clone()).matches("weather.alert", &any));
    }

    #[test]
    fn a_filter_compares_payload_fields_by_dotted_path() {
        let event = json!({"place": {"city": "Rome"}, "level": 3});
        assert!(on("a", json!({"place.city": "Rome"})).matches("a", &event));
        assert!(on("a", json!({"place.city": ["Oslo", "Rome"], "level": 3})).matches("a", &event));
        assert!(!on("a", json!({"place.city": "Oslo"})).matches("a", &event));
        assert!(!on("a", json!({"place.street": "x"})).matches("a", &event));
    }

    #[test]
    fn a_schedule_looks_back_a_year_at_most_and_moves_by_a_day_at_most() {
        let schedule = |key: &str, value: &str| -> Scheduled {
            serde_json::from_value(json!({"chain": "c", "interval": "1h", key: value})).unwrap()
        };
        assert_eq!(schedule("catchup_window", "366d").catchup_window(), Ok(Duration::days(366)));
        assert_eq!(schedule("jitter", "1d").jitter(), Ok(Duration::days(1)));
        assert_eq!(
            schedule("catchup_window", "367d").catchup_window(),
            Err("`367d` is above 366d, the longest that is allowed here".to_owned())
        );
        assert_eq!(
            schedule("jitter", "25h").jitter(),
            Err("`25h` is above 1d, the longest that is allowed here".to_owned())
        );
    }

    #[test]
    fn a_wildcard_stands_for_a_whole_segment() {
        assert!(check_pattern("a.*").is_ok());
        assert!(check_pattern("a.b*").is_err());
        assert!(check_pattern("a..b").is_err());
        assert!(check_event_name("a.*").is_err());
    }
}
