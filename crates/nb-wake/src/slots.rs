//! Which slots of a schedule are due, and which of them run. Pure.

use chrono::{DateTime, Duration, Utc};
use nb_spec::trigger::Missed;

/// A slot that is at most this late was not missed when somebody was waiting for it: the daemon was busy for a moment.
const GRACE: Duration = Duration::seconds(30);
/// Skipped slots are recorded one by one up to this many; what was before them shares one row.
const RECORDED: usize = 100;

/// What is to become of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs. A slot that was missed waits for the one before it, whatever `overlap` says.
    Run {
        /// Whether it was missed.
        missed: bool,
    },
    /// It does not run, for this reason.
    Skip(String),
}

/// The slots after `decided` up to `now`, in their order, each with its verdict. At most `most` slots are looked at; what
/// is after them is due when the last of these is decided.
///
/// `next` gives the first slot after a time. `decided` is the last slot that was decided, or the schedule's beginning.
/// Since `watched` somebody waits for slots; those before it passed while the daemon was off, however short that was.
pub fn due(
    next: impl Fn(DateTime<Utc>) -> Option<DateTime<Utc>>,
    decided: DateTime<Utc>,
    watched: DateTime<Utc>,
    now: DateTime<Utc>,
    missed: Missed,
    window: Duration,
    most: usize,
) -> Vec<(DateTime<Utc>, Verdict)> {
    let mut verdicts = Vec::new();
    let mut after = decided;
    let horizon = now - window;
    if let Some(first) = next(after).filter(|first| *first < horizon) {
        let reason = "missed; it is older than the catch-up window, like every slot up to that";
        verdicts.push((first, Verdict::Skip(reason.to_owned())));
        after = horizon;
    }
    let mut slots = Vec::new();
    while slots.len() < most {
        let Some(slot) = next(after).filter(|slot| *slot <= now) else { break };
        slots.push(slot);
        after = slot;
    }
    let is_late = |slot: DateTime<Utc>| slot < watched || now - slot > GRACE;
    let late = slots.iter().take_while(|slot| is_late(**slot)).count();
    // Then the latest missed slot is not among these.
    let more_are_late = late == most && next(after).is_some_and(is_late);
    let skip = |reason: &str| Verdict::Skip(reason.to_owned());
    let mut late_verdicts: Vec<_> = slots[..late]
        .iter()
        .enumerate()
        .map(|(index, slot)| match missed {
            Missed::All => (*slot, Verdict::Run { missed: true }),
            Missed::Once if index + 1 == late && !more_are_late => (*slot, Verdict::Run { missed: true }),
            Missed::Once => (*slot, skip("missed; only the latest missed slot runs (missed: once)")),
            Missed::Skip => (*slot, skip("missed (missed: skip)")),
        })
        .collect();
    let recorded = if more_are_late { 2 } else { RECORDED };
    if missed != Missed::All && late_verdicts.len() > recorded {
        let unlisted = late_verdicts.len() - recorded;
        late_verdicts.drain(1..=unlisted);
        if let Some((_, verdict)) = late_verdicts.first_mut() {
            *verdict = Verdict::Skip(format!("missed, like the {unlisted} slots after it"));
        }
    }
    verdicts.extend(late_verdicts);
    verdicts.extend(slots[late..].iter().map(|slot| (*slot, Verdict::Run { missed: false })));
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-01-01T{text}Z").parse().unwrap()
    }

    /// A slot every ten minutes.
    fn found(decided: &str, now: &str, missed: Missed, window: Duration) -> Vec<(String, &'static str)> {
        found_of(1000, decided, now, missed, window)
    }

    fn found_of(
        most: usize,
        decided: &str,
        now: &str,
        missed: Missed,
        window: Duration,
    ) -> Vec<(String, &'static str)> {
        let anchor = at("00:00:00");
        let next = |after: DateTime<Utc>| {
            let passed = (after - anchor).num_seconds().div_euclid(600) + 1;
            Some(anchor + Duration::seconds(600 * passed))
        };
        due(next, at(decided), at(decided), at(now), missed, window, most)
            .into_iter()
            .map(|(slot, verdict)| {
                let verdict = match verdict {
                    Verdict::Run { missed: true } => "late",
                    Verdict::Run { missed: false } => "run",
                    Verdict::Skip(_) => "skip",
                };
                (slot.format("%H:%M").to_string(), verdict)
            })
            .collect()
    }

    fn list(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        expected.iter().map(|(slot, verdict)| ((*slot).to_owned(), *verdict)).collect()
    }

    #[test]
    fn a_slot_on_time_runs_and_one_before_it_does_not_come_back() {
        let day = Duration::days(1);
        assert_eq!(found("01:00:00", "01:10:00", Missed::Once, day), list(&[("01:10", "run")]));
        assert_eq!(found("01:10:00", "01:10:00", Missed::Once, day), list(&[]));
        assert_eq!(found("01:10:00", "00:50:00", Missed::Once, day), list(&[]), "the clock was set back");
    }

    #[test]
    fn missed_slots_follow_their_policy() {
        let day = Duration::days(1);
        assert_eq!(
            found("01:00:00", "01:40:05", Missed::Once, day),
            list(&[("01:10", "skip"), ("01:20", "skip"), ("01:30", "late"), ("01:40", "run")])
        );
        assert_eq!(
            found("01:00:00", "01:25:00", Missed::Skip, day),
            list(&[("01:10", "skip"), ("01:20", "skip")])
        );
        assert_eq!(
            found("01:00:00", "01:25:00", Missed::All, day),
            list(&[("01:10", "late"), ("01:20", "late")])
        );
    }

    #[test]
    fn what_is_older_than_the_window_is_recorded_and_skipped() {
        assert_eq!(
            found("00:00:00", "02:05:00", Missed::All, Duration::minutes(30)),
            list(&[("00:10", "skip"), ("01:40", "late"), ("01:50", "late"), ("02:00", "late")])
        );
    }

    #[test]
    fn more_slots_than_are_looked_at_go_on_after_the_last_of_them() {
        let day = Duration::days(1);
        let found = |decided, missed| found_of(3, decided, "01:15:00", missed, day);
        assert_eq!(found("00:00:00", Missed::Once), list(&[("00:10", "skip"), ("00:30", "skip")]));
        assert_eq!(found("00:30:00", Missed::Once), list(&[("00:40", "skip"), ("01:00", "skip")]));
        assert_eq!(found("01:00:00", Missed::Once), list(&[("01:10", "late")]));
        assert_eq!(
            found("00:00:00", Missed::All),
            list(&[("00:10", "late"), ("00:20", "late"), ("00:30", "late")])
        );
        assert_eq!(
            found_of(3, "00:40:00", "01:10:00", Missed::Once, day),
            list(&[("00:50", "skip"), ("01:00", "late"), ("01:10", "run")]),
            "what follows is not late"
        );
    }

    #[test]
    fn a_long_row_of_skipped_slots_shares_a_row() {
        let verdicts = found("00:00:00", "23:55:00", Missed::Skip, Duration::days(1));
        assert_eq!(verdicts.len(), RECORDED);
        assert_eq!(verdicts[0].0, "00:10");
        assert_eq!(verdicts[RECORDED - 1].0, "23:50");
    }

    #[test]
    fn a_slot_that_passed_while_the_daemon_was_off_was_missed_however_short_that_was() {
        let every_second = |after: DateTime<Utc>| Some(after + Duration::seconds(1));
        let verdicts = |missed| {
            due(every_second, at("01:00:00"), at("01:00:04"), at("01:00:05"), missed, Duration::days(1), 1000)
        };
        let runs = |missed| {
            let all = verdicts(missed).into_iter();
            all.filter(|(_, verdict)| *verdict == Verdict::Run { missed: true }).count()
        };
        assert_eq!((runs(Missed::All), runs(Missed::Once), runs(Missed::Skip)), (3, 1, 0));
        let on_time = verdicts(Missed::Skip)
            .into_iter()
            .filter(|(_, verdict)| *verdict == Verdict::Run { missed: false });
        assert_eq!(on_time.count(), 2, "the two slots since it is on again");
    }
}
