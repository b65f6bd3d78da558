//! Limiters behind a mutex, as one would write them oneself.

use super::Engine;
use super::label::Label;
use super::version;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::{Clock, QuantaClock, Quota, SlidingWindowLog};

/// The token bucket of the tutorials: tokens as `f64`, brought up to date at each call.
#[derive(Debug)]
struct Tutorial {
    tokens: f64,
    last: Instant,
    per_second: f64,
    capacity: f64,
}

impl Tutorial {
    #[allow(clippy::cast_precision_loss)] // as the tutorials do
    fn full(quota: Quota) -> Self {
        let (per_second, capacity) = (quota.tokens() as f64 / quota.period().as_secs_f64(), quota.burst() as f64);
        Self { tokens: capacity, last: Instant::now(), per_second, capacity }
    }

    /// The body of the tutorial's `try_acquire`.
    #[inline]
    fn take(&mut self) -> bool {
        let now = Instant::now();
        let elapsed = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        self.tokens = (self.tokens + elapsed * self.per_second).min(self.capacity);
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

/// The token bucket of the tutorials under a standard mutex.
#[derive(Debug)]
pub struct MutexStd(Mutex<Tutorial>);

impl Engine for MutexStd {
    const LABEL: Label = Label::baseline("mutex-std", version::STD, "std");

    fn build(quota: Quota) -> Self {
        Self(Mutex::new(Tutorial::full(quota)))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The token bucket of the tutorials under the mutex of `parking_lot`.
#[derive(Debug)]
pub struct MutexParkingLot(parking_lot::Mutex<Tutorial>);

impl Engine for MutexParkingLot {
    const LABEL: Label = Label::baseline("mutex-parking-lot", version::PARKING_LOT, "std");

    fn build(quota: Quota) -> Self {
        Self(parking_lot::Mutex::new(Tutorial::full(quota)))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.lock().take()
    }
}

/// The token bucket of this crate, step for step, but under a standard mutex instead of in a compare-and-swap loop. The
/// clock is the one that the token bucket reads, and it is read before the lock is taken, as there.
#[derive(Debug)]
pub struct MutexSameStep {
    word: Mutex<u64>,
    algorithm: Gcra,
}

impl Engine for MutexSameStep {
    const LABEL: Label = Label::baseline("mutex-same-step", version::STD, "quanta");

    /// The word 0 is a full bucket.
    fn build(quota: Quota) -> Self {
        Self { word: Mutex::new(0), algorithm: Gcra::new(quota) }
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || {
            let now = QuantaClock.now();
            let mut word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
            let next = self.algorithm.acquire(*word, 1, now);
            if let Ok(next) = next {
                *word = next;
            }
            next.is_ok()
        }
    }
}

/// The sliding window log of the tutorials: the instants of the last admissions, oldest first; those that are a period old
/// are dropped at each call.
#[derive(Debug)]
pub struct MutexLog {
    admitted: Mutex<VecDeque<Instant>>,
    limit: usize,
    period: Duration,
}

impl Engine for MutexLog {
    const LABEL: Label = Label::baseline("mutex-log", version::STD, "std");
    const WINDOWED: bool = true;

    /// With room for all instants from the start, which is more than the tutorials do.
    fn build(quota: Quota) -> Self {
        let limit = usize::try_from(quota.tokens()).expect("an address space has room for the limit");
        Self { admitted: Mutex::new(VecDeque::with_capacity(limit)), limit, period: quota.period() }
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || {
            let mut admitted = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            while admitted.front().is_some_and(|&oldest| now.duration_since(oldest) >= self.period) {
                admitted.pop_front();
            }
            let admit = admitted.len() < self.limit;
            if admit {
                admitted.push_back(now);
            }
            admit
        }
    }

    /// As for the lock-free log, so that both make the same calls.
    fn supply(quota: Quota) -> u64 {
        SlidingWindowLog::supply(quota)
    }
}
