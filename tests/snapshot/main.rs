//! Snapshots: what is restored is what would have been, and never more; and what is damaged is refused.

mod calendar;
mod damage;
mod equivalence;
mod extremes;
mod keyed;
mod refusals;

use std::time::Duration;
use tollgate::{Moment, Nanos};

/// A moment: the limiter's clock, and the wall's.
const fn at(reading: u64, wall: u64) -> Moment {
    Moment::new(Nanos(reading), Nanos(wall))
}

const SECOND: Duration = Duration::from_secs(1);
