//! [`Load`]: what tasks do, and the quota that all wait for.

use core::time::Duration;
use serde::{Deserialize, Serialize};
use tollgate::Quota;

/// 1000 per second, one at a time.
pub(super) const QUOTA: Quota = Quota::per(1, PERIOD);
/// From one token to the next.
pub(super) const PERIOD: Duration = Duration::from_millis(1);
/// Tasks that wait until they are served.
pub(super) const PATIENT: u32 = 20;

/// What tasks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Load {
    /// One waits again and again, and does nothing else.
    Alone,
    /// All wait until they are served.
    Steady,
    /// As many others give up after a random time, at most what the whole line takes: about half of all waits.
    Storm,
}

impl Load {
    pub(super) const ALL: [Self; 3] = [Self::Alone, Self::Steady, Self::Storm];

    /// The name in tables, as in csv files.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Steady => "steady",
            Self::Storm => "storm",
        }
    }

    /// What it is, in words.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Alone => "one task waits again and again",
            Self::Steady => "20 tasks wait in turn",
            Self::Storm => "20 tasks wait, 20 others give up at random",
        }
    }

    pub(super) const fn tasks(self) -> u32 {
        match self {
            Self::Alone => 1,
            Self::Steady => PATIENT,
            Self::Storm => 2 * PATIENT,
        }
    }
}
