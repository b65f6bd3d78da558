//! [`QuantaClock`]: the processor's time stamp counter.

use super::Clock;
use crate::nanos::Nanos;
use std::sync::OnceLock;

/// The counter, calibrated at its first use in this process.
static COUNTER: OnceLock<Counter> = OnceLock::new();

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

impl Clock for QuantaClock {
    #[inline]
    fn now(&self) -> Nanos {
        counter().now()
    }
}

#[inline]
fn counter() -> &'static Counter {
    match COUNTER.get() {
        Some(counter) => counter,
        None => calibrated(),
    }
}

#[cold]
#[inline(never)]
fn calibrated() -> &'static Counter {
    COUNTER.get_or_init(Counter::calibrate)
}

/// A counter and its scale: `nanoseconds = ticks * 2^shift * scale / 2^64`.
///
/// The same numbers as quanta's own conversion, arranged so that the result is the upper half of one multiplication;
/// its variable 128-bit shift would cost every admission a tenth of its time.
struct Counter {
    clock: quanta::Clock,
    origin: u64,
    scale: u64,
    shift: u32,
}

impl Counter {
    fn calibrate() -> Self {
        let clock = quanta::Clock::new();
        // Nanoseconds in 2^56 ticks (a year to a century, as counters go), brought to 64 significant bits.
        let nanos = clock.delta_as_nanos(0, 1 << 56).max(1);
        let spare = nanos.leading_zeros();
        // A tick is nanos / 2^56 = (nanos << spare) / 2^64 * 2^(8 - spare) nanoseconds.
        let (scale, shift) = if spare <= 8 { (nanos << spare, 8 - spare) } else { (nanos << 8, 0) };
        let origin = clock.raw();
        Self { clock, origin, scale, shift }
    }

    #[inline]
    fn now(&self) -> Nanos {
        // A core whose counter is behind the origin reads as the origin.
        let ticks = self.clock.raw().saturating_sub(self.origin);
        #[allow(clippy::cast_possible_truncation)] // the upper half of a product fits
        Nanos(((u128::from(ticks << self.shift) * u128::from(self.scale)) >> 64) as u64)
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

    #[test]
    fn ticks_are_scaled_as_quanta_scales_them() {
        let counter = counter();
        for ticks in [1, 1_000, 1 << 32, 1 << 50] {
            let ours = (u128::from(ticks << counter.shift) * u128::from(counter.scale)) >> 64;
            let theirs = u128::from(counter.clock.delta_as_nanos(0, ticks));
            assert!(ours <= theirs && theirs - ours <= 1, "{ticks} ticks: {ours} ns, quanta says {theirs}");
        }
    }
}
