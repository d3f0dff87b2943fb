//! `config.yaml`: read once, checked whole. Every key has a default.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;
use chrono_tz::Tz;
use nb_egress::HostRule;
use nb_runtime::models::prices::PriceList;
use nb_sandbox::Limits;
use nb_spec::document::Document;
use nb_spec::problem::Problems;
use serde::{Deserialize, Serialize};

const KEYS: &[&str] = &[
    "timezone",
    "retention_days",
    "webhooks",
    "listen",
    "max_body_bytes",
    "max_per_second",
    "egress",
    "allow",
    "limits",
    "wall_ms",
    "output_bytes",
    "host_calls",
    "host_bytes",
    "log_bytes",
    "concurrent_tools",
    "prices",
];

/// The file as written.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ConfigFile {
    timezone: Option<String>,
    retention_days: Option<u32>,
    webhooks: WebhooksFile,
    egress: EgressFile,
    limits: LimitsFile,
    prices: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct WebhooksFile {
    listen: Option<SocketAddr>,
    max_body_bytes: Option<usize>,
    max_per_second: Option<u32>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct EgressFile {
    allow: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct LimitsFile {
    wall_ms: Option<u64>,
    output_bytes: Option<u64>,
    host_calls: Option<u64>,
    host_bytes: Option<u64>,
    log_bytes: Option<u64>,
    concurrent_tools: Option<u32>,
}

/// What the operator decided, with the defaults filled in.
#[derive(Debug, Clone)]
pub struct Config {
    /// The zone of schedules that name none: `timezone`, else the system's.
    pub timezone: Tz,
    /// What has ended is kept for this long: runs with their records, events, decided slots, notifications.
    pub retention: TimeDelta,
    /// Where webhooks are served; always a loopback address. Port 0 takes any free one.
    pub listen: SocketAddr,
    /// The largest body of a webhook request.
    pub max_body_bytes: usize,
    /// The most requests that each webhook path takes in a second.
    pub max_per_second: u32,
    /// Hosts that tools may reach although their addresses are not public.
    pub egress_allow: Vec<HostRule>,
    /// The limits of a tool call that no manifest sets.
    pub limits: Limits,
    /// How many tools run at once; more wait.
    pub concurrent_tools: u32,
    /// What models cost whose cartridges do not say it.
    pub prices: PriceList,
}

impl Config {
    /// Reads `config.yaml` in a folder; without the file, the defaults. The error lists every problem.
    pub fn load(dir: &Path) -> Result<Self, String> {
        let path = dir.join("config.yaml");
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        Self::parse(&path.display().to_string(), &bytes)
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, String> {
        let mut problems = Problems::default();
        let config = Self::read(name, bytes, &mut problems);
        match config {
            Some(config) if !problems.has_errors() => Ok(config),
            _ => Err(problems.to_string()),
        }
    }

    fn read(name: &str, bytes: &[u8], problems: &mut Problems) -> Option<Self> {
        let document = Document::new(name, bytes, problems)?;
        // A file of comments alone is an empty document, which is no mapping.
        let is_empty =
            serde_json::to_value(document.read::<Option<serde_json::Value>>(&[], problems)?).ok()?.is_null();
        let file: ConfigFile =
            if is_empty { ConfigFile::default() } else { document.read(KEYS, problems)? };
        let timezone = match &file.timezone {
            Some(written) => written.parse().unwrap_or_else(|_| {
                let message =
                    format!("`{written}` is not a time zone; write an IANA name such as Europe/Rome");
                document.error(problems, "timezone", message);
                Tz::UTC
            }),
            None => system_timezone(),
        };
        let listen = file.webhooks.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 7717)));
        if !listen.ip().is_loopback() {
            let message = format!(
                "{listen} is not a loopback address; to be reached from outside, put a reverse proxy in front"
            );
            document.error(problems, "webhooks.listen", message);
        }
        let mut egress_allow = Vec::new();
        for (index, host) in file.egress.allow.iter().enumerate() {
            match host.parse::<HostRule>() {
                Ok(rule) => egress_allow.push(rule),
                Err(error) => document.error(problems, &format!("egress.allow.{index}"), error.to_string()),
            }
        }
        let mut prices = PriceList::default();
        for (model, given) in &file.prices {
            if let Err(reason) = prices.add(model, given) {
                document.error(
                    problems,
                    &format!("prices.{model}"),
                    format!("prices of `{model}`: {reason}"),
                );
            }
        }
        let mut bounded = |key: &str, value: Option<u64>, default: u64, most: u64| match value {
            Some(value) if !(1..=most).contains(&value) => {
                document.error(problems, key, format!("`{key}` must be 1 to {most}; it is {value}"));
                default
            }
            Some(value) => value,
            None => default,
        };
        let default = Limits::default();
        let wall = bounded("limits.wall_ms", file.limits.wall_ms, 5_000, 600_000);
        let limits = Limits {
            wall: Duration::from_millis(wall),
            output_bytes: bounded(
                "limits.output_bytes",
                file.limits.output_bytes,
                default.output_bytes,
                64 << 20,
            ),
            host_calls: bounded("limits.host_calls", file.limits.host_calls, default.host_calls, 10_000_000),
            host_bytes: bounded("limits.host_bytes", file.limits.host_bytes, default.host_bytes, 1 << 30),
            log_bytes: bounded("limits.log_bytes", file.limits.log_bytes, default.log_bytes, 64 << 20),
            ..default
        };
        let concurrent =
            bounded("limits.concurrent_tools", file.limits.concurrent_tools.map(u64::from), 64, 1000);
        let retention = bounded("retention_days", file.retention_days.map(u64::from), 90, 3650);
        let body = file.webhooks.max_body_bytes.map(|bytes| bytes as u64);
        let body = bounded("webhooks.max_body_bytes", body, 1 << 20, 64 << 20);
        let rate =
            bounded("webhooks.max_per_second", file.webhooks.max_per_second.map(u64::from), 1000, 1_000_000);
        Some(Self {
            timezone,
            retention: TimeDelta::days(i64::try_from(retention).ok()?),
            listen,
            max_body_bytes: usize::try_from(body).ok()?,
            max_per_second: u32::try_from(rate).ok()?,
            egress_allow,
            limits,
            concurrent_tools: u32::try_from(concurrent).ok()?,
            prices,
        })
    }
}

fn system_timezone() -> Tz {
    iana_time_zone::get_timezone().ok().and_then(|name| name.parse().ok()).unwrap_or(Tz::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_file_the_documented_defaults_hold() {
        for empty in ["", "# only a comment\n"] {
            let config = Config::parse("config.yaml", empty.as_bytes()).unwrap();
            assert_eq!(config.listen.to_string(), "127.0.0.1:7717");
            assert_eq!(config.max_body_bytes, 1 << 20);
            assert_eq!(config.limits.wall, Duration::from_secs(5));
            assert_eq!(config.retention, TimeDelta::days(90));
        }
    }

    #[test]
    fn every_problem_is_reported_with_its_line() {
        let text = "\
timezone: Mars/Olympus
webhooks:
  listen: 0.0.0.0:80
  max_body_bites: 5
limits: {wall_ms: 0}
egress: {allow: [\"http://x\"]}
prices:
  gpt-4.1: {input: 2}
";
        let problems = Config::parse("config.yaml", text.as_bytes()).unwrap_err();
        let lines: Vec<&str> = problems.lines().collect();
        assert_eq!(lines.len(), 6, "{problems}");
        assert_eq!(
            lines[0],
            "config.yaml:4: unknown key `webhooks.max_body_bites`; did you mean `max_body_bytes`?"
        );
        assert!(lines[1].starts_with("config.yaml:1: `Mars/Olympus` is not a time zone"), "{problems}");
        assert!(lines[2].starts_with("config.yaml:3: 0.0.0.0:80 is not a loopback address"), "{problems}");
        assert!(lines[3].starts_with("config.yaml:6: "), "{problems}");
        assert!(
            lines[4].starts_with("config.yaml:8: prices of `gpt-4.1`: missing field `output`"),
            "{problems}"
        );
        assert_eq!(lines[5], "config.yaml:5: `limits.wall_ms` must be 1 to 600000; it is 0");
    }
}
