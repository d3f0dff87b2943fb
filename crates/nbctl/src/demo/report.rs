//! Says what happens as it goes, and the table at the end.

use std::time::Instant;

use serde::Serialize;

use crate::error::Error;
use crate::output::Output;
use crate::page::{Span, Tint};
use crate::table::Table;
use crate::time;

/// A step that was taken.
#[derive(Debug, Serialize)]
struct Taken {
    step: &'static str,
    result: String,
    ms: f64,
}

/// The steps so far.
pub(super) struct Report<'a> {
    output: &'a Output,
    began: Instant,
    taken: Vec<Taken>,
}

impl<'a> Report<'a> {
    pub fn new(output: &'a Output) -> Self {
        Self { output, began: Instant::now(), taken: Vec::new() }
    }

    /// Announces a step, takes it, and says what came of it: the first line of `details` stands in the table.
    pub async fn step(
        &mut self,
        step: &'static str,
        why: &str,
        taking: impl Future<Output = Result<Vec<String>, Error>>,
    ) -> Result<(), Error> {
        let number = self.taken.len() + 1;
        self.output.text(|page| {
            page.line(Span::new(format!("{number:>2}  {step}"), Tint::Strong));
            page.line(Span::new(format!("    {why}"), Tint::Faint));
        })?;
        let began = Instant::now();
        let details = taking.await?;
        let ms = began.elapsed().as_secs_f64() * 1e3;
        self.output.text(|page| {
            for detail in &details {
                for line in detail.lines() {
                    page.line(format!("    {line}"));
                }
            }
            page.line(Span::new(format!("    {}", time::duration(ms)), Tint::Good));
            page.line("");
        })?;
        let result = details.into_iter().next().unwrap_or_default();
        self.taken.push(Taken { step, result, ms });
        Ok(())
    }

    /// The table of all steps.
    pub fn end(self) -> Result<(), Error> {
        let total = self.began.elapsed().as_secs_f64() * 1e3;
        if self.output.json {
            return self.output.show(&serde_json::json!({"steps": self.taken, "ms": total}), |_, _| {});
        }
        self.output.text(|page| {
            let mut table = Table::new(&["STEP", "TOOK", "RESULT"]).right(1);
            for Taken { step, result, ms } in &self.taken {
                table.row([Span::from(*step), Span::from(time::duration(*ms)), Span::from(result.as_str())]);
            }
            page.table(&table);
            page.line("");
            page.line(format!(
                "All {} steps did what they say, in {}.",
                self.taken.len(),
                time::duration(total)
            ));
            page.line("Your own first bot: see \"A first bot\" in README.md.");
        })
    }
}
