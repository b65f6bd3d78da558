//! [`Whole`]: any limiter without keys.

use super::held::Back;
use super::{Asked, Held, Limit, Said};
use std::sync::Arc;
use tollgate::{Quota, RateLimit};

/// One limit for all requests.
pub(crate) struct Whole(pub(crate) Arc<dyn RateLimit + Send + Sync>);

impl Limit for Whole {
    fn take(&self, asked: Asked<'_>) -> Said<()> {
        let limiter = &self.0;
        asked.decide(|n| limiter.try_acquire_n(n), |n| limiter.try_acquire_n_with_status(n))
    }

    fn hold(&self, asked: Asked<'_>) -> Said<Held> {
        let limiter = &self.0;
        let said = asked.decide(|n| limiter.take_n(n), |n| limiter.take_n_with_status(n));
        said.map(|taken| Held::Taken(Back { limiter: Arc::clone(limiter), taken: Some(taken) }))
    }

    fn quota(&self) -> Quota {
        self.0.quota()
    }
}
