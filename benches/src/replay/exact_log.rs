//! The decisions that all others are compared with.

use core::time::Duration;

use super::sliding_sum::SlidingSum;

/// A sliding log written to be obvious: it remembers what it admitted, and admits iff the last window has room.
///
/// It shares nothing with the library. An instant older than the newest admission counts as that one.
#[derive(Clone, Debug)]
pub(crate) struct ExactLog {
    limit: u64,
    admitted: SlidingSum,
}

impl ExactLog {
    /// A log that admits `limit` within any `window` nanoseconds.
    pub(crate) fn new(limit: u64, window: u64) -> Self {
        Self { limit, admitted: SlidingSum::new(window) }
    }

    /// Admits a cost of `n` at `now`, or says how long to wait; `None` if that cost can never pass.
    pub(crate) fn try_acquire_n_at(&mut self, n: u64, now: u64) -> Result<(), Option<Duration>> {
        let Some(room_before) = self.limit.checked_sub(n) else { return Err(None) };
        if n == 0 {
            return Ok(());
        }
        if self.admitted.at(now) > room_before {
            let due = self.admitted.instant_at_most(room_before);
            return Err(due.map(|due| Duration::from_nanos(due.saturating_sub(now))));
        }
        self.admitted.add(n, now);
        Ok(())
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
