//! The futures by themselves, on a clock that is moved by hand.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate::{Clock, Denied, KeyedLimiter, ManualClock, Nanos, Quota, Timer, WaitingTokenBucket};
use tollgate_runtimes::Tasks;

type Bucket = WaitingTokenBucket<ManualClock>;

const MINUTE: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);

fn bucket(quota: Quota) -> (Bucket, ManualClock) {
    let clock = ManualClock::new();
    (Bucket::with_clock(quota, MINUTE, clock.clone()), clock)
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn each_is_woken_once_and_at_its_instant() {
    let (bucket, clock) = bucket(Quota::per_second(4).with_burst(2));
    let (done, mut tasks) = (RefCell::new(Vec::new()), Tasks::new());
    for task in 0..5 {
        let (bucket, clock, done) = (&bucket, &clock, &done);
        tasks.start(async move {
            bucket.acquire(1).await.unwrap();
            done.borrow_mut().push((task, clock.now().as_nanos() / 1_000_000));
        });
    }
    assert_eq!(tasks.run(), 5);
    clock.set(Nanos(249_999_999));
    assert_eq!(tasks.run(), 0, "a nanosecond before, nobody is woken");
    tasks.run_to_the_end(&clock);
    assert_eq!(*done.borrow(), [(0, 0), (1, 0), (2, 250), (3, 500), (4, 750)]);
}

#[test]
fn a_future_that_is_never_polled_delays_nobody() {
    let (bucket, _clock) = bucket(Quota::per_second(1));
    let unpolled = bucket.acquire(1);
    assert!(bucket.try_acquire().is_ok());
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(1));
    drop(unpolled);
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(1));
}

#[test]
fn a_future_that_is_polled_once_and_then_left_alone_holds_up_nobody() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    assert!(bucket.try_acquire().is_ok());
    let mut left_alone = pin!(bucket.acquire(1));
    assert!(poll(left_alone.as_mut()).is_pending());
    let mut next = pin!(bucket.acquire(1));
    assert!(poll(next.as_mut()).is_pending());
    clock.set(Nanos::from_secs(2));
    assert_eq!(poll(next), Poll::Ready(Ok(())));
    // Its own token is there whenever it comes.
    clock.set(Nanos::from_secs(100));
    assert_eq!(poll(left_alone), Poll::Ready(Ok(())));
}

/// V6: a waiting future is dropped: its tokens come back, and nobody else is stuck.
#[test]
fn v6_a_dropped_future_gives_its_place_back() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let (done, mut tasks) = (Cell::new(0), Tasks::new());
    assert!(bucket.try_acquire().is_ok());
    let wait = async || {
        bucket.acquire(1).await.unwrap();
        done.set(done.get() * 10 + clock.now().as_nanos() / 1_000_000_000);
    };
    let [first, _second, last] = [0; 3].map(|_| tasks.start(wait()));
    tasks.run();
    tasks.drop_task(last);
    assert_eq!(bucket.reserve(1).unwrap().due(), Nanos::from_secs(3), "the last place is the next one's");
    tasks.drop_task(first);
    tasks.start(wait()); // in the first's place
    tasks.run();
    clock.advance(SECOND);
    assert_eq!((tasks.run(), done.get()), (1, 1));
    tasks.run_to_the_end(&clock);
    assert_eq!((done.get(), tasks.left()), (12, 0));
}

/// V3: a wait that cannot be in time is refused at once, with nothing taken and nobody put to sleep.
#[test]
fn v3_what_cannot_be_in_time_fails_at_the_first_poll() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    assert!(bucket.try_acquire().is_ok());
    let Poll::Ready(Err(denied)) = poll(pin!(bucket.acquire_within(1, Duration::from_nanos(999_999_999)))) else {
        panic!("a second is not within less")
    };
    assert!(matches!(denied, Denied::WouldExceedDeadline(_)));
    assert_eq!(denied.retry_after(), Some(Duration::from_nanos(1)));
    let late = poll(pin!(bucket.acquire_by(1, Nanos(999_999_999))));
    assert!(matches!(late, Poll::Ready(Err(Denied::WouldExceedDeadline(_)))));
    let never = poll(pin!(bucket.acquire(2)));
    assert_eq!(never, Poll::Ready(Err(Denied::ExceedsBurst { cost: 2, max_cost: 1 })));
    assert_eq!(clock.next_alarm(), None);

    let mut in_time = pin!(bucket.acquire_by(1, Nanos::from_secs(1)));
    assert!(poll(in_time.as_mut()).is_pending());
    assert_eq!(clock.next_alarm(), Some(Nanos::from_secs(1)));
    clock.advance(SECOND);
    assert_eq!(poll(in_time), Poll::Ready(Ok(())));
    clock.advance(SECOND);
    assert_eq!(poll(pin!(bucket.acquire_by(1, Nanos::ZERO))), Poll::Ready(Ok(())), "due at once will do");
}

#[test]
fn patience_counts_from_the_first_poll_and_a_deadline_does_not() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let within = pin!(bucket.acquire_within(1, SECOND));
    let by = pin!(bucket.acquire_by(1, Nanos::from_secs(1)));
    clock.advance(SECOND);
    assert!(bucket.try_acquire().is_ok());
    assert!(poll(within).is_pending());
    assert!(matches!(poll(by), Poll::Ready(Err(Denied::WouldExceedDeadline(_)))));
}

#[test]
fn a_full_line_is_refused() {
    let (bucket, _clock) = bucket(Quota::per_second(1));
    let mut waiting: Vec<_> = (0..61).map(|_| Box::pin(bucket.until_ready())).collect();
    let pending = waiting.iter_mut().filter_map(|wait| poll(wait.as_mut()).is_pending().then_some(())).count();
    assert_eq!(pending, 60);
    assert!(matches!(poll(pin!(bucket.until_ready())), Poll::Ready(Err(Denied::LineFull(_)))));
}

#[test]
fn a_place_can_be_awaited_and_an_owned_future_lives_anywhere() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let bucket = Arc::new(bucket);
    let (done, mut tasks) = (Rc::new(RefCell::new(Vec::new())), Tasks::<'static>::new());
    let place = Arc::clone(&bucket).reserve_owned(1).unwrap();
    let owned = Arc::clone(&bucket).acquire_owned(1);
    for wait in [Box::pin(async { place.await }) as std::pin::Pin<Box<dyn Future<Output = ()>>>, {
        Box::pin(async { owned.await.unwrap() })
    }] {
        let (done, clock) = (Rc::clone(&done), clock.clone());
        tasks.start(async move {
            wait.await;
            done.borrow_mut().push(clock.now());
        });
    }
    tasks.run_to_the_end(&clock);
    assert_eq!(*done.borrow(), [Nanos::ZERO, Nanos::from_secs(1)]);
}

/// Each key has a line of its own; the last place in it comes back when its future is dropped, and the key itself is not held.
#[test]
fn tasks_wait_in_the_lines_of_their_keys() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<str>::with_clock(Quota::per_second(1), 1_000, clock.clone());
    let (done, mut tasks) = (RefCell::new(Vec::new()), Tasks::new());
    let wait = async |key: &'static str| {
        limiter.acquire(&String::from(key), 1).await.unwrap();
        done.borrow_mut().push((key, clock.now().as_nanos() / 1_000_000_000));
    };
    let unpolled = limiter.acquire("a", 1);
    let [.., last] = ["a", "a", "b", "a", "b", "a"].map(|key| tasks.start(wait(key)));
    tasks.run();
    assert_eq!(limiter.reserve("a", 1).unwrap().due(), Nanos::from_secs(4));
    tasks.drop_task(last);
    assert_eq!(limiter.reserve("a", 1).unwrap().due(), Nanos::from_secs(3));
    tasks.run_to_the_end(&clock);
    assert_eq!(*done.borrow(), [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]);
    drop(unpolled);

    limiter.try_acquire("c").unwrap();
    let now = clock.now();
    let early = now.saturating_add(Duration::from_nanos(999_999_999));
    for late in [limiter.acquire_by("c", 1, early), limiter.acquire_within("c", 1, Duration::from_nanos(999_999_999))] {
        assert!(matches!(poll(pin!(late)), Poll::Ready(Err(Denied::WouldExceedDeadline(_)))));
    }
    assert_eq!(poll(pin!(limiter.acquire("c", 2))), Poll::Ready(Err(Denied::ExceedsBurst { cost: 2, max_cost: 1 })));
    assert_eq!(clock.next_alarm(), None);
    let mut in_time = pin!(limiter.acquire_by("c", 1, now.saturating_add(SECOND)));
    assert!(poll(in_time.as_mut()).is_pending());
    clock.advance(SECOND);
    assert_eq!(poll(in_time), Poll::Ready(Ok(())));
}

/// The same forms by key as without: owned places and futures, one token, a deadline.
#[test]
fn places_and_futures_by_key_live_anywhere() {
    let clock = ManualClock::new();
    let limiter = Arc::new(KeyedLimiter::<str>::with_clock(Quota::per_second(1), 1_000, clock.clone()));
    let place = Arc::clone(&limiter).reserve_owned("a", 1).unwrap();
    let mut owned = Box::pin(Arc::clone(&limiter).acquire_owned(&String::from("a"), 1));
    let mut dropped = Box::pin(Arc::clone(&limiter).acquire_owned("a", 1));
    assert!(poll(owned.as_mut()).is_pending() && poll(dropped.as_mut()).is_pending());
    assert_eq!(limiter.reserve("a", 1).unwrap().due(), Nanos::from_secs(3));
    drop(dropped);
    assert_eq!(limiter.reserve("a", 1).unwrap().due(), Nanos::from_secs(2), "the last place comes back");
    let soon = Duration::from_nanos(1_999_999_999);
    let late = Arc::clone(&limiter).acquire_owned_within("a", 1, soon);
    assert!(matches!(poll(pin!(late)), Poll::Ready(Err(Denied::WouldExceedDeadline(_)))));
    let late = Arc::clone(&limiter).reserve_owned_within("a", 1, soon);
    assert!(matches!(late, Err(Denied::WouldExceedDeadline(_))));
    let now = std::time::Instant::now();
    assert!(matches!(limiter.acquire_blocking_by("a", 1, now), Err(Denied::WouldExceedDeadline(_))));
    assert_eq!(limiter.acquire_blocking_by("b", 1, now), Ok(()));
    let mut ready = pin!(limiter.until_ready("b"));
    assert!(poll(ready.as_mut()).is_pending());
    place.spend().unwrap();
    clock.set(Nanos::from_secs(1));
    assert_eq!([poll(ready), poll(owned.as_mut())], [Poll::Ready(Ok(())); 2]);
}

#[test]
fn an_owned_future_can_have_a_deadline() {
    let (bucket, clock) = bucket(Quota::per_second(1));
    let bucket = Arc::new(bucket);
    bucket.try_acquire().unwrap();
    let late = Arc::clone(&bucket).acquire_owned_within(1, Duration::from_nanos(999_999_999));
    assert!(matches!(poll(pin!(late)), Poll::Ready(Err(Denied::WouldExceedDeadline(_)))));
    let mut in_time = Box::pin(Arc::clone(&bucket).acquire_owned_within(1, SECOND));
    assert!(poll(in_time.as_mut()).is_pending());
    clock.set(Nanos::from_secs(1));
    assert_eq!(poll(in_time.as_mut()), Poll::Ready(Ok(())));
}

/// One task that takes its turns keeps the rate under late wake-ups, and a wait that is dropped costs nothing.
#[test]
fn a_task_takes_its_turns() {
    let (bucket, clock) = bucket(Quota::per_second(1_000).with_burst(1));
    let mut turns = bucket.turns(Duration::from_millis(5));
    let mut due = 0;
    while due < 1_000 {
        let mut turn = Box::pin(turns.acquire(1));
        if poll(turn.as_mut()).is_pending() {
            drop(turn);
            turn = Box::pin(turns.acquire(1));
            assert!(poll(turn.as_mut()).is_pending());
            clock.set(Nanos::from_millis(due).saturating_add(Duration::from_micros(1_700)));
            assert_eq!(poll(turn.as_mut()), Poll::Ready(Ok(())));
        }
        due += 1;
    }
    assert_eq!(clock.now().as_nanos() / 1_000_000, 1_000);
}

#[test]
#[should_panic(expected = "polled after it was ready")]
fn polled_after_it_was_ready_it_panics_and_admits_nothing() {
    let (bucket, _clock) = bucket(Quota::per_second(1));
    let mut acquire = pin!(bucket.acquire(1));
    assert_eq!(poll(acquire.as_mut()), Poll::Ready(Ok(())));
    let _ = poll(acquire);
}

/// A clock whose timer is always ready, whatever the clock reads.
struct Impatient(ManualClock);

impl Clock for Impatient {
    fn now(&self) -> Nanos {
        self.0.now()
    }
}

impl Timer for Impatient {
    type Sleep = std::future::Ready<()>;

    fn sleep_until(&self, _: Nanos) -> Self::Sleep {
        std::future::ready(())
    }
}

#[test]
fn a_timer_that_is_early_wakes_nobody_before_the_place_is_due() {
    let clock = ManualClock::new();
    let bucket = WaitingTokenBucket::with_clock(Quota::per_second(1), MINUTE, Impatient(clock.clone()));
    assert!(bucket.try_acquire().is_ok());
    let mut acquire = pin!(bucket.acquire(1));
    for millis in [0, 1, 500, 999] {
        clock.set(Nanos::from_millis(millis));
        assert!(poll(acquire.as_mut()).is_pending(), "and it yields");
    }
    clock.set(Nanos::from_secs(1));
    assert_eq!(poll(acquire), Poll::Ready(Ok(())));
}

#[test]
fn free_and_closed_limits_do_not_wait() {
    let (unlimited, _clock) = bucket(Quota::UNLIMITED);
    assert_eq!(poll(pin!(unlimited.acquire(u64::MAX))), Poll::Ready(Ok(())));
    let (closed, _clock) = bucket(Quota::DENY_ALL);
    assert!(matches!(poll(pin!(closed.acquire(1))), Poll::Ready(Err(Denied::ExceedsBurst { .. }))));
    assert_eq!(poll(pin!(closed.acquire(0))), Poll::Ready(Ok(())));
}
