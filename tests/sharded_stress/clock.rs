//! [`Stalling`]: a clock on which threads get stuck.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::thread;
use tollgate::{Clock, Nanos};

thread_local! {
    static RANDOM: RefCell<fastrand::Rng> = const { RefCell::new(fastrand::Rng::with_seed(0)) };
}

/// Reads `clock`, and then, now and then, does not return until it has moved on by `long`.
///
/// A refill reads the clock between setting the bit and drawing, so that this suspends the thread with the bit set and an
/// old reading in hand: between any two steps of the protocol that matter.
pub(crate) struct Stalling<C> {
    pub(crate) clock: C,
    /// One reading in this many.
    pub(crate) one_in: u64,
    pub(crate) long: Duration,
    pub(crate) stalls: AtomicU64,
}

impl<C: Clock> Clock for Stalling<C> {
    fn now(&self) -> Nanos {
        let now = self.clock.now();
        if RANDOM.with_borrow_mut(|random| random.u64(..self.one_in)) == 0 {
            self.stalls.fetch_add(1, Relaxed);
            let mut patience = 10_000;
            while self.clock.now().saturating_since(now) < self.long && patience > 0 {
                thread::yield_now();
                patience -= 1;
            }
        }
        now
    }
}
