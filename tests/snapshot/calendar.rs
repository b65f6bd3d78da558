//! Limits that begin with the day, the hour or the minute go on doing so.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tollgate::{Clock, FixedWindow, Nanos, Quota, Snapshot, WallClock};

const HOUR: u64 = 3_600_000_000_000;

/// A wall clock that somebody sets.
struct Wall {
    now: Rc<Cell<u64>>,
    east: u64,
}

impl Wall {
    fn set(now: u64) -> Self {
        Self { now: Rc::new(Cell::new(now)), east: 2 * HOUR }
    }
}

impl Clock for Wall {
    fn now(&self) -> Nanos {
        Nanos(self.now.get() + self.east)
    }

    fn unix_time(&self, reading: Nanos) -> Option<Nanos> {
        Some(Nanos(reading.0 - self.east))
    }
}

fn daily(now: u64) -> (FixedWindow<Wall>, Rc<Cell<u64>>) {
    let clock = Wall::set(now);
    let now = clock.now.clone();
    (FixedWindow::with_clock(Quota::per(100, Duration::from_nanos(24 * HOUR)), clock), now)
}

#[test]
fn a_day_ends_at_midnight_whenever_it_was_saved() {
    let noon = 700 * 24 * HOUR + 10 * HOUR; // 12:00 two hours east
    let (old, _) = daily(noon);
    assert!(old.try_acquire_n(70).is_ok());
    let snapshot: Snapshot = old.snapshot();
    for (later, has) in [(0, 30), (12 * HOUR - 1, 30), (12 * HOUR, 100), (36 * HOUR, 100)] {
        let (new, _) = daily(noon + later);
        new.restore(&snapshot).unwrap();
        assert_eq!(new.available(), has, "{later} later");
    }
    // The clock was put back, within the day and beyond its beginning: what was spent stays spent until that day is over.
    for earlier in [HOUR, 30 * HOUR] {
        let (new, clock) = daily(noon - earlier);
        new.restore(&snapshot).unwrap();
        assert_eq!(new.available(), 30);
        clock.set(noon + 12 * HOUR);
        assert_eq!(new.available(), 100);
    }
}

#[test]
fn the_systems_clock_is_such_a_one() {
    let quota = Quota::per(10, Duration::from_secs(86_400 * 365 * 20));
    let old = FixedWindow::with_clock(quota, WallClock::east(Duration::from_secs(3_600)));
    assert!(old.try_acquire_n(9).is_ok());
    let new = FixedWindow::with_clock(quota, WallClock::UTC);
    new.restore(&old.snapshot()).unwrap();
    assert_eq!(new.available(), 1);
}
