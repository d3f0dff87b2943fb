//! What an agent may spend on its language model in a day, in tokens and in US dollars.

use chrono::{DateTime, Utc};
use nb_provider::Usage;
use nb_spec::ProviderSection;
use nb_store::{Budget, Reserved, Settlement, Spending, SpendingRow, StoreError};

use crate::abilities::notify_user::deliver;
use crate::engine::{Engine, RunContext};
use crate::models::Model;
use crate::models::message::ModelMessage;
use crate::record::RunEvent;
use crate::services::{Notification, Priority};

/// So many tokens are set aside for an answer where the cartridge does not say how many it may have. Few are longer.
const ANSWER_TOKENS: u64 = 4096;

const NANO: f64 = 1e9;

/// What was set aside for a request. Counts as spent when nobody says what the request took.
pub(crate) struct Reservation<'a> {
    run: &'a RunContext,
    day: u64,
    estimate: Spending,
    budget: Budget,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.estimate == Spending::default() {
            return;
        }
        let (store, agent) = (&self.run.engine.services().store, self.run.agent.name());
        if let Err(error) = store.spend_reserved(agent, self.day, self.estimate) {
            tracing::error!(run = %self.run.id, %agent, "what a request may have taken is not counted: {error}");
        }
    }
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

/// Sets a part of the budget aside for a request of so many tokens. On disk when this returns, so that a crash leaves it
/// counted.
///
/// # Errors
/// A sentence: the budget is spent, or held by requests under way, or cannot be kept.
pub(crate) async fn reserve<'a>(
    run: &'a RunContext,
    model: &Model,
    input: u64,
) -> Result<Reservation<'a>, String> {
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
        return Ok(Reservation { run, day, estimate: Spending::default(), budget });
    }
    let output = run.agent.spec.provider().and_then(ProviderSection::most_tokens).unwrap_or(ANSWER_TOKENS);
    let estimate = spending(model, Usage { input, output, cached: 0 });
    let reserved = services.store.reserve_spending(run.agent.name(), day, estimate, budget);
    match reserved.map_err(|error| error.to_string())? {
        Reserved::Taken => {
            let reservation = Reservation { run, day, estimate, budget };
            services.store.commit().await.map_err(|error| error.to_string())?;
            Ok(reservation)
        }
        Reserved::Spent(row) => {
            let (state, key) = state(row.spent, budget, 10);
            Err(format!("budget: {state}; it begins again at 00:00 UTC, or raise {key}"))
        }
        Reserved::Held(row) => Err(held(row, estimate, budget)),
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
    mut reservation: Reservation<'_>,
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
    reservation.estimate = Spending::default();
    news.map_or(Ok(()), |row| warn(run, row, reservation.budget))
}

/// Once a day: a line in the record and in the daemon's log, and a notification.
fn warn(run: &RunContext, row: SpendingRow, budget: Budget) -> Result<(), StoreError> {
    let agent = run.agent.name().to_owned();
    let (state, _) = state(row.spent, budget, 8);
    let message = format!("budget: {state}; when all of it is spent, requests are refused until 00:00 UTC");
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

const TOKENS: &str = "budget.tokens_per_day";
const USD: &str = "budget.usd_per_day";

/// `1,000 tokens of 1,000 are spent today (budget.tokens_per_day)`, of the limit that is reached to so many tenths; and that
/// limit's name.
fn state(spent: Spending, budget: Budget, tenths: u64) -> (String, &'static str) {
    let is_reached = |limit: &u64| u128::from(spent.tokens) * 10 >= u128::from(*limit) * u128::from(tenths);
    match (budget.tokens.filter(is_reached), budget.nano_usd) {
        (None, Some(limit)) => {
            (format!("{} of {} are spent today ({USD})", usd(spent.nano_usd), usd(limit)), USD)
        }
        (limit, _) => {
            let limit = grouped(limit.unwrap_or_default());
            (format!("{} tokens of {limit} are spent today ({TOKENS})", grouped(spent.tokens)), TOKENS)
        }
    }
}

/// Why a request has to wait for others.
fn held(row: SpendingRow, estimate: Spending, budget: Budget) -> String {
    let whole = row.total().plus(estimate);
    let by_tokens = row.reserved.tokens > 0 && budget.tokens.is_some_and(|limit| whole.tokens > limit);
    let (tokens, nano_usd) = (budget.tokens.unwrap_or_default(), budget.nano_usd.unwrap_or_default());
    let key = if by_tokens { TOKENS } else { USD };
    let told = |part: Spending| match by_tokens {
        true => format!("{} tokens", grouped(part.tokens)),
        false => usd(part.nano_usd),
    };
    format!(
        "budget: of {} a day ({key}), {} are spent and {} set aside for requests under way, and this one may take {}; \
         wait for those under way, or raise {key}",
        told(Spending { tokens, nano_usd }),
        told(row.spent),
        told(row.reserved),
        told(estimate)
    )
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
        assert_eq!(
            state(spent(12_000, 1), budget, 10),
            ("12,000 tokens of 12,000 are spent today (budget.tokens_per_day)".to_owned(), TOKENS)
        );
        assert_eq!(
            state(spent(5, 500_430_000), budget, 10),
            ("$0.50043 of $0.50 are spent today (budget.usd_per_day)".to_owned(), USD)
        );
        let row = SpendingRow { spent: spent(5, 0), reserved: spent(9_000, 430_000), warned: false };
        assert_eq!(
            held(row, spent(4_096, 1), budget),
            "budget: of 12,000 tokens a day (budget.tokens_per_day), 5 tokens are spent and 9,000 tokens set aside for \
             requests under way, and this one may take 4,096 tokens; wait for those under way, or raise \
             budget.tokens_per_day"
        );
        let told = held(row, spent(1, 500_000_000), budget);
        assert!(
            told.contains("$0.00 are spent and $0.00043 set aside")
                && told.ends_with("raise budget.usd_per_day"),
            "{told}"
        );
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        let shown = [1.5, 0.00043, 12.0, 0.0000001].map(dollars);
        assert_eq!(shown, ["$1.50", "$0.00043", "$12.00", "$0.00"]);
    }
}
