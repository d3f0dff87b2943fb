//! The kinds of calls, and the order in which they come.

use std::time::Duration;

use fastrand::Rng;
use nb_sandbox::{CancelFlag, Chunk, Lang, Limit, Limits, Sandbox, ToolError};

use crate::common::{self, FENNEL_TOOL};

/// One kind of call: what it runs, and how it must end.
pub struct Kind {
    pub name: &'static str,
    /// How many of the calls in a deck are of this kind.
    pub share: usize,
    /// Whether it belongs to the successful small calls.
    pub small: bool,
    chunk: Chunk,
    limits: Limits,
    cancelled: bool,
    ends: fn(&Result<String, ToolError>) -> bool,
}

impl Kind {
    /// The kinds, with their share of a deck. The last two wait for the sandbox's clock, 10 ms each, so they are few.
    /// The slowest three together are clearly less than one percent, and with the large results clearly more, so that
    /// the p99 of all calls is that of a large result and not at the border between two kinds.
    pub fn all(sandbox: &Sandbox) -> Vec<Self> {
        let kind = |name, share, source: &str, limits, ends| Self {
            name,
            share,
            small: false,
            chunk: common::compile(sandbox, Lang::Lua, source),
            limits,
            cancelled: false,
            ends,
        };
        let usual = Limits::default;
        let endless = Limits { fuel: u64::MAX, ..usual() };
        let spin = "while true do end";
        let asking = "for i = 1, 10 do nb.call('x', {i = i}) end return 1";
        let filling = "local t = {} while true do t[#t + 1] = {} end";
        let short = Limits { wall: Duration::from_millis(1), ..endless.clone() };
        let little = Limits { memory_bytes: 8 << 20, ..endless.clone() };
        vec![
            Self { small: true, ..kind("ok, Lua", 405, "return 1 + 1", usual(), Result::is_ok) },
            Self {
                small: true,
                chunk: common::compile(sandbox, Lang::Fennel, FENNEL_TOOL),
                ..kind("ok, Fennel", 350, "", usual(), Result::is_ok)
            },
            Self { small: true, ..kind("ok, 10 host calls", 100, asking, usual(), Result::is_ok) },
            kind("script error", 100, "error('no')", usual(), |end| matches!(end, Err(ToolError::Script(_)))),
            kind("out of fuel", 30, spin, Limits { fuel: 20_000, ..usual() }, |end| hit(end, Limit::Fuel)),
            kind(
                "ok, result of 512 KiB",
                10,
                "return ('x'):rep(1 << 10):rep(1 << 9)",
                usual(),
                Result::is_ok,
            ),
            kind("out of memory", 3, filling, little, |end| hit(end, Limit::Memory)),
            kind("timed out", 1, spin, short, |end| hit(end, Limit::WallClock)),
            Self {
                cancelled: true,
                ..kind("cancelled", 1, spin, endless, |end| matches!(end, Err(ToolError::Cancelled { .. })))
            },
        ]
    }

    /// Makes one call.
    ///
    /// # Panics
    /// When it does not end as it must.
    pub fn call(&self, sandbox: &Sandbox) {
        let cancel = CancelFlag::default();
        if self.cancelled {
            // The script has begun when the clock sees the flag: a free place is taken without looking at it.
            cancel.cancel();
        }
        let outcome = common::call(sandbox, self.chunk.clone(), self.limits.clone(), cancel).outcome;
        assert!((self.ends)(&outcome), "a call of the kind `{}` ended with {outcome:?}", self.name);
    }
}

fn hit(end: &Result<String, ToolError>, expected: Limit) -> bool {
    matches!(end, Err(ToolError::Limit { limit, .. }) if *limit == expected)
}

/// The number of calls in a deck.
pub const DECK: usize = 1000;

/// The order of the kinds: a deck that has each of them by its share, shuffled anew when it is used up. So every 1,000
/// calls are the same mix, and the same seed gives the same order.
pub struct Deck {
    cards: Vec<usize>,
    next: usize,
    rng: Rng,
}

impl Deck {
    pub fn new(kinds: &[Kind], seed: u64) -> Self {
        let cards: Vec<usize> = kinds
            .iter()
            .enumerate()
            .flat_map(|(index, kind)| std::iter::repeat_n(index, kind.share))
            .collect();
        assert_eq!(cards.len(), DECK);
        Self { next: cards.len(), cards, rng: Rng::with_seed(seed) }
    }

    /// The index of the next kind.
    pub fn draw(&mut self) -> usize {
        if self.next == self.cards.len() {
            self.rng.shuffle(&mut self.cards);
            self.next = 0;
        }
        self.next += 1;
        self.cards[self.next - 1]
    }
}
