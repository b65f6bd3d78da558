//! What a [`WaitingTokenBucket`] decides, with the status that it has left.

use super::WaitingTokenBucket;
use super::line::sealed::Reserved;
use super::place::Place;
use super::pool::sooner;
use crate::algorithm::Algorithm;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use alloc::sync::Arc;
use core::time::Duration;

impl<C> WaitingTokenBucket<C> {
    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), as of `now`. No clock is read.
    pub fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let (reserved, status) = self.decide_with_status(n, now, now);
        (reserved.map(|_| ()), status)
    }

    /// `n` tokens that are due at `now`, or else those that are due first, if that is by `last` (rules 1, 5 and 6); and the status as
    /// of `now` that the decision has left.
    pub(super) fn decide_with_status(&self, n: u64, now: Nanos, last: Nanos) -> (Result<Reserved, Denied>, Status) {
        let (reserved, word) = self.decide(n, now, last);
        (reserved, self.status_of(self.pool.lowered(word), now))
    }

    /// As [`decide_with_status`](Self::decide_with_status), with the word itself.
    fn decide(&self, n: u64, now: Nanos, last: Nanos) -> (Result<Reserved, Denied>, u64) {
        let (gcra, cell) = (self.gcra(), &self.bucket().cell);
        let (decision, word) = cell.decide(|word| gcra.acquire(word, n, now));
        let at_once = decision.map(|()| Reserved { end: word, due: now });
        if !matches!(at_once, Err(Denied::TryAfter(_))) || last <= now && self.pool.is_empty() {
            return (at_once, word);
        }
        let Ok((cost, _)) = gcra.price(n) else { return (at_once, word) };
        let due = |end| Reserved { end, due: gcra.due(end, now) };
        self.pool.absorb(cell);
        match self.pool.take(gcra, n, now, last) {
            Ok(start) => (Ok(due(start + cost)), cell.load()), // the pool has decided; the word is looked at only now
            Err(pooled) => {
                let (decision, word) = cell.decide(|word| gcra.reserve(word, n, now, last));
                let sooner = |denied| match denied {
                    Denied::TryAfter(hint) => Denied::TryAfter(sooner(pooled, hint)),
                    denied => denied,
                };
                (decision.map(|()| due(word)).map_err(sooner), word)
            }
        }
    }
}

impl<C: Clock> WaitingTokenBucket<C> {
    /// Takes `n` tokens, or none; returns the decision and the status that it has left, admitted or denied: as of
    /// the very word which was decided on, with what was then given back of places, on one reading of the clock.
    pub fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status_at(n, self.bucket().clock.now())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// A place for `n` tokens that is due within `max_wait`, or none; and the status that the decision has left, either way: as of
    /// the very word which was decided on, on one reading of the clock, as for
    /// [`try_acquire_n_with_status`](Self::try_acquire_n_with_status).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Quota, WaitingTokenBucket};
    ///
    /// let quota = Quota::per_second(1).with_burst(2);
    /// let bucket = WaitingTokenBucket::with_clock(quota, Duration::MAX, ManualClock::new());
    /// let (now, status) = bucket.reserve_within_with_status(1, Duration::ZERO);
    /// assert_eq!((now.is_ok(), status.remaining), (true, 1));
    /// let (later, status) = bucket.reserve_within_with_status(2, Duration::from_secs(1));
    /// assert_eq!((later.is_ok(), status.reset_after), (true, Duration::from_secs(3)));
    /// ```
    pub fn reserve_within_with_status(&self, n: u64, max_wait: Duration) -> (Result<Place<&Self>, Denied>, Status) {
        self.reserve_within_with_status_at(n, max_wait, self.bucket().clock.now())
    }

    /// As [`reserve_within_with_status`](Self::reserve_within_with_status), as of `now`. No clock is read.
    pub fn reserve_within_with_status_at(
        &self,
        n: u64,
        max_wait: Duration,
        now: Nanos,
    ) -> (Result<Place<&Self>, Denied>, Status) {
        Place::reserve_with_status(self, n, max_wait, now)
    }

    /// As [`reserve_within_with_status`](Self::reserve_within_with_status), for a place that can be kept anywhere.
    pub fn reserve_owned_within_with_status(
        self: Arc<Self>,
        n: u64,
        max_wait: Duration,
    ) -> (Result<Place<Arc<Self>>, Denied>, Status) {
        let now = self.bucket().clock.now();
        Place::reserve_with_status(self, n, max_wait, now)
    }
}
