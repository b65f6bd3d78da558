//! [`Line`]: one line for all requests.

use super::held::InLine;
use super::{Asked, Held, Limit, Said};
use core::time::Duration;
use std::sync::Arc;
use tollgate::{Quota, Timer, WaitingTokenBucket};

/// A bucket in which requests wait for at most `longest`.
pub(crate) struct Line<C> {
    pub(crate) bucket: Arc<WaitingTokenBucket<C>>,
    pub(crate) longest: Duration,
}

impl<C> Limit for Line<C>
where
    C: Timer + Send + Sync + 'static,
    C::Sleep: Send,
{
    fn take(&self, asked: Asked<'_>) -> Said<()> {
        let bucket = &self.bucket;
        asked.decide(|n| bucket.try_acquire_n(n), |n| bucket.try_acquire_n_with_status(n))
    }

    fn hold(&self, asked: Asked<'_>) -> Said<Held> {
        let bucket = || Arc::clone(&self.bucket);
        let said = asked.decide(
            |n| bucket().reserve_owned_within(n, self.longest),
            |n| bucket().reserve_owned_within_with_status(n, self.longest),
        );
        said.without_waiting(self.longest.is_zero()).map(|place| Held::Place(Box::new(InLine::new(place))))
    }

    fn waits(&self) -> bool {
        !self.longest.is_zero()
    }

    fn quota(&self) -> Quota {
        self.bucket.quota()
    }
}
