//! Clocks: where a limiter's instants come from, and what wakes a task at one.

#[cfg(feature = "async-io")]
mod async_io;
#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))] // its instant is a static, which loom has not
mod coarse;
#[cfg(feature = "std")]
mod default;
mod manual;
mod monotone;
#[cfg(feature = "std")]
mod monotonic;
#[cfg(feature = "quanta")]
mod quanta;
mod steady;
#[cfg(feature = "async")]
mod timer;
#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "std")]
mod wall;

#[cfg(feature = "async-io")]
pub use self::async_io::AsyncIoClock;
#[cfg(feature = "quanta")]
pub use self::quanta::QuantaClock;
#[cfg(feature = "tokio")]
pub use self::tokio::TokioClock;
#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
pub use coarse::CoarseClock;
#[cfg(feature = "std")]
pub use default::DefaultClock;
#[cfg(all(feature = "async", feature = "std", not(all(loom, feature = "loom"))))]
pub use manual::Alarm;
pub use manual::ManualClock;
pub use monotone::Monotone;
#[cfg(feature = "std")]
pub use monotonic::MonotonicClock;
pub use steady::{Steady, Step};
#[cfg(feature = "async")]
pub use timer::Timer;
#[cfg(feature = "std")]
pub use wall::WallClock;

use crate::nanos::Nanos;

/// A source of instants.
///
/// Readings should never go back, but no limiter depends on it: an older reading counts as "no time has passed", so a
/// clock that steps back, or that differs between cores, can refuse a call but never mint a token. Two clocks that
/// disagree by `e` can admit at most `2 * rate * e` more in real time.
///
/// The origin may be any instant less than about 90 years ago, 1970 for example: limiters tell instants apart for at least
/// 120 years from the origin (110 by key), and read later ones as the last. A clock that is set far ahead and back again
/// shuts a limiter for as long; [`Steady`] bounds that.
///
/// Anybody may implement it; later methods will have defaults.
///
/// # Examples
///
/// ```
/// use tollgate::{Clock, Nanos, Quota, TokenBucket};
///
/// /// Time counted in the packets of a trace, a microsecond each.
/// struct PacketClock(std::cell::Cell<u64>);
///
/// impl Clock for PacketClock {
///     fn now(&self) -> Nanos {
///         self.0.set(self.0.get() + 1);
///         Nanos::from_micros(self.0.get())
///     }
/// }
///
/// let bucket = TokenBucket::with_clock(Quota::per_second(1_000), PacketClock(std::cell::Cell::new(0)));
/// assert!(bucket.try_acquire().is_ok());
/// ```
pub trait Clock {
    /// The present instant, since the clock's own origin.
    fn now(&self) -> Nanos;

    /// The instant of Unix time that `reading` stands for, if the clock's origin is one that every process knows; `None`, the
    /// default, if it is not.
    ///
    /// Snapshots that are restored on such a clock keep its windows where they are, to the nanosecond.
    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        let _ = reading;
        None
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }

    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        (**self).unix_time(reading)
    }
}

impl<C: Clock + ?Sized> Clock for alloc::boxed::Box<C> {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }

    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        (**self).unix_time(reading)
    }
}

impl<C: Clock + ?Sized> Clock for alloc::sync::Arc<C> {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }

    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        (**self).unix_time(reading)
    }
}
