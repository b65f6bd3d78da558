//! A clock that passes no step on: the library's [`Steady`], and a transcription of its protocol whose
//! rules can be taken away.

mod transcription;

pub use transcription::{Rules, Transcription};

use crate::race;
use crate::sync::{Arc, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use tollgate::{Clock, Nanos, Steady};

/// Where the inner clock stands at first, in nanoseconds.
pub const START: u64 = 1_000;

/// How far back a reading may be, and how far ahead.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The wrapper's `back`, in nanoseconds.
    pub back: u64,
    /// The wrapper's `forward`, in nanoseconds.
    pub forward: u64,
}

/// A clock that threads move.
#[derive(Debug)]
pub struct Inner(AtomicU64);

impl Inner {
    /// Moves on.
    pub fn tick(&self, by: u64) {
        self.0.fetch_add(by, Relaxed);
    }

    /// Jumps.
    pub fn set(&self, to: u64) {
        self.0.store(to, Relaxed);
    }
}

impl Clock for Inner {
    fn now(&self) -> Nanos {
        Nanos(self.0.load(Relaxed))
    }
}

/// What a model does with either.
pub trait Subject: Send + Sync + 'static {
    /// One over `inner`.
    fn over(inner: Arc<Inner>, sizes: Sizes) -> Self;
    /// A reading.
    fn now(&self) -> u64;
    /// How many steps were noticed.
    fn steps(&self) -> u64;
}

impl Subject for Steady<Arc<Inner>> {
    fn over(inner: Arc<Inner>, Sizes { back, forward }: Sizes) -> Self {
        Self::new(inner, Duration::from_nanos(back), Duration::from_nanos(forward))
    }

    fn now(&self) -> u64 {
        Clock::now(self).0
    }

    fn steps(&self) -> u64 {
        Steady::steps(self)
    }
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Moves the inner clock on.
    Tick(u64),
    /// Sets the inner clock.
    Set(u64),
    /// Reads the wrapper.
    Read,
}

/// A wrapper and its inner clock.
pub type Pair<S> = (S, Arc<Inner>);

/// Reads once, lets `before` happen, and then two threads act at once. Returns the wrapper, the inner clock, and what each
/// thread has read.
///
/// # Panics
///
/// If the first reading is not where the inner clock stands.
pub fn play<S: Subject>(
    make: impl FnOnce(Arc<Inner>) -> S,
    before: &[Act],
    threads: [&'static [Act]; 2],
) -> (Arc<Pair<S>>, [Vec<u64>; 2]) {
    let inner = Arc::new(Inner(AtomicU64::new(START)));
    let shared = Arc::new((make(Arc::clone(&inner)), inner));
    assert_eq!(shared.0.now(), START);
    for &act in before {
        act.on(&shared);
    }
    let read = race(&shared, threads, |shared, acts| acts.iter().filter_map(|act| act.on(shared)).collect());
    (shared, read)
}

impl Act {
    fn on<S: Subject>(self, (clock, inner): &Pair<S>) -> Option<u64> {
        match self {
            Self::Tick(by) => inner.tick(by),
            Self::Set(to) => inner.set(to),
            Self::Read => return Some(clock.now()),
        }
        None
    }
}
