//! Late refusals: what was taken is given back, exactly, whatever others have done in between.

use super::{Limiter, WINDOWS, limiters};
use core::cell::RefCell;
use std::time::Duration;
use tollgate::{Denied, DeniedBy, Hint, LimitSet, ManualClock, Nanos, Quota, RateLimit, RateLimitAt, Status};
use tollgate_testing::trace::{Admission, first_violation};

/// Has enough when it is looked at; when it is taken of, others act, and it refuses.
struct Gone<F>(RefCell<F>);

impl<F: FnMut()> RateLimit for Gone<F> {
    fn try_acquire_n(&self, _: u64) -> Result<(), Denied> {
        unreachable!("sets tell the time")
    }

    fn status(&self) -> Status {
        unreachable!()
    }

    fn quota(&self) -> Quota {
        unreachable!()
    }

    fn max_cost(&self) -> u64 {
        unreachable!()
    }
}

impl<F: FnMut()> RateLimitAt for Gone<F> {
    fn try_acquire_n_at(&self, _: u64, now: Nanos) -> Result<(), Denied> {
        self.0.borrow_mut()();
        Err(Denied::TryAfter(Hint::at(now.saturating_add(Duration::from_secs(1)), now)))
    }

    fn try_acquire_up_to_at(&self, _: u64, _: Nanos) -> u64 {
        unreachable!()
    }

    fn status_at(&self, _: Nanos) -> Status {
        unreachable!()
    }
}

/// A call of cost `n` that a limit after `limiter` refuses late, after `others` have acted.
fn refused_late(limiter: &Limiter, n: u64, now: Nanos, others: impl FnMut()) -> DeniedBy {
    let gone = Gone(RefCell::new(others));
    let set: LimitSet<&dyn RateLimitAt, 2, ManualClock> = LimitSet::with_clock([&**limiter, &gone], ManualClock::new());
    let denied = set.try_acquire_n_at([n, 1], now).unwrap_err();
    assert!(denied.is_late() && denied.limits().eq([1]) && denied.retry_after() == Some(Duration::from_secs(1)));
    denied
}

fn quota() -> Quota {
    Quota::per(10, Duration::from_secs(10))
}

/// What is there to be known of the limiter at `now` and later, and what it then admits, one at a time.
fn course(limiter: &Limiter, now: Nanos) -> Vec<(Status, u64)> {
    let later = |seconds| now.saturating_add(Duration::from_millis(700 * seconds));
    (0..40).map(|step| (limiter.status_at(later(step)), limiter.try_acquire_up_to_at(step % 3, later(step)))).collect()
}

fn a_history(limiter: &Limiter, random: &mut fastrand::Rng) -> Nanos {
    let mut now = Nanos::from_secs(1_000);
    for _ in 0..random.u32(..6) {
        now = now.saturating_add(Duration::from_millis(random.u64(..9_000)));
        let _ = limiter.try_acquire_n_at(random.u64(1..6), now);
    }
    now.saturating_add(Duration::from_millis(random.u64(..9_000)))
}

#[test]
fn where_nobody_came_in_between_it_is_as_if_the_call_had_never_come() {
    for seed in 0..300 {
        let clock = ManualClock::new();
        for ((name, one), (_, other)) in limiters(quota(), &clock).iter().zip(&limiters(quota(), &clock)) {
            let now = a_history(one, &mut fastrand::Rng::with_seed(seed));
            a_history(other, &mut fastrand::Rng::with_seed(seed));
            for n in 0..=one.available_at(now) {
                assert_eq!(refused_late(one, n, now, || ()).spent().count(), 0, "{name}");
            }
            assert_eq!(course(one, now), course(other, now), "{name}, {seed}");
        }
    }
}

/// Others take in between, in the same window or a later one.
#[test]
fn a_window_takes_back_whatever_came_in_between() {
    for seed in 0..1_000 {
        let (clock, mut random) = (ManualClock::new(), fastrand::Rng::with_seed(seed));
        let both = limiters(quota(), &clock).into_iter().zip(limiters(quota(), &clock));
        for ((name, one), (_, other)) in both.filter(|((name, _), _)| WINDOWS.contains(name)) {
            let now = a_history(&one, &mut fastrand::Rng::with_seed(seed));
            a_history(&other, &mut fastrand::Rng::with_seed(seed));
            let n = random.u64(..=one.available_at(now));
            let (mut meanwhile, m) = (now, random.u64(1..4));
            let denied = refused_late(&one, n, now, || {
                // As many as the other has room for as well: a late refusal may deny others, and here nobody is denied.
                for _ in 0..random.u32(1..4) {
                    meanwhile = meanwhile.saturating_add(Duration::from_millis(random.u64(..12_000)));
                    if one.try_acquire_n_at(m, meanwhile).is_ok() {
                        assert!(other.try_acquire_n_at(m, meanwhile).is_ok());
                    }
                }
            });
            assert_eq!(denied.spent().count(), 0, "{name}");
            assert_eq!(course(&one, meanwhile), course(&other, meanwhile), "{name}, {seed}");
        }
    }
}

/// What it would be to give the five back by number: fifteen within no time.
#[test]
fn what_has_fallen_due_again_is_not_given_back_on_top_of_it() {
    let clock = ManualClock::new();
    for (name, limiter) in limiters(quota(), &clock).iter().filter(|(name, _)| !name.contains("window")) {
        let (now, later) = (Nanos::from_secs(1_000), Nanos::from_secs(1_005));
        let _ = refused_late(limiter, 5, now, || {
            let all = limiter.try_acquire_up_to_at(10, later);
            assert!(if name.contains("sliding") { all == 5 } else { all >= 9 }, "{name}: {all}");
        });
        assert!(limiter.try_acquire_up_to_at(10, later) <= if name.contains("sliding") { 5 } else { 1 }, "{name}");
    }
}

/// Calls, and others in between them, at readings that mostly go on and sometimes back: what is kept keeps the bound.
#[test]
fn what_is_kept_keeps_the_bound_whatever_comes_in_between() {
    let mut spent = 0;
    for seed in 0..500 {
        let clock = ManualClock::new();
        let buckets = limiters(quota(), &clock);
        for (name, limiter) in buckets.iter().filter(|(name, _)| !WINDOWS.contains(name)) {
            let (mut random, mut now, mut kept) = (fastrand::Rng::with_seed(seed), Nanos::from_secs(1_000), Vec::new());
            let mut step = |random: &mut fastrand::Rng| {
                let nanos = now.as_nanos() + random.u64(..4_000_000_000) - random.u64(..1_000_000_000);
                now = Nanos::from_nanos(nanos);
                now
            };
            for _ in 0..20 {
                let at = step(&mut random);
                let n = random.u64(..=limiter.available_at(at));
                let mut others = fastrand::Rng::with_seed(random.u64(..));
                let denied = refused_late(limiter, n, at, || {
                    for _ in 0..others.u32(..3) {
                        let (m, at) = (others.u64(1..4), step(&mut others));
                        if limiter.try_acquire_n_at(m, at).is_ok() {
                            kept.push(Admission::new(m, at));
                        }
                    }
                });
                spent += denied.spent().count();
                let at = step(&mut random);
                if limiter.try_acquire_n_at(1, at).is_ok() {
                    kept.push(Admission::new(1, at));
                }
            }
            // The packed bucket's bound is a token wider.
            let bound = if *name == "packed" { quota().with_burst(11) } else { quota() };
            let violation = first_violation(&kept, bound);
            assert!(violation.is_none(), "{name}, {seed}: {violation:?}");
        }
    }
    assert!(spent > 1_000, "{spent} times tokens stayed spent");
}

#[test]
fn a_bucket_says_that_it_has_not_taken_back_and_one_with_a_pool_has() {
    let clock = ManualClock::new();
    let now = Nanos::from_secs(1_000);
    for (name, limiter) in &limiters(quota(), &clock) {
        let denied = refused_late(limiter, 3, now, || limiter.try_acquire_n_at(2, now).unwrap());
        let (spent, left) = (denied.spent().count(), one_at_a_time(limiter, now));
        let keeps = WINDOWS.contains(name) || *name == "waiting";
        // A unit of a sharded bucket's burst stays in reserve where it is too small to be divided.
        let full = limiter.max_cost();
        assert_eq!((spent, left), if keeps { (0, full - 2) } else { (1, full - 5) }, "{name}");
    }
}

fn one_at_a_time(limiter: &Limiter, now: Nanos) -> u64 {
    (0..100).filter(|_| limiter.try_acquire_n_at(1, now).is_ok()).count() as u64
}

/// Where a unit is sixteen tokens, what is given back is whole units: a part of one is said to stay spent.
#[test]
fn a_key_says_that_a_part_of_a_unit_stays_spent() {
    let quota = Quota::per_second(12_500_000_000);
    let limiter = std::sync::Arc::new(tollgate::KeyedLimiter::<str>::with_clock(quota, 10, ManualClock::new()));
    let alice: Limiter = Box::new(limiter.line_owned("alice"));
    let now = Nanos::from_secs(1);
    for (n, whole) in [(32, true), (24, false), (16, true), (1, false)] {
        let before = alice.available_at(now);
        let spent = refused_late(&alice, n, now, || ()).spent().count();
        assert_eq!((spent == 0, alice.available_at(now) == before), (whole, whole), "{n} of {before}");
    }
}

/// All who refuse are named, also those that had not been reached.
#[test]
fn a_late_refusal_names_all_who_refuse() {
    let clock = ManualClock::new();
    let now = Nanos::from_secs(1);
    let bucket = |tokens| tollgate::TokenBucket::with_clock(Quota::per_hour(tokens), clock.clone());
    let (first, third, fourth) = (bucket(5), bucket(1), bucket(2));
    let gone = Gone(RefCell::new(|| assert!(third.try_acquire_n_at(1, now).is_ok())));
    let set: [&dyn RateLimitAt; 4] = [&first, &gone, &third, &fourth];
    let denied = LimitSet::with_clock(set, clock.clone()).try_acquire_n_at([1; 4], now).unwrap_err();
    assert_eq!((denied.limits().collect::<Vec<_>>(), denied.longest()), (vec![1, 2], 2));
    assert_eq!((first.available_at(now), fourth.available_at(now)), (5, 2));
}

/// A limiter of one's own that knows only refunds gives back by those, on the reading of the take.
#[test]
fn a_limiter_of_ones_own_refunds() {
    struct Own(tollgate::FixedWindow<ManualClock>);

    impl RateLimit for Own {
        fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
            self.0.try_acquire_n(n)
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

    impl RateLimitAt for Own {
        fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
            self.0.try_acquire_n_at(n, now)
        }

        fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
            self.0.try_acquire_up_to_at(n, now)
        }

        fn refund_at(&self, n: u64, taken: Nanos) {
            self.0.refund_at(n, taken);
        }

        fn status_at(&self, now: Nanos) -> Status {
            self.0.status_at(now)
        }
    }

    let own: Limiter = Box::new(Own(tollgate::FixedWindow::with_clock(quota(), ManualClock::new())));
    let (now, next) = (Nanos::from_secs(5), Nanos::from_secs(15));
    assert_eq!(refused_late(&own, 4, now, || ()).spent().count(), 0);
    assert_eq!(own.available_at(now), 10);
    let _ = refused_late(&own, 4, now, || own.try_acquire_n_at(10, next).unwrap());
    assert_eq!(own.available_at(next), 0, "what belonged to the last window is no business of this one");
    // It looks at nothing beforehand: it is asked when it is taken of.
    assert!(own.check_n_at(1, next).is_ok() && own.try_acquire_n_at(1, next).is_err());
}
