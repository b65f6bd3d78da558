//! [`KeyedRateLimit`] for the limiter and for each of its classes, by their methods of the same names.

use super::class::Class;
use super::limiter::KeyedLimiter;
use crate::clock::Clock;
use crate::decision::{Denied, Status};
use crate::quota::Quota;
use crate::rate_limit::KeyedRateLimit;
use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};

macro_rules! delegate {
    ([$($lifetime:lifetime)?] $limiter:ty) => {
        impl<$($lifetime,)? K, Q, S, C> KeyedRateLimit<Q> for $limiter
        where
            K: Borrow<Q> + ?Sized,
            Q: Hash + ?Sized,
            S: BuildHasher,
            C: Clock,
        {
            #[inline]
            fn try_acquire_n(&self, key: &Q, n: u64) -> Result<(), Denied> {
                Self::try_acquire_n(self, key, n)
            }

            fn try_acquire_n_with_status(&self, key: &Q, n: u64) -> (Result<(), Denied>, Status) {
                Self::try_acquire_n_with_status(self, key, n)
            }

            fn refund(&self, key: &Q, n: u64) {
                Self::refund(self, key, n);
            }

            fn status(&self, key: &Q) -> Status {
                Self::status(self, key)
            }

            fn forget(&self, key: &Q) -> bool {
                Self::forget(self, key)
            }

            fn quota(&self) -> Quota {
                Self::quota(self)
            }
        }
    };
}

delegate!([] KeyedLimiter<K, S, C>);
delegate!(['a] Class<'a, K, S, C>);
