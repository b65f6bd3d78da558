//! The same arrivals put to every algorithm and to the exact log.

use core::time::Duration;

use tollgate::{Nanos, Quota, QuotaError};

use super::exact_log::ExactLog;
use super::limiter::{Algorithm, Limiter};
use super::peak::Peak;

/// What one algorithm did with the arrivals so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Arrivals admitted.
    pub(crate) admitted: u64,
    /// Arrivals denied.
    pub(crate) denied: u64,
    /// Arrivals denied that cost more than can ever be admitted; part of `denied`.
    pub(crate) never: u64,
    /// Keys denied at least once.
    pub(crate) keys_denied: u64,
    /// The longest wait that a denial hinted.
    pub(crate) longest_wait: Duration,
    /// The most tokens admitted from one key within any period.
    pub(crate) most_in_a_period: u64,
    /// Arrivals admitted that the exact log denies.
    pub(crate) over: u64,
    /// Arrivals denied that the exact log admits.
    pub(crate) under: u64,
}

impl Tally {
    fn count(&mut self, decision: Result<(), Option<Duration>>) {
        match decision {
            Ok(()) => self.admitted += 1,
            Err(wait) => {
                self.denied += 1;
                self.never += u64::from(wait.is_none());
                self.longest_wait = self.longest_wait.max(wait.unwrap_or_default());
            }
        }
    }

    /// The share of arrivals denied.
    pub(crate) fn share_denied(&self) -> f64 {
        share(self.denied, self.admitted + self.denied)
    }

    /// The share of decisions that differ from the exact log's, in either direction.
    pub(crate) fn share_differing(&self) -> f64 {
        share(self.over + self.under, self.admitted + self.denied)
    }
}

/// A part of a whole, from 0 to 1; 0 of nothing.
#[allow(clippy::cast_precision_loss)] // a share is shown to a few digits
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// One key's limiter of one algorithm.
#[derive(Debug)]
struct Lane {
    limiter: Limiter,
    denied: u64,
    admitted: Peak,
}

/// All that is known of one key.
#[derive(Debug)]
pub(crate) struct KeyRecord {
    log: ExactLog,
    log_admitted: Peak,
    log_denied: u64,
    asked: Peak,
    arrivals: u64,
    lanes: Box<[Lane]>,
}

impl KeyRecord {
    pub(crate) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// What was asked for, admitted or not.
    pub(crate) fn asked(&self) -> &Peak {
        &self.asked
    }

    pub(crate) fn denied_by_log(&self) -> u64 {
        self.log_denied
    }

    /// Arrivals denied by the algorithm at this place in [`Comparison::algorithms`].
    pub(crate) fn denied_by(&self, place: usize) -> u64 {
        self.lanes[place].denied
    }
}

/// Puts each arrival to a limiter of every algorithm and to the exact log, each with its own history.
///
/// Keys are numbered from 0 by whoever reads the arrivals; a limiter is made when its key is first seen.
#[derive(Debug)]
pub(crate) struct Comparison {
    quota: Quota,
    algorithms: Vec<Algorithm>,
    tallies: Vec<Tally>,
    log_tally: Tally,
    keys: Vec<KeyRecord>,
    asked: Peak,
}

impl Comparison {
    /// A comparison of these algorithms, with one quota for every key.
    ///
    /// # Errors
    ///
    /// The first algorithm that cannot hold the quota, and why.
    pub(crate) fn new(quota: Quota, algorithms: Vec<Algorithm>) -> Result<Self, (Algorithm, QuotaError)> {
        for &algorithm in &algorithms {
            Limiter::new(algorithm, quota).map_err(|error| (algorithm, error))?;
        }
        let tallies = vec![Tally::default(); algorithms.len()];
        let asked = Peak::new(period(quota));
        Ok(Self { quota, algorithms, tallies, log_tally: Tally::default(), keys: Vec::new(), asked })
    }

    /// One arrival: who, at what cost, and when.
    ///
    /// # Panics
    ///
    /// If `key` is above the number of keys seen before.
    pub(crate) fn arrive(&mut self, key: usize, cost: u64, now: Nanos) {
        if key == self.keys.len() {
            self.keys.push(self.newcomer());
        }
        let record = &mut self.keys[key];
        let at = now.as_nanos();
        record.arrivals += 1;
        record.asked.add(cost, at);
        self.asked.add(cost, at);

        let by_log = record.log.try_acquire_n_at(cost, at);
        self.log_tally.count(by_log);
        if by_log.is_ok() {
            record.log_admitted.add(cost, at);
            self.log_tally.most_in_a_period = self.log_tally.most_in_a_period.max(record.log_admitted.most());
        } else {
            self.log_tally.keys_denied += u64::from(record.log_denied == 0);
            record.log_denied += 1;
        }

        for (lane, tally) in record.lanes.iter_mut().zip(&mut self.tallies) {
            let decision = lane.limiter.try_acquire_n_at(cost, now).map_err(|denied| denied.retry_after());
            tally.count(decision);
            if decision.is_ok() {
                lane.admitted.add(cost, at);
                tally.most_in_a_period = tally.most_in_a_period.max(lane.admitted.most());
                tally.over += u64::from(by_log.is_err());
            } else {
                tally.keys_denied += u64::from(lane.denied == 0);
                tally.under += u64::from(by_log.is_ok());
                lane.denied += 1;
            }
        }
    }

    fn newcomer(&self) -> KeyRecord {
        let period = period(self.quota);
        let lane = |&algorithm: &Algorithm| Lane {
            limiter: Limiter::new(algorithm, self.quota).expect("one was made with this quota before"),
            denied: 0,
            admitted: Peak::new(period),
        };
        KeyRecord {
            log: ExactLog::new(self.quota.tokens(), period),
            log_admitted: Peak::new(period),
            log_denied: 0,
            asked: Peak::new(period),
            arrivals: 0,
            lanes: self.algorithms.iter().map(lane).collect(),
        }
    }

    pub(crate) fn quota(&self) -> Quota {
        self.quota
    }

    pub(crate) fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// What each algorithm did, in the order of [`algorithms`](Self::algorithms).
    pub(crate) fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// What the exact log did.
    pub(crate) fn log_tally(&self) -> &Tally {
        &self.log_tally
    }

    /// The keys, by their numbers.
    pub(crate) fn keys(&self) -> &[KeyRecord] {
        &self.keys
    }

    /// What was asked for by all keys together.
    pub(crate) fn asked(&self) -> &Peak {
        &self.asked
    }
}

fn period(quota: Quota) -> u64 {
    Nanos::from(quota.period()).as_nanos()
}
