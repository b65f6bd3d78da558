//! Places in several lines, awaited.

use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate::{Clock, DeniedBy, LimitSet, ManualClock, Nanos, Quota, RateLimit, WaitingTokenBucket};
use tollgate_runtimes::Tasks;

type Set = LimitSet<WaitingTokenBucket<ManualClock>, 2, ManualClock>;

fn set(quotas: [Quota; 2]) -> (Set, ManualClock) {
    let clock = ManualClock::new();
    let line = |quota| WaitingTokenBucket::with_clock(quota, Duration::from_mins(1), clock.clone());
    (LimitSet::with_clock(quotas.map(line), clock.clone()), clock)
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn each_is_woken_once_when_its_last_place_is_due() {
    let (set, clock) = set([Quota::per_second(4).with_burst(2), Quota::per_second(8).with_burst(1)]);
    let (done, mut tasks) = (RefCell::new(Vec::new()), Tasks::new());
    // The first line has two at once and then one each 250 ms; the second, one each 125 ms.
    for task in 0..5 {
        let (set, clock, done) = (&set, &clock, &done);
        tasks.start(async move {
            set.acquire([1, 1]).await.unwrap();
            done.borrow_mut().push((task, clock.now().as_nanos() / 1_000_000));
        });
    }
    assert_eq!(tasks.run(), 5);
    tasks.run_to_the_end(&clock);
    assert_eq!(*done.borrow(), [(0, 0), (1, 125), (2, 250), (3, 500), (4, 750)]);
}

#[test]
fn a_future_that_is_dropped_gives_all_back() {
    let (set, clock) = set([Quota::per_second(1), Quota::per_second(2)]);
    assert!(set.try_acquire_n([1, 2]).is_ok());
    {
        let mut both = pin!(set.acquire([1, 1]));
        assert!(poll(both.as_mut()).is_pending());
        assert_eq!(set.reserve_n([1, 1]).unwrap().due(), Nanos::from_secs(2));
    }
    assert_eq!(set.reserve_n([1, 1]).unwrap().due(), Nanos::from_secs(1));
    clock.advance(Duration::from_secs(1));
    assert_eq!(set.limits().each_ref().map(RateLimit::available), [1, 2]);
    let mut places = pin!(set.reserve_n([1, 2]).unwrap().into_future());
    assert!(poll(places.as_mut()).is_ready());
    assert_eq!(set.limits().each_ref().map(RateLimit::available), [0, 0]);
}

#[test]
fn what_cannot_be_had_in_time_is_refused_at_the_first_poll() {
    let (set, clock) = set([Quota::per_second(1), Quota::per_minute(1)]);
    assert!(set.try_acquire().is_ok());
    let refused = |poll: Poll<Result<(), DeniedBy>>| match poll {
        Poll::Ready(Err(denied)) => denied.limits().collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let within = pin!(set.acquire_within([1, 1], Duration::from_secs(30)));
    assert_eq!(refused(poll(within)), [1]);
    let by = pin!(set.acquire_by([1, 1], Nanos::from_millis(900)));
    assert_eq!(refused(poll(by)), [0, 1]);
    let mut in_time = pin!(set.acquire_by([1, 0], Nanos::from_secs(1)));
    assert!(poll(in_time.as_mut()).is_pending());
    clock.advance(Duration::from_secs(1));
    assert!(poll(in_time).is_ready());
}

#[test]
fn an_unpolled_future_takes_nothing_and_a_leaked_one_keeps_its_own_alone() {
    let (set, _clock) = set([Quota::per_second(1), Quota::per_second(1)]);
    let unpolled = set.acquire([1, 1]);
    assert!(set.try_acquire().is_ok());
    drop(unpolled);
    let mut leaked = Box::pin(set.acquire([1, 1]));
    assert!(poll(leaked.as_mut()).is_pending());
    std::mem::forget(leaked);
    assert_eq!(set.reserve_n([1, 1]).unwrap().due(), Nanos::from_secs(2));
}
