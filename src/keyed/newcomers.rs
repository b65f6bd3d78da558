//! [`Newcomers`]: the bucket that newcomers share while there is no slot for them.

use crate::algorithm::{Algorithm, Gcra};
use crate::cell::StateCell;
use crate::decision::Denied;
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

    /// Takes `n` tokens at `now`, or says when they would be there; `None` is never.
    pub(super) fn acquire(&self, n: u64, now: Nanos) -> Result<(), Option<Nanos>> {
        self.cell.update(|word| Ok((self.gcra.acquire(word, n, now)?, ()))).map_err(|denied| match denied {
            Denied::TryAfter(hint) | Denied::TableFull(hint) => Some(hint.due()),
            _ => None,
        })
    }
}
