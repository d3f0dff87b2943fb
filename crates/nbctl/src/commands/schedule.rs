//! `nbctl schedule`.

use nb_api::wake::{ScheduleView, SlotView};

use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span};
use crate::table::Table;

#[derive(Debug, clap::Args)]
pub(crate) struct Schedule {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the schedules with their next and their last time.
    Ls,
}

impl Schedule {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        match self.command {
            Command::Ls => {
                let schedules: Vec<ScheduleView> = context.client()?.get("/v1/schedules", &()).await?;
                context.output.show(&schedules, |schedules, page| list(schedules, page))
            }
        }
    }
}

fn list(schedules: &[ScheduleView], page: &mut Page) {
    if schedules.is_empty() {
        return page.line("no installed agent has a schedule");
    }
    let mut table = Table::new(&["AGENT", "TRIGGER", "RUNS", "TIMING", "NEXT", "LAST"]);
    for schedule in schedules {
        let next = schedule
            .next
            .first()
            .map_or_else(|| "stopped".to_owned(), |at| format!("{} ({})", page.clock(*at), page.ago(*at)));
        table.row([
            (&schedule.agent).into(),
            (&schedule.trigger).into(),
            (&schedule.chain).into(),
            (&schedule.timing).into(),
            if schedule.next.is_empty() { Span::status(&next) } else { next.into() },
            schedule.last.first().map_or_else(|| "never".into(), |slot| last(slot, page)),
        ]);
    }
    page.table(&table);
}

fn last(slot: &SlotView, page: &Page) -> Span {
    let when = page.ago(slot.at);
    match (&slot.skipped, &slot.status) {
        (Some(reason), _) => format!("{when}: skipped, {reason}").into(),
        (None, Some(status)) => Span { text: format!("{when}: {status}"), ..Span::status(status) },
        (None, None) => when.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    #[test]
    fn a_schedule_tells_its_next_and_its_last_time() {
        let slot = |status: Option<&str>, skipped: Option<&str>| SlotView {
            at: "2026-03-01T11:50:00Z".parse().unwrap(),
            run: None,
            status: status.map(str::to_owned),
            skipped: skipped.map(str::to_owned),
        };
        let beat = ScheduleView {
            agent: "heartbeat".to_owned(),
            trigger: "scheduled.0".to_owned(),
            chain: "beat".to_owned(),
            timing: "every 10m".to_owned(),
            next: vec!["2026-03-01T12:10:00Z".parse().unwrap()],
            last: vec![slot(Some("completed"), None)],
        };
        let stopped = ScheduleView {
            trigger: "scheduled.1".to_owned(),
            timing: "cron 0 9 * * 1-5 Europe/Rome".to_owned(),
            next: vec![],
            last: vec![slot(None, Some("the last run was still at work"))],
            ..beat.clone()
        };
        let new = ScheduleView { trigger: "scheduled.2".to_owned(), last: vec![], ..beat.clone() };
        insta::assert_snapshot!(render(None, |page| list(&[beat, stopped, new], page)), @"
        AGENT      TRIGGER      RUNS  TIMING                        NEXT                             LAST
        heartbeat  scheduled.0  beat  every 10m                     2026-03-01 12:10:00 (in 10 min)  10 min ago: completed
        heartbeat  scheduled.1  beat  cron 0 9 * * 1-5 Europe/Rome  stopped                          10 min ago: skipped, the last run was still at work
        heartbeat  scheduled.2  beat  every 10m                     2026-03-01 12:10:00 (in 10 min)  never
        ");
        insta::assert_snapshot!(render(None, |page| list(&[], page)), @"no installed agent has a schedule");
    }
}
