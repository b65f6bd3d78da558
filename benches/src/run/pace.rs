//! [`Pace`]: many short measurements within a given time, however slow the machine is today.

use core::time::Duration;

/// The longest measurement: more adds little.
pub const MOST: Duration = Duration::from_millis(500);
/// The shortest measurement that still says something.
const LEAST: Duration = Duration::from_millis(2);

/// Decides how long the next measurement may take.
///
/// A measurement takes longer than it is asked to: engines are built and drained, threads are woken and wait for a
/// core. How much longer is learnt on the way.
#[derive(Clone, Debug)]
pub struct Pace {
    total: Duration,
    most: Duration,
    spent: Duration,
    left: u32,
    done: u32,
    /// Time that measurements took on top of what they were asked to, in all.
    extra: Duration,
}

impl Pace {
    /// `runs` measurements in `total`, each of at most `most`.
    pub fn new(total: Duration, runs: usize, most: Duration) -> Self {
        let left = u32::try_from(runs).unwrap_or(u32::MAX);
        Self { total, most, spent: Duration::ZERO, left, done: 0, extra: Duration::ZERO }
    }

    /// How long the next measurements should be asked to take.
    pub fn length(&self) -> Duration {
        let each = self.total.saturating_sub(self.spent) / self.left.max(1);
        let extra = self.extra.checked_div(self.done).unwrap_or_default();
        each.saturating_sub(extra).clamp(LEAST, self.most)
    }

    /// A measurement that was asked to take `length` took `took`.
    pub fn ran(&mut self, length: Duration, took: Duration) {
        self.spent += took;
        self.extra += took.saturating_sub(length);
        self.done += 1;
        self.left = self.left.saturating_sub(1);
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.spent >= self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Runs `runs` measurements that each take `extra` more than asked; returns the time spent.
    fn spend(total: Duration, runs: usize, extra: Duration) -> Duration {
        let mut pace = Pace::new(total, runs, MOST);
        for _ in 0..runs {
            let length = pace.length();
            pace.ran(length, length + extra);
        }
        pace.spent
    }

    #[test]
    fn the_time_is_used_and_kept_whatever_each_measurement_costs_on_top() {
        for extra in [0, 1, 5, 15] {
            let spent = spend(millis(20_000), 1_000, millis(extra));
            assert!(spent > millis(19_000) && spent <= millis(20_100), "{extra} ms: {spent:?}");
        }
    }

    #[test]
    fn few_measurements_do_not_drag_on_and_many_do_not_vanish() {
        assert_eq!(spend(millis(60_000), 10, Duration::ZERO), 10 * MOST);
        assert_eq!(spend(millis(10), 100, Duration::ZERO), 100 * LEAST);
    }

    #[test]
    fn it_knows_when_the_time_is_up() {
        let mut pace = Pace::new(millis(10), 2, MOST);
        assert!(!pace.is_over());
        pace.ran(millis(5), millis(9));
        assert!(!pace.is_over());
        pace.ran(millis(2), millis(2));
        assert!(pace.is_over());
    }
}
