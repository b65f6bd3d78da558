//! [`Retrying`]: waiting for limiters in which there are no places.

use crate::clock::{Clock, DefaultClock};
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::rate_limit::RateLimit;
use crate::timeline::Hint;
use core::time::Duration;
use std::thread;

#[cfg(feature = "async")]
mod retry;
#[cfg(feature = "async")]
pub use retry::Retry;

/// Waiting for any limiter, by trying again when its hint says.
///
/// Windows, the sliding log and packed words cannot say when a caller's turn will be: there is no line to stand in. So whoever
/// is refused sleeps for as long as [`Denied::retry_after`] says, and tries again. **No order is kept**: who comes
/// later may be served earlier, and under a load that never ends somebody may wait for ever. Where that matters, take a
/// [`WaitingTokenBucket`](crate::WaitingTokenBucket).
///
/// Those who were refused together are not to come back together. Each sleeps longer than the hint by a random part of the
/// time in which as many tokens fall due as it wants, times the tries it has lost; so the more there are, the further
/// they spread, and of the rate little is lost to tries in vain.
///
/// What cannot be admitted in time is refused at once. One that waits holds nothing: a thread or a future that gives up has nothing to
/// give back. The clock measures the waits; it need not be the limiter's.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, FixedWindow, Quota, Retrying};
///
/// let window = Retrying::new(FixedWindow::new(Quota::per(2, Duration::from_millis(20))));
/// for _ in 0..5 {
///     window.acquire_blocking(1)?;
/// }
/// # Ok::<_, Denied>(())
/// ```
#[derive(Clone, Debug)]
pub struct Retrying<R, C = DefaultClock> {
    limiter: R,
    clock: C,
}

impl<R> Retrying<R> {
    /// Waiting for `limiter`, on the default clock.
    pub fn new(limiter: R) -> Self {
        Self::with_clock(limiter, DefaultClock)
    }
}

impl<R, C> Retrying<R, C> {
    /// Waiting for `limiter` on `clock`.
    pub const fn with_clock(limiter: R, clock: C) -> Self {
        Self { limiter, clock }
    }

    /// What is waited for.
    pub const fn limiter(&self) -> &R {
        &self.limiter
    }
}

impl<R: RateLimit, C: Clock> Retrying<R, C> {
    /// Takes `n` tokens as soon as the limiter lets it, and parks the thread meanwhile.
    ///
    /// # Errors
    ///
    /// At once: what waiting cannot help, as [`Denied::ExceedsBurst`].
    pub fn acquire_blocking(&self, n: u64) -> Result<(), Denied> {
        self.acquire_blocking_timeout(n, Duration::MAX)
    }

    /// As [`acquire_blocking`](Self::acquire_blocking), within `timeout`.
    ///
    /// # Errors
    ///
    /// [`Denied::WouldExceedDeadline`] as soon as the limiter's hint is later than that; and what
    /// [`acquire_blocking`](Self::acquire_blocking) says.
    pub fn acquire_blocking_timeout(&self, n: u64, timeout: Duration) -> Result<(), Denied> {
        let mut tries = Tries::new(n, self.clock.now().saturating_add(timeout));
        // PROGRESS: blocking, by intent; ends when the limiter admits, or at the deadline.
        loop {
            let Some(until) = tries.next(self)? else { return Ok(()) };
            // PROGRESS: ends at the first look at the clock after that instant.
            while self.clock.now() < until {
                thread::park_timeout(until.saturating_since(self.clock.now()));
            }
        }
    }
}

/// A caller's tries.
#[derive(Clone, Copy, Debug)]
struct Tries {
    n: u64,
    /// The instant of the last try that is in time.
    last: Nanos,
    lost: u32,
    random: u64,
}

impl Tries {
    const fn new(n: u64, last: Nanos) -> Self {
        Self { n, last, lost: 0, random: 0 }
    }

    /// Tries. `None` if that was admitted, or else the instant of the next try.
    fn next<R: RateLimit, C: Clock>(&mut self, retrying: &Retrying<R, C>) -> Result<Option<Nanos>, Denied> {
        let Err(denied) = retrying.limiter.try_acquire_n(self.n) else { return Ok(None) };
        let Some(after) = denied.retry_after() else { return Err(denied) };
        let due = retrying.clock.now().saturating_add(after);
        if due > self.last {
            return Err(Denied::WouldExceedDeadline(Hint::at(due, self.last)));
        }
        self.lost = self.lost.saturating_add(1);
        let quota = retrying.limiter.quota();
        let tokens = u128::from(self.n) * u128::from(self.lost);
        let spread = tokens * u128::from(quota.period_nanos()) / u128::from(quota.tokens().max(1));
        let spread = u64::try_from(spread).unwrap_or(u64::MAX);
        let part = ((u128::from(self.random(due)) * u128::from(spread)) >> 64) as u64;
        Ok(Some(due.saturating_add(Duration::from_nanos(part)).min(self.last)))
    }

    /// Other numbers for each caller and each try. From where the caller's state lies and the time, stirred as in
    /// G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    fn random(&mut self, due: Nanos) -> u64 {
        let place = core::ptr::from_ref(self).addr() as u64;
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ place ^ due.0.rotate_left(32);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
