//! [`Line`]: one line for all requests.

use super::held::InLine;
use super::{Held, Limit, Said};
use core::time::Duration;
use http::request::Parts;
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
    fn take(&self, _: &Parts, cost: u64) -> Said<()> {
        match self.bucket.try_acquire_n_with_status(cost) {
            (Ok(()), status) => Said::Admitted((), status),
            (Err(denied), status) => Said::Denied(denied, status),
        }
    }

    fn hold(&self, _: &Parts, cost: u64) -> Said<Box<dyn Held>> {
        match Arc::clone(&self.bucket).reserve_owned_within(cost, self.longest) {
            Ok(place) => Said::Admitted(Box::new(InLine::new(place)), self.bucket.status()),
            Err(denied) => Said::Denied(denied, self.bucket.status()),
        }
    }

    fn waits(&self) -> bool {
        true
    }

    fn quota(&self) -> Quota {
        self.bucket.quota()
    }
}
