//! A decision and the status that it has left are one state: what another thread does meanwhile lies before both or after
//! both.
//!
//! Each body runs over the library's limiters. Its broken twin decides first, and looks at the state that there is by then.

use core::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, Denied, FixedWindow, KeyedLimiter,
    PackedTokenBucket, Quota, RateLimit, ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, Status,
    TokenBucket, WaitingTokenBucket,
};
use tollgate_loom::cell::OwnReading;
use tollgate_loom::keyed::Chosen;
use tollgate_loom::sync::Arc;
use tollgate_loom::{explore, must_fail, race};

type Told = (Result<(), Denied>, Status);

/// How a limiter is asked for tokens and a status.
type Ask<L> = fn(&L, u64) -> Told;

fn one_state<L: RateLimit>(limiter: &L, n: u64) -> Told {
    limiter.try_acquire_n_with_status(n)
}

fn second_look<L: RateLimit>(limiter: &L, n: u64) -> Told {
    (limiter.try_acquire_n(n), limiter.status())
}

/// A table of keys, of which one is called for.
struct OneKey(KeyedLimiter<u32, Chosen, OwnReading>);

impl OneKey {
    const KEY: u32 = 1;

    fn new() -> Self {
        Self(KeyedLimiter::with_hasher_and_clock(QUOTA, 1, Chosen::default(), OwnReading))
    }
}

impl RateLimit for OneKey {
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.0.try_acquire_n(&Self::KEY, n)
    }

    fn try_acquire_n_with_status(&self, n: u64) -> Told {
        self.0.try_acquire_n_with_status(&Self::KEY, n)
    }

    fn refund(&self, n: u64) {
        self.0.refund(&Self::KEY, n);
    }

    fn status(&self) -> Status {
        self.0.status(&Self::KEY)
    }

    fn quota(&self) -> Quota {
        self.0.quota()
    }

    fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }
}

/// A limiter that is asked for a place in its line.
struct InLine<L>(L, fn(&L, u64) -> Told);

impl<L: RateLimit> RateLimit for InLine<L> {
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.try_acquire_n_with_status(n).0
    }

    fn try_acquire_n_with_status(&self, n: u64) -> Told {
        (self.1)(&self.0, n)
    }

    fn refund(&self, n: u64) {
        self.0.refund(n);
    }

    fn status(&self) -> Status {
        self.0.status()
    }

    fn quota(&self) -> Quota {
        self.0.quota()
    }

    fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }
}

const LONGEST: Duration = Duration::from_nanos(99);

/// A place of a limiter without keys, which is left to itself.
fn a_place() -> InLine<WaitingTokenBucket<OwnReading>> {
    InLine(WaitingTokenBucket::with_clock(QUOTA, LONGEST, OwnReading), |bucket, n| {
        let (place, status) = bucket.reserve_within_with_status(n, LONGEST);
        (place.map(core::mem::forget), status)
    })
}

/// A place in the line of a key.
fn a_place_of_a_key() -> InLine<OneKey> {
    InLine(OneKey::new(), |limiter, n| {
        let (place, status) = limiter.0.reserve_within_with_status(&OneKey::KEY, n, LONGEST);
        (place.map(core::mem::forget), status)
    })
}

/// Two each 16 ns, two at once. All clocks stand at 0.
const QUOTA: Quota = Quota::per(2, Duration::from_nanos(16));

const SYMPTOM: &str = "no state that was decided on";

/// Two callers take one each of the two there are: one has left one, the other none.
fn two_take_two<L: RateLimit + Send + Sync + 'static>(limiter: L, ask: Ask<L>) {
    let told = race(&Arc::new(limiter), [(); 2], move |limiter, ()| ask(limiter, 1));
    let mut left = told.map(|(decision, status)| (decision.is_ok(), status.remaining));
    left.sort_unstable();
    assert_eq!(left, [(true, 0), (true, 1)], "{SYMPTOM}");
}

/// There is nothing left until a token is given back: whoever is refused is told that there is none, and when there will be.
fn a_refusal_beside_a_refund<L: RateLimit + Send + Sync + 'static>(limiter: L, ask: Ask<L>) {
    assert!(limiter.try_acquire_n(2).is_ok());
    let [told, _] = race(&Arc::new(limiter), [true, false], move |limiter, asks| {
        if asks {
            return Some(ask(limiter, 1));
        }
        limiter.refund(1);
        None
    });
    let (decision, status) = told.expect("the first of them asks");
    assert_eq!(status.remaining, 0, "{SYMPTOM}: {decision:?}");
    if let Err(denied) = decision {
        assert_eq!(denied.retry_after(), status.retry_after, "{SYMPTOM}");
    }
}

/// Two callers take a place for two each: one is due at once and has left an empty bucket, the other waits until there is none before it.
fn two_stand_in_line<L: RateLimit + Send + Sync + 'static>(limiter: L, ask: Ask<L>) {
    let told = race(&Arc::new(limiter), [(); 2], move |limiter, ()| ask(limiter, 2));
    let mut until_full =
        told.map(|(decision, status)| (decision.is_ok(), status.remaining, status.reset_after.as_nanos()));
    until_full.sort_unstable();
    assert_eq!(until_full, [(true, 0, 16), (true, 0, 32)], "{SYMPTOM}");
}

/// A cost that only the new quota allows: who was told that it never can be admitted is told the old limit.
fn a_refusal_beside_a_change(bucket: AdjustableTokenBucket<OwnReading>, ask: Ask<AdjustableTokenBucket<OwnReading>>) {
    let [told, _] = race(&Arc::new(bucket), [true, false], move |bucket, asks| {
        if asks {
            return Some(ask(bucket, 3));
        }
        bucket.set_quota(QUOTA.with_burst(4)).expect("it fits");
        None
    });
    match told.expect("the first of them asks") {
        (Ok(()), status) => assert_eq!((status.limit, status.remaining), (4, 1), "{SYMPTOM}"),
        (Err(_), status) => assert_eq!((status.limit, status.remaining), (2, 2), "{SYMPTOM}"),
    }
}

macro_rules! models {
    ($($name:ident = $make:expr, $bound:expr, $($body:ident)|+;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn is_told_one_state() {
                $(explore(
                    concat!("status, ", stringify!($name), ", ", stringify!($body)),
                    $bound,
                    || $body($make, one_state),
                );)+
            }

            #[test]
            #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
            fn looked_at_twice() {
                $(must_fail(
                    concat!("status, ", stringify!($name), ", ", stringify!($body)),
                    $bound,
                    SYMPTOM,
                    || $body($make, second_look),
                );)+
            }
        }
    )*};
}

models! {
    token_bucket = TokenBucket::with_clock(QUOTA, OwnReading), None, two_take_two | a_refusal_beside_a_refund;
    packed = PackedTokenBucket::with_clock(QUOTA, OwnReading), None, two_take_two | a_refusal_beside_a_refund;
    fixed_window = FixedWindow::with_clock(QUOTA, OwnReading), None, two_take_two | a_refusal_beside_a_refund;
    sliding_counter = SlidingWindowCounter::with_clock(QUOTA, OwnReading), None, two_take_two | a_refusal_beside_a_refund;
    sliding_log = SlidingWindowLog::with_clock(QUOTA, OwnReading), Some(3), two_take_two;
    waiting = WaitingTokenBucket::with_clock(QUOTA, Duration::from_nanos(99), OwnReading), Some(3),
        two_take_two | a_refusal_beside_a_refund;
    adjustable = AdjustableTokenBucket::with_clock(QUOTA, OwnReading), Some(3),
        two_take_two | a_refusal_beside_a_refund | a_refusal_beside_a_change;
    adjustable_window = AdjustableFixedWindow::with_clock(QUOTA, OwnReading), Some(3),
        two_take_two | a_refusal_beside_a_refund;
    adjustable_counter = AdjustableSlidingWindowCounter::with_clock(QUOTA, OwnReading), Some(3),
        two_take_two | a_refusal_beside_a_refund;
    undivided = ShardedTokenBucket::with_sizes(QUOTA, 1, 0, 0, OwnReading), Some(3),
        two_take_two | a_refusal_beside_a_refund;
    keyed = OneKey::new(), Some(2), two_take_two | a_refusal_beside_a_refund;
    waiting_in_line = a_place(), Some(3), two_take_two | two_stand_in_line;
    keyed_in_line = a_place_of_a_key(), Some(2), two_take_two | two_stand_in_line;
}
