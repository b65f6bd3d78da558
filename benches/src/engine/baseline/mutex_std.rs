//! A baseline: the token bucket of the tutorials, floating point under a standard mutex.

use crate::engine::{Engine, Kind, Shared, version};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tollgate::Quota;

/// Tokens as `f64`, brought up to date at each call.
#[derive(Debug)]
pub struct MutexStd {
    state: Mutex<State>,
    quota: Rate,
}

/// What the tutorial's bucket is built from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    per_second: f64,
    capacity: f64,
}

/// What the tutorial's bucket remembers.
#[derive(Debug)]
pub(super) struct State {
    tokens: f64,
    last: Instant,
}

impl Rate {
    #[allow(clippy::cast_precision_loss)] // as the tutorials do
    pub(super) fn new(quota: Quota) -> Self {
        Self { per_second: quota.tokens() as f64 / quota.period().as_secs_f64(), capacity: quota.burst() as f64 }
    }
}

impl State {
    pub(super) fn full(rate: Rate) -> Self {
        Self { tokens: rate.capacity, last: Instant::now() }
    }

    /// The body of the tutorial's `try_acquire`.
    #[inline]
    pub(super) fn take(&mut self, rate: Rate) -> bool {
        let now = Instant::now();
        let elapsed = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        self.tokens = (self.tokens + elapsed * rate.per_second).min(rate.capacity);
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

impl Engine for MutexStd {
    const NAME: &'static str = "mutex-std";
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "std";
    const KIND: Kind = Kind::Baseline;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        let quota = Rate::new(quota);
        Self { state: Mutex::new(State::full(quota)), quota }
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl Shared for MutexStd {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).take(self.quota)
    }
}
