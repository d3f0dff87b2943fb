//! The ledger: what a run was started for, so that it is started once.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::db::{Table, Tx, TxResult, encode};
use crate::deliveries::{by_time_key, delivery_key};
use crate::events::{CursorRow, cursor_key};
use crate::keys::Key;
use crate::runs::{event_key, put_run, run_key};
use crate::slots::slot_key;
use crate::{DeliveryRow, RunRow, SlotRow, Store, StoreError};

/// One slot of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotKey {
    /// The agent.
    pub agent: String,
    /// The trigger.
    pub trigger: String,
    /// The scheduled time, to the microsecond.
    pub at: DateTime<Utc>,
}

/// What a webhook delivery is recognised by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryMark {
    /// An id of the sender, or a digest of the body.
    pub id: String,
    /// A delivery with the same mark is a repeat for so long; without an end when there is none.
    pub lasts: Option<TimeDelta>,
}

/// What starts a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerKey {
    /// A person or another run, which may do so as often as they like.
    None,
    /// A slot of a schedule.
    Slot(SlotKey),
    /// A webhook delivery.
    Delivery {
        /// The path it came to.
        path: String,
        /// It is a repeat when one of these was seen before.
        marks: Vec<DeliveryMark>,
        /// When it came.
        at: DateTime<Utc>,
    },
    /// An event of the log. Starting the run moves the subscriber's cursor to it; a subscriber without a cursor is
    /// gone, and nothing starts for it.
    Event {
        /// Who reads the log.
        subscriber: String,
        /// The event's place in it.
        seq: u64,
    },
}

/// What became of a run that was to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It is recorded.
    Started,
    /// Its cause was dealt with before or is gone, and nothing was written. With the id of the first run, where there
    /// was one and it is known: for an event only while the cursor stands on it, for a skipped slot never.
    Already(Option<String>),
}

impl Store {
    /// Records a run with the first events of its record (numbered from 1) and what started it, in one
    /// transaction. The same cause starts one run, whoever asks and however many at once.
    ///
    /// Nothing may be done for the run before a [`Store::commit`].
    ///
    /// # Errors
    /// [`StoreError::RunExists`], a name that cannot be a key, or [`StoreError::Io`].
    pub fn begin_run(&self, ledger: &LedgerKey, run: &RunRow, first: &[Value]) -> Result<Begun, StoreError> {
        let claim = Claim::new(ledger, run)?;
        let run_key = run_key(&run.id)?;
        let mut events = Vec::with_capacity(first.len());
        for (seq, event) in (1..).zip(first) {
            events.push((event_key(&run.id, seq)?, encode(event)?));
        }
        let begun = self.db().transact("begin a run", |tx| {
            if let Some(already) = claim.take(tx)? {
                return Ok(Begun::Already(already));
            }
            if tx.get(Table::Runs, &run_key)?.is_some() {
                return Err(StoreError::RunExists(run.id.clone()).into());
            }
            put_run(tx, run)?;
            for (key, event) in &events {
                tx.put(Table::RunEvents, key, event)?;
            }
            Ok(Begun::Started)
        })?;
        if begun == Begun::Started {
            self.changed();
        }
        Ok(begun)
    }

    /// Records that a slot does not run, and why. False when the slot was decided before; that decision stays.
    ///
    /// # Errors
    /// A name that cannot be a key, or [`StoreError::Io`].
    pub fn record_skip(&self, slot: &SlotKey, reason: &str, at: DateTime<Utc>) -> Result<bool, StoreError> {
        let key = slot_key(&slot.agent, &slot.trigger)?.and_time(slot.at);
        let row = slot_row(slot, None, Some(reason.to_owned()), at);
        self.db().transact("record a skipped slot", |tx| {
            if tx.get(Table::Slots, &key)?.is_some() {
                return Ok(false);
            }
            tx.put_row(Table::Slots, &key, &row)?;
            Ok(true)
        })
    }
}

/// The ledger row that a run would write.
enum Claim {
    Free,
    Slot(Key, SlotRow),
    Delivery(Vec<MarkClaim>),
    Event(Key, CursorRow),
}

struct MarkClaim {
    key: Key,
    by_time: Key,
    lasts: Option<TimeDelta>,
    row: DeliveryRow,
}

impl MarkClaim {
    fn new(mark: &DeliveryMark, path: &str, at: DateTime<Utc>, run: &str) -> Result<Self, StoreError> {
        Ok(Self {
            key: delivery_key(path, &mark.id)?,
            by_time: by_time_key(at, path, &mark.id)?,
            lasts: mark.lasts,
            row: DeliveryRow { path: path.to_owned(), id: mark.id.clone(), run: run.to_owned(), at },
        })
    }

    /// Whether a delivery with this mark makes the present one a repeat.
    fn is_repeat_of(&self, first: &DeliveryRow) -> bool {
        self.lasts.is_none_or(|lasts| (self.row.at - first.at).abs() < lasts)
    }
}

impl Claim {
    fn new(ledger: &LedgerKey, run: &RunRow) -> Result<Self, StoreError> {
        Ok(match ledger {
            LedgerKey::None => Self::Free,
            LedgerKey::Slot(slot) => Self::Slot(
                slot_key(&slot.agent, &slot.trigger)?.and_time(slot.at),
                slot_row(slot, Some(run.id.clone()), None, run.created_at),
            ),
            LedgerKey::Delivery { path, marks, at } => {
                let claims = marks.iter().map(|mark| MarkClaim::new(mark, path, *at, &run.id));
                Self::Delivery(claims.collect::<Result<_, _>>()?)
            }
            LedgerKey::Event { subscriber, seq } => {
                Self::Event(cursor_key(subscriber)?, CursorRow { seq: *seq, run: Some(run.id.clone()) })
            }
        })
    }

    /// Writes the row; or says that it is taken, and by which run.
    fn take(&self, tx: &Tx<'_>) -> TxResult<Option<Option<String>>> {
        match self {
            Self::Free => {}
            Self::Slot(key, row) => {
                if let Some(first) = tx.row::<SlotRow>(Table::Slots, key)? {
                    return Ok(Some(first.run));
                }
                tx.put_row(Table::Slots, key, row)?;
            }
            Self::Delivery(claims) => {
                for claim in claims {
                    let first: Option<DeliveryRow> = tx.row(Table::Deliveries, &claim.key)?;
                    if let Some(first) = first.filter(|first| claim.is_repeat_of(first)) {
                        return Ok(Some(Some(first.run)));
                    }
                }
                for MarkClaim { key, by_time, row, .. } in claims {
                    if let Some(old) = tx.row::<DeliveryRow>(Table::Deliveries, key)? {
                        let old = by_time_key(old.at, &old.path, &old.id)?;
                        tx.remove(Table::DeliveriesByTime, &old)?;
                    }
                    tx.put_row(Table::Deliveries, key, row)?;
                    tx.put(Table::DeliveriesByTime, by_time, b"null")?;
                }
            }
            Self::Event(key, row) => {
                let Some(cursor) = tx.row::<CursorRow>(Table::Cursors, key)? else { return Ok(Some(None)) };
                if row.seq <= cursor.seq {
                    return Ok(Some(cursor.run.filter(|_| row.seq == cursor.seq)));
                }
                tx.put_row(Table::Cursors, key, row)?;
            }
        }
        Ok(None)
    }
}

fn slot_row(
    slot: &SlotKey,
    run: Option<String>,
    skipped: Option<String>,
    decided_at: DateTime<Utc>,
) -> SlotRow {
    let SlotKey { agent, trigger, at } = slot.clone();
    SlotRow { agent, trigger, at, run, skipped, decided_at }
}
