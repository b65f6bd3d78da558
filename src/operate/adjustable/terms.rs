//! [`Terms`]: the constants of one quota, and the pure steps on positions under them.

use super::change::{Adjustable, Begun};
use crate::banks;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::timeline::Hint;
use core::time::Duration;

/// Bits of the word that are not the position's.
pub(super) const SPARE: u32 = banks::BITS;

/// The last position there is.
pub(super) const LAST: u64 = u64::MAX >> SPARE;

/// How many words terms are: those of the algorithm, and two.
pub(super) const WORDS: usize = 9;

/// A quota's constants, from when they hold, and where their positions begin: an algorithm's word is a position less that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms<A> {
    pub(super) algorithm: A,
    pub(super) start: Nanos,
    pub(super) base: u64,
}

/// As words, for a bank, the terms of an algorithm that has been in force for ever.
pub(super) const fn first([k0, k1, k2, k3, k4, k5, k6]: [u64; 7]) -> [u64; WORDS] {
    [k0, k1, k2, k3, k4, k5, k6, 0, 0]
}

/// The time from `start` to `now`. What is before the start reads as the start: no time has passed.
#[inline]
pub(super) const fn since(start: Nanos, now: Nanos) -> Nanos {
    Nanos(now.0.saturating_sub(start.0))
}

impl<A: Adjustable> Terms<A> {
    /// As words, for a bank.
    pub(super) fn to_words(self) -> [u64; WORDS] {
        let [k0, k1, k2, k3, k4, k5, k6] = self.algorithm.to_words();
        [k0, k1, k2, k3, k4, k5, k6, self.start.0, self.base]
    }

    /// The terms that are these words.
    #[inline]
    pub(super) fn from_words(words: [u64; WORDS]) -> Self {
        let [k0, k1, k2, k3, k4, k5, k6, start, base] = words;
        Self { algorithm: A::from_words([k0, k1, k2, k3, k4, k5, k6]), start: Nanos(start), base }
    }

    /// The terms of a quota that comes into force with positions from `base` on, and the position under them; `None` if it is
    /// beyond the last.
    pub(super) fn begin(Begun { algorithm, start, word }: Begun<A>, base: u64) -> Option<(Self, u64)> {
        let position = base.checked_add(word).filter(|&position| position <= LAST)?;
        Some((Self { algorithm, start, base }, position))
    }

    /// Whether what calls can take at one instant keeps to positions that there are.
    pub(super) fn has_room(&self, position: u64) -> bool {
        self.algorithm.highest(self.word(position)) <= LAST - self.base
    }

    /// The algorithm's word.
    #[inline]
    pub(super) const fn word(&self, position: u64) -> u64 {
        position.wrapping_sub(self.base)
    }

    /// `now` on the algorithm's own time.
    #[inline]
    const fn since_start(&self, now: Nanos) -> Nanos {
        since(self.start, now)
    }

    /// A hint on the algorithm's own time, told in the clock's.
    const fn told(&self, hint: Hint, now: Nanos) -> Hint {
        Hint { start: Nanos(self.start.0.saturating_add(hint.start.0)), now, ..hint }
    }

    /// The position after `n` tokens were taken at `now`.
    #[inline]
    pub(super) fn acquire(&self, position: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        match self.algorithm.acquire(self.word(position), n, self.since_start(now)) {
            Ok(next) if next <= LAST - self.base => Ok(self.base + next),
            // The end of the word's life: no more tokens come.
            Ok(_) => Err(Denied::TryAfter(Hint::at(Nanos::MAX, now).until(Nanos::ZERO))),
            Err(Denied::TryAfter(hint)) => Err(Denied::TryAfter(self.told(hint, now))),
            Err(denied) => Err(denied),
        }
    }

    /// The position after `n` tokens were given back that were taken at `taken`.
    #[inline]
    pub(super) fn refund(&self, position: u64, n: u64, taken: Nanos) -> u64 {
        if !A::TAKES_BACK_EARLIER && taken < self.start {
            return position;
        }
        self.base + self.algorithm.refund(self.word(position), n, self.since_start(taken))
    }

    /// The position as it would be had a call not taken `n` tokens, which left the position `after`, where others have changed it
    /// since; `None` if it does not tell.
    pub(super) fn without(&self, position: u64, n: u64, after: u64) -> Option<u64> {
        // Positions below the base are of other terms (rule 4 of the module).
        let after = after.checked_sub(self.base)?;
        Some(self.base + self.algorithm.without(self.word(position), n, after)?)
    }

    /// Whole tokens that can be taken at `now`.
    #[inline]
    pub(super) fn available(&self, position: u64, now: Nanos) -> u64 {
        self.algorithm.available(self.word(position), self.since_start(now))
    }

    /// Everything there is to know at `now`.
    pub(super) fn status(&self, position: u64, now: Nanos) -> Status {
        let status = self.algorithm.status(self.word(position), self.since_start(now));
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
}
