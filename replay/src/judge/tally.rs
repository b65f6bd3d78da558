//! [`Tally`]: what one algorithm did.

use core::time::Duration;

/// What one algorithm did with the arrivals so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Arrivals admitted.
    pub admitted: u64,
    /// Arrivals denied.
    pub denied: u64,
    /// Arrivals denied that cost more than can ever be admitted; part of `denied`.
    pub never: u64,
    /// Arrivals of newcomers denied because the table of all keys had no place for them; part of `denied`.
    pub no_place: u64,
    /// Keys denied at least once.
    pub keys_denied: u64,
    /// The longest wait that a denial hinted.
    pub longest_wait: Duration,
    /// The most tokens admitted from one key within any period.
    pub most_in_a_period: u64,
    /// Arrivals admitted that the exact log denies.
    pub over: u64,
    /// Arrivals denied that the exact log admits.
    pub under: u64,
}

impl Tally {
    /// Counts one decision: admitted, or denied with the wait that was hinted.
    pub(super) fn count(&mut self, decision: Result<(), Option<Duration>>) {
        match decision {
            Ok(()) => self.admitted += 1,
            Err(wait) => {
                self.denied += 1;
                self.never += u64::from(wait.is_none());
                self.longest_wait = self.longest_wait.max(wait.unwrap_or_default());
            }
        }
    }

    /// The share of arrivals denied.
    pub fn share_denied(&self) -> f64 {
        share(self.denied, self.admitted + self.denied)
    }

    /// The share of decisions that differ from the exact log's, in either direction.
    pub fn share_differing(&self) -> f64 {
        share(self.over + self.under, self.admitted + self.denied)
    }
}

/// A part of a whole, from 0 to 1; 0 of nothing.
#[allow(clippy::cast_precision_loss)] // a share is shown to a few digits
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
