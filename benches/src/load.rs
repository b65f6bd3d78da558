//! [`Load`]: what is asked of an engine, and whether its answers can be right.

use core::fmt;
use core::time::Duration;
use tollgate::Quota;

/// A kind of traffic. The kinds are measured apart, for an engine's cost of admitting says nothing about its cost of
/// denying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Load {
    /// Every call is admitted.
    Admit,
    /// The engine has been drained: every call is denied.
    Deny,
    /// Calls come faster than the rate: some are admitted, the rest denied.
    Mixed,
}

impl Load {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::Admit, Self::Deny, Self::Mixed];

    /// The name in csv files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Deny => "deny",
            Self::Mixed => "mixed",
        }
    }

    /// The quota that makes this load. All engines get the same one, unless they say otherwise.
    ///
    /// - admit: 1e9 per second, given as a million each millisecond so that window limiters need no giant window, and
    ///   a burst of 4e9, about the most that a peer's 32 bits can hold. A measurement never asks for more than the
    ///   burst, so that nothing is denied however fast the machine.
    /// - deny: 1024 each 30 days. Once drained, the next token is 42 minutes away. The burst is large enough for a
    ///   sharded limiter to use its shards.
    /// - mixed: 1e7 per second, given as 10,000 each millisecond, with a burst of as many.
    pub const fn quota(self) -> Quota {
        match self {
            Self::Admit => Quota::per(1_000_000, Duration::from_millis(1)).with_burst(4_000_000_000),
            Self::Deny => Quota::per(1_024, Duration::from_hours(720)),
            Self::Mixed => Quota::per(10_000, Duration::from_millis(1)),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
///   a tenth of what the rate brings in and a hundredth of the calls. (Threads without a core lose tokens to a full
///   bucket, but then they make few calls.)
///
/// # Errors
///
/// Says in words what is wrong.
pub fn verify(load: Load, quota: Quota, most: u64, seen: Evidence) -> Result<(), String> {
    let Evidence { ops, admitted, elapsed } = seen;
    match load {
        Load::Admit if admitted != ops => {
            Err(format!("{} of {ops} calls denied, though none should be", ops - admitted))
        }
        Load::Deny if admitted != 0 => Err(format!("{admitted} of {ops} calls admitted after the engine was drained")),
        Load::Mixed if admitted > most => {
            Err(format!("{admitted} calls admitted in {elapsed:?}, though the bound is {most}"))
        }
        Load::Mixed if admitted < (accrued(quota, elapsed) / 10).min(ops / 100) => {
            Err(format!("only {admitted} of {ops} calls admitted in {elapsed:?}, absurdly few for the rate"))
        }
        _ => Ok(()),
    }
}

/// How much longer a measured time may be on the engine's clock than on ours: clocks are calibrated apart.
const CLOCK_SLACK: u32 = 100; // one part in

/// The tokens that fall due in `elapsed`, with an allowance of 1 % for clocks that run at different speeds.
pub fn accrued(quota: Quota, elapsed: Duration) -> u64 {
    let elapsed = elapsed + elapsed / CLOCK_SLACK;
    let due = u128::from(quota.tokens()) * elapsed.as_nanos() / quota.period().as_nanos();
    u64::try_from(due).unwrap_or(u64::MAX)
}

/// The windows of the quota's length that `elapsed` can touch, at most, with an allowance as in [`accrued`].
pub fn windows(quota: Quota, elapsed: Duration) -> u64 {
    let elapsed = elapsed + elapsed / CLOCK_SLACK;
    let whole = elapsed.as_nanos() / quota.period().as_nanos();
    u64::try_from(whole).unwrap_or(u64::MAX).saturating_add(2)
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
    fn what_accrues_and_which_windows_are_touched() {
        let quota = Quota::per(10, Duration::from_millis(100));
        assert_eq!(accrued(quota, Duration::from_secs(1)), 101);
        assert_eq!(accrued(quota, Duration::ZERO), 0);
        assert_eq!(windows(quota, Duration::from_millis(50)), 2);
        assert_eq!(windows(quota, Duration::from_millis(100)), 3);
    }

    #[test]
    fn the_quotas_are_the_ones_documented() {
        for load in Load::ALL {
            // Peers count in 32 bits and in whole nanoseconds per token.
            assert!(u32::try_from(load.quota().burst()).is_ok());
            assert_eq!(load.quota().period().as_nanos() % u128::from(load.quota().tokens()), 0);
        }
        let deny = Load::Deny.quota();
        assert!(deny.period() / u32::try_from(deny.tokens()).unwrap() > Duration::from_mins(42));
    }
}
