//! Waiting by `.await`: [`Acquire`] and [`Turn`].

use super::{Line, Place, WaitingTokenBucket};
use crate::clock::Timer;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::sharded::ShardedTokenBucket;
use alloc::sync::Arc;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use pin_project_lite::pin_project;

pin_project! {
    /// Ready once a place is due, which it then spends: the future of [`Place`].
    ///
    /// It holds the place by value and is cancellation safe: dropped before it was ready, it gives the place back. It allocates
    /// nothing, and beside the timer's [`Sleep`](Timer::Sleep) it is a place and two words. Polled after it was ready, it panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::IntoFuture;
    /// use std::pin::pin;
    /// use std::task::{Context, Waker};
    /// use std::time::Duration;
    /// use tollgate::{ManualClock, Quota, WaitingTokenBucket};
    ///
    /// let clock = ManualClock::new();
    /// let quota = Quota::per_second(1);
    /// let bucket = WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), clock.clone());
    /// assert!(bucket.try_acquire().is_ok());
    ///
    /// // The instant is known before the wait begins. Elsewhere: `place.await`.
    /// let place = bucket.reserve(1)?;
    /// assert_eq!(place.delay(), Duration::from_secs(1));
    /// let mut turn = pin!(place.into_future());
    ///
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(turn.as_mut().poll(&mut context).is_pending());
    /// clock.advance(Duration::from_secs(1));
    /// assert!(turn.as_mut().poll(&mut context).is_ready());
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    #[must_use = "futures do nothing unless polled; a place that is dropped is given back"]
    pub struct Turn<L>
    where
        L: Line,
        L::Clock: Timer,
    {
        // `None` before there is one, and after it was spent.
        place: Option<Place<L>>,
        #[pin]
        sleep: Option<<L::Clock as Timer>::Sleep>,
    }
}

impl<L: Line> Turn<L>
where
    L::Clock: Timer,
{
    pub(crate) const fn of(place: Option<Place<L>>) -> Self {
        Self { place, sleep: None }
    }
}

impl<L: Line> IntoFuture for Place<L>
where
    L::Clock: Timer,
{
    type Output = ();
    type IntoFuture = Turn<L>;

    fn into_future(self) -> Turn<L> {
        Turn::of(Some(self))
    }
}

impl<L: Line> Turn<L>
where
    L::Clock: Timer,
{
    /// Whether there is no place to wait for.
    #[cfg(feature = "tokio")]
    pub(crate) const fn is_over(&self) -> bool {
        self.place.is_none()
    }

    /// Ready with the place once it is due, unspent.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(crate) fn poll_due(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Place<L>> {
        let turn = self.project();
        poll_due(turn.place, turn.sleep, context, Place::delay, |place| place.line().clock().sleep_until(place.due()))
    }
}

/// Ready with what is waited for, once its delay is zero.
///
/// # Panics
///
/// If there is nothing.
pub(super) fn poll_due<P, S: Future>(
    waiting: &mut Option<P>,
    mut sleep: Pin<&mut Option<S>>,
    context: &mut Context<'_>,
    delay: impl Fn(&P) -> Duration,
    start: impl Fn(&P) -> S,
) -> Poll<P> {
    // PROGRESS: two steps. A timer that is early has the task look at the clock again, and sleep again; one that is always
    // early must not keep it from yielding.
    for _ in 0..2 {
        let place = waiting.take().expect("a future was polled after it was ready");
        if delay(&place).is_zero() {
            sleep.set(None);
            return Poll::Ready(place);
        }
        if sleep.is_none() {
            sleep.set(Some(start(&place)));
        }
        *waiting = Some(place);
        if let Some(sleep) = sleep.as_mut().as_pin_mut() {
            ready!(sleep.poll(context).map(|_| ()));
        }
        sleep.set(None);
    }
    context.waker().wake_by_ref();
    Poll::Pending
}

impl<L: Line> Future for Turn<L>
where
    L::Clock: Timer,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.poll_due(context).map(Place::use_up)
    }
}

pin_project! {
    /// Takes a place, waits until it is due, and spends it: the future of [`acquire`](WaitingTokenBucket::acquire) and its
    /// like.
    ///
    /// The place is taken when the future is polled for the first time: one that is never polled delays nobody, and places are
    /// due in the order of first polls. What cannot be had in time is refused at that poll, with nothing taken.
    ///
    /// It holds the place by value and is cancellation safe: dropped before it was ready, in `select!` or by a timeout, it gives
    /// its place back as [`Place::cancel`] does. Held and not polled, or leaked, it keeps its own tokens from others
    /// and holds up nobody. It allocates nothing, and starts no task and no thread. Beside the timer's
    /// [`Sleep`](Timer::Sleep) it takes under 100 bytes, and in the line of a key under 150. Polled after it was ready, it panics.
    #[must_use = "futures do nothing unless polled"]
    pub struct Acquire<L>
    where
        L: Line,
        L::Clock: Timer,
    {
        // `None` once the place was asked for.
        request: Option<Request<L>>,
        #[pin]
        turn: Turn<L>,
    }
}

struct Request<L> {
    line: L,
    n: u64,
    patience: Patience,
}

/// How late a place may be due.
enum Patience {
    Within(Duration),
    By(Nanos),
}

impl<L: Line> Acquire<L>
where
    L::Clock: Timer,
{
    const fn new(line: L, n: u64, patience: Patience) -> Self {
        Self { request: Some(Request { line, n, patience }), turn: Turn::of(None) }
    }

    pub(crate) const fn within(line: L, n: u64, max_wait: Duration) -> Self {
        Self::new(line, n, Patience::Within(max_wait))
    }

    pub(crate) const fn by(line: L, n: u64, deadline: Nanos) -> Self {
        Self::new(line, n, Patience::By(deadline))
    }
}

impl<L: Line> Future for Acquire<L>
where
    L::Clock: Timer,
{
    type Output = Result<(), Denied>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Denied>> {
        let mut acquire = self.project();
        if let Some(Request { line, n, patience }) = acquire.request.take() {
            let now = line.now();
            let max_wait = match patience {
                Patience::Within(max_wait) => max_wait,
                Patience::By(deadline) => deadline.saturating_since(now),
            };
            let place = Place::reserve(line, n, max_wait, now)?;
            acquire.turn.set(Turn::of(Some(place)));
        }
        acquire.turn.poll(context).map(Ok)
    }
}

/// `acquire` and its forms for a limiter that has places.
macro_rules! acquire {
    ($limiter:ident) => {
        impl<C: Timer> $limiter<C> {
            /// Takes `n` tokens, and is ready when they are due. See [`Acquire`] for when the place is taken, and what dropping
            /// does.
            ///
            /// # Errors
            ///
            /// At once, with nothing taken: [`Denied::LineFull`] if the line would reach further than it may,
            /// and [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost).
            pub const fn acquire(&self, n: u64) -> Acquire<&Self> {
                Acquire::within(self, n, Duration::MAX)
            }

            /// Takes `n` tokens that are due within `max_wait` of the first poll, and is ready when they are.
            ///
            /// # Errors
            ///
            /// At once, with nothing taken and no time slept: [`Denied::WouldExceedDeadline`] if they would be due later, and what
            /// [`acquire`](Self::acquire) says.
            pub const fn acquire_within(&self, n: u64, max_wait: Duration) -> Acquire<&Self> {
                Acquire::within(self, n, max_wait)
            }

            /// Takes `n` tokens that are due by `deadline`, an instant of the limiter's clock, and is ready when they are. After the
            /// deadline, only what is due at once will do.
            ///
            /// # Errors
            ///
            /// As [`acquire_within`](Self::acquire_within).
            pub const fn acquire_by(&self, n: u64, deadline: Nanos) -> Acquire<&Self> {
                Acquire::by(self, n, deadline)
            }
        }
    };
}
acquire!(WaitingTokenBucket);
acquire!(ShardedTokenBucket);

impl<C: Timer> WaitingTokenBucket<C> {
    /// Takes one token, and is ready when it is due: [`acquire(1)`](Self::acquire).
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub const fn until_ready(&self) -> Acquire<&Self> {
        self.acquire(1)
    }

    /// As [`acquire`](Self::acquire), with a share in the limiter, for a future that lives anywhere.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    pub const fn acquire_owned(self: Arc<Self>, n: u64) -> Acquire<Arc<Self>> {
        Acquire::within(self, n, Duration::MAX)
    }

    /// As [`acquire_within`](Self::acquire_within), with a share in the limiter, for a future that lives anywhere.
    ///
    /// # Errors
    ///
    /// As [`acquire_within`](Self::acquire_within).
    pub const fn acquire_owned_within(self: Arc<Self>, n: u64, max_wait: Duration) -> Acquire<Arc<Self>> {
        Acquire::within(self, n, max_wait)
    }
}

impl<L: Line> fmt::Debug for Turn<L>
where
    L::Clock: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turn").field(&self.place).finish()
    }
}

impl<L: Line> fmt::Debug for Acquire<L>
where
    L::Clock: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request {
            Some(request) => f.debug_struct("Acquire").field("n", &request.n).finish_non_exhaustive(),
            None => f.debug_tuple("Acquire").field(&self.turn).finish(),
        }
    }
}
