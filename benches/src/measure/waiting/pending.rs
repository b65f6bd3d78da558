//! What many waits at once take.

use super::drive::failed;
use crate::figures::error::{Error, Result};
use crate::measure::keyed::heap::allocated_by;
use core::task::{Context, Waker};
use core::time::Duration;
use tokio::runtime;
use tokio::time::Sleep;
use tollgate::{Quota, TokioClock, WaitingTokenBucket};

/// Waits at once.
pub(super) const WAITS: u32 = 100_000;

/// Bytes for each wait of this crate's with its timer, as the allocator counts them, and how many of them are the timer.
///
/// # Errors
///
/// If one does not wait, or there is no runtime.
pub(super) fn bytes() -> Result<(f64, u32)> {
    let runtime = runtime::Builder::new_current_thread().enable_time().build().map_err(|error| failed(&error))?;
    let _entered = runtime.enter();
    let quota = Quota::per(1, Duration::from_hours(1));
    let bucket = WaitingTokenBucket::with_clock(quota, Duration::MAX, TokioClock);
    let mut context = Context::from_waker(Waker::noop());
    let mut wait = || {
        let mut wait = Box::pin(bucket.acquire(1));
        let is_pending = wait.as_mut().poll(&mut context).is_pending();
        (wait, is_pending)
    };
    // The first takes the token, and the second sets the runtime's timers up.
    let first = [wait(), wait()];
    let mut waiting = Vec::with_capacity(WAITS as usize);
    let (all_wait, bytes) = allocated_by(|| {
        (0..WAITS).all(|_| {
            let (wait, is_pending) = wait();
            waiting.push(wait);
            is_pending
        })
    });
    if first[0].1 || !all_wait {
        return Err(Error::Counts(vec!["of many waits for one token, the first has it and all others wait".into()]));
    }
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
    let each = bytes as f64 / f64::from(WAITS);
    Ok((each, u32::try_from(size_of::<Sleep>()).expect("a timer is small")))
}
