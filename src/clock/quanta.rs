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

/// A counter and its scale: `nanoseconds = ticks * (whole + fraction / 2^64)`.
///
/// The same numbers as quanta's own conversion, arranged so that for a counter of more than a tick per nanosecond the
/// result is the upper half of one multiplication; its variable 128-bit shift would cost every admission a tenth of
/// its time.
struct Counter {
    clock: quanta::Clock,
    origin: u64,
    whole: u64,
    fraction: u64,
}

impl Counter {
    fn calibrate() -> Self {
        let clock = quanta::Clock::new();
        let (whole, fraction) = scale(|ticks| clock.delta_as_nanos(0, ticks));
        let origin = clock.raw();
        Self { clock, origin, whole, fraction }
    }

    #[inline]
    fn now(&self) -> Nanos {
        let raw = self.clock.raw();
        if raw >= self.origin && self.whole == 0 { Nanos(self.parts(raw - self.origin)) } else { self.at(raw) }
    }

    /// As [`now`](Self::now), for any counter. Out of line, so that what others need is a branch that is never taken: a
    /// minimum and a second product would cost a denial 8 % of its time.
    #[inline(never)]
    fn at(&self, raw: u64) -> Nanos {
        // A core whose counter is behind the origin reads as the origin.
        let ticks = raw.saturating_sub(self.origin);
        Nanos(ticks.wrapping_mul(self.whole).wrapping_add(self.parts(ticks)))
    }

    /// What the fraction makes of `ticks`.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the upper half of a product fits
    const fn parts(&self, ticks: u64) -> u64 {
        ((ticks as u128 * self.fraction as u128) >> 64) as u64
    }
}

/// Whole nanoseconds in a tick, and the rest in 2^-64 ns, of a counter by what so many ticks are in nanoseconds, of which
/// only the lower 64 bits are told.
fn scale(nanos: impl Fn(u64) -> u64) -> (u64, u64) {
    // Up to 65,536 ns in a tick: slower counters are none.
    (nanos(1 << 48) >> 48, nanos(1 << 56) << 8)
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
            let ours = counter.at(counter.origin + ticks).0;
            let theirs = counter.clock.delta_as_nanos(0, ticks);
            assert!(ours <= theirs && theirs - ours <= 1, "{ticks} ticks: {ours} ns, quanta says {theirs}");
        }
    }

    #[test]
    fn readings_are_those_of_the_counter() {
        let counter = counter();
        let (before, now, after) = (counter.clock.raw(), counter.now(), counter.clock.raw());
        assert!(counter.at(before) <= now && now <= counter.at(after), "{now:?}");
    }

    #[test]
    #[allow(clippy::cast_possible_truncation)] // as quanta does
    fn scales_of_slow_counters_are_not_cut_off() {
        // Gigahertz, the system's nanoseconds, and less than a megahertz.
        for (ticks, nanos) in [(3, 1), (1, 1), (24, 1_000), (2, 2_001), (1, 30_000)] {
            let exact = (nanos << 64) / ticks;
            let (whole, fraction) = scale(|count| (u128::from(count) * nanos / ticks) as u64);
            let scaled = u128::from(whole) << 64 | u128::from(fraction);
            assert!(scaled <= exact && exact - scaled < 1 << 8, "{nanos} ns in {ticks} ticks: {scaled}, not {exact}");
        }
    }

    #[test]
    fn a_slow_counter_is_scaled_too_and_a_reading_before_the_origin_is_the_origin() {
        // 2.75 ns a tick.
        let counter = Counter { clock: quanta::Clock::new(), origin: 1_000, whole: 2, fraction: 3 << 62 };
        assert_eq!([0, 999, 1_000, 1_001, 1_004].map(|raw| counter.at(raw).0), [0, 0, 0, 2, 11]);
        let raw = counter.clock.raw();
        assert!(counter.now() >= counter.at(raw), "the whole part is not forgotten");
    }
}
