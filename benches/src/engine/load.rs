//! [`Load`]: what is asked of an engine, and what falls due meanwhile.

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
    /// Calls come faster than a rate of 1e5 per second: some are admitted, the rest denied.
    #[value(name = "mixed-1e5")]
    Mixed1e5,
    /// As before, with 1e6 per second.
    #[value(name = "mixed-1e6")]
    Mixed1e6,
    /// As before, with 1e7 per second.
    #[value(alias = "mixed-1e7")]
    Mixed,
}

impl Load {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Admit, Self::Deny, Self::Mixed1e5, Self::Mixed1e6, Self::Mixed];

    /// The name in csv files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Deny => "deny",
            Self::Mixed1e5 => "mixed-1e5",
            Self::Mixed1e6 => "mixed-1e6",
            Self::Mixed => "mixed",
        }
    }

    /// What it is, in words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Admit => "Every call is admitted",
            Self::Deny => "Every call is denied",
            Self::Mixed1e5 => "More calls than 1e5 per second",
            Self::Mixed1e6 => "More calls than 1e6 per second",
            Self::Mixed => "More calls than 1e7 per second",
        }
    }

    /// The quota that makes this load. All engines get the same one, unless they say otherwise.
    ///
    /// - admit: 1e9 per second, given as a million each millisecond so that window limiters need no giant window, and
    ///   a burst of 4e9, about the most that a peer's 32 bits can hold. A measurement never asks for more than the
    ///   burst, so that nothing is denied however fast the machine.
    /// - deny: 1024 each 30 days. Once drained, the next token is 42 minutes away. The burst is large enough for a
    ///   sharded limiter to use its shards.
    /// - mixed: 1e5, 1e6 or 1e7 per second, given as what falls due in a millisecond, with a burst of as many.
    pub const fn quota(self) -> Quota {
        match self {
            Self::Admit => Quota::per(1_000_000, Duration::from_millis(1)).with_burst(4_000_000_000),
            Self::Deny => Quota::per(1_024, Duration::from_hours(720)),
            Self::Mixed1e5 => Quota::per(100, Duration::from_millis(1)),
            Self::Mixed1e6 => Quota::per(1_000, Duration::from_millis(1)),
            Self::Mixed => Quota::per(10_000, Duration::from_millis(1)),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much longer a measured time may be on the engine's clock than on ours, one part in so many: clocks are calibrated
/// apart.
pub const CLOCK_SLACK: u32 = 100;

/// The tokens that fall due in `elapsed`.
pub fn accrued(quota: Quota, elapsed: Duration) -> u64 {
    let due = u128::from(quota.tokens()) * elapsed.as_nanos() / quota.period().as_nanos();
    u64::try_from(due).unwrap_or(u64::MAX)
}

/// The whole windows of the quota's length in `elapsed`. It may touch two more.
pub fn windows(quota: Quota, elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos() / quota.period().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_accrues_and_how_many_windows_pass() {
        let quota = Quota::per(10, Duration::from_millis(100));
        assert_eq!(accrued(quota, Duration::from_secs(1)), 100);
        assert_eq!(accrued(quota, Duration::ZERO), 0);
        assert_eq!(windows(quota, Duration::from_millis(99)), 0);
        assert_eq!(windows(quota, Duration::from_millis(100)), 1);
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
