//! Waiting on tokio with its time paused: every instant is exact, and no test waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep, timeout};
use tollgate::{Clock, Denied, Quota, TokioClock, WaitingTokenBucket};

type Bucket = WaitingTokenBucket<TokioClock>;

const HOUR: Duration = Duration::from_hours(1);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn bucket(quota: Quota, longest: Duration) -> Arc<Bucket> {
    Arc::new(Bucket::with_clock(quota, longest, TokioClock))
}

/// V4: 10 each 100 ms, 100 waiting tasks, 1000 permits wanted: done in exactly the ideal time.
#[tokio::test(start_paused = true)]
async fn v4_a_hundred_tasks_share_a_thousand_tokens_in_the_ideal_time() {
    let bucket = bucket(Quota::per(10, ms(100)), HOUR);
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..100 {
        let bucket = bucket.clone();
        tasks.spawn(async move {
            for _ in 0..10 {
                bucket.acquire(1).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(start.elapsed(), ms(9_900), "ten at once, and then one each 10 ms");
}

/// V5: 3 tokens, 1 each 100 ms, at most 5 may wait, 10 arrive.
#[tokio::test(start_paused = true)]
async fn v5_three_at_once_five_in_line_two_refused() {
    let bucket = bucket(Quota::per(1, ms(100)).with_burst(3), ms(500));
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..10 {
        let bucket = bucket.clone();
        tasks.spawn(async move {
            let outcome = bucket.acquire(1).await;
            (number, outcome.map_err(|denied| matches!(denied, Denied::LineFull(_))), start.elapsed())
        });
    }
    let mut outcomes = tasks.join_all().await;
    outcomes.sort_unstable();
    let due = [0, 0, 0, 100, 200, 300, 400, 500].into_iter().map(|due| (Ok(()), ms(due)));
    let refused = [(Err(true), ms(0)); 2];
    let expected: Vec<_> = (0..).zip(due.chain(refused)).map(|(number, (outcome, at))| (number, outcome, at)).collect();
    assert_eq!(outcomes, expected);
}

/// V6: waiting futures are dropped by a timeout: their tokens come back, and nobody is stuck.
#[tokio::test(start_paused = true)]
async fn v6_who_gives_up_gives_back() {
    let bucket = bucket(Quota::per(1, ms(100)), HOUR);
    let start = Instant::now();
    assert!(bucket.try_acquire().is_ok());
    let mut tasks = JoinSet::new();
    for patience in [ms(1_000), ms(50), ms(1_000), ms(50)] {
        let bucket = bucket.clone();
        tasks.spawn(async move { timeout(patience, bucket.acquire(1)).await.ok().map(|_| start.elapsed()) });
    }
    sleep(ms(60)).await;
    // The last in line went back to the line, and the second from its middle goes to who asks next.
    let newcomers = [0; 2].map(|_| bucket.reserve(1).unwrap());
    for (place, due) in newcomers.into_iter().zip([200, 400]) {
        place.await;
        assert_eq!(start.elapsed(), ms(due));
    }
    let mut done = tasks.join_all().await;
    done.sort_unstable();
    assert_eq!(done, [None, None, Some(ms(100)), Some(ms(300))]);
}

/// The clock of the limiter and the timer are one: who is woken finds its token, and is woken once. A clock that stood
/// still beside a timer that does not would have the task spin.
#[tokio::test(start_paused = true)]
async fn a_wait_takes_one_sleep() {
    struct Polls<F>(std::pin::Pin<Box<F>>, u32);
    impl<F: Future> Future for Polls<F> {
        type Output = (F::Output, u32);
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Self::Output> {
            self.1 += 1;
            let polls = self.1;
            self.0.as_mut().poll(context).map(|output| (output, polls))
        }
    }
    let bucket = bucket(Quota::per(3, ms(1)).with_burst(1), HOUR);
    assert!(bucket.try_acquire().is_ok());
    for _ in 0..100 {
        let before = TokioClock.now();
        let (outcome, polls) = Polls(Box::pin(bucket.acquire(1)), 0).await;
        assert!(outcome.is_ok() && polls <= 2);
        assert!(TokioClock.now().saturating_since(before) <= ms(1), "a timer of tokio's is at most a millisecond late");
    }
}

/// A timer that is late costs the rate nothing: the place counts, not the wake-up.
#[tokio::test(start_paused = true)]
async fn late_wake_ups_cost_those_in_line_no_rate() {
    // A token each 700 us, and timers that know milliseconds only.
    let bucket = bucket(Quota::per(10, ms(7)).with_burst(1), HOUR);
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..20 {
        let bucket = bucket.clone();
        tasks.spawn(async move {
            for _ in 0..500 {
                bucket.acquire(1).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    // 9,999 tokens after the first, and the last of them by a timer.
    assert_eq!(start.elapsed(), ms((9_999_u64 * 7).div_ceil(10)));
}

#[tokio::test(start_paused = true)]
async fn twenty_tasks_get_the_same_share() {
    let bucket = bucket(Quota::per_second(10).with_burst(1), HOUR);
    assert!(bucket.try_acquire().is_ok()); // all of them begin in line
    let counts: Arc<[AtomicU64; 20]> = Arc::default();
    let mut tasks = JoinSet::new();
    for task in 0..20 {
        let (bucket, counts) = (bucket.clone(), counts.clone());
        tasks.spawn(async move {
            loop {
                bucket.acquire(1).await.unwrap();
                counts[task].fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    sleep(ms(101_050)).await;
    let counts: Vec<_> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(most - least <= 1, "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), 1_010);
}

/// Ten thousand wait, and half of them give up at random instants. Everybody else is served exactly when told.
#[tokio::test(start_paused = true)]
async fn of_ten_thousand_half_give_up_and_the_others_are_on_time() {
    const WAITERS: u64 = 10_000;
    let bucket = bucket(Quota::per_second(1_000).with_burst(1), HOUR);
    let mut random = fastrand::Rng::with_seed(13);
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    for number in 0..WAITERS {
        let bucket = bucket.clone();
        let gives_up = (number % 2 == 1).then(|| ms(random.u64(1..=number)));
        tasks.spawn(async move {
            if let Some(patience) = gives_up {
                // Who is due at the instant at which it gives up may have both.
                assert!(timeout(patience, bucket.acquire(1)).await.is_err() || patience == ms(number));
            } else {
                bucket.acquire(1).await.unwrap();
                assert_eq!(start.elapsed(), ms(number));
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(start.elapsed(), ms(WAITERS - 2), "the last in line gave up");
}

/// As before, and somebody new comes for each who gives up: no token is lost, so that the last is served after exactly as
/// long as all the admissions take at this rate.
#[tokio::test(start_paused = true)]
async fn places_given_back_go_to_newcomers_and_the_rate_is_exact() {
    const WAITERS: u64 = 10_000;
    const BURST: u64 = 10;
    let bucket = bucket(Quota::per_second(1_000).with_burst(BURST), HOUR);
    let mut random = fastrand::Rng::with_seed(31);
    let mut tasks = JoinSet::new();
    let admitted = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    for number in 0..WAITERS {
        let (bucket, admitted) = (bucket.clone(), admitted.clone());
        let gives_up = (number % 2 == 1 && number > BURST).then(|| ms(random.u64(..=number - BURST)));
        tasks.spawn(async move {
            if let Some(patience) = gives_up
                && timeout(patience, bucket.acquire(1)).await.is_ok()
            {
                admitted.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let place = bucket.reserve(1).unwrap();
            let due = place.due();
            place.await;
            assert_eq!(TokioClock.now(), due);
            admitted.fetch_add(1, Ordering::Relaxed);
        });
    }
    tasks.join_all().await;
    assert_eq!(admitted.load(Ordering::Relaxed), WAITERS);
    assert_eq!(start.elapsed(), ms(WAITERS - BURST));
}

#[tokio::test(start_paused = true)]
async fn time_that_is_advanced_by_hand_wakes_who_is_due() {
    let bucket = bucket(Quota::per_second(1), HOUR);
    assert!(bucket.try_acquire().is_ok());
    let waiting = tokio::spawn({
        let bucket = bucket.clone();
        async move { bucket.acquire_by(1, TokioClock.now().saturating_add(Duration::from_secs(1))).await }
    });
    tokio::task::yield_now().await;
    assert!(bucket.try_acquire().is_err());
    advance(Duration::from_secs(1)).await;
    assert_eq!(waiting.await.unwrap(), Ok(()));
}
