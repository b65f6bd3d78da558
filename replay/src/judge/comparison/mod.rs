//! The same arrivals put to every algorithm and to the exact log.

use tollgate::{Nanos, Quota};

use super::algorithm::Algorithm;
use super::exact_log::{ExactLog, Memory};
use super::lane::Lane;
use super::limiters::Unfit;
use super::peak::{Peak, grain};
use super::queue::{Pool, Queue};
use super::tally::Tally;

#[cfg(test)]
mod tests;

/// The most memory that the library's sliding logs may take together, in bytes: they need 8 for each key and unit of
/// limit, used or not.
pub const LOG_MEMORY: u64 = 512 << 20;

/// The library's sliding logs would need more memory than [`LOG_MEMORY`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogsTooLarge {
    /// What one key's log needs, in bytes.
    pub each: u64,
    /// For how many keys there is room.
    pub keys: u64,
}

impl core::fmt::Display for LogsTooLarge {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (each, keys, all) = (self.each, self.keys, LOG_MEMORY >> 20);
        write!(
            f,
            "it needs {each} bytes for each key, and {all} MiB hold {keys} of them; exact-log decides the same in less"
        )
    }
}

impl core::error::Error for LogsTooLarge {}

/// All that is known of one key, but what each algorithm knows of it.
#[derive(Debug)]
struct KeyRecord {
    arrivals: u64,
    /// What came within the last period, marked with who admitted it.
    recent: Queue,
    /// The sum of `recent`.
    asked: u64,
    most_asked: u64,
    log: Memory,
    denied_by_log: u64,
}

/// The most that one key asked for within a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busiest {
    /// The key, by its number.
    pub key: usize,
    /// In tokens.
    pub most: u64,
    /// The end of the first period that held the most.
    pub at: Nanos,
}

/// Who admitted an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The first of the algorithms; the exact log if there is none.
    pub by_first: bool,
    /// The exact log.
    pub by_log: bool,
}

/// Puts each arrival to a limiter of every algorithm and to the exact log, each with its own history.
///
/// Keys are numbered from 0 by whoever reads the arrivals; a limiter is made when its key is first seen. Arrivals come in
/// the order of time: one that is older than the newest counts as that one. Memory for each key: about 100 bytes, 80
/// more for each algorithm, and what an algorithm's limiter takes beyond a cache line; 24 more for each arrival of the
/// last period.
#[derive(Debug)]
pub struct Comparison {
    quota: Quota,
    period: u64,
    algorithms: Vec<Algorithm>,
    lanes: Vec<Lane>,
    log: ExactLog,
    log_tally: Tally,
    keys: Vec<KeyRecord>,
    pool: Pool,
    asked: Peak,
    busiest: Busiest,
    arrivals: u64,
    newest: Nanos,
    /// In bytes; see [`LOG_MEMORY`].
    log_memory: u64,
    logs_dropped: Option<LogsTooLarge>,
}

impl Comparison {
    /// A comparison of these algorithms, with one quota for every key. A table of all keys has room for `capacity` of
    /// them in debt.
    ///
    /// # Errors
    ///
    /// The first algorithm that cannot hold the quota, and why.
    ///
    /// # Panics
    ///
    /// With more than 16 algorithms; there are 8.
    pub fn new(quota: Quota, algorithms: Vec<Algorithm>, capacity: usize) -> Result<Self, (Algorithm, Unfit)> {
        assert!(algorithms.len() <= 16, "marks are 16 bits");
        let period = Nanos::from(quota.period()).as_nanos();
        let mut lanes = Vec::with_capacity(algorithms.len());
        for &algorithm in &algorithms {
            if let (Algorithm::SlidingLog, Some(error)) = (algorithm, logs_too_large(quota, 1, LOG_MEMORY)) {
                return Err((algorithm, error.into()));
            }
            lanes.push(Lane::new(algorithm, quota, capacity).map_err(|error| (algorithm, error))?);
        }
        Ok(Self {
            quota,
            period,
            algorithms,
            lanes,
            log: ExactLog::new(quota.tokens(), period),
            log_tally: Tally::default(),
            keys: Vec::new(),
            pool: Pool::new(),
            asked: Peak::new(period),
            busiest: Busiest::default(),
            arrivals: 0,
            newest: Nanos::ZERO,
            log_memory: LOG_MEMORY,
            logs_dropped: None,
        })
    }

    /// One arrival: who, at what cost, and when.
    ///
    /// Every number up to the largest is a key.
    pub fn arrive(&mut self, key: usize, cost: u64, now: Nanos) -> Decided {
        while key >= self.keys.len() {
            self.admit_key();
        }
        self.newest = self.newest.max(now);
        self.arrivals += 1;
        self.forget(key);
        let (now, at) = (self.newest, self.newest.as_nanos());
        self.asked.add(cost, at);

        let record = &mut self.keys[key];
        record.arrivals += 1;
        let by_log = self.log.decide(&mut self.pool, &mut record.log, cost, at);
        self.log_tally.count(by_log);
        if by_log.is_ok() {
            self.log_tally.most_in_a_period = self.log_tally.most_in_a_period.max(record.log.held());
        } else {
            self.log_tally.keys_denied += u64::from(record.denied_by_log == 0);
            record.denied_by_log += 1;
        }
        let by_log = by_log.is_ok();
        let mut marks = 0;
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            marks |= u16::from(lane.decide(key, cost, now, by_log)) << place;
        }
        self.remember(key, cost, marks);
        Decided { by_first: if self.lanes.is_empty() { by_log } else { marks & 1 == 1 }, by_log }
    }

    /// Drops what a key asked for longer ago than a period.
    fn forget(&mut self, key: usize) {
        let (now, record) = (self.newest.as_nanos(), &mut self.keys[key]);
        while self.pool.front(record.recent).is_some_and(|oldest| now - oldest.at >= self.period) {
            let Some(oldest) = self.pool.pop_front(&mut record.recent) else { break };
            record.asked -= oldest.amount;
            if oldest.marks != 0 {
                for (place, lane) in self.lanes.iter_mut().enumerate() {
                    if oldest.marks & 1 << place != 0 {
                        lane.forget(key, oldest.amount);
                    }
                }
            }
        }
    }

    /// Keeps what a key asks for now. What nobody admitted need not be known to the nanosecond, so that memory is bounded by
    /// what was admitted and by the grains of a period.
    fn remember(&mut self, key: usize, cost: u64, marks: u16) {
        let (now, record) = (self.newest.as_nanos(), &mut self.keys[key]);
        let cost = cost.min(u64::MAX - record.asked);
        record.asked += cost;
        if record.asked > record.most_asked {
            record.most_asked = record.asked;
            if record.asked > self.busiest.most {
                self.busiest = Busiest { key, most: record.asked, at: self.newest };
            }
        }
        let at = if marks == 0 { now - now % grain(self.period) } else { now };
        match self.pool.back_mut(record.recent) {
            Some(newest) if newest.marks == marks && newest.at >= at => newest.amount += cost,
            Some(newest) => {
                let at = at.max(newest.at);
                self.pool.push_back(&mut record.recent, at, cost, marks);
            }
            None => self.pool.push_back(&mut record.recent, at, cost, marks),
        }
    }

    fn admit_key(&mut self) {
        let logs = self.algorithms.iter().position(|&algorithm| algorithm == Algorithm::SlidingLog);
        let too_large = logs_too_large(self.quota, self.keys.len() as u64 + 1, self.log_memory);
        if let (Some(place), Some(error)) = (logs, too_large) {
            self.drop_lane(place);
            self.logs_dropped = Some(error);
        }
        self.keys.push(KeyRecord {
            arrivals: 0,
            recent: Queue::EMPTY,
            asked: 0,
            most_asked: 0,
            log: Memory::EMPTY,
            denied_by_log: 0,
        });
        self.lanes.iter_mut().for_each(Lane::admit_key);
    }

    /// Takes an algorithm out, and its marks with it.
    fn drop_lane(&mut self, place: usize) {
        self.algorithms.remove(place);
        self.lanes.remove(place);
        let below = (1 << place) - 1;
        self.pool.for_each_mut(|entry| entry.marks = entry.marks & below | entry.marks >> 1 & !below);
    }

    /// Why the library's sliding log was left out on the way, if it was.
    pub fn logs_dropped(&self) -> Option<LogsTooLarge> {
        self.logs_dropped
    }

    /// The keys in debt that the table of all keys is made for, if there is one.
    pub fn capacity(&self) -> Option<usize> {
        self.lanes.iter().find_map(Lane::capacity)
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
    pub fn tallies(&self) -> impl ExactSizeIterator<Item = &Tally> {
        self.lanes.iter().map(|lane| &lane.tally)
    }

    /// What the exact log did.
    pub fn log_tally(&self) -> &Tally {
        &self.log_tally
    }

    /// Arrivals so far.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Keys so far.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Arrivals of one key.
    pub fn arrivals_of(&self, key: usize) -> u64 {
        self.keys[key].arrivals
    }

    /// The most that one key asked for within a period, admitted or not.
    pub fn most_asked_by(&self, key: usize) -> u64 {
        self.keys[key].most_asked
    }

    /// Arrivals of one key that the exact log denied.
    pub fn denied_by_log(&self, key: usize) -> u64 {
        self.keys[key].denied_by_log
    }

    /// Arrivals of one key that the first algorithm denied; the exact log if there is none.
    pub fn denied_by_first(&self, key: usize) -> u64 {
        self.lanes.first().map_or_else(|| self.denied_by_log(key), |lane| lane.denied(key))
    }

    /// The most that all keys together asked for within a period.
    pub fn asked(&self) -> &Peak {
        &self.asked
    }

    /// The key that asked for the most within a period.
    pub fn busiest(&self) -> Busiest {
        self.busiest
    }
}

/// Why the library's sliding logs of so many keys do not fit, if they do not.
fn logs_too_large(quota: Quota, keys: u64, memory: u64) -> Option<LogsTooLarge> {
    const FIXED: u64 = 512; // bytes for each log, whatever its limit
    let each = quota.tokens().saturating_mul(8).saturating_add(FIXED);
    (each.saturating_mul(keys) > memory).then_some(LogsTooLarge { each, keys: memory / each })
}
