//! [`WallClock`]: the time of day, so that windows begin where calendars say.

use super::Clock;
use crate::nanos::Nanos;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

/// The operating system's time of day, counted from 1970-01-01 00:00 in one time zone.
///
/// Windows are aligned to their clock's origin: on this clock a [`FixedWindow`](crate::FixedWindow) of a minute, an hour
/// or a day begins when the minute, the hour or the day does, and a denial's hint is the time until the next. (Weeks
/// would begin on Thursdays, as 1970 did.) The zone is a fixed offset: where summer time is kept, days begin an hour off
/// for half the year, and leap seconds are not seen. Costs a reading of the system's clock, 20 to 50 ns.
///
/// # Steps
///
/// The time of day can be set, and limiters stay strict on the readings they get. A step **back** gives no second
/// window's worth: an older reading counts as the latest window seen, so that what was spent in it stays spent, until
/// the clock has come back to where it was. A step **forward** gives what the windows stepped over would have: a fixed
/// window its limit once, a bucket at most its burst. For limits that need no calendar take a clock that nobody sets.
/// A limiter whose clock was far ahead and was put right refuses for as long: [`forgive`](crate::RateLimiter::forgive) it then.
///
/// Before 1970, in its zone, the clock stands at 0: on a machine that does not know the time yet, a limiter admits what it
/// does in one instant.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{FixedWindow, Quota, WallClock};
///
/// const DAY: Duration = Duration::from_secs(86_400);
///
/// // A thousand each day, from midnight to midnight in a zone two hours east of Greenwich.
/// static DAILY: FixedWindow<WallClock> =
///     FixedWindow::with_clock(Quota::per(1_000, DAY), WallClock::east(Duration::from_secs(2 * 3_600)));
///
/// assert!(DAILY.try_acquire_n(10).is_ok());
/// assert!(DAILY.status().reset_after <= DAY); // at midnight
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallClock {
    east: Duration,
    west: Duration,
}

impl WallClock {
    /// Universal time.
    pub const UTC: Self = Self { east: Duration::ZERO, west: Duration::ZERO };

    /// The time in a zone that is `ahead` of universal time.
    pub const fn east(ahead: Duration) -> Self {
        Self { east: ahead, ..Self::UTC }
    }

    /// The time in a zone that is `behind` universal time.
    pub const fn west(behind: Duration) -> Self {
        Self { west: behind, ..Self::UTC }
    }

    /// The reading at an instant of universal time. What is before 1970 reads as 1970.
    fn at(&self, universal: SystemTime) -> Nanos {
        let universal = Nanos::from(universal.duration_since(UNIX_EPOCH).unwrap_or_default());
        universal.saturating_add(self.east).saturating_sub(self.west)
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::UTC
    }
}

impl Clock for WallClock {
    #[inline]
    fn now(&self) -> Nanos {
        self.at(SystemTime::now())
    }

    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        Some(reading.saturating_add(self.west).saturating_sub(self.east))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn it_reads_the_systems_time_in_its_zone() {
        let clocks = [WallClock::west(5 * HOUR), WallClock::default(), WallClock::east(2 * HOUR)];
        let noon = UNIX_EPOCH + Duration::from_secs(1_700_000_000) + Duration::from_nanos(7);
        let readings = clocks.map(|clock| clock.at(noon).0 + 18_000_000_000_000 - 1_700_000_000_000_000_007);
        assert_eq!(readings, [0, 18_000_000_000_000, 25_200_000_000_000]);
        assert_eq!(clocks.map(|clock| clock.at(UNIX_EPOCH - HOUR).0), [0, 0, 7_200_000_000_000]);
        let unix = clocks.map(|clock| clock.unix_time(clock.at(noon)).map(|unix| unix.0));
        assert_eq!(unix, [Some(1_700_000_000_000_000_007); 3]);
        let (before, now, after) = (SystemTime::now(), WallClock::UTC.now(), SystemTime::now());
        assert!(after < before || (WallClock::UTC.at(before) <= now && now <= WallClock::UTC.at(after)));
    }
}
