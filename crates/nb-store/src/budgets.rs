//! What agents spend on language models, by day, and what they may spend.
//!
//! A request sets an estimate aside before it is made, and gives it back for what it really took. What is set aside
//! belongs to requests that are under way; when none is, as at the opening of the store, it counts as spent: the provider
//! may have counted it as well.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::agent_key;
use crate::db::{Db, Table, encode};
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

    /// Whether a request with this estimate has to wait for those under way: they have set something aside, and all
    /// together is over either limit.
    fn is_held(&self, row: &SpendingRow, estimate: Spending) -> bool {
        let whole = row.total().plus(estimate);
        let over =
            |held: u64, whole: u64, limit: Option<u64>| held > 0 && limit.is_some_and(|limit| whole > limit);
        over(row.reserved.tokens, whole.tokens, self.tokens)
            || over(row.reserved.nano_usd, whole.nano_usd, self.nano_usd)
    }
}

/// What an agent spent on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendingRow {
    /// By requests that have ended.
    pub spent: Spending,
    /// Estimates of requests that have not ended.
    pub reserved: Spending,
    /// Whether its owner was told that the budget is nearly spent.
    pub warned: bool,
}

impl SpendingRow {
    /// What counts against the budget.
    pub fn total(&self) -> Spending {
        self.spent.plus(self.reserved)
    }

    /// Puts what a request took in place of what was set aside for it.
    fn settle(&mut self, reserved: Spending, spent: Spending) {
        self.reserved = self.reserved.minus(reserved);
        self.spent = self.spent.plus(spent);
    }
}

/// Whether a request may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// It may, and its estimate is set aside.
    Taken,
    /// The budget of the day is spent; nothing was set aside.
    Spent(SpendingRow),
    /// With what is set aside for requests under way it would be over the budget; nothing was set aside.
    Held(SpendingRow),
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
    /// Sets an estimate aside, unless the budget of the day is spent, or is too small for this beside what is set aside
    /// already. One request alone may go over what is left; of two at once, the second sees what the first has set
    /// aside. It counts after a crash once it is committed.
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
            if budget.is_reached(row.spent, 10) {
                return Ok(Reserved::Spent(row));
            }
            if budget.is_held(&row, estimate) {
                return Ok(Reserved::Held(row));
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
                row.settle(settlement.reserved, settlement.spent);
                let is_news = !row.warned && settlement.budget.is_reached(row.spent, NEARLY);
                row.warned |= is_news;
                tx.put_row(Table::Spending, &key, &row)?;
                tx.put(Table::RunEvents, event_key, &event)?;
                Ok(is_news.then_some(row))
            })
        });
        written.map(|(_, news)| news)
    }

    /// Counts what was set aside for a request as spent: nobody will say what it took.
    ///
    /// # Errors
    /// As [`Store::reserve_spending`].
    pub fn spend_reserved(&self, agent: &str, day: u64, reserved: Spending) -> Result<(), StoreError> {
        let key = day_key(agent, day)?;
        self.db().transact("count a request that came to nothing", |tx| {
            let mut row: SpendingRow = tx.row(Table::Spending, &key)?.unwrap_or_default();
            row.settle(reserved, reserved);
            tx.put_row(Table::Spending, &key, &row)
        })
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

/// Counts everything that is set aside as spent: no request is under way when the store is opened.
pub(crate) fn spend_all_reserved(db: &Db) -> Result<(), StoreError> {
    for key in db.all_keys(Table::Spending) {
        let key = key?;
        let Some(mut row) = db.row::<SpendingRow>(Table::Spending, &key)? else { continue };
        if row.reserved != Spending::default() {
            row.settle(row.reserved, row.reserved);
            db.transact("count what a crash left set aside", |tx| tx.put_row(Table::Spending, &key, &row))?;
        }
    }
    Ok(())
}

fn day_key(agent: &str, day: u64) -> Result<Key, StoreError> {
    Ok(agent_key(agent)?.and_number(day))
}
