//! What an agent may spend on its language model in a day, in tokens and in US dollars.

use chrono::{DateTime, Utc};
use nb_provider::Usage;
use nb_store::{Budget, Reserved, Settlement, Spending, SpendingRow, StoreError};

use crate::abilities::notify_user::deliver;
use crate::engine::{Engine, RunContext};
use crate::models::Model;
use crate::models::message::ModelMessage;
use crate::record::RunEvent;
use crate::services::{Notification, Priority};

/// A quarter of the characters is about what a request reads; it is assumed to be answered with so many tokens.
const ANSWER_TOKENS: u64 = 500;

const NANO: f64 = 1e9;

/// What was taken from a budget for a request.
pub(crate) struct Reservation {
    day: u64,
    estimate: Spending,
    budget: Budget,
}

/// The day of a time, counted from 1970, in UTC.
pub fn day_of(at: DateTime<Utc>) -> u64 {
    u64::try_from(at.timestamp().div_euclid(86_400)).unwrap_or_default()
}

impl Engine {
    /// What an agent has spent today.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn spent_today(&self, agent: &str) -> Result<SpendingRow, StoreError> {
        self.services().store.spending(agent, day_of(self.services().world.now()))
    }
}

fn budget_of(run: &RunContext) -> Budget {
    let budget = run.agent.spec.manifest.budget.unwrap_or_default();
    Budget { tokens: budget.tokens_per_day, nano_usd: budget.usd_per_day.map(nanos) }
}

/// At least one: a budget of less than that would be none.
fn nanos(usd: f64) -> u64 {
    // A cast keeps to the bounds of the type.
    ((usd * NANO).round() as u64).max(1)
}

fn spending(model: &Model, usage: Usage) -> Spending {
    let nano_usd = model.prices.map_or(0, |prices| (prices.cost(usage) * NANO).round() as u64);
    Spending { tokens: usage.total(), nano_usd }
}

/// Takes a part of the budget for a request of so many tokens. On disk when this returns, so that a crash leaves it taken.
///
/// # Errors
/// A sentence: the budget is spent, or cannot be kept.
pub(crate) async fn reserve(run: &RunContext, model: &Model, input: u64) -> Result<Reservation, String> {
    let services = run.engine.services();
    let (day, budget) = (day_of(services.world.now()), budget_of(run));
    if budget.nano_usd.is_some() && model.prices.is_none() {
        return Err(format!(
            "budget: what {} costs is not known, so budget.usd_per_day cannot be kept; give provider.options.prices in the \
             cartridge, or `prices` in the daemon's config.yaml",
            model.name()
        ));
    }
    if budget == Budget::default() {
        return Ok(Reservation { day, estimate: Spending::default(), budget });
    }
    let estimate = spending(model, Usage { input, output: ANSWER_TOKENS, cached: 0 });
    let reserved = services.store.reserve_spending(run.agent.name(), day, estimate, budget);
    match reserved.map_err(|error| error.to_string())? {
        Reserved::Taken => {
            services.store.commit().await.map_err(|error| error.to_string())?;
            Ok(Reservation { day, estimate, budget })
        }
        Reserved::Refused(row) => {
            Err(format!("budget: {}; it begins again at 00:00 UTC", state(row, budget, 10)))
        }
    }
}

/// Puts what a request took in place of what was reserved for it, together with its part of the record; tells the owner
/// when the budget is nearly spent.
///
/// # Errors
/// What the store says.
pub(crate) fn settle(
    run: &RunContext,
    model: &Model,
    reservation: &Reservation,
    message: ModelMessage,
) -> Result<(), StoreError> {
    let services = run.engine.services();
    let spent = spending(model, message.usage);
    let event = RunEvent::ModelMessage(Box::new(message)).stamped(services.world.now());
    let news = services.store.settle_spending(&Settlement {
        agent: run.agent.name(),
        day: reservation.day,
        reserved: reservation.estimate,
        spent,
        budget: reservation.budget,
        run_id: &run.id,
        event: &event,
    })?;
    news.map_or(Ok(()), |row| warn(run, row, reservation.budget))
}

/// Once a day: a line in the record and in the daemon's log, and a notification.
fn warn(run: &RunContext, row: SpendingRow, budget: Budget) -> Result<(), StoreError> {
    let agent = run.agent.name().to_owned();
    let spent = SpendingRow { reserved: Spending::default(), ..row };
    let message = format!(
        "budget: {}; when all of it is spent, requests are refused until 00:00 UTC",
        state(spent, budget, 8)
    );
    tracing::warn!(target: "agent", run = %run.id, %agent, "{message}");
    run.record(&RunEvent::Log { level: "warning".to_owned(), message: message.clone() })?;
    let notification = Notification {
        agent: agent.clone(),
        run: run.id.clone(),
        title: format!("{agent}: the budget is nearly spent"),
        body: message,
        priority: Priority::High,
    };
    let services = run.engine.services().clone();
    // A desktop takes its time; the run does not wait for it.
    tokio::spawn(async move {
        if let Err(error) = deliver(&services, notification).await {
            tracing::error!(%agent, "a notification about the budget is lost: {error}");
        }
    });
    Ok(())
}

/// `1,000 tokens of 1,000 are spent today (budget.tokens_per_day)`, of the limit that is reached to so many tenths.
fn state(row: SpendingRow, budget: Budget, tenths: u64) -> String {
    let is_reached =
        |spent: u64, limit: u64| u128::from(spent) * 10 >= u128::from(limit) * u128::from(tenths);
    let (total, held) = (row.total(), row.reserved);
    let tokens = budget.tokens.filter(|limit| is_reached(total.tokens, *limit));
    let (words, held) = match (tokens, budget.nano_usd) {
        (None, Some(limit)) => (
            format!("{} of {} are spent today (budget.usd_per_day)", usd(total.nano_usd), usd(limit)),
            (held.nano_usd > 0).then(|| usd(held.nano_usd)),
        ),
        (limit, _) => (
            format!(
                "{} tokens of {} are spent today (budget.tokens_per_day)",
                grouped(total.tokens),
                grouped(limit.unwrap_or_default())
            ),
            (held.tokens > 0).then(|| grouped(held.tokens)),
        ),
    };
    match held {
        Some(held) => format!("{words}, {held} of it held by requests that have not ended"),
        None => words,
    }
}

fn usd(nanos: u64) -> String {
    dollars(nanos as f64 / NANO)
}

/// `$1.50`, `$0.00043`: cents at least, and as many digits as a small amount needs.
pub(crate) fn dollars(usd: f64) -> String {
    let text = format!("{usd:.6}");
    let digits = text.trim_end_matches('0');
    let least = text.find('.').map_or(text.len(), |point| point + 3);
    format!("${}", text.get(..digits.len().max(least)).unwrap_or(&text))
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_told_in_the_words_of_the_limit_that_counts() {
        let budget = Budget { tokens: Some(12_000), nano_usd: Some(500_000_000) };
        let spent = |tokens, nano_usd| Spending { tokens, nano_usd };
        let row = |spent, reserved| SpendingRow { spent, reserved, warned: false };
        let none = Spending::default();
        assert_eq!(
            state(row(spent(12_000, 1), none), budget, 10),
            "12,000 tokens of 12,000 are spent today (budget.tokens_per_day)"
        );
        assert_eq!(
            state(row(spent(5, 430_000), spent(5, 500_000_000)), budget, 10),
            "$0.50043 of $0.50 are spent today (budget.usd_per_day), $0.50 of it held by requests that have not ended"
        );
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        let shown = [1.5, 0.00043, 12.0, 0.0000001].map(dollars);
        assert_eq!(shown, ["$1.50", "$0.00043", "$12.00", "$0.00"]);
    }
}
