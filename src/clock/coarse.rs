//! [`CoarseClock`]: an instant that a background thread keeps up to date.

use super::{Clock, MonotonicClock};
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::OnceLock;
use std::thread;

/// How long the background thread sleeps between two readings of the time.
const INTERVAL: Duration = Duration::from_micros(500);

/// The latest instant that the background thread has seen; 0 until it runs.
static INSTANT: AtomicU64 = AtomicU64::new(0);

/// Whether the background thread could be started.
static STARTED: OnceLock<bool> = OnceLock::new();

/// A clock whose reading is one load: a background thread keeps the instant up to date.
///
/// It shares [`MonotonicClock`]'s origin. Readings lag by about half a millisecond, by more on a busy machine: a limiter
/// stays strict on the instants it is given, and against real time its admissions shift by the lag. The thread, one per
/// process, starts by itself with the first reading and then runs as long as the process, so the clock never stands
/// still for want of it. If no thread can be started, every reading comes from [`MonotonicClock`] itself.
///
/// A process that forks does not take the thread along: use another clock in the child.
///
/// # Examples
///
/// ```
/// use tollgate::{Clock, CoarseClock};
///
/// let first = CoarseClock.now();
/// while CoarseClock.now() == first {} // it moves by itself
/// assert!(CoarseClock.now() > first);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CoarseClock;

impl Clock for CoarseClock {
    #[inline]
    fn now(&self) -> Nanos {
        // ORDERING: relaxed; the instant publishes no other memory, and an older one is a legal reading.
        match INSTANT.load(Ordering::Relaxed) {
            0 => first_reading(),
            instant => Nanos(instant),
        }
    }
}

/// Starts the background thread unless it runs already, and reads the time directly.
#[cold]
#[inline(never)]
fn first_reading() -> Nanos {
    if *STARTED.get_or_init(|| thread::Builder::new().name("tollgate-clock".into()).spawn(keep_time).is_ok()) {
        advance()
    } else {
        MonotonicClock.now()
    }
}

fn keep_time() {
    // PROGRESS: runs for as long as the process does, and sleeps nearly all of the time.
    loop {
        advance();
        thread::sleep(INTERVAL);
    }
}

fn advance() -> Nanos {
    // The origin itself would read as "not running", hence at least 1.
    let now = MonotonicClock.now().0.max(1);
    // ORDERING: relaxed, as for the load above. The maximum keeps a thread that was held up between reading and writing
    // from setting the clock back.
    Nanos(INSTANT.fetch_max(now, Ordering::Relaxed).max(now))
}
