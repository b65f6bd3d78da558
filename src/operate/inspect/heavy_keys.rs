//! [`HeavyKeys`]: the keys that come most, remembered in fixed memory.

use core::borrow::Borrow;
use core::hash::{BuildHasher, Hash};
use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::vec::Vec;

/// The keys of the greatest weight among all that were recorded: real keys, in memory for `k` of them.
///
/// Space-Saving (A. Metwally, D. Agrawal and A. El Abbadi, "Efficient computation of frequent and top-k elements in data
/// streams", 2005). A key that is not among the `k` takes the place of the lightest, and its weight as an error. Of a total weight `N`:
///
/// * every key of more than `N / k` is among them;
/// * a key's weight lies between [`at_least`](HeavyKey::at_least) and [`at_most`](HeavyKey::at_most), which are at most `N / k` apart.
///
/// No limiter records anything by itself. Record what is of interest: the keys that are refused, say, which is off the path of those
/// who are admitted. A key that is known costs a look-up, any other a look at all `k`. With `k` of 100, a `u64` that is known takes 218
/// instructions on x86-64, one that takes another's place 1,385 (callgrind).
///
/// # Progress
///
/// It never waits: where two threads record at once, one of the two weights is [`missed`](Self::missed), and counts in no key.
/// Reading waits for whoever is recording.
///
/// # Examples
///
/// ```
/// use tollgate::{HeavyKeys, KeyedLimiter, Quota};
///
/// let limiter = KeyedLimiter::<str>::new(Quota::per_hour(2), 10_000);
/// let refused = HeavyKeys::<String>::new(100);
/// for key in ["alice", "mallory", "bob", "mallory", "mallory", "mallory"] {
///     if limiter.try_acquire(key).is_err() {
///         refused.record(key, 1);
///     }
/// }
/// let top = refused.top(10);
/// assert_eq!((top.len(), top[0].key.as_str(), top[0].at_least), (1, "mallory", 2));
/// ```
#[derive(Debug)]
pub struct HeavyKeys<K, S = RandomState> {
    inner: Mutex<Inner<K, S>>,
    missed: crate::sync::AtomicU64,
    most: usize,
}

#[derive(Debug)]
struct Inner<K, S> {
    places: HashMap<K, usize, S>,
    weights: Vec<Weight<K>>,
}

#[derive(Clone, Debug)]
struct Weight<K> {
    key: K,
    total: u64,
    error: u64,
}

/// A key and its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeavyKey<K> {
    /// The key.
    pub key: K,
    /// It was recorded with at least this weight.
    pub at_least: u64,
    /// It was recorded with at most this weight, but for what was missed.
    pub at_most: u64,
}

impl<K: Hash + Eq + Clone> HeavyKeys<K> {
    /// Room for `k` keys, at least one; allocated here.
    pub fn new(k: usize) -> Self {
        let k = k.max(1);
        // Twice the room, so that the map never grows for the keys that have left it.
        let places = HashMap::with_capacity_and_hasher(2 * k, RandomState::new());
        let inner = Mutex::new(Inner { places, weights: Vec::with_capacity(k) });
        Self { inner, missed: crate::sync::AtomicU64::new(0), most: k }
    }
}

impl<K: Hash + Eq + Clone, S: BuildHasher> HeavyKeys<K, S> {
    /// Adds `weight` to a key; a weight of 0 changes nothing. Clones the key twice if it is not among the `k` yet.
    pub fn record<Q>(&self, key: &Q, weight: u64)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + std::borrow::ToOwned<Owned = K> + ?Sized,
    {
        if weight == 0 {
            return; // nor does it drive anybody out
        }
        let mut inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                // ORDERING: relaxed; pairs with nothing. A sum publishes no other memory.
                self.missed.fetch_add(weight, crate::sync::Ordering::Relaxed);
                return;
            }
        };
        let Inner { places, weights } = &mut *inner;
        if let Some(&place) = places.get(key) {
            weights[place].total = weights[place].total.saturating_add(weight);
        } else if weights.len() < self.most {
            places.insert(key.to_owned(), weights.len());
            weights.push(Weight { key: key.to_owned(), total: weight, error: 0 });
        } else if let Some((place, lightest)) =
            weights.iter_mut().enumerate().min_by_key(|(_, lightest)| lightest.total)
        {
            places.remove(lightest.key.borrow());
            places.insert(key.to_owned(), place);
            let error = lightest.total;
            *lightest = Weight { key: key.to_owned(), total: error.saturating_add(weight), error };
        }
    }

    /// The `n` heaviest keys, the heaviest first. Allocates.
    pub fn top(&self, n: usize) -> Vec<HeavyKey<K>> {
        let mut weights = self.lock().weights.clone();
        weights.sort_by_key(|weight| core::cmp::Reverse(weight.total));
        weights.truncate(n);
        let heavy = |Weight { key, total, error }| HeavyKey { key, at_least: total - error, at_most: total };
        weights.into_iter().map(heavy).collect()
    }

    /// Forgets all keys, to look at another stretch of time.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.places.clear();
        inner.weights.clear();
        // ORDERING: relaxed, as in `record`.
        self.missed.store(0, crate::sync::Ordering::Relaxed);
    }

    /// The weight that was recorded while another thread was recording too, and is in no key.
    pub fn missed(&self) -> u64 {
        // ORDERING: relaxed, as in `record`.
        self.missed.load(crate::sync::Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K, S>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
