//! [`Load`]: what is asked of engines by key.

use crate::engine::load::Load as OfOne;
use core::fmt;
use core::time::Duration;
use tollgate::Quota;

/// Whether keys have tokens when their calls come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Every key has: 1 falls due each 10 seconds, on a burst of 1e8 (32 years' worth, about the most there can be). One key
    /// has more tokens than all measurements together take, and is in debt for 10 seconds from each call, so that tables stay
    /// as full as they are.
    Admit,
    /// No key has: 1 falls due per hour. The first call of each key takes its only token.
    Deny,
    /// One key in ten has spent all of its tokens; the others have 200,000, more than all measurements take of each where
    /// keys come equally often and there are many. 1 falls due per hour.
    DenyTenth,
    /// Calls for a key come faster than its limit of 1e6 per second: some are admitted, the rest denied.
    Mixed1e6,
}

/// Of so many keys one is over its limit under [`Load::DenyTenth`].
const TENTH: u32 = 10;

impl Load {
    /// All of them, in the order in which they are measured.
    #[cfg(test)]
    pub const ALL: [Self; 4] = [Self::Admit, Self::Deny, Self::DenyTenth, Self::Mixed1e6];

    /// The name in csv files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Deny => "deny",
            Self::DenyTenth => "deny-tenth",
            Self::Mixed1e6 => OfOne::Mixed1e6.name(),
        }
    }

    /// The quota that makes the load. All engines get the same one.
    pub const fn quota(self) -> Quota {
        match self {
            Self::Admit => Quota::per(1, Duration::from_secs(10)).with_burst(100_000_000),
            Self::Deny => Quota::per(1, Duration::from_hours(1)),
            Self::DenyTenth => Quota::per(1, Duration::from_hours(1)).with_burst(200_000),
            Self::Mixed1e6 => OfOne::Mixed1e6.quota(),
        }
    }

    /// How many tokens a key loses with its first call, before anything is measured.
    ///
    /// # Panics
    ///
    /// Never: bursts fit in 32 bits, which is what peers count in.
    pub fn first_cost(self, key: u32) -> u32 {
        let burst = u32::try_from(self.quota().burst()).expect("bursts fit in 32 bits");
        if self == Self::DenyTenth && self.is_over(key) { burst } else { 1 }
    }

    /// Whether the key has spent all of its tokens with its first call.
    pub const fn is_over(self, key: u32) -> bool {
        match self {
            Self::Admit | Self::Mixed1e6 => false,
            Self::Deny => true,
            Self::DenyTenth => key.is_multiple_of(TENTH),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_over_has_spent_its_whole_burst_with_its_first_call() {
        for load in Load::ALL {
            let spends_all = |key: &u32| u64::from(load.first_cost(*key)) == load.quota().burst();
            assert_eq!((0..1_000).filter(spends_all).count(), (0..1_000).filter(|&key| load.is_over(key)).count());
        }
        let over = |load: Load| (0..1_000).filter(|&key| load.is_over(key)).count();
        assert_eq!(Load::ALL.map(over), [0, 1_000, 100, 0]);
    }
}
