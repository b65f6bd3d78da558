//! [`Algorithm`]: the ways of limiting, by name.

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
}
