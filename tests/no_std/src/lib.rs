//! A consumer of `tollgate` without `std`. It has a panic handler of its own, as a program on a bare board has; if
//! anything that it depends on linked `std`, there would be two, which is an error.

#![no_std]

use core::panic::PanicInfo;

use tollgate::{Clock, Denied, Nanos, Quota, TokenBucket};

/// Where a board would read a timer register.
#[derive(Debug)]
pub struct Timer;

impl Clock for Timer {
    fn now(&self) -> Nanos {
        Nanos::ZERO
    }
}

static GATE: TokenBucket<Timer> = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), Timer);

/// On the limiter's clock.
///
/// # Errors
///
/// When the limiter refuses.
pub fn admit() -> Result<(), Denied> {
    GATE.try_acquire()
}

/// On an instant that the caller already has.
///
/// # Errors
///
/// When the limiter refuses.
pub fn admit_at(now: Nanos) -> Result<(), Denied> {
    GATE.try_acquire_n_at(1, now)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
