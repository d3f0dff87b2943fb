//! Cron expressions as people know them: five fields, or six with seconds first.
//!
//! The `cron` crate counts Sunday as 1, wants seconds, and takes a day only when day-of-month *and* day-of-week agree.
//! crontab(5) counts Sunday as 0 or 7 and, when neither field begins with `*`, takes a day when *either* agrees. People
//! mean crontab, so the fields are rewritten before they reach the crate.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use cron::Schedule;

const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A parsed expression over wall-clock time; it knows no time zone.
#[derive(Debug, Clone)]
pub struct CronExpression {
    /// One, or two when a day matches by either of its fields.
    alternatives: Vec<Schedule>,
    every_hour: bool,
}

impl CronExpression {
    /// Reads five or six fields. The error says what is wrong in a sentence without the expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [second, minute, hour, day, month, weekday] = match fields[..] {
            [minute, hour, day, month, weekday] => ["0", minute, hour, day, month, weekday],
            [second, minute, hour, day, month, weekday] => [second, minute, hour, day, month, weekday],
            _ => {
                return Err(format!(
                    "a cron expression has five fields (minute hour day month weekday), or six with seconds first; this has {}",
                    fields.len()
                ));
            }
        };
        // As crontab reads it: a field that begins with `*` leaves the choice to the other one, even with a step.
        let restricted = |field: &str| !field.starts_with('*') && field != "?";
        let either = restricted(day) && restricted(weekday);
        let weekday = weekday_names(weekday)?;
        let build = |day: &str, weekday: &str| {
            Schedule::from_str(&format!("{second} {minute} {hour} {day} {month} {weekday}"))
                .map_err(|_| reason([second, minute, hour, day, month]))
        };
        let alternatives =
            if either { vec![build(day, "*")?, build("*", &weekday)?] } else { vec![build(day, &weekday)?] };
        Ok(Self { alternatives, every_hour: hour.starts_with('*') })
    }

    /// The first wall-clock time strictly after `wall`, which is written as if it were UTC. None when there is none.
    pub(crate) fn next_wall(&self, wall: &DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.alternatives.iter().filter_map(|schedule| schedule.after(wall).next()).min()
    }

    /// True when the hour field is `*` or `*/n`: such an expression means "every so often", not "at that hour".
    pub(crate) fn is_every_hour(&self) -> bool {
        self.every_hour
    }
}

/// Weekdays with Sunday as 0 or 7, by number or name, as the list of names that the `cron` crate takes.
fn weekday_names(field: &str) -> Result<String, String> {
    if field == "*" || field == "?" {
        return Ok("*".to_owned());
    }
    let mut chosen = [false; 7];
    for item in field.split(',') {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => {
                let step = step.parse().ok().filter(|step| *step > 0);
                (range, step.ok_or_else(|| format!("`{item}` has a step that is not a number above 0"))?)
            }
            None => (item, 1),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (weekday(first)?, weekday(last)?),
            None if range == "*" => (0, 6),
            None if item.contains('/') => (weekday(range)?, 6),
            None => (weekday(range)?, weekday(range)?),
        };
        // `Fri-Mon` goes over the end of the week; `5-7` ends on Sunday.
        let last = if last < first { last + 7 } else { last };
        for day in (first..=last).step_by(step) {
            chosen[day % 7] = true;
        }
    }
    let names: Vec<&str> =
        DAYS.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(name, _)| *name).collect();
    Ok(if names.len() == 7 { "*".to_owned() } else { names.join(",") })
}

fn weekday(text: &str) -> Result<usize, String> {
    let lower = text.to_ascii_lowercase();
    let by_number = lower.parse::<usize>().ok().filter(|day| *day <= 7);
    let by_name =
        || DAYS.iter().position(|day| lower.len() >= 3 && full_name(day).starts_with(lower.as_str()));
    by_number
        .or_else(by_name)
        .ok_or_else(|| format!("`{text}` is not a weekday; use 0 to 7 (0 and 7 are Sunday) or Mon, Tue, …"))
}

fn full_name(day: &str) -> &'static str {
    match day {
        "sun" => "sunday",
        "mon" => "monday",
        "tue" => "tuesday",
        "wed" => "wednesday",
        "thu" => "thursday",
        "fri" => "friday",
        _ => "saturday",
    }
}

/// The first field that the crate does not read by itself; its own message only repeats the whole expression.
fn reason(fields: [&str; 5]) -> String {
    const MEANT: [&str; 5] = [
        "a second: 0 to 59",
        "a minute: 0 to 59",
        "an hour: 0 to 23",
        "a day of the month: 1 to 31",
        "a month: 1 to 12 or Jan, Feb, …",
    ];
    for (place, field) in fields.iter().enumerate() {
        let mut alone = ["*"; 5];
        alone[place] = field;
        if Schedule::from_str(&format!("{} *", alone.join(" "))).is_err() {
            return format!(
                "`{field}` is not {}; also `*`, ranges (1-5), lists (1,3) and steps (*/10)",
                MEANT[place]
            );
        }
    }
    "it cannot be read".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(expression: &str, after: &str) -> String {
        let after = after.parse::<DateTime<Utc>>().unwrap();
        CronExpression::parse(expression).unwrap().next_wall(&after).unwrap().format("%a %F %T").to_string()
    }

    #[test]
    fn weekdays_count_from_sunday_as_crontab_does() {
        assert_eq!(next("0 9 * * 1", "2026-03-01T00:00:00Z"), "Mon 2026-03-02 09:00:00");
        assert_eq!(next("0 9 * * 0", "2026-03-02T00:00:00Z"), "Sun 2026-03-08 09:00:00");
        assert_eq!(next("0 9 * * 7", "2026-03-02T00:00:00Z"), "Sun 2026-03-08 09:00:00");
        assert_eq!(next("0 9 * * 6-7", "2026-03-02T00:00:00Z"), "Sat 2026-03-07 09:00:00");
        assert_eq!(next("*/10 9-17 * * Mon-Fri", "2026-03-07T00:00:00Z"), "Mon 2026-03-09 09:00:00");
    }

    #[test]
    fn either_day_field_is_enough_when_both_are_given() {
        assert_eq!(next("0 0 13 * 5", "2026-03-01T00:00:00Z"), "Fri 2026-03-06 00:00:00");
        assert_eq!(next("0 0 13 * 1", "2026-03-10T00:00:00Z"), "Fri 2026-03-13 00:00:00");
    }

    #[test]
    fn a_day_field_with_a_star_leaves_the_choice_to_the_other_even_with_a_step() {
        assert_eq!(next("0 0 1-7 * */7", "2026-03-01T12:00:00Z"), "Sun 2026-04-05 00:00:00");
        assert_eq!(next("0 0 */10 * 1", "2026-03-01T12:00:00Z"), "Mon 2026-05-11 00:00:00");
        assert_eq!(next("0 0 13 * 0-6", "2026-03-01T12:00:00Z"), "Mon 2026-03-02 00:00:00");
    }

    #[test]
    fn six_fields_begin_with_seconds() {
        assert_eq!(next("30 0 9 * * *", "2026-03-01T00:00:00Z"), "Sun 2026-03-01 09:00:30");
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_a_reason() {
        for bad in ["", "x", "* * * *", "61 * * * *", "* * * * 8", "* * * * */0", "* * * * funday"] {
            assert!(CronExpression::parse(bad).is_err(), "{bad}");
        }
        let reason = CronExpression::parse("0 25 * * *").unwrap_err();
        assert!(reason.starts_with("`25` is not an hour: 0 to 23"), "{reason}");
    }
}
