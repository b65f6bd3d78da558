//! The keyed limiter beside a token bucket for each key.

use crate::input::{Number, Wish, read};
use arbitrary::Arbitrary;
use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::collections::{HashMap, HashSet};
use tollgate::{Denied, KeyedLimiter, ManualClock, Nanos, Quota};
use tollgate_testing::reference::{InUnits, Model, TokenBucket};

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Forward(Number),
    /// In eighths of the time of one token.
    Eighths(u8),
    /// So long that all have recovered.
    Refill,
    /// Readings of clocks that are behind, from here on.
    Back(Number),
    Take(u8, Number),
    /// A new key each time, so that the table fills up.
    Crowd(u8),
    Batch([u8; 4]),
    Forget(u8),
    Look(u8),
}

#[derive(Arbitrary, Debug)]
struct Input {
    wish: Wish,
    capacity: u8,
    crowded: bool,
    start: Number,
    steps: Vec<Step>,
}

/// Nearly 50 years; every table lasts longer.
const HORIZON: u64 = 18_000 * 86_400 * 1_000_000_000;

/// Spreads keys over the table, or sends many to the same few lines; tells them all apart.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    crowded: bool,
    state: u64,
}

impl Spread {
    pub(crate) const fn new(crowded: bool) -> Self {
        Self { crowded, state: 0 }
    }
}

impl BuildHasher for Spread {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u16(byte.into());
        }
    }

    fn write_u16(&mut self, key: u16) {
        // An odd factor: different keys have different hashes.
        let factor = if self.crowded { 0x0000_0001_0000_0001 } else { 0x9e37_79b9_7f4a_7c15 };
        self.state = (self.state + u64::from(key) + 1).wrapping_mul(factor);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

struct Run {
    limiter: KeyedLimiter<u16, Spread, ManualClock>,
    clock: ManualClock,
    quota: Quota,
    /// Tokens to a grain: more than one where a token takes less than a nanosecond.
    grain: u64,
    /// The quota in grains.
    in_grains: Quota,
    /// Per key that was ever asked about.
    models: HashMap<u16, InUnits<TokenBucket>>,
    /// Keys charged on a late reading: they may have been born again where the last life in their slot ended, which is
    /// later, and have less than their models from then on.
    behind: HashSet<u16>,
    now: u64,
    /// From which reading on a newcomer starts full at once: the latest.
    latest: u64,
}

/// Calls on many keys in a small table.
///
/// # Panics
///
/// If a key gets more than its model gives by a whole unit of time, if it is denied what it has although it has never met a
/// reading that went back, if a hint is wrong, or if a table is said to be full that is not.
pub fn keyed_limiter(data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    let quota = input.wish.granted();
    let clock = ManualClock::new();
    let spread = Spread::new(input.crowded);
    let capacity = usize::from(input.capacity % 64) + 1;
    let limiter = KeyedLimiter::try_with_hasher_and_clock(quota, capacity, spread, clock.clone());
    let Ok(limiter) = limiter else { return }; // too slow for a table
    let Some((grain, in_grains)) = grains(quota) else { return };
    let start = input.start.up_to(HORIZON);
    let mut run = Run {
        limiter,
        clock,
        quota,
        grain,
        in_grains,
        models: HashMap::new(),
        behind: HashSet::new(),
        now: start,
        latest: 0,
    };
    let mut newcomer = 256;
    run.set(start);
    for step in input.steps {
        match step {
            Step::Forward(nanos) => run.set(run.now.saturating_add(nanos.get())),
            Step::Eighths(n) => run.advance(u128::from(n), 8),
            Step::Refill => run.advance(u128::from(quota.burst()) + 1, 1),
            Step::Back(nanos) => run.set(run.now.saturating_sub(nanos.get())),
            Step::Take(key, n) => run.take(key.into(), n.get()),
            Step::Crowd(n) => {
                for _ in 0..n {
                    run.take(newcomer, 1);
                    newcomer = newcomer.wrapping_add(1).max(256);
                }
            }
            Step::Batch(keys) => {
                let (keys, mut decisions) = (keys.map(u16::from), [Ok(()); 4]);
                let admitted = run.limiter.check_many(&keys, &mut decisions);
                assert_eq!(admitted, decisions.iter().filter(|decision| decision.is_ok()).count());
                for (key, decision) in keys.into_iter().zip(decisions) {
                    run.judge(key, 1, decision);
                }
            }
            Step::Forget(key) => {
                let gone = run.limiter.forget(&key.into());
                if run.is_exact(key.into()) {
                    let now = Nanos(run.now);
                    let recovered = run.model(key.into()).would_admit(quota.burst(), now);
                    assert!(gone || !recovered, "key {key} has recovered and is not forgotten");
                }
            }
            Step::Look(key) => run.look(key.into()),
        }
    }
}

/// As few tokens as take a nanosecond, a power of two; and the quota in terms of so many.
fn grains(quota: Quota) -> Option<(u64, Quota)> {
    let (tokens, period) = (u128::from(quota.tokens()), quota.period().as_nanos());
    let grain = (0..64).map(|bits| 1_u64 << bits).find(|&grain| period * u128::from(grain) >= tokens)?;
    let period = Duration::from_nanos(u64::try_from(period * u128::from(grain)).ok()?);
    Some((grain, Quota::try_new(quota.tokens(), period, quota.burst().div_ceil(grain)).ok()?))
}

impl Run {
    fn model(&mut self, key: u16) -> &mut InUnits<TokenBucket> {
        let model = || InUnits::new(TokenBucket::new(self.in_grains), self.grain, self.quota.burst());
        self.models.entry(key).or_insert_with(model)
    }

    /// Whether a key has what its model has. It may have less on a late reading, and after one: a key that is born again
    /// starts where the last life in its slot ended.
    fn is_exact(&self, key: u16) -> bool {
        self.now >= self.latest && !self.behind.contains(&key)
    }

    /// Units per token or grain, each of 1 ns or a little more.
    fn unit(&self) -> u64 {
        Nanos::from(self.in_grains.period()).as_nanos() / self.quota.tokens()
    }

    fn set(&mut self, now: u64) {
        self.now = now.min(HORIZON);
        self.clock.set(Nanos(self.now));
    }

    /// By the time of `n / parts` tokens.
    fn advance(&mut self, n: u128, parts: u128) {
        let nanos = n.saturating_mul(self.quota.period().as_nanos()) / parts / u128::from(self.quota.tokens());
        self.set(self.now.saturating_add(u64::try_from(nanos).unwrap_or(u64::MAX)));
    }

    fn take(&mut self, key: u16, n: u64) {
        let decision = self.limiter.try_acquire_n(&key, n);
        if let Some(due) = self.judge(key, n, decision) {
            self.try_at(key, n, due);
        }
    }

    /// Judges a decision; returns when a denied call is due, if that can be said for sure.
    fn judge(&mut self, key: u16, n: u64, decision: Result<(), Denied>) -> Option<Nanos> {
        let now = Nanos(self.now);
        let (in_order, exact) = (self.now >= self.latest, self.is_exact(key));
        self.latest = self.latest.max(self.now);
        match decision {
            Ok(()) => {
                let early = self.model(key).charge(n, now);
                assert!(early.is_less_than_one_in(self.unit()), "{n} of key {key} at {now:?} are {early} early");
                if !in_order {
                    self.behind.insert(key);
                }
            }
            Err(Denied::ExceedsBurst { cost, max_cost }) => {
                assert_eq!((cost, max_cost), (n, self.quota.burst()));
                assert!(n > max_cost);
            }
            Err(Denied::TableFull(hint)) => {
                // One line of five slots at least is full of keys in debt.
                assert!(self.limiter.live() >= 5 || !in_order, "the table is full with {}", self.limiter.live());
                assert!(!hint.retry_after().is_zero());
            }
            Err(denied) if exact => {
                assert!(!self.model(key).would_admit(n, now), "{n} of key {key} denied at {now:?}");
                let due = now.saturating_add(denied.retry_after().expect("within the burst"));
                assert!(due > now);
                // As the model has it, or early by less than a unit.
                assert!(self.model(key).earliest(n, now).is_none_or(|at| due <= at), "{n} of key {key} due at {due:?}");
                return Some(due);
            }
            Err(_) => {}
        }
        None
    }

    /// Follows a hint: denied a nanosecond before, admitted at it.
    fn try_at(&mut self, key: u16, n: u64, due: Nanos) {
        if due.0 > HORIZON {
            return;
        }
        let early = self.limiter.try_acquire_n_at(&key, n, Nanos(due.0 - 1));
        assert!(early.is_err(), "{n} of key {key} admitted a nanosecond before {due:?}");
        self.set(due.0);
        match self.limiter.try_acquire_n(&key, n) {
            // The key may have recovered meanwhile and have lost its place to nobody: only a key in debt has one for sure.
            Err(Denied::TableFull(_)) => {}
            decision => {
                assert!(decision.is_ok(), "{n} of key {key} denied at {due:?}");
                self.judge(key, n, decision);
            }
        }
    }

    fn look(&mut self, key: u16) {
        let status = self.limiter.status(&key);
        assert_eq!(status.limit, self.quota.burst());
        if !self.is_exact(key) {
            return;
        }
        let (now, unit) = (Nanos(self.now), self.unit());
        let model = self.model(key);
        let least = model.available(now);
        assert!(status.remaining >= least, "key {key} shows {} and has {least}", status.remaining);
        let early = model.shortfall(status.remaining, now);
        assert!(early.is_less_than_one_in(unit), "key {key} shows {}, {early} too many", status.remaining);
    }
}
