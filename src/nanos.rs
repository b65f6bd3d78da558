//! [`Nanos`]: an instant of some clock.

use core::time::Duration;

/// An instant, in nanoseconds since the origin of the clock that produced it.
///
/// Instants of different clocks must not be mixed: each limiter is driven by one clock. A `u64` of nanoseconds spans
/// 584 years. Arithmetic saturates at both ends; it never wraps and never panics.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::Nanos;
///
/// let start = Nanos::from_millis(250);
/// let later = start.saturating_add(Duration::from_millis(500));
/// assert_eq!(later, Nanos(750_000_000));
/// assert_eq!(later.saturating_since(start), Duration::from_millis(500));
/// assert_eq!(start.saturating_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The clock's origin.
    pub const ZERO: Self = Self(0);
    /// The last instant that can be written, 584 years after the origin.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The instant `micros` microseconds after the origin, or [`Nanos::MAX`] if that is later than it.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// The instant `millis` milliseconds after the origin, or [`Nanos::MAX`] if that is later than it.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// The instant `secs` seconds after the origin, or [`Nanos::MAX`] if that is later than it.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// The instant `since_origin` after the origin, or [`Nanos::MAX`] if that is later than it.
    pub const fn from_duration(since_origin: Duration) -> Self {
        Self(saturating_nanos(since_origin))
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The instant `by` later, or [`Nanos::MAX`].
    #[must_use]
    pub const fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(saturating_nanos(by)))
    }

    /// The instant `by` earlier, or [`Nanos::ZERO`].
    #[must_use]
    pub const fn saturating_sub(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(saturating_nanos(by)))
    }

    /// The time from `earlier` to `self`; zero if `earlier` is in fact later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl From<Duration> for Nanos {
    fn from(since_origin: Duration) -> Self {
        Self::from_duration(since_origin)
    }
}

/// `duration` in nanoseconds; durations of more than 584 years read as `u64::MAX`.
#[inline]
const fn saturating_nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(duration.subsec_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_saturate() {
        assert_eq!(Nanos::from_secs(u64::MAX), Nanos::MAX);
        assert_eq!(Nanos::MAX.saturating_add(Duration::from_nanos(1)), Nanos::MAX);
        assert_eq!(Nanos(5).saturating_sub(Duration::from_nanos(6)), Nanos::ZERO);
        assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
        assert_eq!(Nanos::from(Duration::from_micros(7)), Nanos::from_micros(7));
    }
}
