//! [`Retry`]: trying again, for tasks.

use super::{Retrying, Tries};
use crate::clock::Timer;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::rate_limit::RateLimit;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use pin_project_lite::pin_project;

pin_project! {
    /// Tries until it is admitted: the future of [`Retrying::acquire`] and its like. It holds nothing of the limiter's, and keeps no
    /// order. The first try is made at the first poll.
    #[must_use = "futures do nothing unless polled"]
    pub struct Retry<'a, R, C>
    where
        C: Timer,
    {
        retrying: &'a Retrying<R, C>,
        tries: Tries,
        // Until the first poll.
        max_wait: Option<Duration>,
        #[pin]
        sleep: Option<C::Sleep>,
    }
}

impl<R: RateLimit, C: Timer> Retrying<R, C> {
    /// Takes `n` tokens as soon as the limiter lets it.
    ///
    /// # Errors
    ///
    /// At once: what waiting cannot help, as [`Denied::ExceedsBurst`].
    pub const fn acquire(&self, n: u64) -> Retry<'_, R, C> {
        self.acquire_within(n, Duration::MAX)
    }

    /// As [`acquire`](Self::acquire), within `max_wait` of the first poll.
    ///
    /// # Errors
    ///
    /// [`Denied::WouldExceedDeadline`] as soon as the limiter's hint is later than that; and what [`acquire`](Self::acquire) says.
    pub const fn acquire_within(&self, n: u64, max_wait: Duration) -> Retry<'_, R, C> {
        Retry { retrying: self, tries: Tries::new(n, Nanos::MAX), max_wait: Some(max_wait), sleep: None }
    }

    /// As [`acquire`](Self::acquire), by `deadline`, an instant of the clock.
    ///
    /// # Errors
    ///
    /// As [`acquire_within`](Self::acquire_within).
    pub const fn acquire_by(&self, n: u64, deadline: Nanos) -> Retry<'_, R, C> {
        Retry { retrying: self, tries: Tries::new(n, deadline), max_wait: None, sleep: None }
    }
}

impl<R: RateLimit, C: Timer> Future for Retry<'_, R, C> {
    type Output = Result<(), Denied>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Denied>> {
        let mut retry = self.project();
        let retrying = *retry.retrying;
        if let Some(max_wait) = retry.max_wait.take() {
            retry.tries.last = retrying.clock.now().saturating_add(max_wait);
        }
        // PROGRESS: two tries. A clock that does not agree with the limiter's must not keep the task from yielding.
        for _ in 0..2 {
            if let Some(sleep) = retry.sleep.as_mut().as_pin_mut() {
                ready!(sleep.poll(context).map(|_| ()));
            }
            match retry.tries.next(retrying)? {
                None => return Poll::Ready(Ok(())),
                Some(until) => retry.sleep.set(Some(retrying.clock.sleep_until(until))),
            }
        }
        if let Some(sleep) = retry.sleep.as_mut().as_pin_mut() {
            ready!(sleep.poll(context).map(|_| ()));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R, C: Timer> fmt::Debug for Retry<'_, R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("tries", &self.tries).finish_non_exhaustive()
    }
}
