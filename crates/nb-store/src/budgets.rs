//! What agents spend on language models, by day, and what they may spend.
//!
//! A request takes an estimate from the budget before it is made, and gives it back for what it really took. What a
//! crash leaves in between stays counted: the provider may have counted it as well.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::agent_key;
use crate::db::{Table, encode};
use crate::keys::{Key, trailing_number};
use crate::{Store, StoreError};

/// Tokens, and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Read and written.
    pub tokens: u64,
    /// Billionths of a US dollar; 0 for tokens whose price is not known.
    pub nano_usd: u64,
}

impl Spending {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            nano_usd: self.nano_usd.saturating_sub(other.nano_usd),
        }
    }
}

/// What an agent may spend in a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// Read and written.
    pub tokens: Option<u64>,
    /// Billionths of a US dollar.
    pub nano_usd: Option<u64>,
}

impl Budget {
    /// Whether either limit is reached to so many tenths.
    fn is_reached(&self, spent: Spending, tenths: u64) -> bool {
        let reached = |spent: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| u128::from(spent) * 10 >= u128::from(limit) * u128::from(tenths))
        };
        reached(spent.tokens, self.tokens) || reached(spent.nano_usd, self.nano_usd)
    }
}

/// What an agent spent on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendingRow {
    /// By requests that have ended.
    pub spent: Spending,
    /// Estimates of requests that have not ended, or that a crash ended.
    pub reserved: Spending,
    /// Whether its owner was told that the budget is nearly spent.
    pub warned: bool,
}

impl SpendingRow {
    /// What counts against the budget.
    pub fn total(&self) -> Spending {
        self.spent.plus(self.reserved)
    }
}

/// Whether a request may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// It may, and its estimate is taken.
    Taken,
    /// The budget of the day is spent; nothing was taken.
    Refused(SpendingRow),
}

/// The end of a request: its part of the record, and what it took.
#[derive(Debug, Clone, Copy)]
pub struct Settlement<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The day on which it was reserved, counted from 1970.
    pub day: u64,
    /// What was reserved for it.
    pub reserved: Spending,
    /// What it took.
    pub spent: Spending,
    /// What may be spent.
    pub budget: Budget,
    /// The run that made it.
    pub run_id: &'a str,
    /// What the run's record says of it.
    pub event: &'a Value,
}

/// The part of a budget, in tenths, after which its owner is told.
const NEARLY: u64 = 8;

impl Store {
    /// Takes an estimate from the budget of a day, unless the budget is spent already. Of two that ask at once, the
    /// second sees what the first has taken. It counts after a crash once it is committed.
    ///
    /// # Errors
    /// A name that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn reserve_spending(
        &self,
        agent: &str,
        day: u64,
        estimate: Spending,
        budget: Budget,
    ) -> Result<Reserved, StoreError> {
        let key = day_key(agent, day)?;
        self.db().transact("reserve a part of a budget", |tx| {
            let mut row: SpendingRow = tx.row(Table::Spending, &key)?.unwrap_or_default();
            if budget.is_reached(row.total(), 10) {
                return Ok(Reserved::Refused(row));
            }
            row.reserved = row.reserved.plus(estimate);
            tx.put_row(Table::Spending, &key, &row)?;
            Ok(Reserved::Taken)
        })
    }

    /// Writes what a request took in place of its estimate, together with its part of the run's record. Gives the day as
    /// it is now when its owner is to be told that the budget is nearly spent, which happens once a day.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`], and as [`Store::reserve_spending`].
    pub fn settle_spending(&self, settlement: &Settlement<'_>) -> Result<Option<SpendingRow>, StoreError> {
        let key = day_key(settlement.agent, settlement.day)?;
        let event = encode(settlement.event)?;
        let written = self.append_by(settlement.run_id, |event_key| {
            self.db().transact("record a model's message", |tx| {
                let mut row: SpendingRow = tx.row(Table::Spending, &key)?.unwrap_or_default();
                row.reserved = row.reserved.minus(settlement.reserved);
                row.spent = row.spent.plus(settlement.spent);
                let is_news = !row.warned && settlement.budget.is_reached(row.spent, NEARLY);
                row.warned |= is_news;
                tx.put_row(Table::Spending, &key, &row)?;
                tx.put(Table::RunEvents, event_key, &event)?;
                Ok(is_news.then_some(row))
            })
        });
        written.map(|(_, news)| news)
    }

    /// What an agent spent on a day.
    ///
    /// # Errors
    /// As [`Store::reserve_spending`].
    pub fn spending(&self, agent: &str, day: u64) -> Result<SpendingRow, StoreError> {
        Ok(self.db().row(Table::Spending, &day_key(agent, day)?)?.unwrap_or_default())
    }

    /// Forgets what was spent before a day, and returns how many rows there were.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn forget_spending_before(&self, day: u64) -> Result<usize, StoreError> {
        let rows = self.db().all_keys(Table::Spending);
        let old = rows.filter(|key| {
            key.as_ref().map_or(true, |key| trailing_number(key.bytes()).is_some_and(|known| known < day))
        });
        let old = old.map(|key| key.map(|key| (Table::Spending, key)));
        self.db().remove_rows("forget what was spent", old)
    }

    /// Forgets what an agent spent.
    pub(crate) fn forget_spending_of(&self, agent: &str) -> Result<(), StoreError> {
        let below = agent_key(agent)?.prefix();
        self.db().remove_in_batches("forget what was spent", Table::Spending, below.bytes(), |tx, key| {
            tx.remove(Table::Spending, key).map(drop)
        })
    }
}

fn day_key(agent: &str, day: u64) -> Result<Key, StoreError> {
    Ok(agent_key(agent)?.and_number(day))
}
