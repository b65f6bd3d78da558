//! The decisions that all others are compared with.

use core::time::Duration;
use std::collections::VecDeque;

/// A sliding log written to be obvious: it remembers when each of the last `limit` tokens that it admitted leaves the
/// window, and admits `n` iff the n-th of them from the oldest has left.
///
/// It shares nothing with the library. Its rule for an instant older than its newest admission is the library's: the
/// instant counts for itself in the decision, and as the newest one in memory.
#[derive(Clone, Debug)]
pub struct ExactLog {
    limit: u64,
    window: u64,
    /// When tokens leave the window, and how many; the oldest first.
    leaving: VecDeque<(u64, u64)>,
    /// The sum of `leaving`: at most the limit.
    held: u64,
}

impl ExactLog {
    /// A log that admits `limit` within any `window` nanoseconds.
    pub fn new(limit: u64, window: u64) -> Self {
        Self { limit, window, leaving: VecDeque::new(), held: 0 }
    }

    /// Admits a cost of `n` at `now`, or says how long to wait.
    ///
    /// # Errors
    ///
    /// The wait; `None` if that cost can never pass.
    pub fn try_acquire_n_at(&mut self, n: u64, now: u64) -> Result<(), Option<Duration>> {
        if n > self.limit {
            return Err(None);
        }
        if n == 0 {
            return Ok(());
        }
        let due = self.leaves(n.saturating_sub(self.limit - self.held));
        if due > now {
            return Err(Some(Duration::from_nanos(due - now)));
        }
        self.remember(n, now);
        Ok(())
    }

    /// When the n-th token from the oldest leaves the window; 0 for n = 0.
    fn leaves(&self, n: u64) -> u64 {
        let mut passed = 0;
        let reached = |&&(_, amount): &&(u64, u64)| {
            passed += amount;
            passed >= n
        };
        if n == 0 { 0 } else { self.leaving.iter().find(reached).map_or(0, |&(due, _)| due) }
    }

    fn remember(&mut self, n: u64, now: u64) {
        let mut surplus = n.saturating_sub(self.limit - self.held);
        self.held += n - surplus;
        while let Some((_, amount)) = self.leaving.front_mut() {
            if *amount > surplus {
                *amount -= surplus;
                break;
            }
            surplus -= *amount;
            self.leaving.pop_front();
        }
        let due = now + self.window;
        match self.leaving.back_mut() {
            Some((newest, amount)) if *newest >= due => *amount += n,
            _ => self.leaving.push_back((due, n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Arrivals of cost 1 at whole seconds; how many pass each time.
    fn admitted(log: &mut ExactLog, arrivals: &[(usize, u64)]) -> Vec<usize> {
        let passes = |log: &mut ExactLog, second| log.try_acquire_n_at(1, second * S).is_ok();
        arrivals.iter().map(|&(n, second)| (0..n).filter(|_| passes(log, second)).count()).collect()
    }

    #[test]
    fn five_per_thirty_seconds() {
        let mut log = ExactLog::new(5, 30 * S);
        let passed = admitted(&mut log, &[(1, 0), (2, 5), (2, 15), (1, 25), (1, 35), (3, 40)]);
        assert_eq!(passed, [1, 2, 2, 0, 1, 2]);
    }

    #[test]
    fn the_wait_is_exact() {
        let mut log = ExactLog::new(5, 30 * S);
        admitted(&mut log, &[(2, 0), (3, 7)]);
        let waits = |n| log.clone().try_acquire_n_at(n, 10 * S);
        assert_eq!(waits(1), Err(Some(Duration::from_secs(20))));
        assert_eq!(waits(2), Err(Some(Duration::from_secs(20))));
        assert_eq!(waits(3), Err(Some(Duration::from_secs(27))));
        assert_eq!(waits(5), Err(Some(Duration::from_secs(27))));
        assert_eq!(waits(6), Err(None));
        assert!(log.clone().try_acquire_n_at(2, 30 * S - 1).is_err());
        assert!(log.try_acquire_n_at(2, 30 * S).is_ok());
    }

    #[test]
    fn an_older_instant_mints_nothing() {
        let mut log = ExactLog::new(2, 10 * S);
        assert_eq!(admitted(&mut log, &[(1, 100), (1, 50), (1, 50), (1, 109), (1, 110)]), [1, 1, 0, 0, 1]);
        // What has left the window by the newest instant may not have left it by an older one.
        let mut log = ExactLog::new(2, 10 * S);
        assert_eq!(
            admitted(&mut log, &[(1, 100), (1, 111), (1, 109), (1, 110), (1, 120), (1, 121)]),
            [1, 1, 0, 1, 0, 1]
        );
    }

    #[test]
    fn a_cost_takes_the_place_of_the_oldest() {
        let mut log = ExactLog::new(10, 10 * S);
        let mut take = |n, second| log.try_acquire_n_at(n, second * S).map_err(|wait| wait.map(|wait| wait.as_secs()));
        assert_eq!(take(4, 0), Ok(()));
        assert_eq!(take(4, 1), Ok(()));
        assert_eq!(take(3, 5), Err(Some(5)));
        assert_eq!(take(7, 5), Err(Some(6)));
        assert_eq!(take(2, 5), Ok(()));
        assert_eq!(take(5, 10), Err(Some(1)));
        assert_eq!(take(4, 10), Ok(()));
        assert_eq!(take(1, 10), Err(Some(1)));
        assert_eq!(take(4, 11), Ok(()));
        assert_eq!(take(10, 21), Ok(()));
        assert_eq!(take(10, 30), Err(Some(1)));
        assert_eq!(take(10, 31), Ok(()));
    }

    #[test]
    fn nothing_asked_is_nothing_charged() {
        let mut log = ExactLog::new(1, S);
        assert_eq!(log.try_acquire_n_at(0, 0), Ok(()));
        assert_eq!(log.try_acquire_n_at(1, 0), Ok(()));
        assert_eq!(log.try_acquire_n_at(0, 0), Ok(()));
        assert!(log.try_acquire_n_at(1, 0).is_err());

        // Not even the instant is remembered.
        let mut log = ExactLog::new(1, 10 * S);
        assert_eq!(log.try_acquire_n_at(0, 100 * S), Ok(()));
        assert_eq!(log.try_acquire_n_at(1, 50 * S), Ok(()));
        assert_eq!(log.try_acquire_n_at(1, 60 * S), Ok(()));
    }
}
