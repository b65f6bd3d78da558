//! [`RateLimit`]: what every limiter but the keyed one can do, as a trait for trait objects.

use crate::decision::{Denied, Status};
use crate::quota::Quota;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// Any limiter but the keyed one, whatever its algorithm and clock. Object-safe.
///
/// # Examples
///
/// ```
/// use tollgate::{FixedWindow, Quota, RateLimit, TokenBucket};
///
/// let limiters: Vec<Box<dyn RateLimit + Send + Sync>> = vec![
///     Box::new(TokenBucket::new(Quota::per_second(100))),
///     Box::new(FixedWindow::new(Quota::per_minute(1_000))),
/// ];
/// assert!(limiters.iter().all(|limiter| limiter.try_acquire().is_ok()));
/// ```
pub trait RateLimit {
    /// Takes `n` tokens, or none. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Denied`], which tells when the same call would be admitted, or that it never will be.
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied>;

    /// Takes one token, or none. Never blocks.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Limit, tokens left and waiting times, as of now. Writes nothing.
    fn status(&self) -> Status;

    /// What the limiter was built for.
    fn quota(&self) -> Quota;

    /// The most tokens that one call can take.
    fn max_cost(&self) -> u64;
}

/// Implements [`RateLimit`] for a limiter by the methods of the same names of another type: of itself, which has them
/// without the trait too, so that nobody must import it; or of what it points to.
macro_rules! delegate {
    ([$($generics:tt)*] $limiter:ty => $to:ty) => {
        impl<$($generics)*> $crate::rate_limit::RateLimit for $limiter {
            #[inline]
            fn try_acquire_n(&self, n: u64) -> Result<(), $crate::decision::Denied> {
                <$to>::try_acquire_n(self, n)
            }

            #[inline]
            fn try_acquire(&self) -> Result<(), $crate::decision::Denied> {
                <$to>::try_acquire(self)
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
}
pub(crate) use delegate;

delegate!([L: RateLimit + ?Sized] &L => L);
delegate!([L: RateLimit + ?Sized] Box<L> => L);
delegate!([L: RateLimit + ?Sized] Arc<L> => L);
