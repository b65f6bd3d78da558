//! A class of a keyed limiter whose quota changes: the library's type, and the protocol in short, each rule of which can be left out.
//!
//! Rules are those of `src/keyed/terms.rs`, and of the banks under it.

mod transcription;

pub use transcription::{Rules, Transcription};

use crate::keyed::Chosen;
use crate::race;
use crate::sync::{AtomicU64, Ordering::AcqRel};
use core::time::Duration;
use std::sync::Arc;
use tollgate::{Clock, KeyedLimiter, Nanos, Quota};

/// The tokens of a key at once, under every quota.
pub const BURST: u64 = 4;

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Takes so many tokens, or none.
    Take(u64),
    /// Changes the quota to a token each so many nanoseconds.
    Set(u64),
    /// Moves the clock by so many nanoseconds.
    Tick(u64),
}

/// A clock whose readings have one order that all threads agree on, as that of a machine whose cores have one counter; a reading
/// is not made before what its thread did before it, nor after what it does after it.
#[derive(Clone, Debug)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(0)))
    }

    fn tick(&self, nanos: u64) {
        self.0.fetch_add(nanos, AcqRel);
    }
}

impl Clock for Counter {
    fn now(&self) -> Nanos {
        Nanos(self.0.fetch_add(0, AcqRel))
    }
}

/// A limiter under test with one key.
pub trait Limiter: Send + Sync + 'static {
    /// Its clock.
    fn clock(&self) -> &Counter;

    /// Takes `n` tokens, or none; returns the reading that it was decided on, and whether it was admitted.
    fn take(&self, n: u64) -> (u64, bool);

    /// Changes the quota.
    fn set(&self, interval: u64);
}

/// The library's type.
#[derive(Debug)]
pub struct Real(KeyedLimiter<u32, Chosen, Counter>, Counter);

impl Real {
    const KEY: u32 = 1;

    fn quota(interval: u64) -> Quota {
        Quota::per(1, Duration::from_nanos(interval)).with_burst(BURST)
    }

    /// A full bucket that gets a token each so many nanoseconds; the key has its slot.
    ///
    /// # Panics
    ///
    /// If the key gets no slot.
    pub fn new(interval: u64) -> Self {
        let clock = Counter::new();
        let limiter = KeyedLimiter::with_hasher_and_clock(Self::quota(interval), 1, Chosen::default(), clock.clone());
        limiter.try_acquire(&Self::KEY).expect("there is room");
        limiter.refund(&Self::KEY, 1);
        Self(limiter, clock)
    }
}

impl Limiter for Real {
    fn clock(&self) -> &Counter {
        &self.1
    }

    fn take(&self, n: u64) -> (u64, bool) {
        let now = self.clock().now();
        (now.0, self.0.try_acquire_n_at(&Self::KEY, n, now).is_ok())
    }

    fn set(&self, interval: u64) {
        self.0.set_quota(Self::quota(interval)).expect("there is a spare bank");
    }
}

/// Makes calls one after the other; returns what was taken, and with which readings.
fn make(limiter: &impl Limiter, calls: &[Call]) -> Vec<(u64, u64)> {
    let mut taken = Vec::new();
    for &call in calls {
        match call {
            Call::Take(n) => {
                let (reading, admitted) = limiter.take(n);
                taken.extend(admitted.then_some((reading, n)));
            }
            Call::Set(interval) => limiter.set(interval),
            Call::Tick(nanos) => limiter.clock().tick(nanos),
        }
    }
    taken
}

/// Plays calls of a key, some `before` the threads begin, and panics if more than a burst is taken with one reading.
///
/// # Panics
///
/// With "over-admission".
pub fn play<const N: usize>(limiter: impl Limiter, before: &[Call], threads: [&'static [Call]; N]) {
    let mut taken = make(&limiter, before);
    taken.extend(race(&Arc::new(limiter), threads, |limiter, calls| make(limiter, calls)).into_iter().flatten());
    for &(reading, _) in &taken {
        let at_once: u64 = taken.iter().filter(|&&(other, _)| other == reading).map(|&(_, n)| n).sum();
        assert!(at_once <= BURST, "over-admission: {at_once} at {reading}, at most {BURST}");
    }
}
