//! [`Keyed`]: a limit for each key.

use super::held::{Due, InLine, Now};
use super::{Asked, Held, Keyless, Limit, Said, Seen};
use crate::key::RequestKey;
use core::hash::BuildHasher;
use core::time::Duration;
use std::sync::Arc;
use tollgate::{Clock, KeyedLimiter, OwnedKeyedPlace, Quota, Timer};

/// How a place becomes something held: with a timer, or without.
type Hold<K, S, C> = fn(OwnedKeyedPlace<K, S, C>) -> Box<dyn Due>;

/// A limit for each key, in which requests wait for at most `longest`.
pub(crate) struct Keyed<X, K, S, C: Clock> {
    limiter: Arc<KeyedLimiter<K, S, C>>,
    key: X,
    keyless: Keyless,
    longest: Duration,
    hold: Hold<K, S, C>,
}

impl<X, K, S, C> Keyed<X, K, S, C>
where
    K: Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
    C: Clock + Send + Sync + 'static,
{
    /// Nobody waits.
    pub(crate) fn now(limiter: Arc<KeyedLimiter<K, S, C>>, key: X, keyless: Keyless) -> Self {
        Self { limiter, key, keyless, longest: Duration::ZERO, hold: |place| Box::new(Now(place)) }
    }

    /// Requests wait for at most `longest`.
    pub(crate) fn waiting(limiter: Arc<KeyedLimiter<K, S, C>>, key: X, keyless: Keyless, longest: Duration) -> Self
    where
        C: Timer,
        C::Sleep: Send,
    {
        Self { limiter, key, keyless, longest, hold: |place| Box::new(InLine::new(place)) }
    }
}

impl<X: RequestKey, S, C: Clock> Keyed<X, X::Key, S, C> {
    #[inline]
    fn key(&self, request: Seen<'_>) -> Option<X::Key> {
        match request {
            Seen::Apart(parts) => self.key.key(parts),
            Seen::Whole(headers, extensions) => self.key.key_in(headers, extensions),
        }
    }
}

impl<X, K, S, C> Limit for Keyed<X, K, S, C>
where
    X: RequestKey<Key = K> + Send + Sync,
    K: core::hash::Hash + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
    C: Clock + Send + Sync + 'static,
{
    fn take(&self, asked: Asked<'_>) -> Said<()> {
        let Some(key) = self.key(asked.request) else { return self.keyless.take(asked) };
        let limiter = &self.limiter;
        asked.decide(|n| limiter.try_acquire_n(&key, n), |n| limiter.try_acquire_n_with_status(&key, n))
    }

    fn hold(&self, asked: Asked<'_>) -> Said<Held> {
        let Some(key) = self.key(asked.request) else { return self.keyless.hold(asked) };
        let limiter = || Arc::clone(&self.limiter);
        let said = asked.decide(
            |n| limiter().reserve_owned_within(&key, n, self.longest),
            |n| limiter().reserve_owned_within_with_status(&key, n, self.longest),
        );
        said.without_waiting(self.longest.is_zero()).map(|place| Held::Place((self.hold)(place)))
    }

    fn waits(&self) -> bool {
        !self.longest.is_zero()
    }

    fn reads_all(&self) -> bool {
        self.key.reads_all()
    }

    fn quota(&self) -> Quota {
        self.limiter.quota()
    }
}
