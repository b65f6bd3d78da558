//! [`Load`]: the limit, and how much is asked of it.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use tollgate::Quota;

/// How long a lease is. A tenth of a second of each quota is within it, and an eighth of each burst.
pub(crate) const LEASE: Duration = Duration::from_millis(100);

/// Tokens in a lease, at most.
pub(crate) const BATCH: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Load {
    /// As fast as each caller can, from a limit near the highest that a store can keep.
    Flood,
    /// Half of what falls due.
    Steady,
    /// Twice what falls due.
    Excess,
}

impl Load {
    pub(crate) const ALL: [Self; 3] = [Self::Flood, Self::Steady, Self::Excess];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Flood => "flood",
            Self::Steady => "steady",
            Self::Excess => "excess",
        }
    }

    /// A second of it is the burst.
    pub(crate) fn quota(self) -> Quota {
        match self {
            Self::Flood => Quota::per_second(5_000_000),
            Self::Steady | Self::Excess => Quota::per_second(10_000),
        }
    }

    /// Decisions that all processes together want each second; `None`: as many as they get.
    #[allow(clippy::cast_precision_loss)] // thousands
    pub(crate) fn offered(self) -> Option<f64> {
        let due = self.quota().tokens() as f64;
        match self {
            Self::Flood => None,
            Self::Steady => Some(due / 2.0),
            Self::Excess => Some(due * 2.0),
        }
    }
}
