//! [`CarryOver`]: what a change of quota makes of the tokens that are there.

use crate::keyed::{KeyedError, Unchanged};
use crate::timeline::mul_div_ceil;
use core::fmt;

/// What becomes of the tokens in a limiter when its quota changes. Of a window, what it has counted is what is missing.
///
/// # Examples
///
/// A bucket of ten, of which seven are spent, becomes one of twenty:
///
/// ```
/// use tollgate::{AdjustableTokenBucket, CarryOver, ManualClock, Quota};
///
/// let left = |how| {
///     let bucket = AdjustableTokenBucket::with_clock(Quota::per_hour(10), ManualClock::new());
///     assert!(bucket.try_acquire_n(7).is_ok());
///     bucket.set_quota_with(Quota::per_hour(20), how).unwrap();
///     bucket.available()
/// };
/// assert_eq!(left(CarryOver::Debt), 13);
/// assert_eq!(left(CarryOver::Tokens), 3);
/// assert_eq!(left(CarryOver::Scaled), 6);
/// assert_eq!((left(CarryOver::Full), left(CarryOver::Empty)), (20, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CarryOver {
    /// What was spent stays spent: the tokens missing from a full bucket are the same number before and after, fractions
    /// included. However often a quota is changed, nothing extra is admitted. The default.
    #[default]
    Debt,
    /// What is there stays there, up to the new burst. A change that raises the burst admits nothing at once; one that
    /// lowers and raises it again takes tokens away. Nothing extra is admitted.
    Tokens,
    /// The same part of the burst is there before and after. A change to a larger burst admits more at once.
    Scaled,
    /// The limiter is full afterwards. Each change may admit a burst more.
    Full,
    /// The limiter is empty afterwards; of windows, the one that has begun.
    Empty,
}

/// Why a quota could not be changed. The old one stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AdjustError {
    /// The rate or the burst is too large for positions of 62 bits: a quarter of what a plain
    /// [`TokenBucket`](crate::TokenBucket) can have. Or a window's limit is.
    TooLarge,
    /// Three other threads are in the middle of changing the same quota.
    Contended,
    /// No class of a [`KeyedLimiter`](crate::KeyedLimiter) can have this quota.
    Keyed(KeyedError),
    /// The rates of a class before and after are so far apart that what its keys may owe would last for decades.
    TooFarApart,
    /// The quota of a class has changed too often within the time in which its burst recovers, to larger bursts each time.
    TooOften,
}

impl fmt::Display for AdjustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => {
                "the rate, the burst or the limit of a window is too large for a position of 62 bits to last"
            }
            Self::Contended => "three other threads are changing this quota",
            Self::Keyed(error) => return error.fmt(f),
            Self::TooFarApart => "the two rates are too far apart: what keys owe would last too long",
            Self::TooOften => {
                "the quota has changed too often, to larger bursts, within the time in which one recovers"
            }
        })
    }
}

impl core::error::Error for AdjustError {}

impl From<Unchanged> for AdjustError {
    fn from(unchanged: Unchanged) -> Self {
        match unchanged {
            Unchanged::Unfit(error) => Self::Keyed(error),
            Unchanged::TooFarApart => Self::TooFarApart,
            Unchanged::TooOften => Self::TooOften,
            Unchanged::Contended => Self::Contended,
        }
    }
}

impl CarryOver {
    /// What is owed under a burst of `new`, in its units, where `owed` was under one of `old` in units that `here` tells in the
    /// new ones, rounded down and up; `None` if it is beyond any number. Rounded up.
    pub(super) fn debt(self, new: u64, old: u64, owed: u64, here: impl Fn(u64) -> Option<(u64, u64)>) -> Option<u64> {
        match self {
            Self::Debt => here(owed).map(|(_, up)| up),
            Self::Tokens => {
                let kept = here(old.saturating_sub(owed)).map_or(u64::MAX, |(down, _)| down);
                Some(new.saturating_sub(kept))
            }
            // A limiter that never held anything was as empty as it was full.
            Self::Scaled if old == 0 => Some(new),
            Self::Scaled => Some(mul_div_ceil(new, owed.min(old), old)),
            Self::Full | Self::Empty => Some(self.of_nothing(new)),
        }
    }

    /// Whether a change to the same quota changes nothing.
    pub(super) fn keeps(self) -> bool {
        matches!(self, Self::Debt | Self::Tokens | Self::Scaled)
    }

    /// What is owed under a burst of `new` where nothing was counted: without a limit nothing is owed.
    pub(super) fn of_nothing(self, new: u64) -> u64 {
        if self == Self::Empty { new } else { 0 }
    }
}
