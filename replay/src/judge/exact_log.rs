//! The decisions that all others are compared with.

use core::time::Duration;

use super::queue::{Pool, Queue};

/// A sliding log written to be obvious: it remembers what it has admitted within the last `window` nanoseconds, and
/// admits `n` iff that and `n` are together within the limit.
///
/// It shares nothing with the library. An instant `t` is within the window that ends at `now` iff
/// `now - window < t <= now`. Instants never go back.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExactLog {
    limit: u64,
    window: u64,
}

/// What an exact log remembers of one key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    admitted: Queue,
    /// The sum of `admitted`: at most the limit.
    held: u64,
}

impl Memory {
    pub(super) const EMPTY: Self = Self { admitted: Queue::EMPTY, held: 0 };

    /// What was admitted within the window that ended at the last arrival.
    pub(super) fn held(&self) -> u64 {
        self.held
    }
}

impl ExactLog {
    /// A log that admits `limit` within any `window` nanoseconds.
    pub(super) const fn new(limit: u64, window: u64) -> Self {
        Self { limit, window }
    }

    /// Admits a cost of `n` at `now`, or says how long to wait; `None` if that cost can never pass.
    pub(super) fn decide(
        &self,
        pool: &mut Pool,
        memory: &mut Memory,
        n: u64,
        now: u64,
    ) -> Result<(), Option<Duration>> {
        while pool.front(memory.admitted).is_some_and(|oldest| now - oldest.at >= self.window) {
            memory.held -= pool.pop_front(&mut memory.admitted).map_or(0, |oldest| oldest.amount);
        }
        if n > self.limit {
            return Err(None);
        }
        if n > self.limit - memory.held {
            let mut must_leave = n - (self.limit - memory.held);
            let last_to_leave = pool.iter(memory.admitted).find(|entry| {
                must_leave = must_leave.saturating_sub(entry.amount);
                must_leave == 0
            });
            return Err(last_to_leave.map(|entry| Duration::from_nanos(entry.at + self.window - now)));
        }
        memory.held += n;
        match pool.back_mut(memory.admitted) {
            Some(newest) if newest.at == now => newest.amount += n,
            _ if n > 0 => pool.push_back(&mut memory.admitted, now, n, 0),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    struct Log(ExactLog, Pool, Memory);

    impl Log {
        fn new(limit: u64, seconds: u64) -> Self {
            Self(ExactLog::new(limit, seconds * S), Pool::new(), Memory::EMPTY)
        }

        fn take(&mut self, n: u64, now: u64) -> Result<(), Option<u64>> {
            let Self(log, pool, memory) = self;
            log.decide(pool, memory, n, now).map_err(|wait| wait.map(|wait| u64::try_from(wait.as_nanos()).unwrap()))
        }

        /// Arrivals of cost 1 at whole seconds; how many pass each time.
        fn admitted(&mut self, arrivals: &[(usize, u64)]) -> Vec<usize> {
            arrivals.iter().map(|&(n, second)| (0..n).filter(|_| self.take(1, second * S).is_ok()).count()).collect()
        }
    }

    #[test]
    fn five_per_thirty_seconds() {
        let passed = Log::new(5, 30).admitted(&[(1, 0), (2, 5), (2, 15), (1, 25), (1, 35), (3, 40)]);
        assert_eq!(passed, [1, 2, 2, 0, 1, 2]);
    }

    #[test]
    fn the_wait_is_exact() {
        let mut log = Log::new(5, 30);
        log.admitted(&[(2, 0), (3, 7)]);
        assert_eq!(log.take(1, 10 * S), Err(Some(20 * S)));
        assert_eq!(log.take(2, 10 * S), Err(Some(20 * S)));
        assert_eq!(log.take(3, 10 * S), Err(Some(27 * S)));
        assert_eq!(log.take(5, 10 * S), Err(Some(27 * S)));
        assert_eq!(log.take(6, 10 * S), Err(None));
        assert!(log.take(2, 30 * S - 1).is_err());
        assert!(log.take(2, 30 * S).is_ok());
    }

    #[test]
    fn a_cost_takes_the_place_of_the_oldest() {
        let mut log = Log::new(10, 10);
        let mut take = |n, second| log.take(n, second * S).map_err(|wait| wait.map(|wait| wait / S));
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
        let mut log = Log::new(1, 1);
        assert_eq!(log.take(0, 0), Ok(()));
        assert_eq!(log.take(1, 0), Ok(()));
        assert_eq!(log.take(0, 0), Ok(()));
        assert!(log.take(1, 0).is_err());
        assert_eq!(log.2.held(), 1);
    }
}
