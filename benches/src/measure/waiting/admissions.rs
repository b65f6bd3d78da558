//! [`Admissions`]: when tokens were admitted, and the arithmetic on that.

use crate::figures::outcome::Verdict;
use core::time::Duration;

/// What one task got.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    /// When it was admitted, since the limiter was about to be built.
    pub(super) at: Vec<Duration>,
    /// Waits that it gave up.
    pub(super) dropped: u64,
    /// Whether it gives waits up at all.
    pub(super) is_patient: bool,
}

/// What the tasks of a run got.
#[derive(Clone, Debug)]
pub(super) struct Admissions {
    shares: Vec<Share>,
    /// All instants, in order.
    at: Vec<Duration>,
}

impl Admissions {
    pub(super) fn new(shares: Vec<Share>) -> Self {
        let mut at: Vec<_> = shares.iter().flat_map(|share| share.at.iter().copied()).collect();
        at.sort_unstable();
        Self { shares, at }
    }

    /// Without those after `length`: tasks are stopped by a timer, which is late too.
    pub(super) fn within(mut self, length: Duration) -> Self {
        self.shares.iter_mut().for_each(|share| share.at.retain(|&at| at <= length));
        Self::new(self.shares)
    }

    pub(super) fn count(&self) -> u64 {
        self.at.len() as u64
    }

    pub(super) fn dropped(&self) -> u64 {
        self.shares.iter().map(|share| share.dropped).sum()
    }

    /// The fewest and the most admissions of any patient task.
    pub(super) fn extremes(&self) -> (u64, u64) {
        let counts = self.shares.iter().filter(|share| share.is_patient).map(|share| share.at.len() as u64);
        (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0))
    }

    /// How late each admission was, from the least: the first of all begins a grid on which one is due in each `period`.
    /// What is early is not late.
    pub(super) fn lateness(&self, period: Duration) -> Vec<Duration> {
        let mut due = self.at.first().copied().unwrap_or_default();
        let late = self.at.iter().map(|&at| {
            let late = at.saturating_sub(due);
            due += period;
            late
        });
        let mut late: Vec<_> = late.collect();
        late.sort_unstable();
        late
    }

    /// Whether at no instant more had been admitted than `bound` allows since the limiter was built, and anything at all.
    /// An admission is seen after it was made, never before, so that a right limiter always passes.
    pub(super) fn verdict(&self, bound: impl Fn(Duration) -> u64) -> Verdict {
        if self.at.is_empty() {
            return Err("nothing was admitted".into());
        }
        for (count, &at) in (1..).zip(&self.at) {
            let most = bound(at);
            if count > most {
                return Err(format!("{count} were admitted within {at:?}, and at most {most} may be"));
            }
        }
        Ok(())
    }
}

/// The least value that so many per mille of the `sorted` values do not exceed. `None` of none.
pub(super) fn percentile(sorted: &[Duration], per_mille: usize) -> Option<Duration> {
    let rank = (sorted.len() * per_mille).div_ceil(1_000).max(1);
    sorted.get(rank - 1).copied()
}

/// What the task that got least got of what the one that got most did; 1 is fair.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
pub(super) fn fairness((least, most): (u64, u64)) -> f64 {
    least as f64 / most.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn micros(micros: &[u64]) -> Vec<Duration> {
        micros.iter().copied().map(Duration::from_micros).collect()
    }

    fn admissions(shares: &[&[u64]]) -> Admissions {
        let share = |at: &&[u64]| Share { at: micros(at), dropped: 2, is_patient: true };
        Admissions::new(shares.iter().map(share).collect())
    }

    #[test]
    fn percentiles_are_measured_values() {
        let sorted = micros(&(1..=1_000).collect::<Vec<_>>());
        let at = |per_mille| percentile(&sorted, per_mille).unwrap().as_micros();
        assert_eq!([0, 1, 500, 990, 999, 1_000].map(at), [1, 1, 500, 990, 999, 1_000]);
        assert_eq!(percentile(&sorted[..3], 500), Some(2 * MS / 1_000), "the middle one");
        assert_eq!(percentile(&sorted[..3], 990), Some(3 * MS / 1_000), "the least that is enough");
        assert_eq!(percentile(&[], 500), None);
    }

    #[test]
    fn lateness_is_against_a_grid_that_the_first_begins() {
        // Due at 100, 1100, 2100, 3100, whichever task they go to.
        let admissions = admissions(&[&[100, 2_000], &[1_400, 3_200]]);
        assert_eq!(admissions.lateness(MS), micros(&[0, 0, 100, 300]));
        assert!(Admissions::new(Vec::new()).lateness(MS).is_empty());
    }

    #[test]
    fn what_comes_after_the_end_counts_for_nobody() {
        let admissions = admissions(&[&[0, 2_000], &[1_000, 2_001]]).within(2 * MS);
        assert_eq!((admissions.count(), admissions.extremes()), (3, (1, 2)));
    }

    #[test]
    fn fairness_is_of_those_who_do_not_give_up() {
        let mut shares = vec![Share { at: micros(&[1, 2, 3, 4]), dropped: 0, is_patient: true }; 3];
        shares[1].at.pop();
        shares[2] = Share { at: Vec::new(), dropped: 5, is_patient: false };
        let admissions = Admissions::new(shares);
        assert_eq!((admissions.count(), admissions.dropped(), admissions.extremes()), (7, 5, (3, 4)));
        assert!((fairness((3, 4)) - 0.75).abs() < 1e-9);
        assert!(fairness((0, 4)) < 1e-9 && fairness((0, 0)) < 1e-9);
    }

    #[test]
    fn one_too_many_is_found_at_any_instant() {
        // One at once, and one more in each millisecond.
        let bound = |elapsed: Duration| 1 + u64::try_from(elapsed.as_millis()).unwrap();
        let verdict = |shares: &[&[u64]]| admissions(shares).verdict(bound);
        assert_eq!(verdict(&[&[0, 2_000], &[1_000]]), Ok(()));
        let message = verdict(&[&[0, 999], &[2_500]]).unwrap_err();
        assert!(message.contains("2 were admitted within 999") && message.contains("at most 1"), "{message}");
        assert!(verdict(&[&[], &[]]).unwrap_err().contains("nothing"));
    }
}
