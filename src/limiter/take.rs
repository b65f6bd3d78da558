//! Looking without taking, and taking so that exactly that can be given back.

use super::RateLimiter;
use crate::algorithm::Algorithm;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::taken::Taken;

impl<A: Algorithm, C> RateLimiter<A, C> {
    /// Whether `n` tokens could be taken as of `now`. Takes nothing, writes nothing, and reads no clock.
    ///
    /// It decides as [`try_acquire_n_at`](Self::try_acquire_n_at) does and leaves it at that, so that its answer is of the past
    /// at once: another caller may be faster. One load; wait-free.
    ///
    /// # Errors
    ///
    /// Those of [`try_acquire_n_at`](Self::try_acquire_n_at), with the same hint.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Nanos, Quota, TokenBucket};
    ///
    /// let bucket = TokenBucket::new(Quota::per_hour(10));
    /// assert!(bucket.check_n_at(10, Nanos::ZERO).is_ok());
    /// assert!(bucket.check_n_at(11, Nanos::ZERO).is_err());
    /// assert_eq!(bucket.available(), 10);
    /// ```
    #[inline]
    pub fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.algorithm.acquire(self.cell.load(), n, now).map(|_| ())
    }

    /// As [`try_acquire_n_at`](Self::try_acquire_n_at); returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    #[inline]
    pub fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        Taken::of(&self.cell, &self.algorithm, n, now)
    }

    /// Gives back what [`take_n`](Self::take_n) of this limiter has taken: afterwards the limiter is as if that had never
    /// been, and never fuller. No clock is read. Lock-free.
    ///
    /// Returns whether it took it back. A window always does: what it has counted comes off the window that has counted it, and
    /// where that is past there is nothing to take off. A bucket does unless another call has changed it meanwhile. Then the
    /// tokens stay spent, since in one word there is no telling whether they would have been lost by now to a bucket that was
    /// full; a [`WaitingTokenBucket`](crate::WaitingTokenBucket) has the room to keep them.
    ///
    /// Unlike [`refund_at`](Self::refund_at), it keeps the limiter's bound: on what was kept, whatever happens in between.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Clock, ManualClock, Quota, TokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let bucket = TokenBucket::with_clock(Quota::per_second(1).with_burst(10), clock.clone());
    /// let taken = bucket.take_n_at(5, clock.now())?;
    ///
    /// // Five seconds later those five have come again, and another takes all ten.
    /// clock.advance(Duration::from_secs(5));
    /// assert!(bucket.try_acquire_n(10).is_ok());
    ///
    /// // To refund the first five now would be to admit fifteen within no time.
    /// assert!(!bucket.give_back(taken));
    /// assert_eq!(bucket.available(), 0);
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    #[inline]
    pub fn give_back(&self, taken: Taken) -> bool {
        taken.back_to(&self.cell, &self.algorithm)
    }
}

impl<A: Algorithm, C: Clock> RateLimiter<A, C> {
    /// Takes `n` tokens, or none; returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.take_n_at(n, self.clock.now())
    }

    /// As [`take_n`](Self::take_n), with the status that the decision has left; see
    /// [`try_acquire_n_with_status`](Self::try_acquire_n_with_status).
    pub fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        Taken::of_with_status(&self.cell, &self.algorithm, n, self.clock.now())
    }
}
