//! What is recorded, in order.

use crate::measure::clock::CLOCK;
use crate::measure::contention::CONTENTION;
use crate::measure::keyed::KEYED;
use crate::measure::latency::LATENCY;
use crate::measure::measurement::Measurement;
use crate::measure::snapshot::SNAPSHOT;
use crate::measure::writes::WRITES;

/// All measurements that are recorded in rows. The coarse clock's thread runs for good once it is started, so the clocks
/// come last.
pub const STEPS: [Measurement; 6] = [CONTENTION, LATENCY, KEYED, SNAPSHOT, WRITES, CLOCK];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_share_all_of_the_time_and_have_names_of_their_own() {
        assert!((STEPS.iter().map(|step| step.share).sum::<f64>() - 1.0).abs() < 1e-9);
        for (index, step) in STEPS.iter().enumerate() {
            assert_eq!(STEPS.iter().position(|other| other.name == step.name), Some(index));
        }
    }
}
