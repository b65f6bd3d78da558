//! The library's limiters behind one call that takes the instant from the log.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use core::hash::BuildHasherDefault;
use std::hash::DefaultHasher;
use std::sync::Arc;
use tollgate::{
    Denied, FixedWindow, KeyedError, KeyedLimiter, ManualClock, Nanos, PackedTokenBucket, Quota, QuotaError,
    SlidingWindowCounter, SlidingWindowLog, TokenBucket,
};

/// A way of limiting, by its name in the harness.
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

/// What can be asked for on the command line: one algorithm, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// This one.
    One(Algorithm),
}

impl Selection {
    /// The algorithms selected, each once, in the order of [`Algorithm::ALL`].
    pub fn algorithms(selections: &[Self]) -> Vec<Algorithm> {
        let selected = |one: &Algorithm| selections.iter().any(|&s| s == Self::All || s == Self::One(*one));
        Algorithm::ALL.into_iter().filter(selected).collect()
    }
}

impl ValueEnum for Selection {
    fn value_variants<'a>() -> &'a [Self] {
        const VARIANTS: [Selection; 9] = {
            let mut variants = [Selection::All; 9];
            let mut place = 0;
            while place < Algorithm::ALL.len() {
                variants[place] = Selection::One(Algorithm::ALL[place]);
                place += 1;
            }
            variants
        };
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::All => "all",
            Self::One(algorithm) => algorithm.name(),
        }))
    }
}

/// One limiter of the library. Where two algorithms are one type seen from two sides, they are one variant.
#[derive(Debug)]
pub enum Limiter {
    /// A token bucket; the leaky bucket is the same machine.
    Bucket(TokenBucket),
    /// Tokens and time in separate bit fields.
    Packed(PackedTokenBucket),
    /// A fixed window; the interval bucket differs in partial takes only.
    Window(FixedWindow),
    /// A sliding counter.
    Counter(SlidingWindowCounter),
    /// A sliding log.
    Log(SlidingWindowLog),
    /// One key in the table of all.
    Keyed(Arc<Table>, usize),
}

/// The table of all keys, which are known by their numbers. Its hashes are the same on each run, so that a replay is,
/// too.
pub type Table = KeyedLimiter<usize, BuildHasherDefault<DefaultHasher>, ManualClock>;

/// A table for so many keys in debt at once.
///
/// # Errors
///
/// It cannot hold the quota, or cannot be had.
pub fn table(quota: Quota, capacity: usize) -> Result<Arc<Table>, KeyedError> {
    // No clock is ever read; this one is as good as any.
    Table::try_with_hasher_and_clock(quota, capacity, BuildHasherDefault::default(), ManualClock::new()).map(Arc::new)
}

impl Limiter {
    /// A limiter of its own.
    ///
    /// # Errors
    ///
    /// The algorithm cannot hold the quota.
    ///
    /// # Panics
    ///
    /// For [`Algorithm::Keyed`], which has one [`table`] for all.
    pub fn new(algorithm: Algorithm, quota: Quota) -> Result<Self, QuotaError> {
        match algorithm {
            Algorithm::TokenBucket | Algorithm::LeakyBucket => TokenBucket::try_new(quota).map(Self::Bucket),
            Algorithm::Packed => PackedTokenBucket::try_new(quota).map(Self::Packed),
            Algorithm::FixedWindow | Algorithm::Interval => FixedWindow::try_new(quota).map(Self::Window),
            Algorithm::SlidingCounter => SlidingWindowCounter::try_new(quota).map(Self::Counter),
            Algorithm::SlidingLog => SlidingWindowLog::try_new(quota).map(Self::Log),
            Algorithm::Keyed => unreachable!("keys in a table are no limiters of their own"),
        }
    }

    /// Takes `n` tokens at `now`.
    ///
    /// # Errors
    ///
    /// Why it is denied.
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        match self {
            Self::Bucket(limiter) => limiter.try_acquire_n_at(n, now),
            Self::Packed(limiter) => limiter.try_acquire_n_at(n, now),
            Self::Window(limiter) => limiter.try_acquire_n_at(n, now),
            Self::Counter(limiter) => limiter.try_acquire_n_at(n, now),
            Self::Log(limiter) => limiter.try_acquire_n_at(n, now),
            Self::Keyed(table, key) => table.try_acquire_n_at(key, n, now),
        }
    }
}
