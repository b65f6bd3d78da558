//! Looking at a [`WaitingTokenBucket`] without taking, and taking of it so that exactly that can be given back.

use super::WaitingTokenBucket;
use super::line::sealed::Line;
use super::pool::sooner;
use crate::algorithm::Algorithm;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::taken::Taken;

impl<C> WaitingTokenBucket<C> {
    /// Whether `n` tokens could be taken as of `now`. Takes nothing, writes nothing, and reads no clock.
    ///
    /// # Errors
    ///
    /// Those of [`try_acquire_n_at`](Self::try_acquire_n_at), with the same hint.
    pub fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.check_by(n, now, now)
    }

    /// Whether there are `n` tokens that are due by `last`. A [`Denied::TryAfter`] counts from that.
    pub(super) fn check_by(&self, n: u64, now: Nanos, last: Nanos) -> Result<(), Denied> {
        let (gcra, cell) = (self.gcra(), &self.bucket().cell);
        match gcra.reserve(cell.load(), n, now, last) {
            Err(Denied::TryAfter(hint)) if self.pool.is_empty() => Err(Denied::TryAfter(hint)),
            Err(Denied::TryAfter(_)) => self.check_with_the_pool(n, now, last),
            decision => decision.map(|_| ()),
        }
    }

    /// As [`check_by`](Self::check_by), with what others have given back.
    #[cold]
    fn check_with_the_pool(&self, n: u64, now: Nanos, last: Nanos) -> Result<(), Denied> {
        match self.gcra().reserve(self.word(), n, now, last) {
            Err(Denied::TryAfter(hint)) => {
                self.pool.look(self.gcra(), n, now, last).map_err(|pooled| Denied::TryAfter(sooner(pooled, hint)))
            }
            decision => decision.map(|_| ()),
        }
    }

    /// As [`try_acquire_n_at`](Self::try_acquire_n_at); returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        let (gcra, cell) = (self.gcra(), &self.bucket().cell);
        let end = match cell.update(|word| gcra.acquire(word, n, now).map(|next| (next, next))) {
            Err(Denied::TryAfter(_)) if !self.pool.is_empty() => self.out_of_the_pool(n, now, now),
            decision => decision,
        };
        end.map(|end| Taken::new(n, now).with_states(0, end))
    }

    /// Gives back what [`take_n_at`](Self::take_n_at) of this limiter has taken, as a [`Place`](crate::Place) is given back: if
    /// others have taken since, into the pool. Returns whether there was room for it; where there was none, the tokens stay
    /// spent. No clock is read.
    #[allow(clippy::needless_pass_by_value)] // given back once
    pub fn give_back(&self, taken: Taken) -> bool {
        let n = taken.n();
        n == 0 || Line::give_back(self, n, taken.after(), taken.at()) > 0
    }
}

impl<C: Clock> WaitingTokenBucket<C> {
    /// Takes `n` tokens, or none; returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    pub fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.take_n_at(n, self.bucket().clock.now())
    }

    /// As [`take_n`](Self::take_n), with the status that the decision has left; see
    /// [`try_acquire_n_with_status`](Self::try_acquire_n_with_status).
    pub fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        let now = self.bucket().clock.now();
        let (reserved, status) = self.decide_with_status(n, now, now);
        (reserved.map(|reserved| Taken::new(n, now).with_states(0, reserved.end)), status)
    }
}
