//! Threads on sets that share limits: each limit keeps its bound, and what is refused is given back.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use tollgate::{
    Clock, FixedWindow, LimitSet, ManualClock, Nanos, Quota, RateLimit, RateLimitAt, SlidingWindowLog, TokenBucket,
    WaitingTokenBucket,
};
use tollgate_testing::trace::{Admission, first_violation};

const THREADS: usize = 4;

/// Runs `work` on all threads at once; returns what each returned.
pub(crate) fn together<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (start, work) = (&Barrier::new(THREADS), &work);
    thread::scope(|scope| {
        let spawn = |thread| {
            scope.spawn(move || {
                start.wait();
                work(thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Nothing falls due: what all threads are admitted is what the tightest limit has, and windows keep what was refused.
#[test]
fn of_windows_exactly_the_least_limit_passes_and_the_others_have_the_rest() {
    let clock = ManualClock::starting_at(Nanos::from_secs(1_000));
    for round in 0..200 {
        let limits = [50, 40, 30].map(|n| FixedWindow::with_clock(Quota::per_hour(n), clock.clone()));
        let [a, b, c] = &limits;
        // The tightest comes last, so that all late refusals have something to give back.
        let set = LimitSet::with_clock([a, b, c], &clock);
        let admitted = together(|_| (0..30).filter(|_| set.try_acquire().is_ok()).count());
        assert_eq!(admitted.iter().sum::<usize>(), 30, "round {round}");
        assert_eq!(limits.each_ref().map(RateLimit::available), [20, 10, 0], "round {round}");
    }
}

/// Sets with the shared limits in opposite orders, and one at a time so that races are many.
#[test]
fn sets_in_opposite_orders_keep_each_limit_and_lose_nothing_of_windows() {
    let clock = ManualClock::starting_at(Nanos::from_secs(1_000));
    for round in 0..300 {
        let limits = [20, 20].map(|n| FixedWindow::with_clock(Quota::per_hour(n), clock.clone()));
        let [a, b] = &limits;
        let sets = [LimitSet::with_clock([a, b], &clock), LimitSet::with_clock([b, a], &clock)];
        let admitted = together(|thread| (0..20).filter(|_| sets[thread % 2].try_acquire().is_ok()).count());
        let admitted = admitted.iter().sum::<usize>() as u64;
        assert_eq!(limits.each_ref().map(RateLimit::available), [20 - admitted; 2], "round {round}");
    }
}

/// The clock goes on meanwhile. By readings, each limit's bound holds for what was admitted.
#[test]
fn each_limit_keeps_its_bound_while_time_goes_on() {
    let quotas = [
        Quota::per(5, Duration::from_millis(5)).with_burst(7),
        Quota::per(1, Duration::from_millis(2)).with_burst(20),
        Quota::per(3, Duration::from_millis(4)).with_burst(3),
    ];
    let (mut late, mut spent) = (0, 0);
    for _ in 0..60 {
        let clock = ManualClock::new();
        let plain = quotas.map(|quota| TokenBucket::with_clock(quota, clock.clone()));
        let waiting = WaitingTokenBucket::with_clock(quotas[1], Duration::ZERO, clock.clone());
        let log = SlidingWindowLog::with_clock(Quota::per(40, Duration::from_millis(50)), clock.clone());
        let limits: [&(dyn RateLimitAt + Sync); 4] = [&plain[0], &waiting, &plain[2], &log];
        let set = LimitSet::try_with_clock(limits, &clock).unwrap();
        let runs = together(|thread| {
            let mut random = fastrand::Rng::with_seed(thread as u64);
            let (mut admitted, mut late, mut spent) = (Vec::new(), 0, 0);
            for _ in 0..400 {
                let costs = [random.u64(..3), random.u64(..3), random.u64(..2), random.u64(..2)];
                let now = clock.now();
                match set.try_acquire_n_at(costs, now) {
                    Ok(()) => admitted.push((costs, now)),
                    Err(denied) => {
                        late += usize::from(denied.is_late());
                        spent += denied.spent().count();
                    }
                }
                clock.advance(Duration::from_micros(random.u64(..200)));
            }
            (admitted, late, spent)
        });
        late += runs.iter().map(|(_, late, _)| late).sum::<usize>();
        spent += runs.iter().map(|(.., spent)| spent).sum::<usize>();
        for (limit, quota) in quotas.into_iter().enumerate() {
            let admitted = runs.iter().flat_map(|(admitted, ..)| admitted);
            let run: Vec<_> = admitted.map(|(costs, now)| Admission::new(costs[limit], *now)).collect();
            let violation = first_violation(&run, quota);
            assert!(violation.is_none(), "limit {limit}: {violation:?}");
        }
    }
    println!("{late} late refusals, after which {spent} limits kept tokens spent");
}

/// What a bucket does not have back is what it has said that it keeps spent: to the token.
#[test]
fn every_token_is_admitted_or_there_or_said_to_be_spent() {
    let clock = ManualClock::starting_at(Nanos::from_secs(1_000));
    for round in 0..300 {
        let quota = Quota::per_hour(50);
        let plain = TokenBucket::with_clock(quota, clock.clone());
        let waiting = WaitingTokenBucket::with_clock(quota, Duration::ZERO, clock.clone());
        let least = TokenBucket::with_clock(Quota::per_hour(10), clock.clone());
        let set: [&(dyn RateLimitAt + Sync); 3] = [&plain, &waiting, &least];
        let set = LimitSet::with_clock(set, &clock);
        let spent = together(|_| {
            let mut spent = [0; 3];
            for denied in (0..20).filter_map(|_| set.try_acquire().err()) {
                denied.spent().for_each(|limit| spent[limit] += 1);
            }
            spent
        });
        let left = |limiter: &dyn RateLimit| (0..50).filter(|_| limiter.try_acquire().is_ok()).count();
        let spent: [usize; 3] = std::array::from_fn(|limit| spent.iter().map(|spent| spent[limit]).sum());
        assert_eq!([left(&plain), left(&waiting), left(&least)], [40 - spent[0], 40 - spent[1], 0], "round {round}");
        assert_eq!(spent[2], 0, "nothing comes after the last");
    }
}
