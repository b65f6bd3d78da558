//! The clock of this crate in the forms that peers accept, so that limiters can be compared on one clock.

use crate::engine::label::Named;
use core::time::Duration;
use std::time::{Instant, SystemTime};

/// A quanta clock with the instant it was built at as its origin.
#[derive(Clone, Debug)]
pub struct QuantaClock {
    clock: quanta::Clock,
    raw_origin: u64,
    origin: Instant,
}

impl QuantaClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        let clock = quanta::Clock::new();
        let raw_origin = clock.raw();
        Self { clock, raw_origin, origin: Instant::now() }
    }

    /// Time since the origin.
    #[inline]
    fn since_origin(&self) -> Duration {
        Duration::from_nanos(self.clock.delta_as_nanos(self.raw_origin, self.clock.raw()))
    }
}

impl Default for QuantaClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Named for QuantaClock {
    const NAME: &'static str = "quanta";
}

/// For `ratelimit`.
impl ratelimit::Clock for QuantaClock {
    #[inline]
    fn elapsed(&self) -> Duration {
        self.since_origin()
    }
}

/// For `better-bucket` and `rate-net`. Their reading is a wrapped `Instant`, so that one has to be made up.
impl clock_lib::Clock for QuantaClock {
    #[inline]
    fn now(&self) -> clock_lib::Monotonic {
        clock_lib::Monotonic::from(self.origin + self.since_origin())
    }

    fn wall(&self) -> clock_lib::Wall {
        clock_lib::Wall::from(SystemTime::now())
    }
}
