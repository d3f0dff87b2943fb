//! `nbctl status`.

use nb_api::host::Status as DaemonStatus;

use crate::context::Context;
use crate::error::Error;
use crate::page::{Page, Span, Tint};
use crate::{text, time};

#[derive(Debug, clap::Args)]
pub(crate) struct Status {}

impl Status {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let status: DaemonStatus = context.client()?.get("/v1/status", &()).await?;
        context.output.show(&status, overview)
    }
}

fn overview(status: &DaemonStatus, page: &mut Page) {
    page.spans(&[
        Span::new(format!("nanobotd {}", status.version), Tint::Strong),
        " is ".into(),
        Span::status("running"),
        format!(" as process {}; started {}", status.pid, page.ago(status.started_at)).into(),
        format!(", ready after {}", time::duration(status.start_ms)).into(),
    ]);
    let inbox = match status.inbox {
        0 => "empty".into(),
        waiting => Span::new(format!("{}; nbctl inbox", text::count(waiting, "notification")), Tint::Warning),
    };
    page.fields(&[
        ("agents", format!("{} installed, {} running", status.agents, status.agents_running).into()),
        ("runs", format!("{} unfinished", status.runs_unfinished).into()),
        ("inbox", inbox),
        ("notifications", (&status.notifications).into()),
        ("webhooks", (&status.webhooks_at).into()),
        ("time zone", (&status.timezone).into()),
        ("memory", text::bytes(status.resident_bytes).into()),
        ("state folder", (&status.state_dir).into()),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::render;

    #[test]
    fn the_daemon_tells_how_it_is() {
        let status = DaemonStatus {
            version: "0.1.0".to_owned(),
            pid: 4242,
            started_at: "2026-03-01T10:00:00Z".parse().unwrap(),
            start_ms: 84.2,
            state_dir: "/home/ada/.local/state/nanobot".to_owned(),
            webhooks_at: "http://127.0.0.1:7878".to_owned(),
            timezone: "Europe/Rome".to_owned(),
            agents: 3,
            agents_running: 2,
            runs_unfinished: 0,
            inbox: 1,
            resident_bytes: 33_000_000,
            notifications: "inbox: no notification server answers".to_owned(),
        };
        insta::assert_snapshot!(render(None, |page| overview(&status, page)), @"
        nanobotd 0.1.0 is running as process 4242; started 2 h ago, ready after 84 ms
          agents         3 installed, 2 running
          runs           0 unfinished
          inbox          1 notification; nbctl inbox
          notifications  inbox: no notification server answers
          webhooks       http://127.0.0.1:7878
          time zone      Europe/Rome
          memory         31.5 MiB
          state folder   /home/ada/.local/state/nanobot
        ");
    }
}
