//! `token-bucket`: GCRA in one word, on each clock that fits.

use crate::engine::{Engine, Kind, Shared, version};
use tollgate::{Clock, DefaultClock, MonotonicClock, Quota};

/// The token bucket, on the default clock (quanta) or another.
#[derive(Debug)]
pub struct TokenBucket<C: NamedClock = DefaultClock>(tollgate::TokenBucket<C>);

/// A clock of this crate with its name in our tables.
pub trait NamedClock: Clock + Default + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
}

impl NamedClock for DefaultClock {
    const NAME: &'static str = "quanta";
}

impl NamedClock for MonotonicClock {
    const NAME: &'static str = "std";
}

impl<C: NamedClock> Engine for TokenBucket<C> {
    const NAME: &'static str = "token-bucket";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = C::NAME;
    const KIND: Kind = Kind::Ours;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        Self(tollgate::TokenBucket::with_clock(quota, C::default()))
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl<C: NamedClock> Shared for TokenBucket<C> {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
