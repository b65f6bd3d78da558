//! [`Pair`]: a limiter beside its model.

use super::{Kind, Subject};
use crate::reference::Model;
use core::fmt;
use core::time::Duration;
use tollgate::{BuildError, Denied, ManualClock, Nanos, Quota};

/// A limiter and its model, side by side on one clock. Each step is taken by both and their answers are compared; the model
/// follows the limiter's decisions.
pub struct Pair {
    /// Which algorithm.
    pub kind: Kind,
    /// What both were made for.
    pub quota: Quota,
    /// The limiter's clock.
    pub clock: ManualClock,
    /// The limiter.
    pub limiter: Box<Subject>,
    /// Its model, which follows the limiter's decisions.
    pub model: Box<dyn Model>,
    now: Nanos,
    /// The latest instant that the clock has shown.
    latest: Nanos,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, quota, now, .. } = self;
        write!(f, "{kind:?} of {quota:?} at {now:?}")
    }
}

impl Pair {
    /// A fresh pair at the origin of time.
    ///
    /// # Errors
    ///
    /// The limiter's, if the quota does not fit it.
    pub fn new(kind: Kind, quota: Quota) -> Result<Self, BuildError> {
        let clock = ManualClock::new();
        let limiter = kind.limiter(quota, &clock)?;
        Ok(Self { kind, quota, limiter, model: kind.model(quota), clock, now: Nanos::ZERO, latest: Nanos::ZERO })
    }

    /// A pair made at `at` that holds `tokens`, or the most it can hold. Sliding windows always start full.
    ///
    /// # Errors
    ///
    /// The limiter's, if the quota does not fit it.
    pub fn holding(tokens: u64, kind: Kind, quota: Quota, at: Nanos) -> Result<Self, BuildError> {
        let mut pair = Self::new(kind, quota)?;
        pair.set(at);
        let tokens = tokens.min(kind.capacity(quota));
        if let Some(limiter) = kind.limiter_holding(tokens, quota, &pair.clock) {
            (pair.limiter, pair.model) = (limiter, kind.model_holding(tokens, quota, at));
        }
        Ok(pair)
    }

    /// What the clock says.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Sets the clock to `now`.
    pub fn set(&mut self, now: Nanos) {
        self.now = now;
        self.latest = self.latest.max(now);
        self.clock.set(now);
    }

    /// Moves the clock on.
    pub fn advance(&mut self, by: Duration) {
        self.set(self.now.saturating_add(by));
    }

    /// Asks both for `n` tokens.
    ///
    /// # Errors
    ///
    /// The limiter's answer.
    ///
    /// # Panics
    ///
    /// If the model says that the answer is wrong.
    #[track_caller]
    pub fn acquire(&mut self, n: u64) -> Result<(), Denied> {
        let (max_cost, now) = (self.limiter.max_cost(), self.now);
        let answer = self.limiter.try_acquire_n_at(n, now);
        match answer {
            Ok(()) => self.charge(n),
            Err(denied) => {
                assert!(!self.model.would_admit(n, now), "{n} refused at {now:?}, which the model admits: {denied}");
                if n > max_cost {
                    assert_eq!(denied, Denied::ExceedsBurst { cost: n, max_cost });
                    assert_eq!(denied.retry_after(), None);
                } else {
                    self.expect_wait(n, denied.retry_after());
                }
            }
        }
        answer
    }

    /// Takes up to `n` tokens from both.
    ///
    /// # Panics
    ///
    /// If the model says that they were too many or too few.
    #[track_caller]
    pub fn up_to(&mut self, n: u64) -> u64 {
        let (before, now) = (self.model.available(self.now), self.now);
        let taken = self.limiter.try_acquire_up_to(n);
        assert!(taken <= n, "took {taken} of {n}");
        assert!(taken >= before.min(n), "took {taken} of {n} at {now:?}, where the model has {before}");
        self.charge(taken);
        taken
    }

    /// Gives `n` tokens back to both, if the algorithm takes any back as of now.
    pub fn refund(&mut self, n: u64) {
        if self.kind.takes_back(self.now < self.latest) {
            self.limiter.refund(n);
            self.model.refund(n, self.now);
        }
    }

    /// Compares all that can be read without changing anything.
    ///
    /// # Panics
    ///
    /// If the model says that something is wrong.
    #[track_caller]
    pub fn look(&self) {
        let (limit, now) = (self.kind.capacity(self.quota), self.now);
        let (status, available) = (self.limiter.status(), self.limiter.available());
        assert_eq!((status.limit, status.remaining), (limit, available));
        assert!(available <= limit, "{available} tokens left of {limit}");
        let least = self.model.available(now);
        assert!(available >= least, "{available} tokens left at {now:?}, where the model has {least}");
        let early = self.model.shortfall(available, now);
        assert!(self.kind.allows(early, self.quota), "{available} tokens left at {now:?}, {early} too many");
        self.expect_wait(1, status.retry_after);
        self.expect_wait(limit, Some(status.reset_after).filter(|&wait| wait < Duration::MAX));
    }

    /// Moves on by `wait`, a hint for a cost of `n`: refused a nanosecond before, admitted at it.
    ///
    /// # Panics
    ///
    /// If it is otherwise.
    #[track_caller]
    pub fn wait_for(&mut self, n: u64, wait: Duration) {
        let due = self.now.saturating_add(wait);
        let before = self.now.max(Nanos(due.0 - 1));
        self.set(before);
        assert!(self.acquire(n).is_err(), "{n} admitted a nanosecond before {due:?}");
        self.set(due);
        assert!(self.acquire(n).is_ok(), "{n} refused at {due:?}");
    }

    #[track_caller]
    fn charge(&mut self, n: u64) {
        let now = self.now;
        let early = self.model.charge(n, now);
        assert!(self.kind.allows(early, self.quota), "{n} admitted at {now:?}, {early} tokens early");
    }

    /// Checks the limiter's answer to when `n` tokens would be admitted.
    #[track_caller]
    fn expect_wait(&self, n: u64, wait: Option<Duration>) {
        let earliest = self.model.earliest(n, self.now);
        let Some(wait) = wait else {
            let horizon = self.kind.horizon();
            assert!(earliest.is_none_or(|at| at > horizon), "{n} refused for ever, by the model until {earliest:?}");
            return;
        };
        let (due, latest) = (self.now.saturating_add(wait), earliest.unwrap_or(Nanos::MAX));
        assert!(due <= latest, "{n} due at {due:?}, by the model at {latest:?}");
        let early = self.model.shortfall(n, due);
        assert!(self.kind.allows(early, self.quota), "{n} due at {due:?}, {early} tokens early");
    }
}
