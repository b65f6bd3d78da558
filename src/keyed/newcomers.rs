//! [`Newcomers`]: the bucket that newcomers share while there is no slot for them.

use crate::algorithm::{Algorithm, Gcra};
use crate::cell::StateCell;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;

/// A token bucket for all keys that find the table full.
#[derive(Debug)]
pub(super) struct Newcomers {
    pub(super) cell: StateCell,
    pub(super) gcra: Gcra,
}

impl Newcomers {
    /// A full bucket.
    pub(super) fn new(quota: Quota) -> Self {
        Self { cell: StateCell::new(Gcra::FRESH), gcra: Gcra::new(quota) }
    }

    /// Takes `n` tokens at `now`, or says when they would be there, `None` being never; and the word that was decided on.
    pub(super) fn acquire(&self, n: u64, now: Nanos) -> (Result<(), Option<Nanos>>, u64) {
        let (decision, word) = self.cell.decide(|word| self.gcra.acquire(word, n, now));
        let due = |denied| match denied {
            Denied::TryAfter(hint) | Denied::TableFull(hint) => Some(hint.due()),
            _ => None,
        };
        (decision.map_err(due), word)
    }

    /// Everything there is to know of a word at `now`.
    pub(super) fn status(&self, word: u64, now: Nanos) -> Status {
        self.gcra.status(word, now)
    }
}
