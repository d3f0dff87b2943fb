//! When a schedule fires: an interval from a fixed anchor, or a cron expression in a time zone.

use chrono::{DateTime, Days, Duration, LocalResult, NaiveDateTime, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

use crate::cron_expression::CronExpression;

/// Zones shift by at most this much at once, so a wall clock is looked at this far around a shift.
const SHIFT: Duration = Duration::hours(3);

/// The times of a schedule. Pure: the same anchor and moment give the same answer.
#[derive(Debug, Clone)]
pub enum Timing {
    /// Every `period` from the anchor on.
    Interval {
        /// At least one second.
        period: Duration,
    },
    /// Every `days` days at a wall-clock time.
    Daily {
        /// At least 1.
        days: u64,
        /// The wall-clock time.
        at: NaiveTime,
        /// Where that clock hangs.
        zone: Tz,
    },
    /// By a cron expression.
    Cron {
        /// The expression.
        expression: CronExpression,
        /// Where its clock hangs.
        zone: Tz,
    },
}

impl Timing {
    /// An interval such as `10m` or `1h 30m`.
    pub fn interval(text: &str) -> Result<Self, String> {
        Ok(Self::Interval { period: parse_period(text)? })
    }

    /// An interval of whole days at `HH:MM` or `HH:MM:SS`.
    pub fn daily(interval: &str, at: &str, zone: Tz) -> Result<Self, String> {
        let period = parse_period(interval)?;
        let whole_days = period.num_seconds() % 86_400 == 0;
        if !whole_days {
            return Err(format!("`at` goes with an interval of whole days; `{interval}` is not"));
        }
        let at = NaiveTime::parse_from_str(at, "%H:%M")
            .or_else(|_| NaiveTime::parse_from_str(at, "%H:%M:%S"))
            .map_err(|_| format!("`{at}` is not a time of day such as 09:00"))?;
        Ok(Self::Daily { days: period.num_days().unsigned_abs(), at, zone })
    }

    /// A cron expression; one that never fires is refused.
    pub fn cron(text: &str, zone: Tz) -> Result<Self, String> {
        let expression = CronExpression::parse(text)?;
        // Eight years reach over the leap day that the year 2100 leaves out, so 29 February is found from any start.
        let start = DateTime::<Utc>::UNIX_EPOCH + Duration::days(56 * 365);
        if expression.next_wall(&start).is_none() {
            return Err("it never fires: no date matches".to_owned());
        }
        Ok(Self::Cron { expression, zone })
    }

    /// The first time strictly after `after`. `anchor` is when the schedule began to exist. None when there is none.
    pub fn next_after(&self, anchor: DateTime<Utc>, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Interval { period } => {
                let passed = after.signed_duration_since(anchor).num_milliseconds();
                let period_ms = period.num_milliseconds();
                let slots = passed.div_euclid(period_ms).max(0) + 1;
                anchor.checked_add_signed(Duration::milliseconds(period_ms.checked_mul(slots)?))
            }
            Self::Daily { days, at, zone } => next_daily(*days, *at, *zone, anchor, after),
            Self::Cron { expression, zone } => next_cron(expression, *zone, after),
        }
    }
}

/// A duration of at least one second.
pub fn parse_period(text: &str) -> Result<Duration, String> {
    let period = humantime::parse_duration(text)
        .map_err(|_| format!("`{text}` is not a duration; write for example 30s, 10m, 1h 30m or 7d"))?;
    if period < std::time::Duration::from_secs(1) {
        return Err(format!("`{text}` is below 1 s, the shortest that is allowed"));
    }
    Duration::from_std(period)
        .ok()
        .filter(|period| *period <= Duration::days(36_525))
        .ok_or_else(|| format!("`{text}` is above 100 years, the longest that is allowed"))
}

fn next_daily(
    days: u64,
    at: NaiveTime,
    zone: Tz,
    anchor: DateTime<Utc>,
    after: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let first = anchor.with_timezone(&zone).date_naive();
    let today = after.with_timezone(&zone).date_naive();
    let passed = today.signed_duration_since(first).num_days().max(0).unsigned_abs();
    // One period back: a time that does not exist on its own day moves to a later moment.
    let mut day = first.checked_add_days(Days::new((passed / days).saturating_sub(1) * days))?;
    loop {
        let moment = resolve(zone, day.and_time(at))?;
        if moment > after && moment > anchor {
            return Some(moment);
        }
        day = day.checked_add_days(Days::new(days))?;
    }
}

fn next_cron(expression: &CronExpression, zone: Tz, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let wall = |moment: DateTime<Utc>| moment.with_timezone(&zone).naive_local().and_utc();
    let steady = wall(after + SHIFT) - wall(after - SHIFT) == SHIFT * 2;
    if steady {
        let next = expression.next_wall(&wall(after))?;
        if next - wall(after) < SHIFT {
            return resolve(zone, next.naive_utc());
        }
    }
    // Around a shift of the clock the order of wall-clock times is not the order of moments: look at all of them.
    let mut best: Option<DateTime<Utc>> = None;
    let mut candidate = wall(after) - SHIFT;
    loop {
        let Some(next) = expression.next_wall(&candidate) else { return best };
        candidate = next;
        if best.is_some_and(|best| candidate > wall(best) + SHIFT) {
            return best;
        }
        for moment in moments(zone, candidate.naive_utc(), expression.is_every_hour()) {
            if moment > after && best.is_none_or(|best| moment < best) {
                best = Some(moment);
            }
        }
    }
}

/// The moments at which a wall clock shows `wall`: one, two when the clock is set back and the schedule means every
/// hour, or the end of the gap when the clock jumps over it.
fn moments(zone: Tz, wall: NaiveDateTime, every_hour: bool) -> Vec<DateTime<Utc>> {
    match zone.from_local_datetime(&wall) {
        LocalResult::Ambiguous(first, second) if every_hour => vec![first.to_utc(), second.to_utc()],
        _ => resolve(zone, wall).into_iter().collect(),
    }
}

/// One moment for a wall-clock time: the first of two, or the end of the gap that swallowed it.
fn resolve(zone: Tz, wall: NaiveDateTime) -> Option<DateTime<Utc>> {
    match zone.from_local_datetime(&wall) {
        LocalResult::Single(moment) | LocalResult::Ambiguous(moment, _) => Some(moment.to_utc()),
        LocalResult::None => {
            // The gap ends at the first minute whose wall clock exists; zones shift on whole minutes.
            let minute = wall.date().and_hms_opt(0, 0, 0)?
                + Duration::minutes(
                    wall.signed_duration_since(wall.date().and_hms_opt(0, 0, 0)?).num_minutes(),
                );
            (1..=26 * 60)
                .find_map(|later| zone.from_local_datetime(&(minute + Duration::minutes(later))).earliest())
                .map(|moment| moment.to_utc())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROME: Tz = chrono_tz::Europe::Rome;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn series(timing: &Timing, anchor: &str, after: &str, count: usize) -> Vec<String> {
        let mut moment = at(after);
        (0..count)
            .map(|_| {
                moment = timing.next_after(at(anchor), moment).unwrap();
                moment.format("%FT%T").to_string()
            })
            .collect()
    }

    #[test]
    fn an_interval_counts_from_its_anchor_and_not_from_a_restart() {
        let timing = Timing::interval("10m").unwrap();
        let found = series(&timing, "2026-01-01T00:03:00Z", "2026-01-01T05:00:01Z", 2);
        assert_eq!(found, ["2026-01-01T05:03:00", "2026-01-01T05:13:00"]);
        assert_eq!(
            timing.next_after(at("2026-01-01T00:03:00Z"), at("2025-12-31T00:00:00Z")),
            Some(at("2026-01-01T00:13:00Z")),
            "a clock that was set back before the anchor fires nothing early"
        );
    }

    #[test]
    fn a_wall_clock_time_that_does_not_exist_runs_at_the_next_moment_that_does() {
        let cron = Timing::cron("30 2 * * *", ROME).unwrap();
        let found = series(&cron, "2026-01-01T00:00:00Z", "2026-03-28T00:00:00Z", 3);
        assert_eq!(found, ["2026-03-28T01:30:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"]);
        let daily = Timing::daily("1d", "02:30", ROME).unwrap();
        assert_eq!(series(&daily, "2026-01-01T00:00:00Z", "2026-03-28T00:00:00Z", 3), found);
    }

    #[test]
    fn a_wall_clock_time_that_exists_twice_runs_once() {
        let cron = Timing::cron("30 2 * * *", ROME).unwrap();
        let found = series(&cron, "2026-01-01T00:00:00Z", "2026-10-24T12:00:00Z", 2);
        assert_eq!(found, ["2026-10-25T00:30:00", "2026-10-26T01:30:00"]);
    }

    #[test]
    fn every_ten_minutes_goes_on_through_a_clock_change() {
        let cron = Timing::cron("*/30 * * * *", ROME).unwrap();
        let back = series(&cron, "2026-01-01T00:00:00Z", "2026-10-24T23:59:00Z", 6);
        assert_eq!(
            back,
            [
                "2026-10-25T00:00:00",
                "2026-10-25T00:30:00",
                "2026-10-25T01:00:00",
                "2026-10-25T01:30:00",
                "2026-10-25T02:00:00",
                "2026-10-25T02:30:00"
            ]
        );
        let forward = series(&cron, "2026-01-01T00:00:00Z", "2026-03-29T00:15:00Z", 3);
        assert_eq!(forward, ["2026-03-29T00:30:00", "2026-03-29T01:00:00", "2026-03-29T01:30:00"]);
    }

    #[test]
    fn garbage_is_refused_with_the_reason() {
        for (text, reason) in
            [("x", "not a duration"), ("0s", "below 1 s"), ("200ms", "below 1 s"), ("", "not a duration")]
        {
            assert!(Timing::interval(text).unwrap_err().contains(reason), "{text}");
        }
        assert!(Timing::cron("0 0 30 2 *", ROME).unwrap_err().contains("never fires"));
        assert!(Timing::daily("36h", "09:00", ROME).unwrap_err().contains("whole days"));
        assert!(Timing::daily("1d", "25:00", ROME).unwrap_err().contains("time of day"));
        assert!(Timing::cron("0 0 29 2 *", ROME).is_ok());
    }
}
