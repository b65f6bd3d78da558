//! What no limiter can do without: one atomic read-modify-write, one reading of a clock.

use super::Engine;
use super::label::Label;
use super::version;
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use tollgate::{Clock, CoarseClock, Monotone, MonotonicClock, QuantaClock, Quota, WallClock};

/// One atomic read-modify-write on a cache line that no other thread touches: each has a counter of its own.
#[derive(Debug)]
pub struct FloorRmw;

impl Engine for FloorRmw {
    const LABEL: Label = Label::floor("floor-rmw", version::STD, "none");

    fn build(_: Quota) -> Self {
        Self
    }

    fn caller(&self) -> impl FnMut() -> bool {
        let own = Box::new(CachePadded::new(AtomicU64::new(u64::MAX)));
        // ORDERING: relaxed, for nobody else reads it; the read-modify-write itself is what is measured.
        move || own.fetch_sub(1, Ordering::Relaxed) > 0
    }
}

/// One reading of the clock that this crate reads by default: reads a quanta clock and admits.
#[derive(Debug)]
pub struct FloorClock(quanta::Clock, u64);

impl Engine for FloorClock {
    const LABEL: Label = Label::floor("floor-clock", version::QUANTA, "quanta");

    fn build(_: Quota) -> Self {
        let clock = quanta::Clock::new();
        let origin = clock.raw();
        Self(clock, origin)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || {
            black_box(self.0.delta_as_nanos(self.1, self.0.raw()));
            true
        }
    }
}

/// A clock as an engine that admits whenever it is read.
#[derive(Debug)]
pub struct Reading<T>(T);

/// The standard library's `Instant`.
#[derive(Debug)]
pub struct StdInstant;

macro_rules! reading {
    ($clock:ty, $start:expr, $name:literal, $version:ident, $source:literal, |$it:ident| $read:expr) => {
        impl Engine for Reading<$clock> {
            const LABEL: Label = Label::floor($name, version::$version, $source);

            fn build(_: Quota) -> Self {
                Self($start)
            }

            fn caller(&self) -> impl FnMut() -> bool {
                let $it = &self.0;
                move || {
                    black_box($read);
                    true
                }
            }
        }
    };
}

reading!(QuantaClock, QuantaClock, "clock-quanta", TOLLGATE, "quanta", |clock| clock.now());
reading!(Monotone<QuantaClock>, Monotone::new(QuantaClock), "clock-monotone-quanta", TOLLGATE, "quanta", |clock| {
    clock.now()
});
reading!(MonotonicClock, MonotonicClock, "clock-monotonic", TOLLGATE, "std", |clock| clock.now());
reading!(WallClock, WallClock::UTC, "clock-wall", TOLLGATE, "wall", |clock| clock.now());
reading!(CoarseClock, CoarseClock, "clock-coarse", TOLLGATE, "coarse", |clock| clock.now());
reading!(StdInstant, StdInstant, "clock-instant", STD, "std", |_clock| std::time::Instant::now());
