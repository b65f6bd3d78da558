//! [`Moment`]: one instant on two clocks.

#[cfg(feature = "std")]
use crate::clock::{Clock, WallClock};
use crate::nanos::Nanos;

/// One instant, as the limiter's own clock tells it and as the world's does.
///
/// A limiter's clock may begin anywhere, at the start of its process for instance. The wall time beside it tells how long ago
/// a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// A reading of the limiter's clock.
    pub reading: Nanos,
    /// The time since 1970-01-01 00:00 UTC.
    pub wall: Nanos,
}

impl Moment {
    /// A moment at which the limiter's clock reads `reading` and the world's `wall`.
    pub const fn new(reading: Nanos, wall: Nanos) -> Self {
        Self { reading, wall }
    }

    /// The present, to be noted down: the wall clock is read last, so that no time in between counts as passed.
    #[cfg(feature = "std")]
    pub(super) fn to_save<C: Clock>(clock: &C) -> Self {
        let reading = clock.now();
        Self { reading, wall: clock.unix_time(reading).unwrap_or_else(|| WallClock::UTC.now()) }
    }

    /// The present, to go on from: the wall clock is read first, for the same reason.
    #[cfg(feature = "std")]
    pub(super) fn to_restore<C: Clock>(clock: &C) -> Self {
        let wall = WallClock::UTC.now();
        let reading = clock.now();
        Self { reading, wall: clock.unix_time(reading).unwrap_or(wall) }
    }

    /// What the clock that read `self` would read by now, going by the wall. If the wall clock is behind where it was, no time
    /// has passed.
    pub(super) fn continued(self, now: Self) -> Nanos {
        self.reading.saturating_add(now.wall.saturating_since(self.wall))
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn time_passes_on_the_wall_and_never_back() {
        let saved = Moment::new(Nanos(100), Nanos(5_000));
        for (wall, continued) in [(5_000, 100), (5_001, 101), (4_999, 100), (0, 100), (u64::MAX, u64::MAX - 4_900)] {
            assert_eq!(saved.continued(Moment::new(Nanos(7), Nanos(wall))), Nanos(continued));
        }
    }

    #[test]
    fn a_clock_of_wall_time_is_its_own_link() {
        for clock in
            [WallClock::UTC, WallClock::east(Duration::from_secs(7_200)), WallClock::west(Duration::from_secs(1))]
        {
            for moment in [Moment::to_save(&clock), Moment::to_restore(&&clock)] {
                assert_eq!(clock.unix_time(moment.reading), Some(moment.wall));
            }
        }
    }
}
