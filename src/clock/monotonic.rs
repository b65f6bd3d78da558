//! [`MonotonicClock`]: the operating system's monotonic clock.

use super::Clock;
use crate::nanos::Nanos;
use std::sync::OnceLock;
use std::time::Instant;

/// The first reading in this process.
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// The operating system's monotonic clock, by way of [`std::time::Instant`].
///
/// Its origin is the first reading in the process. A reading costs what `Instant::now` costs: about 20 ns where the
/// kernel serves it without a system call. Use it where the time stamp counter cannot be trusted.
///
/// # Examples
///
/// ```
/// use tollgate::{MonotonicClock, Quota, TokenBucket};
///
/// static BUCKET: TokenBucket<MonotonicClock> = TokenBucket::with_clock(Quota::per_second(100), MonotonicClock);
/// assert!(BUCKET.try_acquire().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl MonotonicClock {
    /// The system's instant of a reading, if there is one so late.
    #[cfg(feature = "async-io")]
    pub(crate) fn instant(reading: Nanos) -> Option<Instant> {
        ORIGIN.get_or_init(Instant::now).checked_add(reading.saturating_since(Nanos::ZERO))
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::from_duration(ORIGIN.get_or_init(Instant::now).elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_moves_forward() {
        let first = MonotonicClock.now();
        while MonotonicClock.now() == first {}
        assert!(MonotonicClock.now() > first);
    }
}
