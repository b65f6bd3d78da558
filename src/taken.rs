//! [`Taken`]: what it takes to give back exactly what was taken.

use crate::algorithm::Algorithm;
use crate::cell::StateCell;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;

/// What a call has taken of a limiter: the limiter's own receipt, from which it takes back exactly that.
///
/// [`RateLimitAt::take_n_at`](crate::RateLimitAt::take_n_at) and [`RateLimit::take_n`](crate::RateLimit::take_n) make one, and
/// [`RateLimitAt::give_back`](crate::RateLimitAt::give_back) or [`RateLimit::take_back`](crate::RateLimit::take_back) of the same
/// limiter takes it, once: it cannot be copied. To drop it is to keep what was taken.
///
/// # Examples
///
/// ```
/// use tollgate::{Clock, FixedWindow, ManualClock, Quota};
///
/// let clock = ManualClock::new();
/// let window = FixedWindow::with_clock(Quota::per_minute(5), clock.clone());
/// let taken = window.take_n_at(3, clock.now())?;
/// assert_eq!(window.available(), 2);
/// assert!(window.give_back(taken));
/// assert_eq!(window.available(), 5);
/// # Ok::<_, tollgate::Denied>(())
/// ```
#[must_use = "what was taken stays taken unless it is given back"]
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    n: u64,
    at: Nanos,
    before: u64,
    after: u64,
}

impl Taken {
    /// `n` tokens, taken on the reading `at`: for a [`RateLimitAt`](crate::RateLimitAt) of your own.
    pub const fn new(n: u64, at: Nanos) -> Self {
        Self { n, at, before: 0, after: 0 }
    }

    /// The same, with the limiter's state before and after, in whatever terms it pleases.
    pub const fn with_states(self, before: u64, after: u64) -> Self {
        Self { before, after, ..self }
    }

    /// How many tokens.
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// The reading of the clock on which they were taken.
    pub const fn at(&self) -> Nanos {
        self.at
    }

    /// The limiter's state without the call, in its own terms.
    pub const fn before(&self) -> u64 {
        self.before
    }

    /// The limiter's state as the call left it, in its own terms.
    pub const fn after(&self) -> u64 {
        self.after
    }

    /// Takes `n` tokens of a word at `now`, or none.
    #[inline]
    pub(crate) fn of(cell: &StateCell, algorithm: &impl Algorithm, n: u64, now: Nanos) -> Result<Self, Denied> {
        let taken = |before, after| Self { n, at: now, before, after };
        cell.update(|word| algorithm.acquire(word, n, now).map(|next| (next, taken(word, next))))
    }

    /// As [`of`](Self::of), with the status that the decision has left.
    pub(crate) fn of_with_status(
        cell: &StateCell,
        algorithm: &impl Algorithm,
        n: u64,
        now: Nanos,
    ) -> (Result<Self, Denied>, Status) {
        let mut before = 0;
        let (decision, after) = cell.decide(|word| {
            before = word;
            algorithm.acquire(word, n, now)
        });
        (decision.map(|()| Self { n, at: now, before, after }), algorithm.status(after, now))
    }

    /// Makes a word what it would be without the take; returns whether it could.
    ///
    /// A word that is as the take left it becomes what it was before, for it is the limiter's whole state: whatever came in
    /// between has come to nothing.
    #[inline]
    pub(crate) fn back_to(self, cell: &StateCell, algorithm: &impl Algorithm) -> bool {
        let Self { n, before, after, .. } = self;
        if before == after {
            return true; // nothing was taken
        }
        cell.apply(|word| {
            let without = if word == after { Some(before) } else { algorithm.without(word, n, after) };
            (without.unwrap_or(word), without.is_some())
        })
    }
}
