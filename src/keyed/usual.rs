//! [`Usual`]: what nearly every call needs of a pace.

use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::timeline::Hint;

/// A pace at which a unit is a nanosecond and the instants of words are what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usual {
    /// Nanoseconds per token; 0 if tokens cost nothing.
    pub(super) unit: u64,
    /// Nanoseconds in a burst.
    pub(super) burst: u64,
}

impl Usual {
    /// What `n` tokens cost, if that is anything and a full bucket has it.
    #[inline]
    pub(super) fn cost(self, n: u64) -> Option<u64> {
        n.checked_mul(self.unit).filter(|cost| (1..=self.burst).contains(cost))
    }

    /// When a bucket that is full at `full_at` will be full again after a charge of `cost` at `now`; `None` if the bucket
    /// has less.
    #[inline]
    pub(super) const fn charge(self, full_at: u64, cost: u64, now: Nanos) -> Option<u64> {
        let spent = if full_at > now.0 { full_at } else { now.0 } + cost;
        if spent <= now.0 + self.burst { Some(spent) } else { None }
    }

    /// Why [`charge`](Self::charge) with the same arguments gave nothing, and when it would.
    #[inline]
    pub(super) const fn refusal(self, full_at: u64, cost: u64, now: Nanos) -> Denied {
        // The cost is above what the bucket has, so `full_at` is above what it would have left.
        Denied::TryAfter(Hint::at(Nanos(full_at - (self.burst - cost)), now))
    }
}
