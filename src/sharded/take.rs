//! Looking at the central word without taking, and taking of it so that exactly that can be given back.

use super::token_bucket::ShardedTokenBucket;
use crate::algorithm::Algorithm;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::taken::Taken;

impl<C> ShardedTokenBucket<C> {
    /// Whether the central word has `n` tokens as of `now`. Takes nothing, writes nothing, and reads no clock.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        let (gcra, cell) = self.word();
        gcra.acquire(cell.load(), n, now).map(|_| ())
    }

    /// As [`try_acquire_n_at`](Self::try_acquire_n_at); returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        let (gcra, cell) = self.word();
        Taken::of(cell, gcra, n, now)
    }

    /// Gives back what [`take_n_at`](Self::take_n_at) of this limiter has taken; returns whether it is as if that had never
    /// been. It is, unless another call has drawn from the central word in between: then the tokens stay spent. No clock is read.
    pub fn give_back(&self, taken: Taken) -> bool {
        let (gcra, cell) = self.word();
        let given_back = taken.back_to(cell, gcra);
        self.tell(); // what was denied may be admitted now (rule 8)
        given_back
    }
}

impl<C: Clock> ShardedTokenBucket<C> {
    /// Takes `n` tokens of the central word, or none; returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.take_n_at(n, self.clock().now())
    }

    /// As [`take_n`](Self::take_n), with the status of the central word that the decision has left.
    pub fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        let now = self.clock().now();
        let (gcra, cell) = self.word();
        Taken::of_with_status(cell, gcra, n, now)
    }
}
