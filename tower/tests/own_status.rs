//! Fields tell the state that the request was decided on: one look at the limiter, and nobody else in between.

mod counting;

use core::cell::Cell;
use core::hash::{BuildHasher, Hasher};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use counting::{Counting, ask, bucket};
use http::{Request, Response, request::Parts};
use tollgate::{Clock, KeyedLimiter, ManualClock, Nanos, Quota, Timer, TokenBucket, WaitingTokenBucket};
use tollgate_tower::{Dialect, Keyless, Policy, RateLimitLayer};
use tower::{Layer, Service};

/// What another client does.
type Other = Box<dyn Fn() + Send + Sync>;

/// A clock that stands still. Whenever it is read but the first time, another client calls before the reading is told.
#[derive(Clone, Default)]
struct Interrupted {
    inner: ManualClock,
    other: Arc<OnceLock<Other>>,
    readings: Arc<AtomicU64>,
}

thread_local! {
    /// Whether the clock is being read for the other client.
    static OTHERS: Cell<bool> = const { Cell::new(false) };
}

impl Clock for Interrupted {
    fn now(&self) -> Nanos {
        if let Some(other) = self.other.get()
            && !OTHERS.get()
            && self.readings.fetch_add(1, Relaxed) > 0
        {
            OTHERS.set(true);
            other();
            OTHERS.set(false);
        }
        self.inner.now()
    }
}

impl Timer for Interrupted {
    type Sleep = <ManualClock as Timer>::Sleep;

    fn sleep_until(&self, instant: Nanos) -> Self::Sleep {
        self.inner.sleep_until(instant)
    }
}

impl Interrupted {
    fn by(&self, other: impl Fn() + Send + Sync + 'static) {
        assert!(self.other.set(Box::new(other)).is_ok());
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

/// All requests are of one key.
const BY_KEY: fn(&Parts) -> Option<u32> = |_| Some(7);

/// Policies of ten an hour, and the clock of each, on which another client takes of the same limit and never waits.
fn policies() -> Vec<(&'static str, Policy, Interrupted)> {
    let quota = Quota::per_hour(10);
    let mut all = Vec::new();
    for (name, patience) in [("keyed", Duration::ZERO), ("keyed, waiting", PATIENCE)] {
        let clock = Interrupted::default();
        let limiter = Arc::new(KeyedLimiter::with_clock(quota, 10, clock.clone()));
        let other = Arc::clone(&limiter);
        clock.by(move || assert!(other.try_acquire(&7).is_ok()));
        let policy = if patience.is_zero() {
            Policy::per_key(limiter, BY_KEY, Keyless::Reject)
        } else {
            Policy::per_key_waiting(limiter, BY_KEY, Keyless::Reject, patience)
        };
        all.push((name, policy, clock));
    }
    for (name, patience) in [("line", PATIENCE), ("line, without patience", Duration::ZERO)] {
        let clock = Interrupted::default();
        let line = Arc::new(WaitingTokenBucket::with_clock(quota, PATIENCE, clock.clone()));
        let other = Arc::clone(&line);
        clock.by(move || assert!(other.try_acquire().is_ok()));
        all.push((name, Policy::waiting(line, patience), clock));
    }
    let clock = Interrupted::default();
    let plain = Arc::new(TokenBucket::with_clock(quota, clock.clone()));
    let other = Arc::clone(&plain);
    clock.by(move || assert!(other.try_acquire().is_ok()));
    all.push(("bucket", Policy::new(plain), clock));
    all
}

/// What the answer says of the policy called `held`.
fn told(response: &Response<String>) -> &str {
    let fields = response.headers()["ratelimit"].to_str().unwrap();
    fields.split(", ").find_map(|item| item.strip_prefix("\"held\";")).unwrap()
}

fn layer(policies: impl IntoIterator<Item = Policy>) -> RateLimitLayer {
    RateLimitLayer::of(policies).telling(Dialect::Draft8To11).telling_the_admitted()
}

#[test]
fn what_another_client_takes_after_the_decision_is_in_no_field() {
    for (name, policy, clock) in policies() {
        let last = Policy::new(bucket(Quota::per_hour(1_000), &ManualClock::new())).named("last");
        let service = layer([policy.named("held"), last]).layer(Counting::default());
        let answer = ask(&service, Request::new(()));
        assert_eq!((told(&answer), clock.readings.load(Relaxed)), ("r=9;t=360", 1), "{name}");
    }
}

#[test]
fn what_another_client_takes_after_the_decision_is_in_no_field_of_the_only_policy() {
    for (name, policy, clock) in policies() {
        let service = layer([policy.named("held")]).layer(Counting::default());
        let answer = ask(&service, Request::new(()));
        assert_eq!((told(&answer), clock.readings.load(Relaxed)), ("r=9;t=360", 1), "{name}");
    }
}

/// A refusal of a line that is held: the bucket is empty, and full again in an hour. The other client could take nothing; it takes
/// places, of which each is six minutes more.
#[test]
fn what_another_client_reserves_after_the_decision_is_in_no_field_of_who_waits() {
    let clock = Interrupted::default();
    let limiter = Arc::new(KeyedLimiter::with_clock(Quota::per_hour(10), 10, clock.clone()));
    limiter.try_acquire_n(&7, 10).unwrap();
    let other = Arc::clone(&limiter);
    clock.by(move || core::mem::forget(other.reserve(&7, 1)));
    let waiting = Policy::per_key_waiting(limiter, BY_KEY, Keyless::Reject, Duration::from_secs(600)).named("held");
    let last = Policy::new(bucket(Quota::per_hour(1_000), &ManualClock::new())).named("last");
    let mut service = layer([waiting, last]).layer(Counting::default());
    let mut answer = pin!(service.call(Request::new(())));
    let mut poll = || answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    clock.inner.advance(Duration::from_secs(360));
    let Poll::Ready(Ok(answer)) = poll() else { panic!("it is due") };
    assert_eq!(told(&answer), "r=0;t=3960"); // an hour, and this one's six minutes
}

/// A hasher that counts how often a key was hashed: once for each look at the table.
#[derive(Clone, Default)]
struct CountingHashes(Arc<AtomicU64>);

impl BuildHasher for CountingHashes {
    type Hasher = Sum;

    fn build_hasher(&self) -> Sum {
        self.0.fetch_add(1, Relaxed);
        Sum(0)
    }
}

struct Sum(u64);

impl Hasher for Sum {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| sum * 31 + u64::from(byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[test]
fn a_key_is_looked_up_once() {
    let last = || Policy::new(bucket(Quota::per_hour(1_000), &ManualClock::new())).named("last");
    for held in [false, true] {
        for waiting in [false, true] {
            let hashes = CountingHashes::default();
            let (quota, clock) = (Quota::per_hour(1), ManualClock::new());
            let limiter = KeyedLimiter::with_hasher_and_clock(quota, 10, hashes.clone(), clock);
            let policy = if waiting {
                Policy::per_key_waiting(limiter, BY_KEY, Keyless::Reject, PATIENCE)
            } else {
                Policy::per_key(limiter, BY_KEY, Keyless::Reject)
            };
            let service = layer([policy.named("held")].into_iter().chain(held.then(last))).layer(Counting::default());
            let looks = |status: u16| {
                let before = hashes.0.load(Relaxed);
                assert_eq!(ask(&service, Request::new(())).status(), status);
                hashes.0.load(Relaxed) - before
            };
            // Whoever might wait is asked first whether it must: the line of a key is then a second decision.
            assert_eq!([looks(200), looks(429)], [1, if waiting && !held { 2 } else { 1 }], "{held} {waiting}");
        }
    }
}
