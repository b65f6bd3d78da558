//! A key's line as a limiter: [`RateLimit`] and [`RateLimitAt`].

use super::{KeyedLine, OwnedKeyedLine};
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::{RateLimit, RateLimitAt};
use crate::taken::Taken;
use crate::wait::line::Line as _;

impl<K: ?Sized, S, C: Clock> RateLimit for KeyedLine<'_, K, S, C> {
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.try_acquire_n_at(n, self.now())
    }

    fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status_at(n, self.now())
    }

    fn refund(&self, n: u64) {
        self.refund_at(n, Nanos::ZERO);
    }

    fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.take_n_at(n, self.now())
    }

    fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        let now = self.now();
        let (reserved, status) = self.class.reserve_with_status(self.key, n, now, now);
        (reserved.map(|(full_at, _)| Taken::new(n, now).with_states(0, full_at)), status)
    }

    fn take_back(&self, taken: Taken) -> bool {
        self.give_back(taken)
    }

    fn status(&self) -> Status {
        self.status_at(self.now())
    }

    fn quota(&self) -> Quota {
        self.class.quota()
    }

    fn max_cost(&self) -> u64 {
        self.class.max_cost()
    }
}

impl<K: ?Sized, S, C: Clock> RateLimitAt for KeyedLine<'_, K, S, C> {
    fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.class.reserve(self.key, n, now, now).map(|_| ())
    }

    fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        self.class.decide_with_status(self.key, n, now)
    }

    fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        // PROGRESS: lock-free. What is available can be acquired, unless another thread has been faster.
        loop {
            let take = self.available_at(now).min(n);
            match self.try_acquire_n_at(take, now) {
                Ok(()) => return take,
                Err(Denied::TryAfter(_)) => {}
                Err(_) => return 0, // no slot for the key
            }
        }
    }

    /// Reads nothing of `now`: a key is given back in full.
    fn refund_at(&self, n: u64, _: Nanos) {
        self.class.refund_of(self.key, n);
    }

    fn status_at(&self, now: Nanos) -> Status {
        self.class.status_of(self.key, now)
    }

    /// Whether there is a slot for a key that has none is not looked at.
    fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.class.check(self.key, n, now, now)
    }

    fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        let (full_at, _) = self.class.reserve(self.key, n, now, now)?;
        Ok(Taken::new(n, now).with_states(0, full_at))
    }

    /// It is as if nothing had been taken, unless another call has taken of the key meanwhile. A newcomer's tokens that were
    /// taken of what [newcomers share](crate::KeyedLimiter::sharing_when_full) stay spent.
    fn give_back(&self, taken: Taken) -> bool {
        let n = taken.n();
        n == 0 || self.class.give_back(self.key, n, taken.after(), taken.at()) >= n
    }
}

macro_rules! by_what_is_borrowed {
    ($($method:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => {
        $(fn $method(&self $(, $argument: $type)*) $(-> $output)? {
            self.borrowed().$method($($argument),*)
        })*
    };
}

impl<K: ?Sized, S, C: Clock> RateLimit for OwnedKeyedLine<K, S, C> {
    by_what_is_borrowed! {
        try_acquire_n(n: u64) -> Result<(), Denied>;
        try_acquire_n_with_status(n: u64) -> (Result<(), Denied>, Status);
        refund(n: u64);
        take_n(n: u64) -> Result<Taken, Denied>;
        take_n_with_status(n: u64) -> (Result<Taken, Denied>, Status);
        take_back(taken: Taken) -> bool;
        status() -> Status;
        quota() -> Quota;
        max_cost() -> u64;
    }
}

impl<K: ?Sized, S, C: Clock> RateLimitAt for OwnedKeyedLine<K, S, C> {
    by_what_is_borrowed! {
        try_acquire_n_at(n: u64, now: Nanos) -> Result<(), Denied>;
        try_acquire_n_with_status_at(n: u64, now: Nanos) -> (Result<(), Denied>, Status);
        try_acquire_up_to_at(n: u64, now: Nanos) -> u64;
        refund_at(n: u64, now: Nanos);
        status_at(now: Nanos) -> Status;
        check_n_at(n: u64, now: Nanos) -> Result<(), Denied>;
        take_n_at(n: u64, now: Nanos) -> Result<Taken, Denied>;
        give_back(taken: Taken) -> bool;
    }
}
