//! What a snapshot of an [`AdjustableLimiter`] has to know.

use super::change::{Adjustable, Begun};
use super::limiter::AdjustableLimiter;
use super::terms::Terms;
use crate::nanos::Nanos;
use crate::operate::snapshot::SnapshotError;
use crate::quota::Quota;
use alloc::vec::Vec;

impl<A: Adjustable, C> AdjustableLimiter<A, C> {
    #[cfg(feature = "std")]
    pub(crate) const fn clock(&self) -> &C {
        &self.clock
    }

    /// The quota, the state under it as of `now`, and what the clock that the state goes by reads then.
    pub(crate) fn saved(&self, now: Nanos) -> (Quota, Nanos, Vec<u64>) {
        let (terms, position) = self.state.load();
        let (reading, state) = terms.algorithm.saved(terms.word(position), terms.start, now);
        (terms.algorithm.quota(), reading, state)
    }

    /// Goes on at `to` from a state that was saved under the same quota by a clock which would read `from` by now. For a limiter
    /// that nobody has used or changed.
    pub(crate) fn restored(&self, state: &[u64], from: Nanos, to: Nanos) -> Result<(), SnapshotError> {
        self.state.change(SnapshotError::InUse, |terms, fresh, floor| {
            if fresh != 0 {
                return Err(SnapshotError::InUse);
            }
            let begun = terms.algorithm.restored(state, from, to).ok_or(SnapshotError::OutOfRange)?;
            if (Begun { start: terms.start, ..begun })
                == (Begun { algorithm: terms.algorithm, start: terms.start, word: 0 })
            {
                return Ok(None); // nothing is owed
            }
            Terms::begin(begun, floor).map(Some).ok_or(SnapshotError::OutOfRange)
        })
    }
}
