//! [`Whole`]: any limiter without keys.

use super::held::Taken;
use super::{Held, Limit, Said};
use http::request::Parts;
use std::sync::Arc;
use tollgate::{Quota, RateLimit};

/// One limit for all requests.
pub(crate) struct Whole(pub(crate) Arc<dyn RateLimit + Send + Sync>);

impl Limit for Whole {
    fn take(&self, _: &Parts, cost: u64) -> Said<()> {
        match self.0.try_acquire_n_with_status(cost) {
            (Ok(()), status) => Said::Admitted((), status),
            (Err(denied), status) => Said::Denied(denied, status),
        }
    }

    fn hold(&self, request: &Parts, cost: u64) -> Said<Box<dyn Held>> {
        match self.take(request, cost) {
            Said::Admitted((), status) => {
                Said::Admitted(Box::new(Taken { limiter: Arc::clone(&self.0), cost }), status)
            }
            Said::Denied(denied, status) => Said::Denied(denied, status),
            Said::NoKey => Said::NoKey,
            Said::Unlimited => Said::Unlimited,
        }
    }

    fn quota(&self) -> Quota {
        self.0.quota()
    }
}
