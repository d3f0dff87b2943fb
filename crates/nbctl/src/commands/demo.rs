//! `nbctl demo`.

use crate::context::Context;
use crate::demo;
use crate::error::Error;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
It needs nothing but nanobotd beside nbctl, leaves nothing behind, and takes some fifteen seconds. Packages, keys and \
data live in a folder of their own, and no daemon that runs already is touched.")]
pub(crate) struct Demo {
    /// Leave the home of the demo's daemon in place, to look into it.
    #[arg(long)]
    keep: bool,
}

impl Demo {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        demo::run(&context.output, self.keep).await
    }
}
