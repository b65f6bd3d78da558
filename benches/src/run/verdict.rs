//! Whether the counts of a measurement can be right.

use crate::engine::load::{CLOCK_SLACK, Load, accrued};
use crate::figures::outcome::Verdict;
use core::time::Duration;
use tollgate::Quota;

/// What a measurement saw, for [`verify`].
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// Calls made.
    pub ops: u64,
    /// Calls admitted.
    pub admitted: u64,
    /// From the first call of any thread to the last of any thread.
    pub elapsed: Duration,
}

/// Judges the admitted count of one measurement against `most`, the engine's own documented bound.
///
/// - admit: every call.
/// - deny: none.
/// - mixed: at most what the engine's bound allows in the time measured; and not absurdly few, which is less than both
///   a tenth of what the rate brings in over that time and what it brings in over a nanosecond for each call. (Threads
///   without a core lose tokens to a full bucket, but then they make few calls; no engine's call is that short.)
///
/// # Errors
///
/// Says in words what is wrong.
pub fn verify(load: Load, quota: Quota, most: u64, seen: Evidence) -> Verdict {
    let Evidence { ops, admitted, elapsed } = seen;
    // With the same allowance as the bound.
    let few = (accrued(quota, elapsed + elapsed / CLOCK_SLACK) / 10).min(accrued(quota, Duration::from_nanos(ops)));
    match load {
        Load::Admit if admitted != ops => {
            Err(format!("{} of {ops} calls denied, though none should be", ops - admitted))
        }
        Load::Deny if admitted != 0 => Err(format!("{admitted} of {ops} calls admitted after the engine was drained")),
        Load::Mixed1e5 | Load::Mixed1e6 | Load::Mixed if admitted > most => {
            Err(format!("{admitted} calls admitted in {elapsed:?}, though the bound is {most}"))
        }
        Load::Mixed1e5 | Load::Mixed1e6 | Load::Mixed if admitted < few => {
            Err(format!("only {admitted} of {ops} calls admitted in {elapsed:?}, absurdly few for the rate"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ops: u64, admitted: u64, millis: u64) -> Evidence {
        Evidence { ops, admitted, elapsed: Duration::from_millis(millis) }
    }

    #[test]
    fn one_denial_spoils_an_admit_load_and_one_admission_a_deny_load() {
        for (load, right, wrong) in [(Load::Admit, 1_000, 999), (Load::Deny, 0, 1)] {
            assert_eq!(verify(load, load.quota(), u64::MAX, seen(1_000, right, 1)), Ok(()));
            assert!(verify(load, load.quota(), u64::MAX, seen(1_000, wrong, 1)).is_err());
        }
    }

    #[test]
    fn a_mixed_load_has_a_bound_above_and_below() {
        let verify = |evidence| verify(Load::Mixed, Load::Mixed.quota(), 110_000, evidence);
        assert_eq!(verify(seen(500_000, 110_000, 10)), Ok(()));
        assert!(verify(seen(500_000, 110_001, 10)).is_err());
        // In 10 ms (and 1 %) 101,000 tokens fall due: 10,100 admitted is little, less is absurd.
        assert_eq!(verify(seen(5_000_000, 10_100, 10)), Ok(()));
        assert!(verify(seen(5_000_000, 10_099, 10)).is_err());
        // Threads that seldom had a core are held to their own calls.
        assert_eq!(verify(seen(500_000, 5_000, 10)), Ok(()));
        assert!(verify(seen(500_000, 4_999, 10)).is_err());
    }

    #[test]
    fn at_a_low_rate_few_of_many_calls_are_right() {
        // A core for 5 ms of 100 ms: some 500 tokens of the 10,000 that fell due, and 0.1 % of the calls.
        let verify = |evidence| verify(Load::Mixed1e5, Load::Mixed1e5.quota(), 20_000, evidence);
        assert_eq!(verify(seen(500_000, 500, 100)), Ok(()));
        assert!(verify(seen(500_000, 49, 100)).is_err());
    }
}
