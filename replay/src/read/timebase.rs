//! From a log's milliseconds to the instants of a limiter's clock.

use tollgate::Nanos;

/// A log's first arrival falls in the clock's first period; whole periods of the log's own time stay whole, so that
/// windows of a minute begin when the log's minutes do.
#[derive(Clone, Debug)]
pub struct Timebase {
    period: u64,
    origin: Option<u128>,
    first: Nanos,
    latest: Nanos,
    out_of_order: u64,
}

/// The time lies so far after the first arrival that one of the two cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFar;

impl Timebase {
    /// A hundred years: well within a limiter's horizon.
    const FARTHEST: u64 = 100 * 365 * 86_400 * 1_000_000_000;

    /// A time base for windows of this many nanoseconds.
    pub fn new(period: u64) -> Self {
        Self { period: period.max(1), origin: None, first: Nanos::ZERO, latest: Nanos::ZERO, out_of_order: 0 }
    }

    /// The instant of a limiter's clock. What is earlier than the clock's origin counts as the origin.
    ///
    /// # Errors
    ///
    /// The time cannot be true.
    pub fn instant(&mut self, t_ms: u64) -> Result<Nanos, TooFar> {
        let nanos = u128::from(t_ms) * 1_000_000;
        let is_first = self.origin.is_none();
        let origin = *self.origin.get_or_insert(nanos - nanos % u128::from(self.period));
        let since =
            u64::try_from(nanos.saturating_sub(origin)).ok().filter(|&since| since <= Self::FARTHEST).ok_or(TooFar)?;
        let now = Nanos::from_nanos(since);
        if is_first {
            self.first = now;
        }
        if now < self.latest || nanos < origin {
            self.out_of_order += 1;
        }
        self.latest = self.latest.max(now);
        Ok(now)
    }

    /// From the first arrival to the latest.
    pub fn span(&self) -> core::time::Duration {
        self.latest.saturating_since(self.first)
    }

    /// From the first arrival to this instant.
    pub fn since_first(&self, now: Nanos) -> core::time::Duration {
        now.saturating_since(self.first)
    }

    /// Arrivals that are earlier than one before them.
    pub fn out_of_order(&self) -> u64 {
        self.out_of_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    const MINUTE: u64 = 60_000_000_000;

    #[test]
    fn whole_periods_stay_whole() {
        let mut base = Timebase::new(MINUTE);
        assert_eq!(base.instant(971_211_336_000), Ok(Nanos::from_secs(36))); // 13:55:36
        assert_eq!(base.instant(971_211_360_000), Ok(Nanos::from_secs(60))); // 13:56:00
        assert_eq!(base.span(), Duration::from_secs(24));
        assert_eq!(base.out_of_order(), 0);
    }

    #[test]
    fn older_times_are_counted_and_kept() {
        let mut base = Timebase::new(MINUTE);
        let instants = [130_000, 125_000, 110_000, 125_000, 130_000].map(|t_ms| base.instant(t_ms).unwrap().as_nanos());
        assert_eq!(instants.map(|nanos| nanos / 1_000_000_000), [10, 5, 0, 5, 10]);
        assert_eq!(base.out_of_order(), 3);

        let mut base = Timebase::new(MINUTE);
        assert_eq!([120_000, 119_000].map(|t_ms| base.instant(t_ms)), [Ok(Nanos::ZERO); 2]);
        assert_eq!(base.out_of_order(), 1);
    }

    #[test]
    fn absurd_times_are_refused_and_change_nothing() {
        let mut base = Timebase::new(MINUTE);
        assert_eq!(base.instant(0), Ok(Nanos::ZERO));
        assert_eq!(base.instant(u64::MAX), Err(TooFar));
        assert_eq!(base.instant(100 * 365 * 86_400_000 + 1), Err(TooFar));
        assert_eq!(base.instant(1), Ok(Nanos::from_millis(1)));
        assert_eq!(base.out_of_order(), 0);
        let mut late = Timebase::new(MINUTE);
        assert!(late.instant(u64::MAX).is_ok());
        assert_eq!(late.instant(5), Ok(Nanos::ZERO));
    }
}
