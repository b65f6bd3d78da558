//! The single-word protocol: what threads do to a limiter, what must hold afterwards, and twins of the protocol whose
//! rules can be taken away one at a time.
//!
//! ```text
//! rule 1  atomic      the write happens only if the word is still the one that was read: a compare-and-swap
//! rule 2  current     after a lost race the step starts from the word that won
//! rule 3  checked     after a lost race the limit is checked again
//! rule 4  silent      a denial writes nothing
//! rule 5  forward     a late reading never moves the stored time back
//! rule 6  saturating  a late reading means that no time has passed, not nearly 2^64 nanoseconds
//! rule 7  anew        after a lost race the time passed is reckoned from the word that won
//! rule 8  strict      a late reading does not see tokens that fell due after it
//! ```
//!
//! Rules 1 to 4 belong to the loop and are tried on the library's algorithms ([`Loop`]); rules 5 to 8 belong to the
//! arithmetic and are tried on a textbook's token bucket ([`Textbook`]).

mod subject;
mod twin;

pub use subject::{Op, Outcome, OwnReading, Script, Subject};
pub use twin::{Loop, LoopRules, Textbook, TimeRules};

use crate::sync::Arc;
use crate::{assert_bounded, assert_sequential, race};
use subject::{Record, run, step};
use tollgate::algorithm::Algorithm;
use tollgate::{Nanos, Quota, Status};

/// What a set of threads does to one limiter, and what the algorithm promises about it.
#[derive(Clone, Copy, Debug)]
pub struct Scene<A, const N: usize> {
    /// The algorithm, for the sequential explanation.
    pub algorithm: A,
    /// The word of a limiter on which nothing has happened yet.
    pub fresh: u64,
    /// What happens before the threads start.
    pub before: Script,
    /// What each thread does.
    pub threads: [Script; N],
    /// What is promised about clock readings.
    pub bound: Bound,
}

/// A promise about admissions and their readings.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// In any window of readings, no more than the quota, plus what was refunded.
    AnyWindow(Quota),
    /// From any reading on, no more than the limit for each aligned window begun up to the latest reading, plus what
    /// was refunded.
    AlignedWindows(Quota),
}

/// Readings at which a limiter is looked at, before and after: all that the scripts use, and some beside them.
const PROBES: [u64; 7] = [0, 7, 8, 16, 24, 40, 41];

impl<A: Algorithm, const N: usize> Scene<A, N> {
    /// Plays the scene on `subject`, and panics if the outcomes have no sequential explanation, if the limiter ends in
    /// another state than that explanation, if a denial changed it, or if the bound is broken.
    ///
    /// # Panics
    ///
    /// With "no sequential order" or "over-admission".
    pub fn play(self, subject: impl Subject) {
        let subject = Arc::new(subject);
        let before = run(&*subject, self.before);
        let histories = race(&subject, self.threads, |subject, script| run(subject, script)).to_vec();
        let seen = PROBES.map(|at| (Nanos(at), subject.look(Nanos(at))));

        let mut word = self.fresh;
        for record in &before {
            assert!(step(&self.algorithm, &mut word, record), "no sequential order, even for one thread: {record:?}");
        }
        assert_sequential(
            &word,
            &histories,
            |word, record| step(&self.algorithm, word, record),
            |&word| seen.iter().all(|&(at, status)| self.algorithm.status(word, at) == status),
        );

        let all = || before.iter().chain(histories.iter().flatten());
        let refunded = all().map(|record| if let Op::Refund(n) = record.op { n } else { 0 }).sum();
        let admitted: Vec<_> = all().filter_map(Record::admission).collect();
        self.bound.check(&admitted, refunded);
    }
}

impl Bound {
    /// Panics with "over-admission" if `admitted` breaks the promise, though `refunded` tokens were given back meanwhile.
    ///
    /// # Panics
    ///
    /// See above.
    pub fn check(self, admitted: &[(Nanos, u64)], refunded: u64) {
        match self {
            Self::AnyWindow(quota) => assert_bounded(admitted, quota.with_burst(quota.burst() + refunded)),
            Self::AlignedWindows(quota) => {
                let index = |at: Nanos| u128::from(at.0) / quota.period().as_nanos();
                let Some(latest) = admitted.iter().map(|&(at, _)| index(at)).max() else { return };
                for &(from, _) in admitted {
                    let since: u128 = admitted.iter().filter(|&&(at, _)| at >= from).map(|&(_, n)| u128::from(n)).sum();
                    let most = u128::from(quota.tokens()) * (latest - index(from) + 1) + u128::from(refunded);
                    assert!(since <= most, "over-admission: {since} from {from:?} on in {admitted:?}");
                }
            }
        }
    }
}

/// What a limiter shows at each of the `PROBES`.
pub fn looks(subject: &impl Subject) -> Vec<Status> {
    PROBES.map(|at| subject.look(Nanos(at))).to_vec()
}
