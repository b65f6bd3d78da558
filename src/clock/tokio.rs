//! [`TokioClock`]: tokio's time.

use super::{Clock, Timer};
use crate::nanos::Nanos;
use core::time::Duration;
use std::sync::OnceLock;
use std::time::Instant;

/// When this process first asked.
static EPOCH: OnceLock<Instant> = OnceLock::new();

/// What the clock read then. A runtime whose time is paused stands at its own beginning, which may be earlier, and instants
/// have no sign.
const AT_EPOCH: Nanos = Nanos::from_secs(365 * 86_400);

/// The clock and the timers of [`tokio`], which agree also when its time is paused.
///
/// Readings are those of [`tokio::time::Instant`], since a year before the first of them in the process. Where time is
/// paused (`tokio::time::pause`, `#[tokio::test(start_paused = true)]`), it moves for the limiter as it does for the
/// runtime: tests wait for nothing and are exact. A reading costs what `Instant::now` does, about 20 ns, and works
/// outside of a runtime too; sleeping needs one with its time enabled, and panics without.
///
/// Tokio's timers count in milliseconds: a task wakes up to one later than asked for, and a little more on a busy
/// machine. That costs a waiter its patience but not the limiter its rate, since a place counts at its own instant.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tokio::time::Instant;
/// use tollgate::{Quota, TokioClock, WaitingTokenBucket};
///
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// runtime.block_on(async {
///     let quota = Quota::per_second(10).with_burst(1);
///     let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), TokioClock);
///     let start = Instant::now();
///     for _ in 0..11 {
///         bucket.acquire(1).await?;
///     }
///     assert_eq!(start.elapsed(), Duration::from_secs(1)); // to the nanosecond, and at once
///     Ok::<_, tollgate::Denied>(())
/// })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioClock;

impl TokioClock {
    /// The reading at an instant of tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Clock, TokioClock};
    ///
    /// let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    /// assert!(TokioClock.reading_at(deadline) > TokioClock.now());
    /// ```
    pub fn reading_at(&self, instant: tokio::time::Instant) -> Nanos {
        let (instant, epoch) = (instant.into_std(), epoch());
        AT_EPOCH.saturating_add(instant.duration_since(epoch)).saturating_sub(epoch.duration_since(instant))
    }
}

impl Clock for TokioClock {
    #[inline]
    fn now(&self) -> Nanos {
        self.reading_at(tokio::time::Instant::now())
    }
}

impl Timer for TokioClock {
    type Sleep = tokio::time::Sleep;

    fn sleep_until(&self, due: Nanos) -> tokio::time::Sleep {
        match instant(due) {
            Some(instant) => tokio::time::sleep_until(instant.into()),
            None => tokio::time::sleep(Duration::MAX), // as long as a timer can
        }
    }
}

fn epoch() -> Instant {
    *EPOCH.get_or_init(Instant::now)
}

/// The instant of a reading, unless the machine has none so late, or so early.
fn instant(reading: Nanos) -> Option<Instant> {
    let before = AT_EPOCH.saturating_since(reading);
    let after = reading.saturating_since(AT_EPOCH);
    epoch().checked_add(after)?.checked_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_and_instants_are_inverse_before_the_first_reading_too() {
        for offset in [-86_400_000_000_000_i64, -1, 0, 1, 3_600_000_000_007] {
            let reading = Nanos(AT_EPOCH.0.wrapping_add_signed(offset));
            let instant = instant(reading).unwrap();
            assert_eq!(TokioClock.reading_at(instant.into()), reading);
        }
        assert!(TokioClock.now() >= AT_EPOCH, "time is not paused here");
    }
}
