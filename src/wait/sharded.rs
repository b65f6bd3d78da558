//! Places on the central word of a [`ShardedTokenBucket`]. There is no pool: what is given back from the middle is lost.

use super::line::{Line, sealed};
use super::place::Place;
use super::pool::lower;
use crate::algorithm::{Algorithm, Stretch};
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::sharded::ShardedTokenBucket;
use core::time::Duration;
use sealed::{Reserved, not_in_time};

impl<C: Clock> ShardedTokenBucket<C> {
    /// A place for `n` tokens on the central word: due now if there are `n`, else as soon as they can be had. One
    /// read-modify-write.
    ///
    /// Places are served in order among themselves, and before anybody who asks the central word later: a refill too. Credits
    /// that lie in shards have been paid for, and are spent meanwhile; a place is not served from them. The last place in line
    /// is given back exactly. From the middle, the tokens are lost: it takes a [`WaitingTokenBucket`](super::WaitingTokenBucket)
    /// to keep them. The line has no bound of its own; see [`reserve_within`](Self::reserve_within).
    ///
    /// The bound is that of the bucket, where a place counts at its own instant.
    ///
    /// # Errors
    ///
    /// [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost); [`Denied::LineFull`] if the place would be
    /// due later than the clock can count. A refused call has taken nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Nanos, Quota, ShardedTokenBucket};
    ///
    /// let bucket = ShardedTokenBucket::with_clock(Quota::per_second(1_000), ManualClock::new());
    /// while bucket.try_acquire().is_ok() {}
    /// let place = bucket.reserve(10)?;
    /// assert_eq!(place.due(), Nanos::from_millis(10));
    /// assert_eq!(place.cancel(), 10);
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    pub fn reserve(&self, n: u64) -> Result<Place<&Self>, Denied> {
        self.reserve_within(n, Duration::MAX)
    }

    /// As [`reserve`](Self::reserve), for a place that is due within `max_wait`.
    ///
    /// # Errors
    ///
    /// [`Denied::WouldExceedDeadline`] if it would be later, and what [`reserve`](Self::reserve) says.
    pub fn reserve_within(&self, n: u64, max_wait: Duration) -> Result<Place<&Self>, Denied> {
        self.reserve_within_at(n, max_wait, self.clock().now())
    }

    /// As [`reserve_within`](Self::reserve_within), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`reserve_within`](Self::reserve_within).
    pub fn reserve_within_at(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Place<&Self>, Denied> {
        Place::reserve(self, n, max_wait, now)
    }
}

impl<C: Clock> Line for ShardedTokenBucket<C> {
    type Clock = C;

    #[inline]
    fn clock(&self) -> &C {
        self.clock()
    }
}

impl<C> sealed::Line for ShardedTokenBucket<C> {
    fn reserve(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied> {
        let (gcra, cell) = self.word();
        let last = now.saturating_add(max_wait);
        let end = cell.update(|word| gcra.reserve(word, n, now, last).map(|next| (next, next)));
        let end = end.map_err(|denied| not_in_time(denied, max_wait))?;
        Ok(Reserved { end, due: gcra.due(end, now) })
    }

    /// The status is that of the central word.
    fn reserve_with_status(&self, n: u64, max_wait: Duration, now: Nanos) -> (Result<Reserved, Denied>, Status) {
        let (gcra, cell) = self.word();
        let last = now.saturating_add(max_wait);
        let (decision, word) = cell.decide(|word| gcra.reserve(word, n, now, last));
        let reserved = decision.map(|()| Reserved { end: word, due: gcra.due(word, now) });
        (reserved.map_err(|denied| not_in_time(denied, max_wait)), gcra.status(word, now))
    }

    fn look(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<(), Denied> {
        let (gcra, cell) = self.word();
        let found = gcra.reserve(cell.load(), n, now, now.saturating_add(max_wait));
        found.map(|_| ()).map_err(|denied| not_in_time(denied, max_wait))
    }

    fn give_back(&self, n: u64, end: u64, now: Nanos) -> u64 {
        let (gcra, cell) = self.word();
        let Ok((len @ 1.., _)) = gcra.price(n) else { return n };
        let stretch = Stretch { start: end - len, len };
        if !lower(cell, stretch) {
            return 0;
        }
        self.tell(); // what was denied may be admitted now
        gcra.left_in(stretch, now)
    }
}
