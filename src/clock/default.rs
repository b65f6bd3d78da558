//! [`DefaultClock`]: the clock of limiters that name none.

use super::Clock;
#[cfg(not(feature = "quanta"))]
use super::MonotonicClock as Inside;
#[cfg(feature = "quanta")]
use super::QuantaClock as Inside;
use crate::nanos::Nanos;

/// The clock of a limiter that names none: [`QuantaClock`](crate::QuantaClock) with the feature `quanta`, else
/// [`MonotonicClock`](crate::MonotonicClock).
///
/// It is one type whatever the features are, so that a crate that turns `quanta` on changes nobody else's types. Its
/// readings are those of the clock inside, and it has no state: it can be written in a constant.
///
/// # Examples
///
/// ```
/// use tollgate::{Clock, DefaultClock, Quota, TokenBucket};
///
/// let bucket: TokenBucket<DefaultClock> = TokenBucket::new(Quota::per_second(5));
/// assert!(bucket.try_acquire_n_at(5, DefaultClock.now()).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultClock;

impl Clock for DefaultClock {
    #[inline]
    fn now(&self) -> Nanos {
        Inside.now()
    }
}
