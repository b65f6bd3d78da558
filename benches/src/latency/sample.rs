//! One timed run of one engine: the only place where latencies are measured.

use crate::contention::slice::{Run, Slice, Tally, run};
use crate::engine::{Caller, Engine};
use crate::pool::Pool;
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};
use hdrhistogram::Histogram;
use std::time::Instant;

/// Latencies of every call of a run.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Nanoseconds, each with one reading of the timer in it.
    pub histogram: Histogram<u64>,
    /// Calls that were admitted.
    pub admitted: u64,
    /// From the first call of any thread to the last of any thread, with all the bookkeeping between calls.
    pub seconds: f64,
    /// Whether the admitted count can be right.
    pub verdict: Result<(), String>,
}

/// An empty histogram from 1 ns to a minute, exact to three digits. Longer calls count as a minute.
///
/// # Panics
///
/// Never: the bounds are valid.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("valid bounds")
}

/// What the timer does to the figures, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The median time between two readings with nothing in between; it is part of every latency.
    pub overhead: u64,
    /// The smallest step in which it moves: finer differences are not seen.
    pub step: u64,
}

impl Timer {
    /// Reads the timer many times.
    pub fn measure() -> Self {
        let timer = quanta::Clock::new();
        let mut overhead = histogram();
        let mut step = u64::MAX;
        for _ in 0..100_000 {
            let before = timer.raw();
            let gone = timer.delta_as_nanos(before, timer.raw());
            overhead.saturating_record(gone);
            step = if gone == 0 { step } else { step.min(gone) };
        }
        Self { overhead: overhead.value_at_quantile(0.5), step }
    }
}

/// Builds an engine, lets `slice.threads` threads call it for `slice.length` with a reading of the timer before and
/// after each call, and judges what it admitted.
///
/// # Panics
///
/// If the operating system has no more threads to give.
pub fn measure<E: Engine>(pool: &Pool, slice: Slice) -> Latencies {
    let Run { seen, verdict, details } = run::<E, _>(pool, slice, |caller, stop, most| drive::<E>(caller, stop, most));
    let mut all = histogram();
    for histogram in details {
        all.add(&histogram).expect("histograms of one shape");
    }
    Latencies { histogram: all, admitted: seen.admitted, seconds: seen.elapsed.as_secs_f64(), verdict }
}

/// The timed loop. Returns operations, admissions, and when it began and ended.
#[inline(never)]
fn drive<E: Engine>(caller: &mut E::Caller<'_>, stop: &AtomicBool, most: u64) -> (Tally, Histogram<u64>) {
    let timer = quanta::Clock::new();
    let mut histogram = histogram();
    let (mut ops, mut admitted) = (0, 0);
    let start = Instant::now();
    loop {
        let before = timer.raw();
        let answer = black_box(caller.try_acquire());
        let after = timer.raw();
        histogram.saturating_record(timer.delta_as_nanos(before, after));
        admitted += u64::from(answer);
        ops += 1;
        // A thread that got no core before the end makes one call all the same.
        // ORDERING: relaxed, see the store.
        if stop.load(Ordering::Relaxed) || ops >= most {
            break;
        }
    }
    (Tally { ops, admitted, start, end: Instant::now() }, histogram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::baseline::mutex_std::MutexStd;
    use crate::load::Load;
    use core::time::Duration;

    #[test]
    fn every_call_is_timed() {
        let pool = Pool::default();
        for load in Load::ALL {
            let slice = Slice { load, threads: 2, length: Duration::from_millis(3) };
            let sample = measure::<MutexStd>(&pool, slice);
            assert_eq!(sample.verdict, Ok(()), "{load}");
            assert!(!sample.histogram.is_empty() && sample.histogram.len() >= sample.admitted);
        }
    }

    #[test]
    fn a_timer_moves_in_steps_no_longer_than_what_it_takes() {
        let timer = Timer::measure();
        assert!(timer.step > 0 && timer.step <= timer.overhead.max(1), "{timer:?}");
    }

    #[test]
    fn a_call_longer_than_the_histogram_counts_as_its_longest() {
        let mut histogram = histogram();
        histogram.saturating_record(u64::MAX);
        assert!(histogram.max() >= 60_000_000_000);
    }
}
