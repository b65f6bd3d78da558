//! What a snapshot of an [`AdjustableTokenBucket`] has to know.

use super::bucket::AdjustableTokenBucket;
use crate::algorithm::Algorithm;
use crate::nanos::Nanos;
use crate::operate::snapshot::SnapshotError;
use crate::quota::Quota;

impl<C> AdjustableTokenBucket<C> {
    #[cfg(feature = "std")]
    pub(crate) const fn clock(&self) -> &C {
        &self.clock
    }

    /// The quota; and the position, as it would be on a scale that had begun with the clock that reads what is returned beside
    /// it when this one reads `now`.
    pub(crate) fn saved(&self, now: Nanos) -> (Quota, u64, Nanos) {
        let (terms, position) = self.state.load();
        (terms.gcra.quota(), position - terms.base, terms.since_start(now))
    }

    /// Puts the position in place that was `position` at `from`. For a bucket that nobody has used or changed.
    pub(crate) fn restored(&self, position: u64, from: Nanos, to: Nanos) -> Result<(), SnapshotError> {
        self.state.update(|terms, fresh| {
            if fresh != 0 {
                return Err(SnapshotError::InUse);
            }
            let carried = terms.carried(position, from, to).ok_or(SnapshotError::OutOfRange)?;
            Ok((carried, ()))
        })
    }
}
