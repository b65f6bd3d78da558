//! The floor: one reading of the clock that this crate reads by default.

use crate::engine::{Engine, Kind, Shared, version};
use core::hint::black_box;
use tollgate::Quota;

/// Reads a quanta clock and admits.
#[derive(Debug)]
pub struct FloorClock(quanta::Clock, u64);

impl Engine for FloorClock {
    const NAME: &'static str = "floor-clock";
    const VERSION: &'static str = version::QUANTA;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Floor;
    type Caller<'a> = &'a Self;

    fn build(_: Quota) -> Self {
        let clock = quanta::Clock::new();
        let origin = clock.raw();
        Self(clock, origin)
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl Shared for FloorClock {
    #[inline]
    fn try_acquire(&self) -> bool {
        black_box(self.0.delta_as_nanos(self.1, self.0.raw()));
        true
    }
}
