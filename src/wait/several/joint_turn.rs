//! [`JointTurn`]: waiting for several places by `.await`.

use super::Places;
use crate::clock::Timer;
use crate::wait::Line;
use crate::wait::future::poll_due;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

pin_project! {
    /// Ready once all places are due, which it then spends: the future of [`Places`], `P`, by a timer's sleep, `S`.
    ///
    /// It holds the places by value and is cancellation safe: dropped before it was ready, it gives all of them back. It allocates
    /// nothing. Polled after it was ready, it panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::IntoFuture;
    /// use std::pin::pin;
    /// use std::task::{Context, Waker};
    /// use std::time::Duration;
    /// use tollgate::{LimitSet, ManualClock, Quota, WaitingTokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let line = |quota| WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), clock.clone());
    /// let set = LimitSet::with_clock([line(Quota::per_second(1)), line(Quota::per_second(2))], clock.clone());
    /// assert!(set.try_acquire_n([1, 2]).is_ok());
    ///
    /// // Elsewhere: `places.await`.
    /// let places = set.reserve_n([1, 2])?;
    /// let mut turn = pin!(places.into_future());
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(turn.as_mut().poll(&mut context).is_pending());
    /// clock.advance(Duration::from_secs(1));
    /// assert!(turn.as_mut().poll(&mut context).is_ready());
    /// # Ok::<_, tollgate::DeniedBy>(())
    /// ```
    #[must_use = "futures do nothing unless polled; places that are dropped are given back"]
    pub struct JointTurn<P, S> {
        // `None` after they were spent.
        places: Option<P>,
        #[pin]
        sleep: Option<S>,
    }
}

impl<L: Line, const N: usize> IntoFuture for Places<L, N>
where
    L::Clock: Timer,
{
    type Output = ();
    type IntoFuture = JointTurn<Self, <L::Clock as Timer>::Sleep>;

    fn into_future(self) -> Self::IntoFuture {
        JointTurn { places: Some(self), sleep: None }
    }
}

impl<L: Line, const N: usize> Future for JointTurn<Places<L, N>, <L::Clock as Timer>::Sleep>
where
    L::Clock: Timer,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let turn = self.project();
        let start = |places: &Places<L, N>| places.latest().line().clock().sleep_until(places.due());
        poll_due(turn.places, turn.sleep, context, Places::delay, start).map(Places::use_up)
    }
}

impl<P: fmt::Debug, S> fmt::Debug for JointTurn<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JointTurn").field(&self.places).finish()
    }
}
