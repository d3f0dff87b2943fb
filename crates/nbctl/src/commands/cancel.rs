//! `nbctl cancel`: ends one run.

use nb_api::client::segment;
use nb_api::runs::RunView;

use super::name;
use crate::context::Context;
use crate::error::Error;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
What it computes or waits for is broken off; what it did before stays done.
A run that has already ended is an error. `nbctl stop` ends all runs of an agent,
and keeps it from being woken.")]
pub(crate) struct Cancel {
    /// The run's id, as `nbctl runs` lists it.
    #[arg(value_parser = name())]
    run: String,
}

impl Cancel {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let path = format!("/v1/runs/{}/cancel", segment(&self.run));
        let run: RunView = context.client()?.post(&path, &()).await?;
        context.output.show(&run, |run, page| {
            page.line(format!("{} of {} is {}", run.id, run.agent, run.status));
        })
    }
}
