//! [`Ticks`]: a [`Pacer`] for tasks.

use super::{Pacer, Tick};
use crate::clock::Timer;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;

pin_project! {
    /// The ticks of a [`Pacer`], for a task: a `Stream` with the feature `futures-core`, and [`tick`](Self::tick) without.
    ///
    /// Cancellation safe: a tick is handed out when it is ready, so that a wait that is dropped loses none.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    /// use std::task::{Context, Poll, Waker};
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Nanos, Pacer, Quota, Tick};
    ///
    /// let clock = ManualClock::new();
    /// let mut ticks = pin!(Pacer::with_clock(Quota::per_second(10), clock.clone()).ticks());
    /// let mut context = Context::from_waker(Waker::noop());
    ///
    /// let mut poll = || ticks.as_mut().poll_tick(&mut context);
    /// assert!(poll().is_ready() && poll().is_pending());
    /// clock.advance(Duration::from_millis(350)); // late: the ticks at 100 and 200 ms are skipped
    /// assert_eq!(poll(), Poll::Ready(Some(Tick { due: Nanos::from_millis(300), skipped: 2 })));
    /// assert!(poll().is_pending());
    /// ```
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Ticks<C>
    where
        C: Timer,
    {
        pacer: Pacer<C>,
        #[pin]
        sleep: Option<C::Sleep>,
    }
}

impl<C: Timer> Pacer<C> {
    /// The same ticks, for a task that awaits them.
    pub const fn ticks(self) -> Ticks<C> {
        Ticks { pacer: self, sleep: None }
    }
}

impl<C: Timer> Ticks<C> {
    /// The next tick, once it is due. `None` only for [`Quota::DENY_ALL`](crate::Quota::DENY_ALL), of which none ever comes.
    pub async fn tick(self: Pin<&mut Self>) -> Option<Tick> {
        let mut ticks = self;
        poll_fn(|context| ticks.as_mut().poll_tick(context)).await
    }

    /// As [`tick`](Self::tick), for a poll by hand.
    pub fn poll_tick(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Tick>> {
        let mut ticks = self.project();
        if !ticks.pacer.open {
            return Poll::Ready(None);
        }
        // PROGRESS: two steps, as in `Turn`: a timer that is always early must not keep the task from yielding.
        for _ in 0..2 {
            let (tick, due) = ticks.pacer.look(ticks.pacer.clock.now());
            if due {
                ticks.sleep.set(None);
                ticks.pacer.hand_out(tick);
                return Poll::Ready(Some(tick));
            }
            if ticks.sleep.is_none() {
                ticks.sleep.set(Some(ticks.pacer.clock.sleep_until(tick.due)));
            }
            if let Some(sleep) = ticks.sleep.as_mut().as_pin_mut() {
                ready!(sleep.poll(context).map(|_| ()));
            }
            ticks.sleep.set(None);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(feature = "futures-core")]
impl<C: Timer> futures_core::Stream for Ticks<C> {
    type Item = Tick;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Tick>> {
        self.poll_tick(context)
    }
}
