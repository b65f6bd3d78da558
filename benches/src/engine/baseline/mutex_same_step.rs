//! A baseline: the token bucket of this crate, step for step, but under a mutex instead of in a compare-and-swap loop.

use crate::engine::{Engine, Kind, Shared, version};
use std::sync::{Mutex, PoisonError};
use tollgate::algorithm::{Algorithm, Gcra};
use tollgate::{Clock, QuantaClock, Quota};

/// The word of a token bucket in a standard mutex. The clock is the one that the token bucket reads, and it is read
/// before the lock is taken, as there.
#[derive(Debug)]
pub struct MutexSameStep {
    word: Mutex<u64>,
    algorithm: Gcra,
}

impl Engine for MutexSameStep {
    const NAME: &'static str = "mutex-same-step";
    const VERSION: &'static str = version::STD;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Baseline;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        // 0 means "full since for ever".
        Self { word: Mutex::new(0), algorithm: Gcra::new(quota) }
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl Shared for MutexSameStep {
    #[inline]
    fn try_acquire(&self) -> bool {
        let now = QuantaClock.now();
        let mut word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        match self.algorithm.acquire(*word, 1, now) {
            Ok(next) => {
                *word = next;
                true
            }
            Err(_) => false,
        }
    }
}
