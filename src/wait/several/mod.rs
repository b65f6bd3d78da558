//! Waiting for several limits at once: a place in each line, spent together when the last of them is due.
//!
//! # Rules
//!
//! 1. **Look first.** All lines are looked at as of one reading, each for its cost within the caller's patience, and nothing is written. If
//!    any has no such place, the call is refused by all that have none.
//! 2. **Take in order.** Then a place is taken in each line, first to last. If there is none after all, those that were taken are given
//!    back, last to first, as any [`Place`] is; lines that were not reached are looked at once more, so that all who refuse are named.
//! 3. **Spend together.** All are spent at the latest of their instants or later, as of one reading; or all are given back.
//!
//! # What is kept
//!
//! Each place counts at its own instant, as of one who wakes late: whoever waits for one limit has had its turn in the others. So each limit
//! hands out its tokens at its own rate, and no token twice. What is *done* in a stretch of time can be more by what had waited for other
//! limits: at most `burst + rate * (t - s + w)`, where nobody waits for longer than `w`. Bound `w` by the caller's patience; or, where
//! what is done must keep to every limit's bound by the clock, do not stand in line: try again at the hint.

#[cfg(feature = "async")]
mod joint_turn;
mod places;

#[cfg(feature = "async")]
pub use joint_turn::JointTurn;
pub use places::Places;

use super::{Line, Place};
use crate::clock::Clock;
#[cfg(feature = "async")]
use crate::clock::Timer;
use crate::nanos::Nanos;
use crate::operate::{DeniedBy, LimitSet};
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::Instant;

impl<L: Line, const N: usize, C> LimitSet<L, N, C> {
    /// Places for these costs, one in each line, that are all due by `now + max_wait`; see
    /// [`reserve_n_within`](Self::reserve_n_within). No clock is read.
    ///
    /// # Errors
    ///
    /// As [`reserve_n_within`](Self::reserve_n_within).
    pub fn reserve_n_within_at(
        &self,
        costs: [u64; N],
        max_wait: Duration,
        now: Nanos,
    ) -> Result<Places<&L, N>, DeniedBy> {
        let look = |known: Option<DeniedBy>, limit: usize| match self.limits()[limit].look(costs[limit], max_wait, now)
        {
            Ok(()) => known,
            Err(denied) => Some(DeniedBy::and_by(known, limit, denied)),
        };
        if let Some(denied) = (0..N).fold(None, look) {
            return Err(denied);
        }
        let mut refused = None;
        let places = core::array::from_fn(|limit| {
            let line = &self.limits()[limit];
            if refused.is_none() {
                match Place::reserve(line, costs[limit], max_wait, now) {
                    Ok(place) => return place,
                    Err(denied) => refused = Some(DeniedBy::and_by(None, limit, denied).late()),
                }
            } else {
                refused = look(refused, limit);
            }
            Place::nothing(line, now)
        });
        match refused {
            None => Ok(Places::new(places)),
            Some(denied) => Err(places.into_iter().enumerate().rev().fold(denied, |denied, (limit, place)| {
                let n = place.cost();
                if place.cancel_at(now) >= n { denied } else { denied.and_spent(limit) }
            })),
        }
    }
}

impl<L: Line, const N: usize, C: Clock> LimitSet<L, N, C> {
    /// Places for these costs, one in each line, as soon as they can be had. Reads the set's clock once.
    ///
    /// The limits are those in which one can stand in line: a [`WaitingTokenBucket`](crate::WaitingTokenBucket), a key's
    /// [line](crate::KeyedLimiter::line), a [`ShardedTokenBucket`](crate::ShardedTokenBucket). For a mix of them take
    /// `&dyn Line<Clock = C>`.
    ///
    /// Bound: each place counts at its own instant in its own line. What is done in a stretch of time can be more by what had waited for
    /// the other limits: at most `burst + rate * (t - s + w)` of each limit, where nobody waits longer than `w`.
    ///
    /// # Errors
    ///
    /// [`DeniedBy`] all lines in which there is no place: [`Denied::LineFull`](crate::Denied::LineFull), or
    /// [`Denied::ExceedsBurst`](crate::Denied::ExceedsBurst). Such a call has written nothing, unless it is
    /// [late](DeniedBy::is_late): then what it had taken was given back.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{LimitSet, ManualClock, Nanos, Quota, WaitingTokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let line = |quota: Quota| WaitingTokenBucket::with_clock(quota.with_burst(1), Duration::from_secs(60), clock.clone());
    /// let set = LimitSet::with_clock([line(Quota::per_second(1)), line(Quota::per_second(2))], clock.clone());
    ///
    /// let due = [(); 3].map(|()| set.reserve_n([1, 1]).map(|places| (places.due(), std::mem::forget(places)).0));
    /// assert_eq!(due, [0, 1, 2].map(|second| Ok(Nanos::from_secs(second))));
    ///
    /// // Dropped, all of them go back.
    /// drop(set.reserve_n([1, 1])?);
    /// assert_eq!(set.reserve_n([1, 1])?.due(), Nanos::from_secs(3));
    /// # Ok::<_, tollgate::DeniedBy>(())
    /// ```
    pub fn reserve_n(&self, costs: [u64; N]) -> Result<Places<&L, N>, DeniedBy> {
        self.reserve_n_within(costs, Duration::MAX)
    }

    /// As [`reserve_n`](Self::reserve_n), for places that are all due within `max_wait`.
    ///
    /// # Errors
    ///
    /// [`Denied::WouldExceedDeadline`](crate::Denied::WouldExceedDeadline) of each line where the place would be due later, and what
    /// [`reserve_n`](Self::reserve_n) says.
    pub fn reserve_n_within(&self, costs: [u64; N], max_wait: Duration) -> Result<Places<&L, N>, DeniedBy> {
        self.reserve_n_within_at(costs, max_wait, self.clock().now())
    }

    /// Takes these costs, and parks the thread until all are due.
    ///
    /// # Errors
    ///
    /// At once: what [`reserve_n`](Self::reserve_n) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{LimitSet, Quota, WaitingTokenBucket};
    ///
    /// static CALLS: WaitingTokenBucket = WaitingTokenBucket::new(Quota::per_second(1_000), Duration::from_secs(60));
    /// static BYTES: WaitingTokenBucket = WaitingTokenBucket::new(Quota::per_second(1_000_000), Duration::from_secs(60));
    /// static UPLOADS: LimitSet<&WaitingTokenBucket, 2> = LimitSet::new([&CALLS, &BYTES]);
    ///
    /// for _ in 0..3 {
    ///     UPLOADS.acquire_blocking([1, 350_000])?; // the third waits for 50 ms
    /// }
    /// # Ok::<_, tollgate::DeniedBy>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn acquire_blocking(&self, costs: [u64; N]) -> Result<(), DeniedBy> {
        self.reserve_n(costs).map(Places::wait)
    }

    /// Takes these costs if all are due within `timeout`, and parks the thread until they are.
    ///
    /// # Errors
    ///
    /// At once, with no time slept: what [`reserve_n_within`](Self::reserve_n_within) says.
    #[cfg(feature = "std")]
    pub fn acquire_blocking_timeout(&self, costs: [u64; N], timeout: Duration) -> Result<(), DeniedBy> {
        self.reserve_n_within(costs, timeout).map(Places::wait)
    }

    /// Takes these costs if all are due by `deadline`, and parks the thread until they are. After the deadline, only what is due
    /// at once will do.
    ///
    /// # Errors
    ///
    /// As [`acquire_blocking_timeout`](Self::acquire_blocking_timeout).
    #[cfg(feature = "std")]
    pub fn acquire_blocking_by(&self, costs: [u64; N], deadline: Instant) -> Result<(), DeniedBy> {
        self.acquire_blocking_timeout(costs, deadline.saturating_duration_since(Instant::now()))
    }
}

#[cfg(feature = "async")]
impl<L: Line, const N: usize, C: Clock> LimitSet<L, N, C>
where
    L::Clock: Timer,
{
    /// Takes these costs, and is ready when all are due. The places are taken when the future is polled for the first time; dropped before
    /// it was ready, it gives all of them back.
    ///
    /// # Errors
    ///
    /// At the first poll: what [`reserve_n`](Self::reserve_n) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    /// use std::task::{Context, Poll, Waker};
    /// use std::time::Duration;
    /// use tollgate::{LimitSet, ManualClock, Quota, WaitingTokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let line = |quota| WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), clock.clone());
    /// let set = LimitSet::with_clock([line(Quota::per_second(1)), line(Quota::per_second(2))], clock.clone());
    /// assert!(set.try_acquire().is_ok());
    ///
    /// // Elsewhere: `set.acquire([1, 2]).await?`.
    /// let mut both = pin!(set.acquire([1, 2]));
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(both.as_mut().poll(&mut context).is_pending());
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!(both.poll(&mut context), Poll::Ready(Ok(())));
    /// ```
    pub async fn acquire(&self, costs: [u64; N]) -> Result<(), DeniedBy> {
        self.acquire_within(costs, Duration::MAX).await
    }

    /// Takes these costs if all are due within `max_wait` of the first poll, and is ready when they are.
    ///
    /// # Errors
    ///
    /// At the first poll, with no time slept: what [`reserve_n_within`](Self::reserve_n_within) says.
    pub async fn acquire_within(&self, costs: [u64; N], max_wait: Duration) -> Result<(), DeniedBy> {
        self.reserve_n_within(costs, max_wait)?.await;
        Ok(())
    }

    /// Takes these costs if all are due by `deadline`, an instant of the set's clock, and is ready when they are. After the deadline,
    /// only what is due at once will do.
    ///
    /// # Errors
    ///
    /// As [`acquire_within`](Self::acquire_within).
    pub async fn acquire_by(&self, costs: [u64; N], deadline: Nanos) -> Result<(), DeniedBy> {
        let now = self.clock().now();
        self.reserve_n_within_at(costs, deadline.saturating_since(now), now)?.await;
        Ok(())
    }
}
