//! [`AsyncIoClock`]: the timers of async-io.

use super::{Clock, MonotonicClock, Timer};
use crate::nanos::Nanos;
use async_io::Timer as Sleep;

/// [`MonotonicClock`] with the timers of [`async_io`]: for smol, and for any executor that has none of its own.
///
/// The timers run on async-io's reactor, which starts a thread by itself where nobody drives it.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use tollgate::{AsyncIoClock, Quota, WaitingTokenBucket};
///
/// let quota = Quota::per_second(1_000).with_burst(1);
/// let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), AsyncIoClock);
/// let start = Instant::now();
/// async_io::block_on(async {
///     for _ in 0..11 {
///         bucket.acquire(1).await?;
///     }
///     Ok::<_, tollgate::Denied>(())
/// })?;
/// assert!(start.elapsed() >= Duration::from_millis(10));
/// # Ok::<_, tollgate::Denied>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AsyncIoClock;

impl Clock for AsyncIoClock {
    #[inline]
    fn now(&self) -> Nanos {
        MonotonicClock.now()
    }
}

impl Timer for AsyncIoClock {
    type Sleep = Sleep;

    fn sleep_until(&self, due: Nanos) -> Sleep {
        MonotonicClock::instant(due).map_or_else(Sleep::never, Sleep::at)
    }
}
