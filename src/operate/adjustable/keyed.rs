//! The quotas of a [`KeyedLimiter`], changed while it is in use. The rules are those of `keyed::terms`.

use super::carry_over::AdjustError;
use crate::clock::Clock;
use crate::keyed::{Class, KeyedLimiter};
use crate::quota::Quota;

impl<K: ?Sized, S, C: Clock> KeyedLimiter<K, S, C> {
    /// Changes the quota of the first class for every key, from now on, while any number of threads use it; see
    /// [`Class::set_quota`].
    ///
    /// # Errors
    ///
    /// As [`Class::set_quota`]; the old quota stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{KeyedLimiter, Quota};
    ///
    /// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(10), 1_000);
    /// assert!(limiter.try_acquire_n("alice", 7).is_ok());
    /// limiter.set_quota("20/h".parse()?)?; // from a file that was read again
    /// assert_eq!(limiter.status("alice").remaining, 13); // 7 of 20 are spent
    /// assert_eq!(limiter.status("bob").remaining, 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_quota(&self, quota: Quota) -> Result<(), AdjustError> {
        self.class(0).set_quota(quota)
    }
}

impl<K: ?Sized, S, C: Clock> Class<'_, K, S, C> {
    /// Changes the quota of this class for every key, from now on, while any number of threads use it. What was spent stays spent:
    /// a key owes as many tokens after the change as before it, fractions included.
    ///
    /// Bound, for any key that calls in this class: for any two readings `s <= t`, with changes in between or without, at most the
    /// largest burst in force in `[s, t]` and what each rate brings in its own part of it; and for each change a unit, less than 2 ns'
    /// worth of either rate. A change counts as of the reading of the clock that it makes. Ten in one instant admit nothing extra, and
    /// changes in quick succession take nothing away.
    ///
    /// No key is touched and nothing allocates: all keys are changed at once. A class that was never changed is as fast as before.
    /// One that was reads its constants anew in each call, from memory that only a change writes: long after the change, and where tokens
    /// are a whole number of nanoseconds apart, four words, for a call of 320 instructions instead of 240; else 28 words, and for as
    /// long as [words are read otherwise](#for-a-while) a call of nearly 800.
    ///
    /// From [`Quota::UNLIMITED`], under which nothing is counted, every key starts as full as it is in time. Under
    /// [`Quota::DENY_ALL`] nothing drains: what was owed before is owed after it.
    ///
    /// # For a while
    ///
    /// Words are read at the old rate for as long as they may be from before the change, about as long as two old bursts take at the
    /// new rate; and then the class returns to time as it is, which takes twice as long again, or twice the time by which word and instant
    /// have come apart. Meanwhile a call may cost up to a nanosecond more, of the higher rate: the last token of a burst that is taken at
    /// once in many calls comes so much later. A key that is called in *another* class too may be seen there with a debt that is longer or
    /// shorter, after one change by no more than the time in which two of the old bursts come at the lower rate. And a slot is kept until
    /// its key is full in every class.
    ///
    /// [Places](KeyedLimiter::reserve) that are held keep the instants that they were told. What they take until the last of them is
    /// due comes on top, and so does, at a lower rate, what lies more than two bursts ahead in such a key's line.
    ///
    /// # Giving back
    ///
    /// What is [given back](Self::refund) of a key at once is at most what comes, at the present rate, in the time of the longest debt of
    /// the quotas that the limiter was built with; the rest stays spent. So build it with the largest burst that it is to have.
    ///
    /// # Progress
    ///
    /// Lock-free. A call that comes in the middle of a change waits for some microseconds at most, and then goes on under the old quota;
    /// the change starts over. A thread that sleeps in the middle blocks nobody; three that do keep others from changing the same class
    /// ([`AdjustError::Contended`]).
    ///
    /// # Errors
    ///
    /// [`AdjustError::Keyed`] for a quota that no class can have; [`AdjustError::TooFarApart`] if what keys may owe would last for decades
    /// at the new rate; [`AdjustError::TooOften`]; [`AdjustError::Contended`]. The old quota stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{KeyedLimiter, ManualClock, Quota};
    ///
    /// const PAID: usize = 1;
    /// let clock = ManualClock::new();
    /// let limiter =
    ///     KeyedLimiter::<str>::with_clock([Quota::per_minute(60), Quota::per_minute(600)], 1_000, clock.clone());
    /// let paid = limiter.class(PAID);
    /// assert!(paid.try_acquire_n("alice", 600).is_ok());
    /// paid.set_quota(Quota::per_second(300).with_burst(600))?;
    /// assert!(paid.try_acquire("alice").is_err()); // what she has spent is still to come
    /// clock.advance(Duration::from_secs(1)); // which takes a second per 300 now
    /// assert!(paid.try_acquire_n("alice", 300).is_ok());
    /// # Ok::<(), tollgate::AdjustError>(())
    /// ```
    pub fn set_quota(&self, quota: Quota) -> Result<(), AdjustError> {
        Ok(self.change(quota, || self.clock().now())?)
    }
}
