//! [`Sample`]: what one timed run comes to, and the row that stands for several.

use super::cores;
use crate::figures::outcome::Verdict;
use crate::figures::row::Row;
use crate::figures::stats::{median_index, mops, ns_per_op};

/// What was measured, and what each thread has seen beside.
#[derive(Clone, Debug)]
pub struct Sample<T = ()> {
    /// Calls of all threads.
    pub ops: u64,
    /// Calls that were admitted.
    pub admitted: u64,
    /// From the first call of any thread to the last of any thread: never less than the time the calls took.
    pub seconds: f64,
    /// Calls of the thread that made the fewest.
    pub thread_min: u64,
    /// Calls of the thread that made the most.
    pub thread_max: u64,
    /// Under a mixed load, the part that was admitted of what fell due.
    pub admitted_share: Option<f64>,
    /// Whether the admitted count can be right.
    pub verdict: Verdict,
    /// What each thread has seen.
    pub details: Vec<T>,
}

/// `case` with the figures of the repetition that had the median throughput; but with the largest share admitted of any:
/// what is lost in one repetition and not in another was lost by the machine, whose threads had no core.
///
/// # Panics
///
/// Without any repetition.
pub fn median<T>(case: Row, samples: &[Sample<T>]) -> Row {
    let rates: Vec<_> = samples.iter().map(|sample| mops(sample.ops, sample.seconds)).collect();
    let middle = median_index(&rates).expect("at least one repetition");
    let Sample { ops, admitted, seconds, thread_min, thread_max, .. } = samples[middle];
    Row {
        ops,
        seconds,
        mops: rates[middle],
        ns_per_op: ns_per_op(ops, seconds, case.threads, cores()),
        admitted,
        verified: samples.iter().all(|sample| sample.verdict.is_ok()),
        repetitions: samples.len(),
        mops_min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        mops_max: rates.iter().copied().fold(0.0, f64::max),
        thread_min,
        thread_max,
        admitted_share: samples.iter().filter_map(|sample| sample.admitted_share).reduce(f64::max),
        ..case
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::cast_precision_loss)] // small counts
    fn sample(ops: u64, verdict: Verdict) -> Sample {
        let (thread_min, thread_max, admitted_share) = (1, ops, Some(1.0 / ops as f64));
        Sample {
            ops,
            admitted: ops,
            seconds: 1.0,
            thread_min,
            thread_max,
            admitted_share,
            verdict,
            details: Vec::new(),
        }
    }

    #[test]
    fn a_row_is_the_median_repetition_and_one_fault_spoils_it() {
        let case = Row { threads: 1, engine: "some".into(), ..Row::default() };
        let samples = [sample(3_000_000, Ok(())), sample(9_000_000, Ok(())), sample(5_000_000, Ok(()))];
        let row = median(case.clone(), &samples);
        assert_eq!((row.ops, row.admitted, row.thread_max, row.repetitions), (5_000_000, 5_000_000, 5_000_000, 3));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(
            near(row.mops, 5.0) && near(row.mops_min, 3.0) && near(row.mops_max, 9.0) && near(row.ns_per_op, 200.0)
        );
        assert!(row.verified && row.engine == "some" && row.admitted_share == Some(1.0 / 3e6));
        assert!(!median(case, &[sample(3, Ok(())), sample(9, Err("wrong".into())), sample(5, Ok(()))]).verified);
    }
}
