//! [`Backoff`]: when to try again what has failed.

use std::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);

/// Pauses that double from 20 ms to 2 s while attempts fail, each between a half and one and a half of that: those who lost
/// the same server do not come back to it at one instant.
#[derive(Debug)]
pub(crate) struct Backoff {
    not_before: Instant,
    pause: Duration,
}

impl Backoff {
    pub(crate) fn new(now: Instant) -> Self {
        Self { not_before: now, pause: SHORTEST }
    }

    /// How long the next attempt has to wait.
    pub(crate) fn left(&self, now: Instant) -> Duration {
        self.not_before.saturating_duration_since(now)
    }

    /// `luck` is a number from 0 to 1.
    pub(crate) fn failed(&mut self, now: Instant, luck: f64) {
        self.not_before = now + self.pause.mul_f64(0.5 + luck);
        self.pause = (self.pause * 2).min(LONGEST);
    }

    pub(crate) fn succeeded(&mut self) {
        self.pause = SHORTEST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_within_their_bounds_and_differ() {
        let now = Instant::now();
        let mut backoff = Backoff::new(now);
        assert_eq!(backoff.left(now), Duration::ZERO);
        let mut failed = |luck| {
            backoff.failed(now, luck);
            backoff.left(now).as_millis()
        };
        assert_eq!([failed(0.0), failed(0.0), failed(0.5), failed(1.0)], [10, 20, 80, 240]);
        assert_eq!([failed(0.5), failed(0.5), failed(0.5)], [320, 640, 1_280]);
        assert_eq!([failed(0.5), failed(0.5), failed(1.0)], [2_000, 2_000, 3_000]);
        backoff.succeeded();
        backoff.failed(now, 0.25);
        assert_eq!(backoff.left(now + Duration::from_millis(5)), Duration::from_millis(10));
        assert_eq!(backoff.left(now + Duration::from_secs(1)), Duration::ZERO);
    }
}
