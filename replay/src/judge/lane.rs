//! One algorithm with a limiter for each key.

use tollgate::{Denied, Nanos, Quota};

use super::algorithm::Algorithm;
use super::limiters::{Limiters, Unfit};
use super::tally::Tally;

/// What one algorithm decides and has decided.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) tally: Tally,
    limiters: Box<dyn Limiters>,
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
        let limiters = algorithm.limiters(quota, capacity)?;
        Ok(Self { tally: Tally::default(), limiters, denied: Vec::new(), admitted: Vec::new() })
    }

    /// Makes a limiter for the next key.
    pub(super) fn admit_key(&mut self) {
        self.limiters.admit_key();
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
        self.limiters.capacity()
    }
}
