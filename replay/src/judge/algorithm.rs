//! [`Algorithm`]: the ways of limiting, by name. A new one is added here.

use tollgate::{FixedWindow, PackedTokenBucket, Quota, SlidingWindowCounter, SlidingWindowLog, TokenBucket};

use super::limiters::{Each, Limiters, Unfit, table};

/// A way of limiting, by its name in tables and on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// `TokenBucket`.
    TokenBucket,
    /// `LeakyBucket`: the token bucket seen from the other side.
    LeakyBucket,
    /// `PackedTokenBucket`.
    Packed,
    /// `FixedWindow`.
    FixedWindow,
    /// `IntervalBucket`.
    Interval,
    /// `SlidingWindowCounter`.
    SlidingCounter,
    /// `SlidingWindowLog`.
    SlidingLog,
    /// `KeyedLimiter`: a token bucket for each key, all in one table of a fixed size.
    Keyed,
}

impl Algorithm {
    /// Every algorithm, in the order in which they are shown.
    pub const ALL: [Self; 8] = {
        let mut all = [Self::Keyed; 8];
        let mut place = 0;
        while place < Self::SINGLE.len() {
            all[place] = Self::SINGLE[place];
            place += 1;
        }
        all
    };

    /// Those that are one limiter for each key.
    pub const SINGLE: [Self; 7] = [
        Self::TokenBucket,
        Self::LeakyBucket,
        Self::Packed,
        Self::FixedWindow,
        Self::Interval,
        Self::SlidingCounter,
        Self::SlidingLog,
    ];

    /// The name in tables, files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TokenBucket => "token-bucket",
            Self::LeakyBucket => "leaky-bucket",
            Self::Packed => "packed",
            Self::FixedWindow => "fixed-window",
            Self::Interval => "interval",
            Self::SlidingCounter => "sliding-counter",
            Self::SlidingLog => "sliding-log",
            Self::Keyed => "keyed",
        }
    }

    /// Its limiters, none yet. Where two algorithms are one type seen from two sides, they are that type. A table of all
    /// keys is made for `capacity` of them in debt.
    ///
    /// # Errors
    ///
    /// The algorithm cannot hold the quota, or there is no memory for the table.
    pub(super) fn limiters(self, quota: Quota, capacity: usize) -> Result<Box<dyn Limiters>, Unfit> {
        Ok(match self {
            Self::TokenBucket | Self::LeakyBucket => Box::new(Each::of(TokenBucket::try_new, quota)?),
            Self::Packed => Box::new(Each::of(PackedTokenBucket::try_new, quota)?),
            Self::FixedWindow | Self::Interval => Box::new(Each::of(FixedWindow::try_new, quota)?),
            Self::SlidingCounter => Box::new(Each::of(SlidingWindowCounter::try_new, quota)?),
            Self::SlidingLog => Box::new(Each::of(SlidingWindowLog::try_new, quota)?),
            Self::Keyed => Box::new(table(quota, capacity)?),
        })
    }
}
