//! The sharded protocol in short, each rule of which can be left out.
//!
//! Rules are those of `src/sharded/mod.rs`; the pure steps are the library's. The library's own
//! type goes through the same models: see [`Limiter`].

mod real;
mod transcription;

pub use real::Real;
pub use transcription::{Cancel, Rules, Transcription};

use core::sync::atomic::{AtomicU64 as Unseen, Ordering::SeqCst};
use core::time::Duration;
use tollgate::{Nanos, Quota};

/// A small world: what a model starts with.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Slots that threads share.
    pub shards: usize,
    /// Slots for handles.
    pub handles: usize,
    /// The most credits per slot.
    pub batch: u64,
    /// The burst of the central word: `Bc`.
    pub central: u64,
    /// Tokens that fall due each nanosecond.
    pub rate: u64,
    /// By how much clocks may disagree, in nanoseconds.
    pub skew: u64,
}

impl World {
    /// One slot with room for one credit. Four tokens in the central word, which fall due in one nanosecond.
    pub const SMALL: Self = Self { shards: 1, handles: 0, batch: 1, central: 4, rate: 4, skew: 0 };

    /// What the limiter is built for, with `reserve` tokens beside the credits that slots have room for.
    fn quota(&self, reserve: u64) -> Quota {
        let burst = self.central + (self.shards + self.handles) as u64 * self.batch + reserve;
        Quota::per(self.rate, Duration::from_nanos(1)).with_burst(burst)
    }

    /// The bound that holds in the end.
    fn bound(&self, reserve: u64) -> Quota {
        let quota = self.quota(reserve);
        quota.with_burst(quota.burst() + self.rate * self.skew)
    }
}

/// Nanoseconds in each of the model's. At several tokens in a nanosecond a unit would be several tokens.
const TICK: u64 = 8;

/// The quota as a limiter sees it.
fn slower(quota: Quota) -> Quota {
    Quota::per(quota.tokens(), Duration::from_nanos(TICK)).with_burst(quota.burst())
}

/// The instant as a limiter sees it.
fn real(now: Nanos) -> Nanos {
    Nanos(now.0 * TICK)
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Takes so many tokens.
    Acquire(u64),
    /// Takes so many tokens as of a reading of the clock taken before.
    AcquireAt(u64),
    /// Takes what there is, up to so many tokens, as no handle.
    UpTo(u64),
    /// Gives a token back.
    Refund,
    /// Becomes a handle.
    Claim,
    /// Drops the handle.
    Release,
    /// Moves the clock by so many nanoseconds.
    Tick(u64),
    /// Reads a clock from now on that is behind by the world's skew.
    FallBehind,
}

/// An admission, which counts at some instant from `from` to `to`.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    /// The earliest instant.
    pub from: Nanos,
    /// The latest instant.
    pub to: Nanos,
    /// Tokens.
    pub cost: u64,
}

/// How what there is in all is added up, while others may be at work.
#[derive(Clone, Copy, Debug)]
pub enum Sum {
    /// By `available`.
    Available,
    /// By the status that a call of such a cost has left.
    Status(u64),
    /// By a snapshot: what a bucket has that is restored from it.
    Snapshot,
}

/// What can be done with a sharded limiter.
pub trait Limiter: Send + Sync + 'static {
    /// Makes all calls of a thread whose slot is `shard`; returns what it was admitted.
    fn perform(&self, shard: usize, calls: &[Call]) -> Vec<Admission>;

    /// Tokens that can be taken one at a time, when nobody is at work.
    fn available(&self) -> u64;

    /// What a thread whose slot is `shard` took for it, and the sum that it was told.
    fn told(&self, shard: usize, sum: Sum) -> [u64; 2];

    /// The bound that holds.
    fn bound(&self) -> Quota;
}

/// The time as it really is, whatever anybody has read: not an atomic of the model, so that looking at it is no step.
#[derive(Debug, Default)]
struct Truth(Unseen);

impl Truth {
    fn now(&self) -> Nanos {
        Nanos(self.0.load(SeqCst))
    }

    fn tick(&self, by: u64) {
        self.0.fetch_add(by, SeqCst);
    }
}

/// Panics with "over-admission" if in any window more was admitted than `quota` allows, counting only what must lie in it.
///
/// # Panics
///
/// See above; the message names the window.
pub fn assert_bounded_within(admitted: &[Admission], quota: Quota) {
    for &Admission { from, .. } in admitted {
        for &Admission { to, .. } in admitted.iter().filter(|admission| from <= admission.to) {
            let within = admitted.iter().filter(|one| from <= one.from && one.to <= to);
            let passed: u128 = within.map(|one| u128::from(one.cost)).sum();
            let period = quota.period().as_nanos();
            let due = u128::from(quota.burst()) * period + u128::from(quota.tokens()) * u128::from(to.0 - from.0);
            assert!(passed * period <= due, "over-admission: {passed} from {from:?} to {to:?} in {admitted:?}");
        }
    }
}
