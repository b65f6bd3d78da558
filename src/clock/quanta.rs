//! [`QuantaClock`]: the processor's time stamp counter.

use super::Clock;
use crate::nanos::Nanos;
use std::sync::OnceLock;

/// The calibrated counter, and its reading at the first use in this process: the origin.
static COUNTER: OnceLock<(quanta::Clock, u64)> = OnceLock::new();

/// The processor's time stamp counter, by way of [`quanta`]: the fastest exact clock there is.
///
/// Its origin is the first reading in the process. That first reading calibrates the counter, which takes up to 200 ms,
/// once per process; call [`QuantaClock::calibrate`] at start-up to have it behind you. Where the machine has no
/// counter that is safe to use, quanta falls back to the operating system's clock.
///
/// The counter is scaled to nanoseconds once, at calibration: over hours it can part from the system's clock by as much
/// as the calibration was off, some parts in ten million.
///
/// # Examples
///
/// ```
/// use tollgate::{Clock, QuantaClock};
///
/// QuantaClock::calibrate();
/// let earlier = QuantaClock.now();
/// assert!(QuantaClock.now() >= earlier);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantaClock;

impl QuantaClock {
    /// Calibrates the counter now, unless that has been done in this process; takes up to 200 ms.
    pub fn calibrate() {
        counter();
    }
}

#[inline]
fn counter() -> &'static (quanta::Clock, u64) {
    match COUNTER.get() {
        Some(counter) => counter,
        None => calibrated(),
    }
}

#[cold]
#[inline(never)]
fn calibrated() -> &'static (quanta::Clock, u64) {
    COUNTER.get_or_init(|| {
        let clock = quanta::Clock::new();
        let origin = clock.raw();
        (clock, origin)
    })
}

impl Clock for QuantaClock {
    #[inline]
    fn now(&self) -> Nanos {
        let (clock, origin) = counter();
        // A core whose counter is behind the origin reads as the origin.
        Nanos(clock.delta_as_nanos(*origin, clock.raw()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use std::time::Instant;

    #[test]
    fn it_keeps_time_with_the_system() {
        QuantaClock::calibrate();
        let (started, first) = (Instant::now(), QuantaClock.now());
        std::thread::sleep(Duration::from_millis(20));
        let (least, gone) = (Duration::from_millis(19), QuantaClock.now().saturating_since(first));
        let most = started.elapsed() + Duration::from_millis(1);
        assert!(gone >= least && gone <= most, "{gone:?} is not within {least:?} and {most:?}");
    }
}
