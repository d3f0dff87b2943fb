//! The main job from end to end, in a throw-away home: what a newcomer should see first.
//!
//! # Layout
//!
//! - [`story`]: the steps, in order. Begin here.
//! - [`report`]: says what happens as it goes, and the table at the end.
//! - [`stage`]: the home, the daemon, and what the steps need of them.
//! - [`samples`]: the agents; [`post`]: a webhook's request.
//!
//! Every step checks what it claims, and the demo fails with the first that is not true.

mod post;
mod report;
mod samples;
mod stage;
mod story;

use crate::error::Error;
use crate::output::Output;
use report::Report;
use stage::Stage;

/// Runs the demo.
pub(crate) async fn run(output: &Output, keep: bool) -> Result<(), Error> {
    let mut stage = Stage::set(keep)?;
    let mut report = Report::new(output);
    story::tell(&mut stage, &mut report).await?;
    report.end()
}

/// What a step claims is not true.
fn wrong(message: impl Into<String>) -> Error {
    Error::Api(nb_api::ApiError::new(nb_api::ErrorKind::Failed, message))
}
