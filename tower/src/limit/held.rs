//! [`Held`]: tokens that are not spent yet.

use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use tollgate::{Clock, Line, Place, RateLimit, Taken, Timer};

/// Tokens that go back when they are dropped unspent.
pub(crate) enum Held {
    /// Of a limiter in which there are no places.
    Taken(Back),
    /// A place in line.
    Place(Box<dyn Due>),
}

impl Held {
    /// Whether they may be spent at once.
    pub(crate) fn is_due(&self) -> bool {
        self.delay().is_zero()
    }

    /// How long until they may be spent.
    pub(crate) fn delay(&self) -> Duration {
        match self {
            Self::Taken(_) => Duration::ZERO,
            Self::Place(place) => place.delay(),
        }
    }

    /// Ready once they may be spent.
    pub(crate) fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Taken(_) => Poll::Ready(()),
            Self::Place(place) => place.poll_due(context),
        }
    }

    /// Spends them. They must be due.
    pub(crate) fn spend(self) {
        match self {
            Self::Taken(mut back) => drop(back.taken.take()),
            Self::Place(place) => place.spend(),
        }
    }

    /// Gives them back; returns whether they are there again. Those of a bucket stay spent if others have taken of it meanwhile.
    pub(crate) fn give_back(self) -> bool {
        match self {
            Self::Taken(mut back) => back.give_back(),
            Self::Place(place) => place.give_back(),
        }
    }
}

/// A place in line, of whatever limiter and clock.
pub(crate) trait Due: Send {
    /// How long until it may be spent.
    fn delay(&self) -> Duration;

    /// Ready once it may be spent.
    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Spends it. It must be due.
    fn spend(self: Box<Self>);

    /// Gives it back; returns whether its tokens are there again.
    fn give_back(self: Box<Self>) -> bool;
}

/// A place that is due at once, on a clock that need not be a timer.
pub(super) struct Now<L: Line>(pub(super) Place<L>);

impl<L: Line + Send> Due for Now<L>
where
    L::Clock: Clock,
{
    fn delay(&self) -> Duration {
        Duration::ZERO
    }

    fn poll_due(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn spend(self: Box<Self>) {
        let spent = self.0.spend();
        debug_assert!(spent.is_ok(), "a place that was reserved as of now is due");
    }

    fn give_back(self: Box<Self>) -> bool {
        self.0.cancel() > 0
    }
}

/// A place in line, and the timer that goes with it.
pub(super) struct InLine<L: Line>
where
    L::Clock: Timer,
{
    place: Place<L>,
    sleep: Option<Pin<Box<<L::Clock as Timer>::Sleep>>>,
}

impl<L: Line> InLine<L>
where
    L::Clock: Timer,
{
    pub(super) const fn new(place: Place<L>) -> Self {
        Self { place, sleep: None }
    }
}

impl<L: Line + Send> Due for InLine<L>
where
    L::Clock: Timer,
    <L::Clock as Timer>::Sleep: Send,
{
    fn delay(&self) -> Duration {
        self.place.delay()
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        // PROGRESS: ends when the place is due. A timer that is early is asked again.
        while !self.place.delay().is_zero() {
            let due = self.place.due();
            let clock = self.place.line().clock();
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(clock.sleep_until(due)));
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
        }
        Poll::Ready(())
    }

    fn spend(self: Box<Self>) {
        let spent = self.place.spend();
        debug_assert!(spent.is_ok(), "it was polled until it was due");
    }

    fn give_back(self: Box<Self>) -> bool {
        self.place.cancel() > 0
    }
}

/// Tokens of a limiter in which there are no places. It takes back exactly them, or they stay spent.
pub(crate) struct Back {
    pub(super) limiter: Arc<dyn RateLimit + Send + Sync>,
    /// None once they are spent.
    pub(super) taken: Option<Taken>,
}

impl Back {
    fn give_back(&mut self) -> bool {
        self.taken.take().is_some_and(|taken| self.limiter.take_back(taken))
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        self.give_back();
    }
}
