//! A limiter whose quota changes: the library's types, and the protocol in short, each rule of which can be left out.
//!
//! Rules are those of `src/operate/adjustable/mod.rs`.

mod transcription;

pub use transcription::{Rules, Transcription};

use crate::{assert_sequential, race};
use core::time::Duration;
use std::sync::Arc;
use tollgate::{
    Adjustable, AdjustableFixedWindow, AdjustableLimiter, AdjustableSlidingWindowCounter, AdjustableTokenBucket,
    ManualClock, Nanos, Quota,
};

/// A quota, for the library and for the transcription.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The burst, in tokens.
    pub burst: u64,
    /// Nanoseconds until the next token; in the transcription, also how many units a token is, so that scales differ.
    pub interval: u64,
}

impl Terms {
    fn bucket(self) -> Quota {
        Quota::per(1, Duration::from_nanos(self.interval)).with_burst(self.burst)
    }

    /// The same rate, and as much at once.
    fn windows(self) -> Quota {
        Quota::per(self.burst, Duration::from_nanos(self.burst * self.interval))
    }
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// Takes so many tokens, or none.
    Take(u64),
    /// Gives so many tokens back.
    Refund(u64),
    /// Changes the quota; what is owed stays owed.
    Set(Terms),
    /// Moves the clock by so many nanoseconds.
    Tick(u64),
}

/// A bucket under test, on a clock of its own that stands at 0.
pub trait Limiter: Send + Sync + 'static {
    /// Makes a call; whether it was admitted, or true.
    fn perform(&self, call: Call) -> bool;

    /// Whole tokens that can be taken now, when nobody is at work.
    fn available(&self) -> u64;
}

/// One of the library's types.
#[derive(Debug)]
pub struct Real<A: Adjustable> {
    limiter: AdjustableLimiter<A, ManualClock>,
    clock: ManualClock,
    quota: fn(Terms) -> Quota,
}

/// A constructor for each: a full one.
macro_rules! real {
    ($($name:ident: $limiter:ident, $quota:expr;)*) => {$(
        #[doc = concat!("A full `", stringify!($limiter), "`.")]
        pub fn $name(terms: Terms) -> impl Limiter {
            let (clock, quota): (_, fn(Terms) -> Quota) = (ManualClock::starting_at(Nanos::ZERO), $quota);
            Real { limiter: $limiter::with_clock(quota(terms), clock.clone()), clock, quota }
        }
    )*};
}

real! {
    token_bucket: AdjustableTokenBucket, Terms::bucket;
    fixed_window: AdjustableFixedWindow, Terms::windows;
    sliding_window_counter: AdjustableSlidingWindowCounter, Terms::windows;
}

impl<A: Adjustable + Send + Sync + 'static> Limiter for Real<A> {
    fn perform(&self, call: Call) -> bool {
        match call {
            Call::Take(n) => return self.limiter.try_acquire_n(n).is_ok(),
            Call::Refund(n) => self.limiter.refund(n),
            Call::Set(terms) => self.limiter.set_quota((self.quota)(terms)).expect("there is a spare bank"),
            Call::Tick(nanos) => self.clock.advance(Duration::from_nanos(nanos)),
        }
        true
    }

    fn available(&self) -> u64 {
        self.limiter.available()
    }
}

/// The exact bucket at one instant: its burst, and what is owed.
#[derive(Clone, Copy, Debug)]
struct Exact {
    burst: u64,
    owed: u64,
}

impl Exact {
    fn step(&mut self, call: Call, admitted: bool) -> bool {
        match call {
            Call::Take(n) => {
                let could = self.owed + n <= self.burst;
                self.owed += if could { n } else { 0 };
                return could == admitted;
            }
            Call::Refund(n) => self.owed = self.owed.saturating_sub(n),
            Call::Set(terms) => self.burst = terms.burst,
            Call::Tick(_) => unreachable!("no time passes in a sequential explanation"),
        }
        true
    }
}

/// Plays calls at one instant, and panics if no order of them explains what came of them and what is left.
///
/// # Panics
///
/// With "no sequential order".
pub fn play_at_once<const N: usize>(limiter: impl Limiter, burst: u64, before: &[Call], threads: [&'static [Call]; N]) {
    let limiter = Arc::new(limiter);
    let mut start = Exact { burst, owed: 0 };
    for &call in before {
        assert!(start.step(call, limiter.perform(call)), "no sequential order, even for one thread: {call:?}");
    }
    let histories = race(&limiter, threads, |limiter, calls| {
        calls.iter().map(|&call| (call, limiter.perform(call))).collect::<Vec<_>>()
    });
    let left = limiter.available();
    let end = |exact: &Exact| exact.burst.saturating_sub(exact.owed) == left;
    assert_sequential(&start, &histories, |exact, &(call, admitted)| exact.step(call, admitted), end);
}

/// Plays a change of quota against a thread that moves the clock and takes, and panics if more than `most` tokens are
/// taken, all of them at the last instant.
///
/// # Panics
///
/// With "over-admission".
pub fn play_with_the_clock(limiter: impl Limiter, most: u64, threads: [&'static [Call]; 2]) {
    let taken = race(&Arc::new(limiter), threads, |limiter, calls| {
        let taken = calls.iter().map(|&call| match (call, limiter.perform(call)) {
            (Call::Take(n), true) => n,
            _ => 0,
        });
        taken.sum::<u64>()
    });
    let taken: u64 = taken.iter().sum();
    assert!(taken <= most, "over-admission: {taken} at one instant, at most {most}");
}
