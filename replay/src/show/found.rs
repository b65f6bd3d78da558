//! [`Found`]: all that is shown.

use core::cmp::Reverse;

use tollgate::Quota;

use crate::judge::course::Course;
use crate::judge::suggest::Suggestion;
use crate::judge::tally::Tally;
use crate::read::replay::Replayed;

/// The name of the exact log in tables and rows.
pub const EXACT_LOG: &str = "exact-log";

/// All that is shown of a replay.
#[derive(Debug)]
pub struct Found {
    /// What was decided, and how the logs were read.
    pub replayed: Replayed,
    /// What was offered and admitted over time.
    pub course: Course,
    /// Limits that would have denied little; nothing if they were not searched for.
    pub suggestions: Option<Vec<Suggestion>>,
    /// Whether all arrivals counted as one client's.
    pub together: bool,
    /// How many of the worst clients are shown.
    pub worst: usize,
}

/// One of the clients that were denied most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worst<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Arrivals.
    pub arrivals: u64,
    /// The most that it asked for within a period.
    pub most_asked: u64,
    /// Arrivals denied by the first algorithm.
    pub denied: u64,
    /// Arrivals denied by the exact log.
    pub denied_by_log: u64,
}

impl Found {
    /// The quota of every limiter.
    pub fn quota(&self) -> Quota {
        self.replayed.comparison.quota()
    }

    /// What each algorithm did, by its name, and at the end the exact log.
    pub fn tallies(&self) -> impl Iterator<Item = (&'static str, &Tally)> {
        let comparison = &self.replayed.comparison;
        let names = comparison.algorithms().iter().map(|algorithm| algorithm.name());
        names.zip(comparison.tallies()).chain([(EXACT_LOG, comparison.log_tally())])
    }

    /// The name of the algorithm that clients are judged by: the first.
    pub fn judge(&self) -> &'static str {
        self.replayed.comparison.algorithms().first().map_or(EXACT_LOG, |algorithm| algorithm.name())
    }

    /// The clients that were denied most, by the first algorithm and then by the exact log.
    pub fn worst(&self) -> Vec<Worst<'_>> {
        let comparison = &self.replayed.comparison;
        if self.together {
            return Vec::new();
        }
        let denials = |key: usize| (comparison.denied_by_first(key), comparison.denied_by_log(key));
        let mut worst: Vec<usize> = (0..comparison.keys()).filter(|&key| denials(key) > (0, 0)).collect();
        worst.sort_unstable_by_key(|&key| (Reverse(denials(key)), key));
        worst.truncate(self.worst);
        let shown = worst.into_iter().map(|key| Worst {
            name: self.replayed.keys.name(key),
            arrivals: comparison.arrivals_of(key),
            most_asked: comparison.most_asked_by(key),
            denied: comparison.denied_by_first(key),
            denied_by_log: comparison.denied_by_log(key),
        });
        shown.collect()
    }
}
