//! [`Subject`]: anything that takes the operations of a script; the library's limiters, on a clock of each thread's own.

use core::cell::Cell;
use tollgate::algorithm::Algorithm;
use tollgate::{Clock, Denied, Nanos, RateLimiter, Status};

/// One call.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// `try_acquire_n`.
    Take(u64),
    /// `try_acquire_up_to`.
    UpTo(u64),
    /// `refund`.
    Refund(u64),
    /// `status`.
    Look,
}

/// The calls of one thread, each with its reading of the clock in nanoseconds.
pub type Script = &'static [(Op, u64)];

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// So many tokens were taken.
    Taken(u64),
    /// None were, for this reason; the reason tells the word it was decided on.
    Denied(Denied),
    /// Tokens were given back.
    Refunded,
    /// Nothing was changed.
    Seen(Status),
}

/// A call, its reading and its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) op: Op,
    at: Nanos,
    outcome: Outcome,
}

impl Record {
    pub(super) fn admission(&self) -> Option<(Nanos, u64)> {
        if let Outcome::Taken(n) = self.outcome { Some((self.at, n)) } else { None }
    }
}

/// A limiter under test.
pub trait Subject: Send + Sync + 'static {
    /// Makes the call on the reading `at`.
    fn apply(&self, op: Op, at: Nanos) -> Outcome;

    /// The status as of `at`.
    fn look(&self, at: Nanos) -> Status;
}

pub(super) fn run(subject: &impl Subject, script: Script) -> Vec<Record> {
    let act = |&(op, at)| Record { op, at: Nanos(at), outcome: subject.apply(op, Nanos(at)) };
    script.iter().map(act).collect()
}

/// Does a recorded call on `word`, and says whether the outcome is the recorded one.
pub(super) fn step(algorithm: &impl Algorithm, word: &mut u64, record: &Record) -> bool {
    let at = record.at;
    let available = algorithm.available(*word, at);
    let mut take = |n| match algorithm.acquire(*word, n, at) {
        Ok(next) => {
            *word = next;
            Outcome::Taken(n)
        }
        Err(denied) => Outcome::Denied(denied),
    };
    let outcome = match record.op {
        Op::Take(n) => take(n),
        Op::UpTo(n) => take(n.min(available)),
        Op::Refund(n) => {
            *word = algorithm.refund(*word, n, at);
            Outcome::Refunded
        }
        Op::Look => Outcome::Seen(algorithm.status(*word, at)),
    };
    outcome == record.outcome
}

crate::sync::thread_local! {
    #[allow(clippy::missing_const_for_thread_local)] // loom's has no such form
    static READING: Cell<u64> = Cell::new(0);
}

/// A clock that tells each thread what that thread has set: clocks that disagree at will.
#[derive(Clone, Copy, Debug)]
pub struct OwnReading;

impl OwnReading {
    /// The instant that this thread reads from now on.
    pub fn set(at: Nanos) {
        READING.with(|reading| reading.set(at.0));
    }
}

impl Clock for OwnReading {
    fn now(&self) -> Nanos {
        READING.with(|reading| Nanos(reading.get()))
    }
}

impl<A: Algorithm + Send + Sync + 'static> Subject for RateLimiter<A, OwnReading> {
    fn apply(&self, op: Op, at: Nanos) -> Outcome {
        OwnReading::set(at);
        match op {
            Op::Take(n) => self.try_acquire_n(n).map_or_else(Outcome::Denied, |()| Outcome::Taken(n)),
            Op::UpTo(n) => Outcome::Taken(self.try_acquire_up_to(n)),
            Op::Refund(n) => {
                self.refund(n);
                Outcome::Refunded
            }
            Op::Look => Outcome::Seen(self.status()),
        }
    }

    fn look(&self, at: Nanos) -> Status {
        OwnReading::set(at);
        self.status()
    }
}
