//! [`Rounds`]: every case once, then every case again, within a given time.

use super::pace::Pace;
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Instant;

/// Repetitions that go round, so that a change in the machine's mood meets all cases, with a progress bar.
#[derive(Debug)]
pub struct Rounds {
    repetitions: usize,
    pace: Pace,
    progress: ProgressBar,
}

impl Rounds {
    /// `repetitions` rounds through `cases` in all, within `time`, each measurement of at most `most`.
    pub fn new(time: Duration, repetitions: usize, cases: usize, most: Duration) -> Self {
        let runs = cases * repetitions;
        Self { repetitions, pace: Pace::new(time, runs, most), progress: progress(runs) }
    }

    /// Says what is under way that is not a measurement.
    pub fn say(&self, what: impl Into<String>) {
        self.progress.set_message(what.into());
        self.progress.tick();
    }

    /// Measures `cases`, and returns for each what `measure` returned, once for each repetition. `measure` gets the case,
    /// the number of the round and how long it may take; `name` says what it is.
    ///
    /// Each `group` cases in a row are compared with each other: they get the same time, and each round takes them in an
    /// order of its own, so that none always follows the same one. Once the time is up there are no more repetitions, but
    /// every case is measured once.
    pub fn run<T>(
        &mut self,
        cases: usize,
        group: usize,
        name: impl Fn(usize) -> String,
        mut measure: impl FnMut(usize, usize, Duration) -> T,
    ) -> Vec<Vec<T>> {
        let mut results: Vec<_> = (0..cases).map(|_| Vec::new()).collect();
        for round in 0..self.repetitions {
            for first in (0..cases).step_by(group.max(1)) {
                if round > 0 && self.pace.is_over() {
                    return results;
                }
                let length = self.pace.length();
                for place in order(group, round) {
                    self.progress.set_message(name(first + place));
                    let begun = Instant::now();
                    results[first + place].push(measure(first + place, round, length));
                    self.pace.ran(length, begun.elapsed());
                    self.progress.inc(1);
                }
            }
        }
        results
    }

    /// Takes the bar away.
    pub fn finish(self) {
        self.progress.finish_and_clear();
    }
}

/// The places in a group of that size, shuffled: each round has an order of its own, the same in every run.
pub fn order(size: usize, round: usize) -> Vec<usize> {
    let mut places: Vec<_> = (0..size).collect();
    fastrand::Rng::with_seed(round as u64).shuffle(&mut places);
    places
}

/// A bar on standard error that fills up in `length` steps.
///
/// # Panics
///
/// Never: its template is valid.
pub fn progress(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed:>4}  {msg}");
    ProgressBar::new(length as u64).with_style(style.expect("the template is valid"))
}

#[cfg(test)]
mod tests {
    use super::super::pace::MOST;
    use super::*;
    use crate::figures::stats::sorted;

    #[test]
    fn every_round_measures_everything_once() {
        for round in 0..20 {
            assert_eq!(sorted(order(9, round)), (0..9).collect::<Vec<_>>());
            assert_eq!(order(9, round), order(9, round), "the same in every run");
        }
        let mut rounds = Rounds::new(Duration::from_mins(1), 3, 6, MOST);
        let results = rounds.run(6, 2, |_| String::new(), |case, round, _| (case, round));
        for (case, results) in results.into_iter().enumerate() {
            assert_eq!(results, [(case, 0), (case, 1), (case, 2)]);
        }
    }

    #[test]
    fn no_time_is_enough_to_measure_once() {
        let mut rounds = Rounds::new(Duration::ZERO, 3, 4, MOST);
        let results = rounds.run(4, 4, |_| String::new(), |_, _, length| assert!(length > Duration::ZERO));
        assert!(results.iter().all(|measured| measured.len() == 1));
    }

    #[test]
    fn nothing_always_follows_the_same_in_the_rounds_of_one_measurement() {
        for size in [5, 9, 25] {
            let mut predecessors = vec![Vec::new(); size];
            for round in 0..5 {
                order(size, round).windows(2).for_each(|pair| predecessors[pair[1]].push(pair[0]));
            }
            for (place, predecessors) in predecessors.into_iter().enumerate() {
                assert!(sorted(predecessors).len() > 1, "{place} of {size}");
            }
        }
        assert_eq!(sorted((0..3).map(|round| order(2, round)).collect()), [[0, 1], [1, 0]], "each of two comes first");
    }
}
