//! [`DistributedKeyedLimiter`]: a limit of its own for each key.

use crate::bucket::DistributedTokenBucket;
use crate::keys::Namespace;
use crate::member::Member;
use crate::refused::{Degraded, Refused};
use crate::store::Store;
use crate::terms::{Terms, TermsError};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tollgate::{Quota, Status};

/// So many parts has the table, each under a lock of its own.
const PARTS: usize = 16;

/// A limit for each key, that any number of processes keep together: a [`DistributedTokenBucket`] each, made when its key
/// comes first, and dropped when its place is needed, it holds nothing and its [`Share`](Degraded::Share) is whole.
///
/// Bound: that of a [`DistributedTokenBucket`], for each key. A call that finds its key takes a lock for the time of a look-up,
/// then is as fast as the bucket's.
///
/// A key whose demand is steady and high may have a task that asks ahead, like any bucket:
/// [`bucket`](Self::bucket) gives it.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use tollgate::Quota;
/// use tollgate_redis::{DistributedKeyedLimiter, Store};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::new(redis::Client::open("redis://127.0.0.1/")?, Duration::from_millis(50));
/// // Ten per second for each client, in the exact mode: a round trip for each decision that may be admitted.
/// let quota = Quota::per_second(10);
/// let clients = DistributedKeyedLimiter::new(store, "shop clients", quota, Duration::ZERO, 100_000)?;
/// if let Err(refused) = clients.try_acquire("192.0.2.7").await {
///     println!("{refused}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DistributedKeyedLimiter {
    store: Store,
    namespace: Namespace,
    quota: Quota,
    terms: Terms,
    batch: Option<u64>,
    degraded: Degraded,
    capacity: usize,
    hasher: RandomState,
    parts: Box<[Mutex<Part>]>,
}

#[derive(Debug)]
struct Part {
    buckets: HashMap<Box<str>, Arc<DistributedTokenBucket>>,
    /// No key could go when room was last looked for; it is not looked for again before this.
    full_until: Instant,
}

impl DistributedKeyedLimiter {
    /// A limit of `quota` for each key of `namespace`, with leases of `lease`, or the exact mode if that is zero; at most about
    /// `capacity` keys are held here at a time (more if it is not a multiple of 16). See [`DistributedTokenBucket::new`].
    ///
    /// # Errors
    ///
    /// A [`TermsError`] that names the limit broken.
    pub fn new(
        store: Store,
        namespace: &str,
        quota: Quota,
        lease: Duration,
        capacity: usize,
    ) -> Result<Self, TermsError> {
        if capacity == 0 {
            return Err(TermsError::NoCapacity);
        }
        let part = || Mutex::new(Part { buckets: HashMap::new(), full_until: Instant::now() });
        Ok(Self {
            store,
            namespace: Namespace::new(namespace)?,
            quota,
            terms: Terms::new(quota, lease)?,
            batch: None,
            degraded: Degraded::Deny,
            capacity,
            hasher: RandomState::new(),
            parts: std::iter::repeat_with(part).take(PARTS.min(capacity)).collect(),
        })
    }

    /// As [`DistributedTokenBucket::with_batch`], for each key.
    ///
    /// # Errors
    ///
    /// See there.
    pub fn with_batch(mut self, tokens: u64) -> Result<Self, TermsError> {
        self.terms.check_batch(tokens)?;
        self.batch = Some(tokens);
        Ok(self)
    }

    /// What happens while the store is away: a [`Share`](Degraded::Share) is each key's own.
    #[must_use]
    pub fn with_degraded(mut self, degraded: Degraded) -> Self {
        self.degraded = degraded;
        self
    }

    /// The bucket of `key`, for calls that this type does not have.
    ///
    /// As long as it is held, it stays in the table.
    ///
    /// # Errors
    ///
    /// [`Refused::TooManyKeys`] if the table is full of keys that hold leases, have spent of their share or are in use.
    pub fn bucket(&self, key: &str) -> Result<Arc<DistributedTokenBucket>, Refused> {
        let mut part = self.part(key);
        if let Some(bucket) = part.buckets.get(key) {
            return Ok(Arc::clone(bucket));
        }
        let capacity = self.capacity.div_ceil(self.parts.len());
        if part.buckets.len() >= capacity {
            part.make_room(Duration::from_micros(self.terms.lease))
                .map_err(|()| Refused::TooManyKeys { capacity: self.capacity })?;
        }
        let mut member = Member::new(self.store.clone(), self.namespace.keys(key), self.quota, self.terms);
        member.set_degraded(self.degraded);
        member.batch = self.batch.unwrap_or(member.batch);
        let bucket = Arc::new(DistributedTokenBucket::of(member));
        part.buckets.insert(key.into(), Arc::clone(&bucket));
        Ok(bucket)
    }

    fn part(&self, key: &str) -> MutexGuard<'_, Part> {
        #[allow(clippy::cast_possible_truncation)] // any part will do
        let index = self.hasher.hash_one(key) as usize % self.parts.len();
        self.parts[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a token of `key`. See [`try_acquire_n`](Self::try_acquire_n).
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn try_acquire(&self, key: &str) -> Result<(), Refused> {
        self.try_acquire_n(key, 1).await
    }

    /// Takes `n` tokens of `key`. See [`DistributedTokenBucket::try_acquire_n`].
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn try_acquire_n(&self, key: &str, n: u64) -> Result<(), Refused> {
        self.bucket(key)?.try_acquire_n(n).await
    }

    /// As [`try_acquire_n`](Self::try_acquire_n), and what is left of `key`. See
    /// [`DistributedTokenBucket::try_acquire_n_with_status`]. A key that found no room has nothing left.
    pub async fn try_acquire_n_with_status(&self, key: &str, n: u64) -> (Result<(), Refused>, Status) {
        match self.bucket(key) {
            Ok(bucket) => bucket.try_acquire_n_with_status(n).await,
            Err(refused) => (Err(refused), Status::new(self.quota.burst(), 0, None, Duration::ZERO)),
        }
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub async fn try_acquire_with_status(&self, key: &str) -> (Result<(), Refused>, Status) {
        self.try_acquire_n_with_status(key, 1).await
    }

    /// Takes `n` tokens of `key` when they fall due, by `deadline`. See [`DistributedTokenBucket::acquire_by`].
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn acquire_by(&self, key: &str, n: u64, deadline: Instant) -> Result<(), Refused> {
        self.bucket(key)?.acquire_by(n, deadline).await
    }

    /// Takes `n` tokens of `key` when they fall due, within `longest`. See [`DistributedTokenBucket::acquire_within`].
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn acquire_within(&self, key: &str, n: u64, longest: Duration) -> Result<(), Refused> {
        self.bucket(key)?.acquire_within(n, longest).await
    }

    /// Takes `n` tokens of `key` when they fall due. See [`DistributedTokenBucket::acquire`].
    ///
    /// # Errors
    ///
    /// A [`Refused`] that waiting does not mend; nothing was taken.
    pub async fn acquire(&self, key: &str, n: u64) -> Result<(), Refused> {
        self.bucket(key)?.acquire(n).await
    }

    /// What `key` has left, if it is held here. See [`DistributedTokenBucket::status`].
    pub fn status(&self, key: &str) -> Option<Status> {
        self.part(key).buckets.get(key).map(|bucket| bucket.status())
    }

    /// The quota of each key, over all processes.
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// How many keys are held here.
    pub fn live(&self) -> usize {
        self.parts.iter().map(|part| part.lock().unwrap_or_else(PoisonError::into_inner).buckets.len()).sum()
    }

    /// Gives back what is unspent, key by key; returns how many tokens went back. See [`DistributedTokenBucket::shutdown`].
    pub async fn shutdown(self) -> u64 {
        let mut back = 0;
        for part in self.parts {
            let part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
            for bucket in part.buckets.into_values() {
                back += bucket.give_back().await;
            }
        }
        back
    }
}

impl Part {
    /// Drops every bucket that is as a new one and not in use.
    ///
    /// Another process that wants the key finds its limit in the store as it is, and so does this one, later.
    fn make_room(&mut self, lease: Duration) -> Result<(), ()> {
        let now = Instant::now();
        if now < self.full_until {
            return Err(());
        }
        let before = self.buckets.len();
        self.buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1 || !bucket.is_as_new());
        if self.buckets.len() == before {
            self.full_until = now + (lease / 8).max(Duration::from_millis(1));
            return Err(());
        }
        Ok(())
    }
}
