//! What `record` measures, in order.

use crate::contention::{self, Outcome};
use crate::load::Load;
use crate::plan::{Options, Plan, cores};
use crate::plot::Plot;
use crate::registry::ENTRIES;
use crate::row::Row;
use crate::{clock, keyed, latency, writes};
use core::num::NonZeroUsize;

/// One file of figures.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The name of its files.
    pub name: &'static str,
    /// Its share of the time.
    pub share: f64,
    /// Measures it within so many seconds.
    pub measure: fn(f64) -> Result<Outcome, String>,
    /// Draws it.
    pub plot: Option<fn(&[Row]) -> Plot>,
}

/// All steps. The coarse clock's thread then runs for good, so the clocks come last.
pub const STEPS: &[Step] = &[
    Step {
        name: "contention",
        share: 0.4,
        measure: |seconds| Ok(contention::measure(&Plan::new(&options(seconds, 5, &Load::ALL), ENTRIES, &doubling())?)),
        plot: Some(contention::plot::plot),
    },
    Step {
        name: "latency",
        share: 0.15,
        measure: |seconds| {
            let options = options(seconds, 3, &[Load::Admit, Load::Deny]);
            Ok(latency::measure(&Plan::new(&options, ENTRIES, &[1, 2, cores()])?))
        },
        plot: Some(latency::plot::plot),
    },
    Step {
        name: "keyed",
        share: 0.4, // for the timed runs; building tables and floods come on top
        measure: |seconds| keyed::measure(&keyed::Options::rough(seconds)),
        plot: Some(keyed::plot::plot),
    },
    Step { name: "writes", share: 0.0, measure: |_| writes::rows(ENTRIES), plot: None },
    Step {
        name: "clock",
        share: 0.05,
        measure: |seconds| clock::rows(&options(seconds * 4.0, 5, &[])), // it takes a quarter of what it is given
        plot: None,
    },
];

fn options(seconds: f64, repetitions: usize, loads: &[Load]) -> Options {
    Options {
        engine: Vec::new(),
        clock: Vec::new(),
        threads: Vec::new(),
        load: loads.to_vec(),
        quick: false,
        seconds,
        repetitions: NonZeroUsize::new(repetitions).expect("some repetitions"),
        csv: None,
        svg: None,
    }
}

/// Thread counts from 1 to 64, each twice the one before.
fn doubling() -> Vec<usize> {
    (0..7).map(|power| 1 << power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_share_all_of_the_time_and_have_names_of_their_own() {
        assert!((STEPS.iter().map(|step| step.share).sum::<f64>() - 1.0).abs() < 1e-9);
        for (index, step) in STEPS.iter().enumerate() {
            assert_eq!(STEPS.iter().position(|other| other.name == step.name), Some(index));
        }
        assert_eq!(doubling(), [1, 2, 4, 8, 16, 32, 64]);
    }
}
