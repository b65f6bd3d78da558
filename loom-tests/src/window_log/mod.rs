//! The sliding window log's protocol: what threads do to a log, what must hold afterwards, and a transcription whose
//! rules can be taken away one at a time.
//!
//! The rules have the numbers of the library's own list, in the header of its module; [`Rules`] names those that can be
//! taken away.

mod twin;

pub use twin::{Rules, Stop, Twin};

use crate::cell::{Op, OwnReading, Script};
use crate::sync::Arc;
use crate::{assert_sequential, explained, race};
use core::time::Duration;
use tollgate::{Nanos, Quota, SlidingWindowLog, Status};
use tollgate_testing::reference::{self, Model};
use tollgate_testing::trace::{Admission, first_overfull_span};

/// The period of every log here, in nanoseconds.
pub const PERIOD: u64 = 16;

/// Readings at which a log is looked at when all is done.
const PROBES: [u64; 8] = [0, 8, 16, 24, 25, 32, 40, 57];

/// What a set of threads does to one log.
#[derive(Clone, Copy, Debug)]
pub struct Scene<const N: usize> {
    /// Units per period.
    pub limit: u64,
    /// What happens before the threads start.
    pub before: Script,
    /// What each thread does.
    pub threads: [Script; N],
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// So many units were taken.
    Taken(u64),
    /// None were; they can be after this long.
    Denied(Duration),
    /// Nothing was changed.
    Seen(Status),
}

/// A log under test.
pub trait Subject: Send + Sync + 'static {
    /// Makes the call on the reading `at`.
    fn apply(&self, op: Op, at: Nanos) -> Outcome;

    /// The status as of `at`.
    fn look(&self, at: Nanos) -> Status;
}

/// A call, its reading and its outcome.
#[derive(Clone, Copy, Debug)]
struct Record {
    op: Op,
    at: Nanos,
    outcome: Outcome,
}

fn run(subject: &impl Subject, script: Script) -> Vec<Record> {
    script.iter().map(|&(op, at)| Record { op, at: Nanos(at), outcome: subject.apply(op, Nanos(at)) }).collect()
}

/// The exact log, and its limit.
#[derive(Clone, Debug)]
struct Exact {
    limit: u64,
    log: reference::SlidingWindowLog,
}

impl Exact {
    fn new(limit: u64) -> Self {
        Self { limit, log: reference::SlidingWindowLog::new(Quota::per(limit, Duration::from_nanos(PERIOD))) }
    }

    /// Does a recorded call, and says whether the outcome is the recorded one.
    fn step(&mut self, record: &Record) -> bool {
        let Record { op, at, outcome } = *record;
        match (op, outcome) {
            (Op::Take(n), Outcome::Taken(taken)) => n == taken && self.log.admit(n, at),
            (Op::Take(n), Outcome::Denied(wait)) => !self.log.would_admit(n, at) && wait == self.wait_for(n, at),
            (Op::UpTo(n), Outcome::Taken(taken)) => taken == self.log.admit_up_to(n, at),
            (Op::Look, Outcome::Seen(status)) => status == self.status(at),
            _ => false,
        }
    }

    fn wait_for(&self, n: u64, at: Nanos) -> Duration {
        Duration::from_nanos(self.log.earliest(n, at).expect("at most the limit").0 - at.0)
    }

    fn status(&self, at: Nanos) -> Status {
        let (retry_after, reset_after) = (self.wait_for(1, at), self.wait_for(self.limit, at));
        Status::new(self.limit, self.log.available(at), Some(retry_after), reset_after)
    }
}

/// Panics with "over-admission" if some half-open span of [`PERIOD`] holds more than `limit`.
///
/// # Panics
///
/// See above.
pub fn assert_no_span_overfull(admitted: &[Admission], limit: u64) {
    if let Some(span) = first_overfull_span(admitted, Duration::from_nanos(PERIOD), limit) {
        panic!("over-admission: {span}, of {admitted:?}");
    }
}

impl<const N: usize> Scene<N> {
    /// Plays the scene on `subject`, and panics if the outcomes have no sequential explanation on an exact log, if the
    /// log ends in another state than that explanation, or if some span of a period holds more than the limit.
    ///
    /// # Panics
    ///
    /// With "no sequential order" or "over-admission".
    pub fn play(self, subject: impl Subject) {
        let subject = Arc::new(subject);
        let before = run(&*subject, self.before);
        let histories = race(&subject, self.threads, |subject, script| run(subject, script)).to_vec();
        let seen = PROBES.map(|at| (Nanos(at), subject.look(Nanos(at))));
        self.check_bound(before.iter().chain(histories.iter().flatten()));
        assert_sequential(&self.start(&before), &histories, Exact::step, |exact| looks_like(exact, &seen));
    }

    /// Plays the scene on `twin`, in which the first thread stops for ever in the middle of its last call. The others
    /// must come to an end, and their outcomes must have an explanation, whether or not that call takes effect.
    ///
    /// # Panics
    ///
    /// With "stuck", "no sequential order" or "over-admission".
    pub fn play_with_a_stopped_thread(self, twin: Twin, stop: Stop) {
        let twin = Arc::new(twin);
        let before = run(&*twin, self.before);
        let mut first = true;
        let inputs = self.threads.map(|script| (script, core::mem::take(&mut first)));
        let mut histories = race(&twin, inputs, move |twin, (script, stops)| {
            let (last, all_but_last) = script.split_last().expect("a thread does something");
            if !stops {
                return run(twin, script);
            }
            let records = run(twin, all_but_last);
            let &(Op::Take(n), at) = last else { unreachable!("a take is what stops") };
            twin.take_and_stop(n, at, stop);
            records
        })
        .to_vec();
        let seen = PROBES.map(|at| (Nanos(at), twin.look(Nanos(at))));

        let start = self.start(&before);
        let without = explained(&start, &histories, Exact::step, |exact| looks_like(exact, &seen));
        let Some(&(op, at)) = self.threads[0].last() else { unreachable!("checked above") };
        let Op::Take(n) = op else { unreachable!("checked above") };
        histories[0].push(Record { op, at: Nanos(at), outcome: Outcome::Taken(n) });
        let with = explained(&start, &histories, Exact::step, |exact| looks_like(exact, &seen));
        assert!(without || with, "no sequential order with a call stopped at {stop:?}: {histories:?}");
        if with {
            self.check_bound(before.iter().chain(histories.iter().flatten()));
        }
    }

    fn start(&self, before: &[Record]) -> Exact {
        let mut exact = Exact::new(self.limit);
        for record in before {
            assert!(exact.step(record), "no sequential order, even for one thread: {record:?}");
        }
        exact
    }

    fn check_bound<'a>(&self, records: impl Iterator<Item = &'a Record>) {
        let admitted = records.filter_map(|record| match record.outcome {
            Outcome::Taken(n) => Some(Admission::new(n, record.at)),
            _ => None,
        });
        assert_no_span_overfull(&admitted.collect::<Vec<_>>(), self.limit);
    }
}

fn looks_like(exact: &Exact, seen: &[(Nanos, Status)]) -> bool {
    seen.iter().all(|&(at, status)| exact.status(at) == status)
}

impl Subject for SlidingWindowLog<OwnReading> {
    fn apply(&self, op: Op, at: Nanos) -> Outcome {
        OwnReading::set(at);
        match op {
            Op::Take(n) => match self.try_acquire_n(n) {
                Ok(()) => Outcome::Taken(n),
                Err(denied) => Outcome::Denied(denied.retry_after().expect("no cost is above the limit")),
            },
            Op::UpTo(n) => Outcome::Taken(self.try_acquire_up_to(n)),
            Op::Refund(_) => unreachable!("a log takes nothing back"),
            Op::Look => Outcome::Seen(self.status()),
        }
    }

    fn look(&self, at: Nanos) -> Status {
        OwnReading::set(at);
        self.status()
    }
}
