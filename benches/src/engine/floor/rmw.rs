//! The floor: one atomic read-modify-write on a cache line that no other thread touches.

use crate::engine::{Caller, Engine, Kind, version};
use core::sync::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
use tollgate::Quota;

/// Gives each thread a counter of its own.
#[derive(Debug)]
pub struct FloorRmw;

/// A thread's own counter.
#[derive(Debug)]
pub struct Own(Box<CachePadded<AtomicU64>>);

impl Engine for FloorRmw {
    const NAME: &'static str = "floor-rmw";
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "none";
    const KIND: Kind = Kind::Floor;
    type Caller<'a> = Own;

    fn build(_: Quota) -> Self {
        Self
    }

    fn caller(&self) -> Own {
        Own(Box::new(CachePadded::new(AtomicU64::new(u64::MAX))))
    }
}

impl Caller for Own {
    #[inline]
    fn try_acquire(&mut self) -> bool {
        // ORDERING: relaxed, for nobody else reads it; the read-modify-write itself is what is measured.
        self.0.fetch_sub(1, Ordering::Relaxed) > 0
    }
}
