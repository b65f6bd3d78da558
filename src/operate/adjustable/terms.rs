//! [`Terms`]: the constants of one quota, and the pure steps on positions under them.

use crate::algorithm::{Algorithm, Gcra};
use crate::banks;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::Hint;
use core::time::Duration;

/// Bits of the word that are not the position's.
pub(super) const SPARE: u32 = banks::BITS;

/// The last position there is.
pub(super) const LAST: u64 = u64::MAX >> SPARE;

/// A quota's constants, from when they hold, and where their scale began: a [`Gcra`] on a scale that has been moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) gcra: Gcra,
    pub(super) start: Nanos,
    pub(super) base: u64,
}

impl Terms {
    /// How many words terms are.
    pub(super) const WORDS: usize = Gcra::WORDS + 2;

    /// The terms of a bucket that has never been changed; `None` if positions of 62 bits do not last for the quota.
    pub(super) const fn first(quota: Quota) -> Option<Self> {
        match Gcra::beside(quota, SPARE) {
            Some(gcra) => Some(Self { gcra, start: Nanos::ZERO, base: 0 }),
            None => None,
        }
    }

    /// As words, for a bank.
    pub(super) const fn to_words(self) -> [u64; Self::WORDS] {
        let [low, high, tokens, period, unit, grain, burst] = self.gcra.to_words();
        [low, high, tokens, period, unit, grain, burst, self.start.0, self.base]
    }

    /// The terms that are these words.
    pub(super) const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [low, high, tokens, period, unit, grain, burst, start, base] = words;
        let gcra = Gcra::from_words([low, high, tokens, period, unit, grain, burst]);
        Self { gcra, start: Nanos(start), base }
    }

    /// `now` on the scale's own time. What is before its start reads as its start: no time has passed.
    #[inline]
    pub(super) const fn since_start(&self, now: Nanos) -> Nanos {
        Nanos(now.0.saturating_sub(self.start.0))
    }

    /// A hint on the scale's own time, told in the clock's.
    const fn told(&self, hint: Hint, now: Nanos) -> Hint {
        Hint { start: self.start, now, ..hint }
    }

    /// The position after `n` tokens were taken at `now`.
    #[inline]
    pub(super) fn acquire(&self, position: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        match self.gcra.acquire(position.wrapping_sub(self.base), n, self.since_start(now)) {
            Ok(next) if next <= LAST - self.base => Ok(self.base + next),
            // The end of the word's life: no more tokens come.
            Ok(next) => Err(Denied::TryAfter(self.told(self.gcra.hint(next, Nanos::MAX).until(Nanos::ZERO), now))),
            Err(Denied::TryAfter(hint)) => Err(Denied::TryAfter(self.told(hint, now))),
            Err(denied) => Err(denied),
        }
    }

    /// The position after `n` tokens were given back at `now`.
    #[inline]
    pub(super) fn refund(&self, position: u64, n: u64, now: Nanos) -> u64 {
        self.base + self.gcra.refund(position.wrapping_sub(self.base), n, self.since_start(now))
    }

    /// Whole tokens that can be taken at `now`.
    #[inline]
    pub(super) fn available(&self, position: u64, now: Nanos) -> u64 {
        self.gcra.available(position.wrapping_sub(self.base), self.since_start(now))
    }

    /// Everything there is to know at `now`.
    pub(super) fn status(&self, position: u64, now: Nanos) -> Status {
        let status = self.gcra.status(position.wrapping_sub(self.base), self.since_start(now));
        let retry_after = match self.acquire(position, 1, now) {
            Ok(_) => Some(Duration::ZERO),
            Err(denied) => denied.retry_after(),
        };
        // A reading before the start waits for that as well.
        let until_start = Duration::from_nanos(self.start.0.saturating_sub(now.0));
        let reset_after = match status.reset_after {
            Duration::ZERO => Duration::ZERO,
            after => after.saturating_add(until_start),
        };
        Status { retry_after, reset_after, ..status }
    }

    /// How far the position is ahead of the scale at `now`, in units: the debt.
    pub(super) fn debt(&self, position: u64, now: Nanos) -> u64 {
        self.gcra.level(position.wrapping_sub(self.base), self.since_start(now))
    }

    /// The position that stands at `to` as `position` of another bucket under the same terms did at `from`; `None` if that is
    /// beyond the word.
    pub(super) fn carried(&self, position: u64, from: Nanos, to: Nanos) -> Option<u64> {
        let carried = self.gcra.carried(position, from, self.since_start(to))?;
        self.base.checked_add(carried).filter(|&position| position <= LAST)
    }
}
