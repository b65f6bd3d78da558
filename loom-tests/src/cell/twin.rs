//! [`Loop`] and [`Textbook`]: transcriptions of the protocol whose rules can be taken away.

use super::subject::{Op, Outcome, Subject};
use crate::sync::{AtomicU64, Ordering::Relaxed};
use core::convert::Infallible;
use tollgate::algorithm::Algorithm;
use tollgate::{Nanos, Status};

/// The CAS loop's rules; see the [module](super).
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct LoopRules {
    /// Rule 1; without it, a load and then a store.
    pub atomic: bool,
    /// Rule 2; without it, the word that was decided on before the race replaces the one that won.
    pub current: bool,
    /// Rule 3; without it, the change that was decided on before the race is added to the word that won.
    pub checked: bool,
    /// Rule 4; without it, a denial stores the word that it has seen.
    pub silent: bool,
}

impl LoopRules {
    /// The protocol as it is.
    pub const ALL: Self = Self { atomic: true, current: true, checked: true, silent: true };
}

/// The CAS loop over one of the library's algorithms.
#[derive(Debug)]
pub struct Loop<A> {
    word: AtomicU64,
    algorithm: A,
    rules: LoopRules,
}

impl<A: Algorithm> Loop<A> {
    /// A loop over a word that holds `word`.
    pub fn new(algorithm: A, word: u64, rules: LoopRules) -> Self {
        Self { word: AtomicU64::new(word), algorithm, rules }
    }

    fn update<T: Copy, E>(&self, step: impl Fn(u64) -> Result<(u64, T), E>) -> Result<T, E> {
        let mut word = self.word.load(Relaxed);
        let mut decision = step(word);
        loop {
            let (next, output) = match decision {
                Ok((next, output)) if next == word => return Ok(output),
                Ok(admitted) => admitted,
                Err(denied) => {
                    if !self.rules.silent {
                        self.word.store(word, Relaxed);
                    }
                    return Err(denied);
                }
            };
            if !self.rules.atomic {
                self.word.store(next, Relaxed);
                return Ok(output);
            }
            match self.word.compare_exchange(word, next, Relaxed, Relaxed) {
                Ok(_) => return Ok(output),
                Err(won) => {
                    decision = if !self.rules.current {
                        Ok((next, output))
                    } else if !self.rules.checked {
                        Ok((won.wrapping_add(next.wrapping_sub(word)), output))
                    } else {
                        step(won)
                    };
                    word = won;
                }
            }
        }
    }
}

impl<A: Algorithm + Send + Sync + 'static> Subject for Loop<A> {
    fn apply(&self, op: Op, at: Nanos) -> Outcome {
        let take = |word, n| Ok((self.algorithm.acquire(word, n, at)?, n));
        match op {
            Op::Take(n) => self.update(|word| take(word, n)).map_or_else(Outcome::Denied, Outcome::Taken),
            Op::UpTo(n) => {
                let taken = self.update(|word| take(word, self.algorithm.available(word, at).min(n)));
                taken.map_or_else(Outcome::Denied, Outcome::Taken)
            }
            Op::Refund(n) => {
                let Ok(()) = self.update(|word| Ok::<_, Infallible>((self.algorithm.refund(word, n, at), ())));
                Outcome::Refunded
            }
            Op::Look => Outcome::Seen(self.look(at)),
        }
    }

    fn look(&self, at: Nanos) -> Status {
        self.algorithm.status(self.word.load(Relaxed), at)
    }
}

/// The arithmetic's rules; see the [module](super).
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct TimeRules {
    /// Rule 5; without it, the latest admission's reading is stored, however old.
    pub forward: bool,
    /// Rule 6; without it, the difference of a late reading wraps around.
    pub saturating: bool,
    /// Rule 7; without it, the time passed is reckoned once, from the word that was read first.
    pub anew: bool,
    /// Rule 8; without it, a late reading spends whatever is there.
    pub strict: bool,
}

impl TimeRules {
    /// The protocol as it is.
    pub const ALL: Self = Self { forward: true, saturating: true, anew: true, strict: true };
}

/// A token bucket as textbooks have it, tokens and time of the last refill: one token each 8 ns.
///
/// It stands for the library's packed bucket, whose arithmetic cannot be taken apart from outside.
#[derive(Debug)]
pub struct Textbook {
    /// Time in the upper half, in tokens due since the origin; tokens in the lower half.
    word: AtomicU64,
    burst: u64,
    rules: TimeRules,
}

impl Textbook {
    /// A full bucket at the clock's origin.
    pub fn new(burst: u64, rules: TimeRules) -> Self {
        Self { word: AtomicU64::new(burst), burst, rules }
    }

    /// Takes `n` tokens as of `now`, or none.
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> bool {
        let due = now.0 / 8;
        let passed_since = |stamp: u64| {
            if self.rules.saturating { due.saturating_sub(stamp) } else { due.wrapping_sub(stamp) }
        };
        let mut word = self.word.load(Relaxed);
        let first = passed_since(word >> 32);
        loop {
            let (stamp, tokens) = (word >> 32, word & u64::from(u32::MAX));
            let passed = if self.rules.anew { passed_since(stamp) } else { first };
            let tokens = tokens.saturating_add(passed).min(self.burst);
            let not_yet_due = if self.rules.strict { stamp.saturating_sub(due) } else { 0 };
            if n + not_yet_due > tokens {
                return false;
            }
            let stamp = if self.rules.forward { stamp.max(due) } else { due };
            match self.word.compare_exchange(word, (stamp << 32) | (tokens - n), Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(won) => word = won,
            }
        }
    }
}
