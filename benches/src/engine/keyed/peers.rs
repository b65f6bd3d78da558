//! Other crates' limiters by key.

use super::{Build, Hasher, Keyed};
use crate::engine::label::{Label, Named};
use crate::engine::peer::governor::governor_quota;
use crate::engine::peer::rate_net::rate_net_quota;
use crate::engine::version;
use ::governor::RateLimiter as GovernorLimiter;
use ::governor::clock::DefaultClock;
use ::governor::state::keyed::DashMapStateStore;
use ::rate_net::{DEFAULT_MAX_KEYS, Eviction, RateLimiter as RateNetLimiter};
use clock_lib::Clock;
use core::num::NonZeroU32;
use tollgate::Quota;

/// Governor's limiter over a `DashMap`, on its default hasher or a fast one.
#[derive(Debug)]
pub struct Governor<S: Hasher>(GovernorLimiter<u64, DashMapStateStore<u64, S>, DefaultClock>);

impl<S: Hasher> Keyed for Governor<S> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.check_key(&key).is_ok()
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        let n = NonZeroU32::new(n).expect("a call for nothing is not measured");
        matches!(self.0.check_key_n(&key, n), Ok(Ok(())))
    }
}

impl<S: Hasher> Build for Governor<S> {
    const LABEL: Label = Label::peer("governor-keyed", version::GOVERNOR, "quanta").hashed_by(S::NAME);

    fn build(quota: Quota, _: u32) -> Self {
        Self(GovernorLimiter::dashmap_with_hasher(governor_quota(quota), S::default()))
    }
}

/// Rate-net's limiter over sharded maps, on its default clock or this crate's.
#[derive(Debug)]
pub struct RateNet<C: Clock + Clone + Named>(RateNetLimiter<C>);

impl<C: Clock + Clone + Named> Keyed for RateNet<C> {
    #[inline]
    fn try_acquire(&self, key: u64) -> bool {
        self.0.check(key).is_allow()
    }

    fn try_acquire_n(&self, key: u64, n: u32) -> bool {
        self.0.check_n(key, n).is_allow()
    }
}

impl<C: Clock + Clone + Named> Build for RateNet<C> {
    const LABEL: Label = Label::peer("rate-net-keyed", version::RATE_NET, C::NAME).hashed_by("its own");
    const BOUNDED: bool = true;

    fn build(quota: Quota, keys: u32) -> Self {
        let limiter = RateNetLimiter::with_quota(rate_net_quota(quota)).with_clock(C::default());
        let keys = keys as usize;
        // By default it keeps 2^20 keys; for more it has to be told, with some room, for its shards fill unevenly.
        let enough = keys <= DEFAULT_MAX_KEYS;
        Self(if enough { limiter } else { limiter.with_eviction(Eviction::capacity(keys + keys / 16)) })
    }

    fn build_bounded(quota: Quota, keys: u32) -> Self {
        Self(Self::build(quota, keys).0.with_eviction(Eviction::capacity(keys as usize)))
    }
}
