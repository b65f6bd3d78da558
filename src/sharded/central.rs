//! [`Central`]: the word that all tokens come from, and what is known about the slots.

use crate::algorithm::{Algorithm, Bucket, Gcra};
use crate::cell::StateCell;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::sync::{AtomicU64, Ordering};
use core::convert::Infallible;

/// The central word `V` with its [`Gcra`], and beside it `deposits` and `dry` (rule 5 of the module).
#[derive(Debug)]
pub(super) struct Central {
    gcra: Gcra,
    /// `V`.
    consumed: StateCell,
    deposits: AtomicU64,
    dry: AtomicU64,
}

impl Central {
    /// A full bucket for `quota`. No scan has been made.
    pub(super) fn new(quota: Quota) -> Self {
        Self {
            gcra: Gcra::new(quota),
            consumed: StateCell::new(Gcra::FRESH),
            deposits: AtomicU64::new(0),
            dry: AtomicU64::new(u64::MAX),
        }
    }

    /// The same bucket holding `tokens` at `now`.
    pub(super) fn holding(self, tokens: u64, now: Nanos) -> Self {
        Self { consumed: StateCell::new(self.gcra.holding(tokens, now)), ..self }
    }

    /// How many tokens could be drawn at `now`, if at least `n`. Writes nothing.
    #[inline]
    pub(super) fn look(&self, n: u64, now: Nanos) -> Result<u64, Denied> {
        let word = self.consumed.load();
        self.gcra.acquire(word, n, now).map(|_| self.gcra.available(word, now))
    }

    /// Draws at least `n` and at most `most` tokens at `now` (rule 2c); returns how many. Lock-free.
    #[inline]
    pub(super) fn draw(&self, n: u64, most: u64, now: Nanos) -> Result<u64, Denied> {
        self.consumed.update(|word| {
            let drawn = self.gcra.available(word, now).clamp(n, most);
            Ok((self.gcra.acquire(word, drawn, now)?, drawn))
        })
    }

    /// Draws as many tokens as there are at `now`, up to `n`; returns how many. Lock-free.
    pub(super) fn draw_up_to(&self, n: u64, now: Nanos) -> u64 {
        self.draw(0, n, now).unwrap_or(0)
    }

    /// Takes `n` tokens back at `now`; see [`Algorithm::refund`]. Lock-free.
    ///
    /// `dry` stays as it is: it speaks of slots, and a denial looks at `V` itself.
    pub(super) fn refund(&self, n: u64, now: Nanos) {
        match self.consumed.update(|word| Ok((self.gcra.refund(word, n, now), ()))) {
            Ok(()) => {}
            Err::<_, Infallible>(never) => match never {},
        }
    }

    /// Tokens that could be drawn at `now`.
    pub(super) fn available(&self, now: Nanos) -> u64 {
        self.gcra.available(self.consumed.load(), now)
    }

    /// Everything there is to know about `V` at `now`.
    pub(super) fn status(&self, now: Nanos) -> Status {
        self.gcra.status(self.consumed.load(), now)
    }

    /// The most that can be drawn at once: `Bc`.
    #[inline]
    pub(super) fn max_cost(&self) -> u64 {
        self.gcra.max_cost()
    }

    /// Says that a deposit has been made.
    #[inline]
    pub(super) fn count_deposit(&self) {
        // ORDERING: release; pairs with the acquire in `deposits`: whoever counts this deposit sees it in its slot, or
        // what became of it.
        self.deposits.fetch_add(1, Ordering::Release);
    }

    /// How many deposits have been made: read before a scan.
    #[inline]
    pub(super) fn deposits(&self) -> u64 {
        // ORDERING: acquire; pairs with the release in `count_deposit`, and with those before it, since read-modify-writes
        // carry a release sequence on. Without it a scan could miss a deposit that it has counted.
        self.deposits.load(Ordering::Acquire)
    }

    /// Whether a scan has found no credits since the last deposit, so that another would find none either.
    #[inline]
    pub(super) fn is_dry(&self) -> bool {
        // ORDERING: relaxed, both; they pair with nothing. A deposit that happens before this call has been counted, so
        // that no number of an older scan is equal.
        self.dry.load(Ordering::Relaxed) == self.deposits.load(Ordering::Relaxed)
    }

    /// Says that a scan that began after `deposits` deposits found no credits.
    pub(super) fn set_dry(&self, deposits: u64) {
        // ORDERING: relaxed, as above. An older scan may overwrite a newer one's number: the next denial scans again.
        self.dry.store(deposits, Ordering::Relaxed);
    }
}
