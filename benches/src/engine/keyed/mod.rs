//! Limiters that keep a limit for each key, as [`Engine`]s that are asked for random keys.

pub mod batch;
pub mod governor;
pub mod limiter;
pub mod mutex_map;
pub mod rate_net;

use super::{Caller, Engine, Kind};
use crate::load::Load;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use tollgate::Quota;

/// A limiter with a limit for each key.
pub trait Keyed: Send + Sync + Sized + 'static {
    /// Its name in tables and csv files.
    const NAME: &'static str;
    /// The version of the crate it comes from.
    const VERSION: &'static str;
    /// The clock it reads.
    const CLOCK: &'static str;
    /// Its part in the comparison.
    const KIND: Kind;

    /// A limiter with this quota for each of about so many keys.
    fn build(quota: Quota, keys: u64) -> Self;

    /// Asks for one token of `key`.
    fn try_acquire(&self, key: u64) -> bool;
}

/// A keyed limiter that knows the keys below `KEYS`, each of them in debt.
#[derive(Debug)]
pub struct OnKeys<K: Keyed, const KEYS: u64> {
    limiter: K,
    threads: AtomicU64,
}

/// The quota of each key. A token takes so long that no key recovers in a measurement.
pub fn quota(load: Load) -> Quota {
    match load {
        Load::Admit => Quota::per_minute(1).with_burst(1_000_000),
        Load::Deny => Quota::per(1, Duration::from_hours(720)),
        Load::Mixed => Quota::per_second(1_000),
    }
}

/// A limiter on which one token of every key has been taken. Hash tables of a fixed size may refuse a key; then another
/// is built, which hashes otherwise.
///
/// # Panics
///
/// If ten in a row refuse one.
pub fn known<K: Keyed>(quota: Quota, keys: u64) -> K {
    let attempt = |_| {
        let limiter = K::build(quota, keys);
        (0..keys).all(|key| limiter.try_acquire(key)).then_some(limiter)
    };
    (0..10).find_map(attempt).unwrap_or_else(|| panic!("{} has no room for {keys} keys", K::NAME))
}

impl<K: Keyed, const KEYS: u64> Engine for OnKeys<K, KEYS> {
    const NAME: &'static str = K::NAME;
    const VERSION: &'static str = K::VERSION;
    const CLOCK: &'static str = K::CLOCK;
    const KIND: Kind = K::KIND;
    const KEYS: Option<u64> = Some(KEYS);
    type Caller<'a> = RandomKeys<'a, K, KEYS>;

    fn quota(load: Load) -> Quota {
        quota(load)
    }

    fn build(quota: Quota) -> Self {
        Self { limiter: known(quota, KEYS), threads: AtomicU64::new(0) }
    }

    fn caller(&self) -> Self::Caller<'_> {
        // ORDERING: relaxed, for only the numbers have to differ.
        let thread = self.threads.fetch_add(1, Ordering::Relaxed);
        RandomKeys { limiter: &self.limiter, keys: Keys::new(thread) }
    }

    /// Every key's burst of one was taken when it became known.
    fn drain(&self, _: Quota) {}

    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        KEYS.saturating_mul(quota.burst().saturating_add(crate::load::accrued(quota, elapsed)))
    }
}

/// A thread that asks for one random key after another.
#[derive(Debug)]
pub struct RandomKeys<'a, K: Keyed, const KEYS: u64> {
    limiter: &'a K,
    keys: Keys<KEYS>,
}

impl<K: Keyed, const KEYS: u64> Caller for RandomKeys<'_, K, KEYS> {
    #[inline]
    fn try_acquire(&mut self) -> bool {
        self.limiter.try_acquire(self.keys.next())
    }
}

/// Random keys below `KEYS`, each as likely as any other: an xorshift generator (G. Marsaglia, "Xorshift RNGs", 2003),
/// which costs about a nanosecond.
#[derive(Clone, Debug)]
pub(super) struct Keys<const KEYS: u64>(u64);

impl<const KEYS: u64> Keys<KEYS> {
    pub(super) fn new(thread: u64) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ (thread + 1).wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[allow(clippy::cast_possible_truncation)] // the upper half of a product is below KEYS
        let key = ((u128::from(self.0) * u128::from(KEYS)) >> 64) as u64;
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_asked_for_and_no_others() {
        let mut counts = [0_u32; 10];
        let mut keys = Keys::<10>::new(3);
        for _ in 0..10_000 {
            counts[usize::try_from(keys.next()).unwrap()] += 1;
        }
        assert!(counts.iter().all(|&count| (800..1_200).contains(&count)), "{counts:?}");
    }

    #[test]
    fn threads_ask_for_different_keys() {
        let sequence = |thread| {
            let mut keys = Keys::<1_000_000>::new(thread);
            [keys.next(), keys.next(), keys.next()]
        };
        assert_ne!(sequence(0), sequence(1));
        assert_eq!(sequence(5), sequence(5));
    }

    /// Has room for keys below nine only.
    struct Small;

    impl Keyed for Small {
        const NAME: &'static str = "small";
        const VERSION: &'static str = "test";
        const CLOCK: &'static str = "none";
        const KIND: Kind = Kind::Peer;

        fn build(_: Quota, _: u64) -> Self {
            Self
        }

        fn try_acquire(&self, key: u64) -> bool {
            key < 9
        }
    }

    #[test]
    #[should_panic(expected = "small has no room for 10 keys")]
    fn a_limiter_that_refuses_a_key_is_found_out() {
        let _ = known::<Small>(quota(Load::Admit), 9);
        let _ = known::<Small>(quota(Load::Admit), 10);
    }
}
