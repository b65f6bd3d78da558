//! [`Timer`]: what times single calls, and what it does to the figures.

use crate::figures::row::Row;
use hdrhistogram::Histogram;

/// Nanoseconds of single calls, each with one reading of the timer in it.
pub type Latencies = Histogram<u64>;

/// An empty histogram from 1 ns to a minute, exact to three digits. Longer calls count as a minute.
///
/// # Panics
///
/// Never: the bounds are valid.
pub fn histogram() -> Latencies {
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

    /// `row` with the percentiles of `latencies`.
    pub fn percentiles(self, latencies: &Latencies, row: Row) -> Row {
        let at = |quantile| Some(latencies.value_at_quantile(quantile));
        Row {
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            p9999_ns: at(0.9999),
            max_ns: Some(latencies.max()),
            timer_ns: Some(self.overhead),
            timer_step_ns: Some(self.step),
            ..row
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn percentiles_are_those_of_all_calls() {
        let mut latencies = histogram();
        (1..=1_000).for_each(|value| latencies.record(value).unwrap());
        let row = Timer { overhead: 7, step: 3 }.percentiles(&latencies, Row::default());
        assert_eq!((row.p50_ns, row.p90_ns, row.p99_ns), (Some(500), Some(900), Some(990)));
        assert_eq!(
            (row.p999_ns, row.max_ns, row.timer_ns, row.timer_step_ns),
            (Some(999), Some(1_000), Some(7), Some(3))
        );
    }
}
