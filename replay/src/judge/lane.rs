//! One algorithm with a limiter for each key.

use core::hash::BuildHasherDefault;
use std::hash::DefaultHasher;

use tollgate::{
    BuildError, Denied, FixedWindow, KeyedLimiter, ManualClock, Nanos, PackedTokenBucket, Quota, SlidingWindowCounter,
    SlidingWindowLog, TokenBucket,
};

use super::algorithm::Algorithm;
use super::tally::Tally;

/// Why an algorithm cannot hold a limit: a `BuildError`, a `KeyedError` of a table, or want of memory.
pub type Unfit = Box<dyn core::error::Error + Send + Sync>;

/// The library's limiters of one algorithm, by the numbers of their keys. Where two algorithms are one type seen from two
/// sides, they are one variant.
#[derive(Debug)]
enum Limiters {
    /// Token buckets; leaky buckets are the same machine.
    Bucket(Vec<TokenBucket>),
    Packed(Vec<PackedTokenBucket>),
    /// Fixed windows; interval buckets differ in partial takes only.
    Window(Vec<FixedWindow>),
    Counter(Vec<SlidingWindowCounter>),
    Log(Vec<SlidingWindowLog>),
    /// All keys in one table.
    Keyed(Box<Table>),
}

/// The table of all keys, which are known by their numbers. Its hashes are the same on each run, so that a replay is,
/// too.
type Table = KeyedLimiter<usize, BuildHasherDefault<DefaultHasher>, ManualClock>;

/// What one algorithm decides and has decided.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) tally: Tally,
    quota: Quota,
    limiters: Limiters,
    /// Arrivals denied of each key.
    denied: Vec<u64>,
    /// Tokens admitted from each key within the period that ends at its last arrival.
    admitted: Vec<u64>,
}

impl Lane {
    /// A lane without keys. A table of all keys is made for `capacity` of them in debt.
    ///
    /// # Errors
    ///
    /// The algorithm cannot hold the quota, or there is no memory for the table.
    pub(super) fn new(algorithm: Algorithm, quota: Quota, capacity: usize) -> Result<Self, Unfit> {
        let mut limiters = match algorithm {
            Algorithm::TokenBucket | Algorithm::LeakyBucket => Limiters::Bucket(Vec::new()),
            Algorithm::Packed => Limiters::Packed(Vec::new()),
            Algorithm::FixedWindow | Algorithm::Interval => Limiters::Window(Vec::new()),
            Algorithm::SlidingCounter => Limiters::Counter(Vec::new()),
            Algorithm::SlidingLog => Limiters::Log(Vec::new()),
            Algorithm::Keyed => {
                // No clock is ever read; this one is as good as any.
                let (hasher, clock) = (BuildHasherDefault::default(), ManualClock::new());
                Limiters::Keyed(Box::new(Table::try_with_hasher_and_clock(quota, capacity, hasher, clock)?))
            }
        };
        limiters.admit_key(quota)?; // whether one can be made at all
        limiters.clear();
        Ok(Self { tally: Tally::default(), quota, limiters, denied: Vec::new(), admitted: Vec::new() })
    }

    /// Makes a limiter for the next key.
    pub(super) fn admit_key(&mut self) {
        self.limiters.admit_key(self.quota).expect("one was made for this quota before");
        self.denied.push(0);
        self.admitted.push(0);
    }

    /// Puts an arrival to the key's limiter; the exact log has decided already. Returns whether it is admitted.
    pub(super) fn decide(&mut self, key: usize, cost: u64, now: Nanos, admitted_by_log: bool) -> bool {
        let decision = self.limiters.try_acquire_n_at(key, cost, now);
        let tally = &mut self.tally;
        tally.no_place += u64::from(matches!(decision, Err(Denied::TableFull(_))));
        let decision = decision.map_err(|denied| denied.retry_after());
        tally.count(decision);
        if decision.is_ok() {
            self.admitted[key] = self.admitted[key].saturating_add(cost);
            tally.most_in_a_period = tally.most_in_a_period.max(self.admitted[key]);
            tally.over += u64::from(!admitted_by_log);
        } else {
            tally.keys_denied += u64::from(self.denied[key] == 0);
            tally.under += u64::from(admitted_by_log);
            self.denied[key] += 1;
        }
        decision.is_ok()
    }

    /// An amount that the key was admitted is now longer ago than a period.
    pub(super) fn forget(&mut self, key: usize, amount: u64) {
        self.admitted[key] = self.admitted[key].saturating_sub(amount);
    }

    /// Arrivals of a key that were denied.
    pub(super) fn denied(&self, key: usize) -> u64 {
        self.denied[key]
    }

    /// The keys in debt that the table is made for, if this lane has one.
    pub(super) fn capacity(&self) -> Option<usize> {
        match &self.limiters {
            Limiters::Keyed(table) => Some(table.capacity()),
            _ => None,
        }
    }
}

impl Limiters {
    /// Makes a limiter for one more key; a table has them all.
    fn admit_key(&mut self, quota: Quota) -> Result<(), BuildError> {
        match self {
            Self::Bucket(limiters) => limiters.push(TokenBucket::try_new(quota)?),
            Self::Packed(limiters) => limiters.push(PackedTokenBucket::try_new(quota)?),
            Self::Window(limiters) => limiters.push(FixedWindow::try_new(quota)?),
            Self::Counter(limiters) => limiters.push(SlidingWindowCounter::try_new(quota)?),
            Self::Log(limiters) => limiters.push(SlidingWindowLog::try_new(quota)?),
            Self::Keyed(_) => {}
        }
        Ok(())
    }

    fn clear(&mut self) {
        match self {
            Self::Bucket(limiters) => limiters.clear(),
            Self::Packed(limiters) => limiters.clear(),
            Self::Window(limiters) => limiters.clear(),
            Self::Counter(limiters) => limiters.clear(),
            Self::Log(limiters) => limiters.clear(),
            Self::Keyed(_) => {}
        }
    }

    fn try_acquire_n_at(&self, key: usize, n: u64, now: Nanos) -> Result<(), Denied> {
        match self {
            Self::Bucket(limiters) => limiters[key].try_acquire_n_at(n, now),
            Self::Packed(limiters) => limiters[key].try_acquire_n_at(n, now),
            Self::Window(limiters) => limiters[key].try_acquire_n_at(n, now),
            Self::Counter(limiters) => limiters[key].try_acquire_n_at(n, now),
            Self::Log(limiters) => limiters[key].try_acquire_n_at(n, now),
            Self::Keyed(table) => table.try_acquire_n_at(&key, n, now),
        }
    }
}
