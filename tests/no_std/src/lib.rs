//! A consumer of `tollgate` without `std`: it compiles only if nothing that it depends on links `std`, since there would
//! then be two panic handlers.

#![no_std]

use core::panic::PanicInfo;

use tollgate::{Clock, Nanos, Quota, TokenBucket};

/// A timer of the board, in place of a clock of the operating system.
struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> Nanos {
        Nanos::from_millis(0)
    }
}

static GATE: TokenBucket<Ticks> =
    TokenBucket::with_clock(Quota::per_second(2).with_burst(10), Ticks);

/// Whether a call may go ahead now.
#[unsafe(no_mangle)]
pub extern "C" fn admit() -> bool {
    GATE.try_acquire().is_ok()
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}
