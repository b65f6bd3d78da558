//! [`RateLimit`], [`RateLimitAt`] and [`KeyedRateLimit`] by the methods of the same names of another type.

use super::{KeyedRateLimit, RateLimit, RateLimitAt};
use crate::decision::{Denied, Status};
use crate::quota::Quota;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Implements [`RateLimit`] and [`RateLimitAt`] for a limiter by the methods of the same names of another type: of itself,
/// which has them without the traits too, so that nobody must import them; or of what it points to.
///
/// `nothing back` stands after a limiter that takes no refunds, `refunds alone` after one that takes back by number alone, and `pointed to` or `asked what it takes back` after a pointer, for
/// which the trait's own methods stand.
macro_rules! delegate {
    ([$($generics:tt)*] $limiter:ty => $to:ty) => {
        $crate::rate_limit::delegate!(now [$($generics)*] $limiter => $to, give_back; refund take_n take_n_with_status; {});
    };
    ([$($generics:tt)*] $limiter:ty => $to:ty, pointed to) => {
        $crate::rate_limit::delegate!(now [$($generics)*] $limiter => $to, take_back; refund take_n take_n_with_status; {});
    };
    ([$($generics:tt)*] $limiter:ty => $to:ty, refunds alone) => {
        $crate::rate_limit::delegate!(now [$($generics)*] $limiter => $to; {
            fn refund(&self, n: u64) {
                <$to>::refund(self, n);
            }
        });
    };
    ([$($generics:tt)*] $limiter:ty => $to:ty, nothing back) => {
        $crate::rate_limit::delegate!(now [$($generics)*] $limiter => $to; {
            fn take_back(&self, _: $crate::taken::Taken) -> bool {
                false
            }
        });
    };
    (at [$($generics:tt)*] $limiter:ty => $to:ty) => {
        $crate::rate_limit::delegate!(then [$($generics)*] $limiter => $to, refund_at give_back; {});
    };
    (at [$($generics:tt)*] $limiter:ty => $to:ty, nothing back) => {
        $crate::rate_limit::delegate!(then [$($generics)*] $limiter => $to; {
            fn takes_back(&self) -> bool {
                false
            }
        });
    };
    (at [$($generics:tt)*] $limiter:ty => $to:ty, asked what it takes back) => {
        $crate::rate_limit::delegate!(then [$($generics)*] $limiter => $to, refund_at give_back; {
            fn takes_back(&self) -> bool {
                <$to>::takes_back(self)
            }
        });
    };
    (
        now [$($generics:tt)*] $limiter:ty => $to:ty
        $(, $back:ident; $refund:ident $take:ident $with_status:ident)?; { $($takes_back:tt)* }
    ) => {
        impl<$($generics)*> $crate::rate_limit::RateLimit for $limiter {
            #[inline]
            fn try_acquire_n(&self, n: u64) -> Result<(), $crate::decision::Denied> {
                <$to>::try_acquire_n(self, n)
            }

            #[inline]
            fn try_acquire(&self) -> Result<(), $crate::decision::Denied> {
                <$to>::try_acquire(self)
            }

            fn try_acquire_n_with_status(
                &self,
                n: u64,
            ) -> (Result<(), $crate::decision::Denied>, $crate::decision::Status) {
                <$to>::try_acquire_n_with_status(self, n)
            }

            fn try_acquire_up_to(&self, n: u64) -> u64 {
                <$to>::try_acquire_up_to(self, n)
            }

            $(fn $refund(&self, n: u64) {
                <$to>::$refund(self, n);
            }

            #[inline]
            fn $take(&self, n: u64) -> Result<$crate::taken::Taken, $crate::decision::Denied> {
                <$to>::$take(self, n)
            }

            fn $with_status(
                &self,
                n: u64,
            ) -> (Result<$crate::taken::Taken, $crate::decision::Denied>, $crate::decision::Status) {
                <$to>::$with_status(self, n)
            }

            fn take_back(&self, taken: $crate::taken::Taken) -> bool {
                <$to>::$back(self, taken)
            })?

            $($takes_back)*

            fn available(&self) -> u64 {
                <$to>::available(self)
            }

            fn status(&self) -> $crate::decision::Status {
                <$to>::status(self)
            }

            fn quota(&self) -> $crate::quota::Quota {
                <$to>::quota(self)
            }

            fn max_cost(&self) -> u64 {
                <$to>::max_cost(self)
            }
        }
    };
    (then [$($generics:tt)*] $limiter:ty => $to:ty $(, $refund_at:ident $give_back:ident)?; { $($takes_back:tt)* }) => {
        impl<$($generics)*> $crate::rate_limit::RateLimitAt for $limiter {
            #[inline]
            fn try_acquire_n_at(&self, n: u64, now: $crate::nanos::Nanos) -> Result<(), $crate::decision::Denied> {
                <$to>::try_acquire_n_at(self, n, now)
            }

            fn try_acquire_n_with_status_at(
                &self,
                n: u64,
                now: $crate::nanos::Nanos,
            ) -> (Result<(), $crate::decision::Denied>, $crate::decision::Status) {
                <$to>::try_acquire_n_with_status_at(self, n, now)
            }

            fn try_acquire_up_to_at(&self, n: u64, now: $crate::nanos::Nanos) -> u64 {
                <$to>::try_acquire_up_to_at(self, n, now)
            }

            $(fn $refund_at(&self, n: u64, now: $crate::nanos::Nanos) {
                <$to>::$refund_at(self, n, now);
            }

            #[inline]
            fn take_n_at(
                &self,
                n: u64,
                now: $crate::nanos::Nanos,
            ) -> Result<$crate::taken::Taken, $crate::decision::Denied> {
                <$to>::take_n_at(self, n, now)
            }

            fn $give_back(&self, taken: $crate::taken::Taken) -> bool {
                <$to>::$give_back(self, taken)
            })?

            $($takes_back)*

            #[inline]
            fn check_n_at(&self, n: u64, now: $crate::nanos::Nanos) -> Result<(), $crate::decision::Denied> {
                <$to>::check_n_at(self, n, now)
            }

            fn available_at(&self, now: $crate::nanos::Nanos) -> u64 {
                <$to>::available_at(self, now)
            }

            fn status_at(&self, now: $crate::nanos::Nanos) -> $crate::decision::Status {
                <$to>::status_at(self, now)
            }
        }
    };
}
pub(crate) use delegate;

delegate!([L: RateLimit + ?Sized] &L => L, pointed to);
delegate!([L: RateLimit + ?Sized] Box<L> => L, pointed to);
delegate!([L: RateLimit + ?Sized] Arc<L> => L, pointed to);
delegate!(at [L: RateLimitAt + ?Sized] &L => L, asked what it takes back);
delegate!(at [L: RateLimitAt + ?Sized] Box<L> => L, asked what it takes back);
delegate!(at [L: RateLimitAt + ?Sized] Arc<L> => L, asked what it takes back);

/// Implements [`KeyedRateLimit`] for what points to a keyed limiter.
macro_rules! delegate_keyed {
    ($pointer:ty) => {
        impl<K: ?Sized, L: KeyedRateLimit<K> + ?Sized> KeyedRateLimit<K> for $pointer {
            #[inline]
            fn try_acquire_n(&self, key: &K, n: u64) -> Result<(), Denied> {
                L::try_acquire_n(self, key, n)
            }

            #[inline]
            fn try_acquire(&self, key: &K) -> Result<(), Denied> {
                L::try_acquire(self, key)
            }

            fn try_acquire_n_with_status(&self, key: &K, n: u64) -> (Result<(), Denied>, Status) {
                L::try_acquire_n_with_status(self, key, n)
            }

            fn refund(&self, key: &K, n: u64) {
                L::refund(self, key, n);
            }

            fn status(&self, key: &K) -> Status {
                L::status(self, key)
            }

            fn forget(&self, key: &K) -> bool {
                L::forget(self, key)
            }

            fn quota(&self) -> Quota {
                L::quota(self)
            }
        }
    };
}

delegate_keyed!(&L);
delegate_keyed!(Box<L>);
delegate_keyed!(Arc<L>);
