//! [`Kind`]: what the limiters promise, algorithm by algorithm. A new one is told here, and most tests then have it.

use super::Subject;
use crate::reference::{self, Fraction, InUnits, Model};
use crate::trace::{Admission, first_overfull_span, worst_window};
use core::time::Duration;
use tollgate::{
    BuildError, FixedWindow, ManualClock, Nanos, PackedTokenBucket, Quota, SlidingWindowCounter, SlidingWindowLog,
    TokenBucket,
};

/// Gives the names of the limiters of one word to a macro, each type once, and more names if there are any.
#[macro_export]
macro_rules! each_word {
    ($each:ident $(, $more:ident)*) => {
        $each!(TokenBucket, PackedTokenBucket, FixedWindow, SlidingWindowCounter $(, $more)*)
    };
}

/// Gives the names of the limiters that tests treat alike to a macro: those of one word, and what is more than a word.
#[macro_export]
macro_rules! each_limiter {
    ($each:ident) => {
        $crate::each_word!($each, SlidingWindowLog, ShardedTokenBucket)
    };
}

/// The largest limit that tests give a log, which takes 8 bytes for each unit of it.
const LONGEST_LOG: u64 = 1 << 20;

/// The last instant that packed words tell apart: 120 years.
const PACKED_END: Nanos = Nanos(120 * 31_557_600 * 1_000_000_000);

/// The algorithms. Leaky bucket and interval bucket are the token bucket and the fixed window by other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`TokenBucket`]
    TokenBucket,
    /// [`PackedTokenBucket`]
    PackedTokenBucket,
    /// [`FixedWindow`]
    FixedWindow,
    /// [`SlidingWindowCounter`]
    SlidingWindowCounter,
    /// [`SlidingWindowLog`]
    SlidingWindowLog,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::TokenBucket,
        Self::PackedTokenBucket,
        Self::FixedWindow,
        Self::SlidingWindowCounter,
        Self::SlidingWindowLog,
    ];
    /// Those whose quota's burst counts.
    pub const BUCKETS: [Self; 2] = [Self::TokenBucket, Self::PackedTokenBucket];
    /// A fresh limiter.
    ///
    /// # Errors
    ///
    /// The limiter's, if the quota does not fit it; or if it is a log that would take more than 8 MiB, or a limiter whose
    /// model could not count so many tokens to a unit.
    pub fn limiter(self, quota: Quota, clock: &ManualClock) -> Result<Box<Subject>, BuildError> {
        let clock = clock.clone();
        if self == Self::SlidingWindowLog && quota.tokens() > LONGEST_LOG && !quota.is_unlimited() {
            return Err(BuildError::LogTooLong { largest: LONGEST_LOG });
        }
        if self.in_units(quota).is_none() {
            return Err(BuildError::LimitTooLarge { largest: 0 });
        }
        Ok(match self {
            Self::TokenBucket => Box::new(TokenBucket::try_with_clock(quota, clock)?),
            Self::PackedTokenBucket => Box::new(PackedTokenBucket::try_with_clock(quota, clock)?),
            Self::FixedWindow => Box::new(FixedWindow::try_with_clock(quota, clock)?),
            Self::SlidingWindowCounter => Box::new(SlidingWindowCounter::try_with_clock(quota, clock)?),
            Self::SlidingWindowLog => Box::new(SlidingWindowLog::try_with_clock(quota, clock)?),
        })
    }

    /// The model of a fresh limiter.
    pub fn model(self, quota: Quota) -> Box<dyn Model> {
        self.model_holding(self.capacity(quota), quota, Nanos::ZERO)
    }

    /// A limiter that holds `tokens` as of its clock's now; `None` of those whose model is always full at first.
    pub(super) fn limiter_holding(self, tokens: u64, quota: Quota, clock: &ManualClock) -> Option<Box<Subject>> {
        let clock = clock.clone();
        Some(match self {
            Self::TokenBucket => Box::new(TokenBucket::with_clock(quota, clock).with_initial(tokens)),
            Self::PackedTokenBucket => Box::new(PackedTokenBucket::with_clock(quota, clock).with_initial(tokens)),
            Self::FixedWindow => Box::new(FixedWindow::with_clock(quota, clock).with_initial(tokens)),
            Self::SlidingWindowCounter | Self::SlidingWindowLog => return None,
        })
    }

    /// The model of a limiter that has so many tokens at `at`; the sliding windows' are always full.
    pub(super) fn model_holding(self, tokens: u64, quota: Quota, at: Nanos) -> Box<dyn Model> {
        let most = self.capacity(quota);
        let (unit, quota) = self.in_units(quota).expect("there is no limiter of this kind for this quota");
        match self {
            Self::TokenBucket | Self::PackedTokenBucket => {
                let mut bucket = InUnits::new(reference::TokenBucket::holding(quota.burst(), quota, at), unit, most);
                bucket.charge(most - tokens, at);
                Box::new(bucket)
            }
            Self::FixedWindow => {
                let mut window = InUnits::new(reference::FixedWindow::new(quota), unit, most);
                window.charge(most - tokens, at);
                Box::new(window)
            }
            Self::SlidingWindowCounter => Box::new(reference::SlidingWindowCounter::new(quota)),
            Self::SlidingWindowLog => Box::new(reference::SlidingWindowLog::new(quota)),
        }
    }

    /// How many tokens a unit has: a power of two; `None` if so many as it would take are too many.
    ///
    /// Units have more than one token only where two or more fall due in a nanosecond (four in a packed bucket). Then they
    /// have as few as it takes for the word to last.
    pub fn tokens_per_unit(self, quota: Quota) -> Option<u64> {
        let (tokens, period) = (u128::from(quota.tokens()), quota.period().as_nanos());
        if period == 0 || tokens / period < if self == Self::PackedTokenBucket { 4 } else { 2 } {
            return Some(1);
        }
        let bits = |count: u128| 128 - count.leading_zeros();
        let lasts = |unit: u64| {
            let wide = u128::from(unit);
            match self {
                // What is due in 2^62 ns, and the burst on top.
                Self::TokenBucket => {
                    (tokens << 62).div_ceil(period * wide) + u128::from(quota.burst().div_ceil(unit)) <= u64::MAX.into()
                }
                // What is due in 120 years, beside what the bucket can hold; no faster than a scale can be.
                Self::PackedTokenBucket => {
                    let due = tokens * u128::from(PACKED_END.0) / (period * wide);
                    tokens / wide < 4 * period && bits(due) + bits(quota.burst().div_ceil(unit).into()) <= 64
                }
                // The windows in 120 years, beside what one can count.
                Self::FixedWindow => {
                    bits((u128::from(PACKED_END.0) / period).max(1)) + bits(quota.tokens().div_ceil(unit).into()) <= 64
                }
                Self::SlidingWindowCounter | Self::SlidingWindowLog => true,
            }
        };
        (0..32).map(|bits| 1 << bits).find(|&unit| lasts(unit))
    }

    /// How many tokens a unit has, and the quota in units; `None` if there is no such quota.
    fn in_units(self, quota: Quota) -> Option<(u64, Quota)> {
        let unit = self.tokens_per_unit(quota)?;
        if unit == 1 {
            return Some((unit, quota));
        }
        let in_units = if Self::BUCKETS.contains(&self) {
            let period = quota.period().as_nanos() * u128::from(unit);
            let period = Duration::from_nanos(u64::try_from(period).ok()?);
            Quota::try_new(quota.tokens(), period, quota.burst().div_ceil(unit))
        } else {
            Quota::try_new(quota.tokens().div_ceil(unit), quota.period(), 1)
        };
        Some((unit, in_units.ok()?))
    }

    /// The most there can be, and the most that one call can cost.
    pub fn capacity(self, quota: Quota) -> u64 {
        if Self::BUCKETS.contains(&self) { quota.burst() } else { quota.tokens() }
    }

    /// The last instant that a limiter tells apart from later ones: 146 years, or 120 where the word is packed.
    pub fn horizon(self) -> Nanos {
        match self {
            Self::TokenBucket => Nanos((1 << 62) - 1),
            Self::SlidingWindowLog => Nanos((1 << 62) - 2),
            Self::PackedTokenBucket | Self::FixedWindow | Self::SlidingWindowCounter => PACKED_END,
        }
    }

    /// Whether a refund counts, `late` if some call has seen a later reading: a log takes none, and a packed bucket cannot
    /// move its stamp back, so that there a late refund shows later than in the model.
    pub fn takes_back(self, late: bool) -> bool {
        match self {
            Self::TokenBucket | Self::FixedWindow | Self::SlidingWindowCounter => true,
            Self::PackedTokenBucket => !late,
            Self::SlidingWindowLog => false,
        }
    }

    /// The first window of a recorded run, in words, that holds more than the algorithm's documentation allows.
    pub fn first_breach(self, quota: Quota, run: &[Admission]) -> Option<String> {
        let (limit, width) = (quota.tokens(), quota.period());
        let overfull = |most| first_overfull_span(run, width, most).map(|span| span.to_string());
        let aligned = |at: Nanos| u128::from(at.as_nanos()) / width.as_nanos();
        let overfull_aligned = || {
            run.chunk_by(|a, b| aligned(a.at) == aligned(b.at)).find_map(|window| {
                let admitted: u64 = window.iter().map(|admission| admission.cost).sum();
                (admitted > limit).then(|| format!("{admitted} in the window of {:?}", window[0].at))
            })
        };
        match self {
            Self::TokenBucket | Self::PackedTokenBucket => worst_window(run, quota)
                .filter(|window| !self.allows(window.excess, quota))
                .map(|window| window.to_string()),
            Self::FixedWindow => overfull(2 * limit).or_else(overfull_aligned),
            Self::SlidingWindowCounter => overfull(2 * limit - 1).or_else(overfull_aligned),
            Self::SlidingWindowLog => overfull(limit),
        }
    }

    /// Whether being `early` by so much, in the model's units, is within what the algorithm's documentation allows.
    pub fn allows(self, early: Fraction, quota: Quota) -> bool {
        match self {
            Self::TokenBucket => early.is_less_than_one_in(units_per_token(quota)),
            // A full packed bucket is clamped on a whole token, or a unit of many.
            Self::PackedTokenBucket => early.is_less_than_one_in(1),
            Self::FixedWindow | Self::SlidingWindowCounter | Self::SlidingWindowLog => early.is_zero(),
        }
    }
}

/// Token units per token, by their definition: the largest power of two for which the units that fall due in 2^62 ns, with
/// the burst on top, can be counted in 64 bits.
pub fn units_per_token(quota: Quota) -> u64 {
    let fits = |units: u64| {
        // Due in 2^62 ns: tokens * units * 2^62 / period.
        let rate = u128::from(quota.tokens()).checked_mul(units.into());
        let whole = rate.map(|rate| (rate / quota.period().as_nanos(), rate % quota.period().as_nanos()));
        let due = whole.and_then(|(whole, rest)| {
            let rest = (rest << 62).div_ceil(quota.period().as_nanos());
            whole.checked_mul(1 << 62).and_then(|due| due.checked_add(rest))
        });
        let burst = u128::from(quota.burst()).checked_mul(units.into());
        due.zip(burst).and_then(|(due, burst)| due.checked_add(burst)).is_some_and(|sum| sum <= u64::MAX.into())
    };
    (0..64).map(|f| 1 << f).take_while(|&units| fits(units)).last().unwrap_or(1)
}
