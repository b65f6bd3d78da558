//! The same arrivals put to every algorithm and to the exact log.

use core::time::Duration;

use std::sync::Arc;

use tollgate::{Denied, Nanos, Quota};

use super::exact_log::ExactLog;
use super::limiter::{Algorithm, Limiter, Table, table};
use super::peak::Peak;
use crate::error::Unfit;

/// The most memory that the library's sliding logs may take together, in bytes: they need 8 for each key and unit of
/// limit, used or not.
pub const LOG_MEMORY: u64 = 512 << 20;

/// What one algorithm did with the arrivals so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Arrivals admitted.
    pub admitted: u64,
    /// Arrivals denied.
    pub denied: u64,
    /// Arrivals denied that cost more than can ever be admitted; part of `denied`.
    pub never: u64,
    /// Arrivals of newcomers denied because the table of all keys had no place for them; part of `denied`.
    pub no_place: u64,
    /// Keys denied at least once.
    pub keys_denied: u64,
    /// The longest wait that a denial hinted.
    pub longest_wait: Duration,
    /// The most tokens admitted from one key within any period.
    pub most_in_a_period: u64,
    /// Arrivals admitted that the exact log denies.
    pub over: u64,
    /// Arrivals denied that the exact log admits.
    pub under: u64,
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
    pub fn share_denied(&self) -> f64 {
        share(self.denied, self.admitted + self.denied)
    }

    /// The share of decisions that differ from the exact log's, in either direction.
    pub fn share_differing(&self) -> f64 {
        share(self.over + self.under, self.admitted + self.denied)
    }
}

/// A part of a whole, from 0 to 1; 0 of nothing.
#[allow(clippy::cast_precision_loss)] // a share is shown to a few digits
pub fn share(part: u64, whole: u64) -> f64 {
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
pub struct KeyRecord {
    log: ExactLog,
    log_admitted: Peak,
    log_denied: u64,
    asked: Peak,
    arrivals: u64,
    lanes: Vec<Lane>,
}

impl KeyRecord {
    /// Arrivals of this key.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// What was asked for, admitted or not.
    pub fn asked(&self) -> &Peak {
        &self.asked
    }

    /// Arrivals denied by the exact log.
    pub fn denied_by_log(&self) -> u64 {
        self.log_denied
    }

    /// Arrivals denied by the algorithm at this place in [`Comparison::algorithms`].
    pub fn denied_by(&self, place: usize) -> u64 {
        self.lanes[place].denied
    }
}

/// Puts each arrival to a limiter of every algorithm and to the exact log, each with its own history.
///
/// Keys are numbered from 0 by whoever reads the arrivals; a limiter is made when its key is first seen.
#[derive(Debug)]
pub struct Comparison {
    quota: Quota,
    algorithms: Vec<Algorithm>,
    /// The table of `Algorithm::Keyed`, if it is one of these.
    table: Option<Arc<Table>>,
    tallies: Vec<Tally>,
    log_tally: Tally,
    keys: Vec<KeyRecord>,
    asked: Peak,
    /// In bytes; see [`LOG_MEMORY`].
    log_memory: u64,
    logs_dropped: bool,
}

impl Comparison {
    /// A comparison of these algorithms, with one quota for every key. A table of all keys has room for `capacity` of
    /// them in debt.
    ///
    /// # Errors
    ///
    /// The first algorithm that cannot hold the quota, and why.
    pub fn new(quota: Quota, algorithms: Vec<Algorithm>, capacity: usize) -> Result<Self, (Algorithm, Unfit)> {
        let table = if algorithms.contains(&Algorithm::Keyed) {
            Some(table(quota, capacity).map_err(|error| (Algorithm::Keyed, error.into()))?)
        } else {
            None
        };
        let mut comparison = Self {
            quota,
            table,
            tallies: vec![Tally::default(); algorithms.len()],
            algorithms,
            log_tally: Tally::default(),
            keys: Vec::new(),
            asked: Peak::new(period(quota)),
            log_memory: LOG_MEMORY,
            logs_dropped: false,
        };
        comparison.bound_logs();
        for &algorithm in comparison.algorithms.iter().filter(|&&algorithm| algorithm != Algorithm::Keyed) {
            Limiter::new(algorithm, quota).map_err(|error| (algorithm, error.into()))?;
        }
        Ok(comparison)
    }

    /// One arrival: who, at what cost, and when.
    ///
    /// # Panics
    ///
    /// If `key` is above the number of keys seen before.
    pub fn arrive(&mut self, key: usize, cost: u64, now: Nanos) {
        if key == self.keys.len() {
            self.bound_logs();
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
            let decision = lane.limiter.try_acquire_n_at(cost, now);
            tally.no_place += u64::from(matches!(decision, Err(Denied::TableFull(_))));
            let decision = decision.map_err(|denied| denied.retry_after());
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

    /// Leaves out the library's sliding log if with one more key its memory would be too much.
    fn bound_logs(&mut self) {
        const FIXED: u64 = 1_200; // bytes for each log, whatever its limit
        let each = self.quota.tokens().saturating_mul(8).saturating_add(FIXED);
        let all = each.saturating_mul(self.keys.len() as u64 + 1);
        let place = self.algorithms.iter().position(|&algorithm| algorithm == Algorithm::SlidingLog);
        if let Some(place) = place.filter(|_| all > self.log_memory) {
            self.algorithms.remove(place);
            self.tallies.remove(place);
            for record in &mut self.keys {
                record.lanes.remove(place);
            }
            self.logs_dropped = true;
        }
    }

    /// Whether the library's sliding log was left out on the way, for want of memory.
    pub fn logs_dropped(&self) -> bool {
        self.logs_dropped
    }

    fn newcomer(&self) -> KeyRecord {
        let period = period(self.quota);
        let lane = |&algorithm: &Algorithm| Lane {
            limiter: match &self.table {
                Some(table) if algorithm == Algorithm::Keyed => Limiter::Keyed(Arc::clone(table), self.keys.len()),
                _ => Limiter::new(algorithm, self.quota).expect("one was made with this quota before"),
            },
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

    /// The keys in debt that the table of all keys is made for, if there is one.
    pub fn capacity(&self) -> Option<usize> {
        self.table.as_ref().map(|table| table.capacity())
    }

    /// The quota of every limiter.
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// What is compared.
    pub fn algorithms(&self) -> &[Algorithm] {
        &self.algorithms
    }

    /// What each algorithm did, in the order of [`algorithms`](Self::algorithms).
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// What the exact log did.
    pub fn log_tally(&self) -> &Tally {
        &self.log_tally
    }

    /// The keys, by their numbers.
    pub fn keys(&self) -> &[KeyRecord] {
        &self.keys
    }

    /// What was asked for by all keys together.
    pub fn asked(&self) -> &Peak {
        &self.asked
    }
}

fn period(quota: Quota) -> u64 {
    Nanos::from(quota.period()).as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn all(quota: Quota) -> Comparison {
        Comparison::new(quota, Algorithm::ALL.to_vec(), 1_000).unwrap()
    }

    fn tally(comparison: &Comparison, algorithm: Algorithm) -> &Tally {
        let place = comparison.algorithms().iter().position(|&one| one == algorithm).unwrap();
        &comparison.tallies()[place]
    }

    #[test]
    fn keys_have_their_own_limiters() {
        let mut comparison = all(Quota::per(2, MINUTE));
        for key in [0, 0, 0, 0, 1, 1] {
            comparison.arrive(key, 1, Nanos::ZERO);
        }
        for one in comparison.tallies().iter().chain([comparison.log_tally()]) {
            assert_eq!((one.admitted, one.denied, one.keys_denied, one.over, one.under), (4, 2, 1, 0, 0));
            assert_eq!(one.most_in_a_period, 2);
        }
        let keys = comparison.keys();
        assert_eq!((keys[0].arrivals(), keys[0].denied_by_log(), keys[0].denied_by(0)), (4, 2, 2));
        assert_eq!((keys[1].arrivals(), keys[1].denied_by_log(), keys[1].denied_by(0)), (2, 0, 0));
        assert_eq!((keys[0].asked().most(), comparison.asked().most()), (4, 6));
    }

    #[test]
    fn both_kinds_of_difference() {
        // Two at the start of a minute, one half a minute later: a token has come back by then, the log's window still
        // holds both.
        let mut comparison = all(Quota::per(2, MINUTE));
        for second in [0, 0, 30] {
            comparison.arrive(0, 1, Nanos::from_secs(second));
        }
        let bucket = tally(&comparison, Algorithm::TokenBucket);
        assert_eq!((bucket.admitted, bucket.over, bucket.under, bucket.most_in_a_period), (3, 1, 0, 3));
        let window = tally(&comparison, Algorithm::FixedWindow);
        assert_eq!((window.denied, window.over, window.under), (1, 0, 0));
        assert_eq!(window.longest_wait, Duration::from_secs(30));
        assert!((bucket.share_differing() - 1.0 / 3.0).abs() < 1e-12);

        // At 60 s the log has room again, and what the bucket let through at 30 s is now held against it.
        for _ in 0..2 {
            comparison.arrive(0, 1, Nanos::from_secs(60));
        }
        let bucket = tally(&comparison, Algorithm::TokenBucket);
        assert_eq!((bucket.admitted, bucket.over, bucket.under), (4, 1, 1));
    }

    #[test]
    fn costs_above_the_limit_never_pass() {
        let mut comparison = all(Quota::per(5, MINUTE));
        for cost in [6, u64::MAX, 5] {
            comparison.arrive(0, cost, Nanos::ZERO);
        }
        for one in comparison.tallies().iter().chain([comparison.log_tally()]) {
            assert_eq!((one.admitted, one.denied, one.never, one.most_in_a_period), (1, 2, 2, 5));
            assert_eq!((one.longest_wait, one.over, one.under), (Duration::ZERO, 0, 0));
        }
    }

    #[test]
    fn time_that_goes_back_mints_nothing() {
        let mut comparison = all(Quota::per(3, MINUTE));
        for second in [200, 20, 20, 100, 199] {
            comparison.arrive(0, 1, Nanos::from_secs(second));
        }
        for (one, name) in comparison.tallies().iter().zip(Algorithm::ALL.map(Algorithm::name)) {
            assert!(one.admitted <= 3, "{name}: {one:?}");
        }
        assert_eq!(comparison.log_tally().admitted, 3);
    }

    /// The library's log decides and hints as the exact one does, whatever the costs and however time jumps.
    #[test]
    fn the_sliding_log_is_exact() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut comparison = all(Quota::per(7, MINUTE));
            let mut now = 100;
            for _ in 0..1_000 {
                now = if rng.u8(..8) == 0 { now - rng.u64(..now.min(90)) } else { now + rng.u64(..20) };
                comparison.arrive(rng.usize(..=comparison.keys().len().min(2)), rng.u64(..5), Nanos::from_secs(now));
                assert_eq!(tally(&comparison, Algorithm::SlidingLog), comparison.log_tally(), "seed {seed}");
            }
            assert!(comparison.log_tally().denied > 100 && comparison.log_tally().admitted > 100);
        }
    }

    #[test]
    fn logs_are_left_out_before_they_take_too_much_memory() {
        let mut comparison = all(Quota::per(100, MINUTE));
        comparison.log_memory = 2 * (800 + 1_200);
        comparison.arrive(0, 1, Nanos::ZERO);
        comparison.arrive(1, 1, Nanos::ZERO);
        assert!(!comparison.logs_dropped() && comparison.algorithms().contains(&Algorithm::SlidingLog));
        comparison.arrive(2, 1, Nanos::ZERO);
        assert!(comparison.logs_dropped() && !comparison.algorithms().contains(&Algorithm::SlidingLog));
        for one in comparison.tallies() {
            assert_eq!(one.admitted, 3);
        }
        let vast = Comparison::new(Quota::per(1 << 32, MINUTE), vec![Algorithm::SlidingLog], 1).unwrap();
        assert!(vast.logs_dropped() && vast.algorithms().is_empty());
    }

    #[test]
    fn a_table_decides_as_single_buckets_do_until_it_is_full() {
        let quota = Quota::per(2, MINUTE);
        let algorithms = vec![Algorithm::TokenBucket, Algorithm::Keyed];
        let mut roomy = Comparison::new(quota, algorithms.clone(), 1_000).unwrap();
        let mut tight = Comparison::new(quota, algorithms, 10).unwrap();
        assert_eq!((roomy.capacity(), tight.capacity()), (Some(1_000), Some(10)));
        for (key, milli) in (0..300).zip(0..) {
            for milli in [milli, milli, milli, milli + 1] {
                roomy.arrive(key, 1, Nanos::from_millis(milli));
                tight.arrive(key, 1, Nanos::from_millis(milli));
            }
        }
        assert_eq!(tally(&roomy, Algorithm::Keyed), tally(&roomy, Algorithm::TokenBucket));
        let [single, table] = [Algorithm::TokenBucket, Algorithm::Keyed].map(|one| tally(&tight, one));
        assert_eq!((single.no_place, single.admitted), (0, 600));
        assert!(table.no_place > 0 && table.no_place < table.denied, "{table:?}");
        // Whoever has a place has all their tokens, and whoever has none is refused each time.
        assert_eq!(table.admitted * 2 + table.no_place, 1_200);
        assert_eq!(table.under, table.no_place / 2, "the log would have admitted two of the four");
        // After a minute, places are free again.
        let admitted = table.admitted;
        tight.arrive(299, 1, Nanos::from_secs(100));
        assert_eq!(tally(&tight, Algorithm::Keyed).admitted, admitted + 1);
    }

    #[test]
    fn a_limit_that_an_algorithm_cannot_hold() {
        let quota = Quota::per_second(1_000_000);
        let (algorithm, _) = Comparison::new(quota, Algorithm::ALL.to_vec(), 1).unwrap_err();
        assert_eq!(algorithm, Algorithm::Packed);
        assert!(Comparison::new(quota, vec![Algorithm::TokenBucket], 1).is_ok());
    }
}
