//! Several limits at once: sets of the library's own limiters, in every interleaving; and limiters that give back by another rule
//! than the fifth of the module `several`, which must fail.

use core::time::Duration;
use tollgate::{
    Denied, DeniedBy, FixedWindow, KeyedLimiter, LimitSet, Nanos, OwnedKeyedLine, Quota, RateLimit, RateLimitAt,
    SlidingWindowCounter, Status, Taken, TokenBucket, WaitingTokenBucket,
};
use tollgate_loom::cell::OwnReading;
use tollgate_loom::keyed::Chosen;
use tollgate_loom::sync::Arc;
use tollgate_loom::{assert_bounded, explore, must_fail, race};

/// Two each 16 ns, two at once: from a reading of 8 to one of 24, a bucket is full again and a window is past.
const TWO: Quota = Quota::per(2, Duration::from_nanos(16));
const EARLY: Nanos = Nanos(8);
const LATE: Nanos = Nanos(24);

/// A limiter of so many tokens each 16 ns.
trait Make: RateLimitAt + Send + Sync + Sized + 'static {
    fn make(tokens: u64) -> Self;
}

fn quota(tokens: u64) -> Quota {
    Quota::per(tokens, Duration::from_nanos(16))
}

impl Make for TokenBucket<OwnReading> {
    fn make(tokens: u64) -> Self {
        Self::with_clock(quota(tokens), OwnReading)
    }
}

impl Make for FixedWindow<OwnReading> {
    fn make(tokens: u64) -> Self {
        Self::with_clock(quota(tokens), OwnReading)
    }
}

impl Make for SlidingWindowCounter<OwnReading> {
    fn make(tokens: u64) -> Self {
        Self::with_clock(quota(tokens), OwnReading)
    }
}

impl Make for WaitingTokenBucket<OwnReading> {
    fn make(tokens: u64) -> Self {
        Self::with_clock(quota(tokens), Duration::ZERO, OwnReading)
    }
}

type Key = OwnedKeyedLine<u32, Chosen, OwnReading>;

impl Make for Key {
    fn make(tokens: u64) -> Self {
        let limiter = KeyedLimiter::with_hasher_and_clock(quota(tokens), 1, Chosen::default(), OwnReading);
        std::sync::Arc::new(limiter).line_owned(&1)
    }
}

/// How a limiter gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Not at all.
    Never,
    /// By number, as of the thread's present reading.
    AsOfNow,
    /// By number, as of the reading of the take.
    AsOfTheTake,
}

/// A limiter that gives back by another rule.
struct Twin<L> {
    limiter: L,
    rule: Rule,
}

impl<L: RateLimitAt> RateLimit for Twin<L> {
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.limiter.try_acquire_n(n)
    }

    fn status(&self) -> Status {
        self.limiter.status()
    }

    fn quota(&self) -> Quota {
        self.limiter.quota()
    }

    fn max_cost(&self) -> u64 {
        self.limiter.max_cost()
    }
}

impl<L: RateLimitAt> RateLimitAt for Twin<L> {
    fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.limiter.try_acquire_n_at(n, now)
    }

    fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        self.limiter.try_acquire_up_to_at(n, now)
    }

    fn status_at(&self, now: Nanos) -> Status {
        self.limiter.status_at(now)
    }

    fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.limiter.check_n_at(n, now)
    }

    fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        self.limiter.take_n_at(n, now)
    }

    fn give_back(&self, taken: Taken) -> bool {
        match self.rule {
            Rule::Never => {}
            Rule::AsOfNow => self.limiter.refund_at(taken.n(), LATE),
            Rule::AsOfTheTake => self.limiter.refund_at(taken.n(), taken.at()),
        }
        true
    }
}

/// What a set of the two says, in this order.
fn both(limits: [&dyn RateLimitAt; 2], costs: [u64; 2], now: Nanos) -> Result<(), DeniedBy> {
    LimitSet::with_clock(limits, OwnReading).try_acquire_n_at(costs, now)
}

/// How many tokens were taken of a limit by calls of one token each, or stay spent.
fn gone(limit: usize, calls: &[Result<(), DeniedBy>]) -> usize {
    calls.iter().filter(|call| call.map_or_else(|denied| denied.spent().any(|spent| spent == limit), |()| true)).count()
}

/// Three calls race for the one token of the second limit, each after it has taken of the first.
fn all_or_nothing(first: impl RateLimitAt + Send + Sync + 'static, always_taken_back: bool) {
    let limits = Arc::new((first, TokenBucket::make(1)));
    let calls = race(&limits, [(); 3], |(first, second), ()| both([first, second], [1, 1], EARLY));
    assert_eq!(calls.iter().filter(|call| call.is_ok()).count(), 1, "who takes the last limit is admitted");
    let left = (0..3).filter(|_| limits.0.try_acquire_n_at(1, EARLY).is_ok()).count();
    let gone = gone(0, &calls);
    assert!(left <= 3 - gone, "over-admission: {left} left of 3, {gone} gone");
    assert!(left >= 3 - gone, "a token is lost: {left} left of 3, {gone} gone");
    assert!(gone == 1 || !always_taken_back, "{gone} gone");
}

/// The same with places, of which the second line has one.
fn places_in_all_lines_or_none() {
    type Bucket = WaitingTokenBucket<OwnReading>;
    let limits = Arc::new((Bucket::make(3), Bucket::make(1)));
    let calls = race(&limits, [(); 2], |(first, second), ()| {
        let set = LimitSet::with_clock([first, second], OwnReading);
        let places = set.reserve_n_within_at([1, 1], Duration::ZERO, EARLY)?;
        assert_eq!(places.due(), EARLY);
        places.spend_at(EARLY).expect("they are due");
        Ok(())
    });
    assert_eq!(calls.iter().filter(|call| call.is_ok()).count(), 1, "who has the last place is admitted");
    let left = (0..3).filter(|_| limits.0.try_acquire_n_at(1, EARLY).is_ok()).count();
    let gone = gone(0, &calls);
    assert_eq!(left, 3 - gone, "{left} left of 3, {gone} gone");
}

/// Two sets that have two limits of one token in opposite orders.
fn opposite_orders(one: impl RateLimitAt + Send + Sync + 'static, other: impl RateLimitAt + Send + Sync + 'static) {
    let limits = Arc::new((one, other));
    let calls = race(&limits, [false, true], |(one, other), turned| {
        if turned { both([other, one], [1, 1], EARLY) } else { both([one, other], [1, 1], EARLY) }
    });
    let admitted = calls.iter().filter(|call| call.is_ok()).count();
    let left = [&limits.0 as &dyn RateLimitAt, &limits.1].map(|limit| usize::from(limit.check_n_at(1, EARLY).is_ok()));
    assert_eq!(left, [1 - admitted; 2], "{admitted} admitted, and windows take everything back");
}

/// A call is refused late, while another takes of the same limit on a later reading; then what is left there is asked for. Returns what was admitted of the first limit, and on which readings.
fn refused_while_time_goes_on(first: impl RateLimitAt + Send + Sync + 'static) -> Vec<(Nanos, u64)> {
    let limits = Arc::new((first, TokenBucket::make(1)));
    let mut admitted: Vec<_> = race(&limits, [true, false], |(first, second), in_a_set| {
        if in_a_set {
            both([first, second], [1, 1], EARLY).is_ok().then_some((EARLY, 1))
        } else {
            let _ = second.try_acquire_n_at(1, EARLY);
            first.try_acquire_n_at(1, LATE).is_ok().then_some((LATE, 1))
        }
    })
    .into_iter()
    .flatten()
    .collect();
    admitted.extend((0..2).filter(|_| limits.0.try_acquire_n_at(1, LATE).is_ok()).map(|_| (LATE, 1)));
    admitted
}

fn a_bucket_keeps_its_bound(first: impl RateLimitAt + Send + Sync + 'static) {
    assert_bounded(&refused_while_time_goes_on(first), TWO);
}

/// A call on the early reading may be counted in the later window; the later one's own calls never are in the earlier.
fn a_window_keeps_its_limit(first: impl RateLimitAt + Send + Sync + 'static) {
    let admitted = refused_while_time_goes_on(first);
    let late: u64 = admitted.iter().filter(|(at, _)| *at == LATE).map(|(_, n)| n).sum();
    assert!(late <= 2, "over-admission: {late} in one window");
    assert!(late == 2 || admitted.contains(&(EARLY, 1)), "a token is lost: {late} of 2 in a window of its own");
}

macro_rules! real {
    ($($name:ident($bound:literal): $body:expr;)*) => {$(
        #[test]
        fn $name() {
            explore(concat!("several, ", stringify!($name)), Some($bound), || $body);
        }
    )*};
}

mod real_types {
    use super::*;

    real! {
        all_or_nothing_of_buckets(2): all_or_nothing(TokenBucket::make(3), false);
        all_or_nothing_with_a_pool(2): all_or_nothing(WaitingTokenBucket::make(3), false);
        all_or_nothing_of_windows(2): all_or_nothing(FixedWindow::make(3), true);
        all_or_nothing_of_counters(2): all_or_nothing(SlidingWindowCounter::make(3), true);
        opposite_orders_of_windows(3): opposite_orders(FixedWindow::make(1), FixedWindow::make(1));
        places(3): places_in_all_lines_or_none();
        a_bucket(3): a_bucket_keeps_its_bound(TokenBucket::make(2));
        a_window(3): a_window_keeps_its_limit(FixedWindow::make(2));
        a_bucket_with_a_pool(3): a_bucket_keeps_its_bound(WaitingTokenBucket::make(2));
        a_key(2): a_bucket_keeps_its_bound(Key::make(2));
    }
}

mod broken_twins {
    use super::*;

    fn twin<L: Make>(rule: Rule, tokens: u64) -> Twin<L> {
        Twin { limiter: L::make(tokens), rule }
    }

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn nothing_given_back() {
        must_fail("several, nothing given back", Some(3), "a token is lost", || {
            all_or_nothing(twin::<FixedWindow<_>>(Rule::Never, 3), true);
        });
    }

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn given_back_to_the_present_window() {
        must_fail("several, given back to the present window", Some(3), "over-admission", || {
            a_window_keeps_its_limit(twin::<FixedWindow<_>>(Rule::AsOfNow, 2));
        });
    }

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn given_back_by_the_reading_where_the_count_was_in_a_later_window() {
        must_fail("several, given back to the window of the reading", Some(3), "a token is lost", || {
            a_window_keeps_its_limit(twin::<FixedWindow<_>>(Rule::AsOfTheTake, 2));
        });
    }

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn given_back_by_number_to_a_bucket() {
        must_fail("several, given back by number to a bucket", Some(3), "over-admission", || {
            a_bucket_keeps_its_bound(twin::<TokenBucket<_>>(Rule::AsOfTheTake, 2));
        });
    }

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn given_back_by_number_to_a_bucket_as_of_now() {
        must_fail("several, given back by number to a bucket as of now", Some(3), "over-admission", || {
            a_bucket_keeps_its_bound(twin::<TokenBucket<_>>(Rule::AsOfNow, 2));
        });
    }
}
