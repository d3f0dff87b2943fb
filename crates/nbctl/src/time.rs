//! Times and durations in words.

use chrono::{DateTime, Utc};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago (or ahead) `at` is: `now`, `3 s ago`, `in 5 min`; a date beyond 60 days.
pub(crate) fn relative(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let seconds = now.signed_duration_since(at).num_seconds();
    let distance = seconds.saturating_abs();
    let words = match distance {
        0 => return "now".to_owned(),
        1..MINUTE => format!("{distance} s"),
        MINUTE..HOUR => format!("{} min", distance / MINUTE),
        HOUR..DAY => format!("{} h", distance / HOUR),
        _ if distance < 2 * DAY => "1 day".to_owned(),
        _ if distance <= 60 * DAY => format!("{} days", distance / DAY),
        _ => return at.format("%Y-%m-%d").to_string(),
    };
    if seconds > 0 { format!("{words} ago") } else { format!("in {words}") }
}

/// Milliseconds in the unit that suits them: `0.42 ms`, `3.4 s`, `2 min 5 s`.
pub(crate) fn duration(ms: f64) -> String {
    // Rounded first, so that 999.7 ms is one second and not a thousand milliseconds.
    let whole_ms = ms.max(0.0).round() as u64;
    let seconds = whole_ms / 1000;
    match whole_ms {
        0..10 => format!("{ms:.2} ms"),
        10..1000 => format!("{whole_ms} ms"),
        1000..60_000 => format!("{:.1} s", ms / 1000.0),
        60_000..3_600_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_told_in_one_unit() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let past = |seconds: i64| relative(now - chrono::TimeDelta::seconds(seconds), now);
        assert_eq!(
            [0, 3, 59, 60, 3_599, 3_600, 86_400, 200_000, 61 * DAY].map(past),
            [
                "now",
                "3 s ago",
                "59 s ago",
                "1 min ago",
                "59 min ago",
                "1 h ago",
                "1 day ago",
                "2 days ago",
                "2025-12-30"
            ]
        );
        assert_eq!([-3, -90, -90_000].map(past), ["in 3 s", "in 1 min", "in 1 day"]);
    }

    #[test]
    fn durations_have_a_fitting_unit() {
        assert_eq!(
            [0.42, 9.0, 12.4, 999.7, 3_400.0, 125_000.0, 7_380_000.0].map(duration),
            ["0.42 ms", "9.00 ms", "12 ms", "1.0 s", "3.4 s", "2 min 5 s", "2 h 3 min"]
        );
    }
}
