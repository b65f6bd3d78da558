//! From a log's time to the instants of a limiter's clock.

use tollgate::Nanos;

/// A log's first arrival falls in the clock's first period; whole periods of the log's own time stay whole, so that
/// windows of a minute begin when the log's minutes do.
#[derive(Clone, Debug)]
pub struct Timebase {
    period: u64,
    origin: Option<u64>,
    first: Nanos,
    latest: Nanos,
}

impl Timebase {
    /// A time base for windows of this many nanoseconds.
    pub fn new(period: u64) -> Self {
        Self { period: period.max(1), origin: None, first: Nanos::ZERO, latest: Nanos::ZERO }
    }

    /// The instant of a limiter's clock, of nanoseconds in the log's time. They never go back.
    pub fn instant(&mut self, at: u64) -> Nanos {
        let is_first = self.origin.is_none();
        let origin = *self.origin.get_or_insert(at - at % self.period);
        let now = Nanos::from_nanos(at.saturating_sub(origin));
        if is_first {
            self.first = now;
        }
        self.latest = self.latest.max(now);
        now
    }

    /// From the first arrival to the latest.
    pub fn span(&self) -> core::time::Duration {
        self.latest.saturating_since(self.first)
    }

    /// From the first arrival to this instant.
    pub fn since_first(&self, now: Nanos) -> core::time::Duration {
        now.saturating_since(self.first)
    }

    /// The log's time at the origin of the clock, in nanoseconds.
    pub fn origin(&self) -> u64 {
        self.origin.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn whole_periods_stay_whole() {
        const S: u64 = 1_000_000_000;
        let mut base = Timebase::new(60 * S);
        assert_eq!(base.instant(971_211_336 * S), Nanos::from_secs(36)); // 13:55:36
        assert_eq!(base.instant(971_211_360 * S), Nanos::from_secs(60)); // 13:56:00
        assert_eq!(base.span(), Duration::from_secs(24));
        assert_eq!(base.since_first(Nanos::from_secs(60)), Duration::from_secs(24));
        assert_eq!(base.origin(), 971_211_300 * S);
    }
}
