//! [`Timer`]: a clock that can wake a task.

use super::Clock;
use crate::nanos::Nanos;
use alloc::sync::Arc;

/// A clock that can also wake a task at one of its instants: what waiting by `.await` needs, and all it needs.
///
/// A clock and a timer that disagree wake a task too early, again and again, or too late. Hence one type that is both:
/// a limiter on such a clock waits on the timer that goes with it. [`TokioClock`](crate::TokioClock) and
/// [`AsyncIoClock`](crate::AsyncIoClock) are those of two runtimes, and [`ManualClock`](crate::ManualClock) wakes whoever
/// is due when it is moved. Others take a few lines:
///
/// # Examples
///
/// ```
/// use std::future::Future;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
/// use tollgate::{Clock, MonotonicClock, Nanos, Timer};
///
/// /// Has a task look at the clock again and again: for an executor that has no timer at all.
/// struct Polling;
///
/// struct Until(Nanos);
///
/// impl Clock for Polling {
///     fn now(&self) -> Nanos {
///         MonotonicClock.now()
///     }
/// }
///
/// impl Timer for Polling {
///     type Sleep = Until;
///
///     fn sleep_until(&self, due: Nanos) -> Until {
///         Until(due)
///     }
/// }
///
/// impl Future for Until {
///     type Output = ();
///
///     fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
///         if Polling.now() >= self.0 {
///             return Poll::Ready(());
///         }
///         context.waker().wake_by_ref();
///         Poll::Pending
///     }
/// }
/// ```
pub trait Timer: Clock {
    /// What is ready at an instant. Its output means nothing.
    type Sleep: Future;

    /// A future that is ready once this clock reads `due` or later.
    ///
    /// One that is ready too early is not a fault: whoever waits looks at the clock, and sleeps again.
    fn sleep_until(&self, due: Nanos) -> Self::Sleep;
}

impl<T: Timer + ?Sized> Timer for &T {
    type Sleep = T::Sleep;

    fn sleep_until(&self, due: Nanos) -> T::Sleep {
        (**self).sleep_until(due)
    }
}

impl<T: Timer + ?Sized> Timer for Arc<T> {
    type Sleep = T::Sleep;

    fn sleep_until(&self, due: Nanos) -> T::Sleep {
        (**self).sleep_until(due)
    }
}
