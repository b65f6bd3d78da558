//! Waiting by parking the thread.

use super::{Line, Place, WaitingTokenBucket};
use crate::clock::Clock;
use crate::decision::Denied;
use core::time::Duration;
use std::thread;
use std::time::Instant;

impl<L: Line> Place<L> {
    /// Parks the thread until the place is due, and spends it.
    ///
    /// An [`unpark`](std::thread::Thread::unpark) or a timer that fires early only lets the thread look at the clock again.
    /// If the limiter's clock is not the machine's, the thread looks at it again after as much of the machine's time.
    ///
    /// # Examples
    ///
    /// To be interruptible, wait by hand; the place goes back when it is dropped:
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Quota, WaitingTokenBucket};
    ///
    /// /// Whether there was a token before `stop` held; who makes it hold unparks this thread.
    /// fn acquire(bucket: &WaitingTokenBucket, stop: impl Fn() -> bool) -> bool {
    ///     let Ok(mut place) = bucket.reserve(1) else { return false };
    ///     while !stop() {
    ///         let Err(early) = place.spend() else { return true };
    ///         std::thread::park_timeout(early.delay());
    ///         place = early;
    ///     }
    ///     false
    /// }
    ///
    /// let bucket = WaitingTokenBucket::new(Quota::per_second(100).with_burst(1), Duration::from_secs(1));
    /// assert!(acquire(&bucket, || false));
    /// assert!(!acquire(&bucket, || true));
    /// ```
    pub fn wait(self) {
        let mut place = self;
        // PROGRESS: blocking, by intent; ends at the first look at the clock after the place is due.
        while let Err(early) = place.spend() {
            thread::park_timeout(early.delay());
            place = early;
        }
    }
}

impl<C: Clock> WaitingTokenBucket<C> {
    /// Takes `n` tokens, and parks the thread until they are due.
    ///
    /// # Errors
    ///
    /// At once, with nothing taken: [`Denied::LineFull`] if the line would become longer than it may be, and
    /// [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use tollgate::{Quota, WaitingTokenBucket};
    ///
    /// let bucket = WaitingTokenBucket::new(Quota::per_second(1_000).with_burst(1), Duration::from_secs(60));
    /// let start = Instant::now();
    /// for _ in 0..11 {
    ///     bucket.acquire_blocking(1)?;
    /// }
    /// assert!(start.elapsed() >= Duration::from_millis(10));
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    pub fn acquire_blocking(&self, n: u64) -> Result<(), Denied> {
        self.reserve(n).map(Place::wait)
    }

    /// Takes `n` tokens that are due within `timeout`, and parks the thread until they are.
    ///
    /// # Errors
    ///
    /// At once, with nothing taken and no time slept: [`Denied::WouldExceedDeadline`] if they would be due later, and what
    /// [`acquire_blocking`](Self::acquire_blocking) says.
    pub fn acquire_blocking_timeout(&self, n: u64, timeout: Duration) -> Result<(), Denied> {
        self.reserve_within(n, timeout).map(Place::wait)
    }

    /// Takes `n` tokens that are due by `deadline`, and parks the thread until they are. After the deadline, only what is
    /// due at once will do.
    ///
    /// # Errors
    ///
    /// As [`acquire_blocking_timeout`](Self::acquire_blocking_timeout).
    pub fn acquire_blocking_by(&self, n: u64, deadline: Instant) -> Result<(), Denied> {
        self.acquire_blocking_timeout(n, deadline.saturating_duration_since(Instant::now()))
    }
}
