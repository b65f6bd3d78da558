//! What a wait takes: bytes, and no allocation.

use allocation_counter::{AllocationInfo, measure};
use std::hash::RandomState;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tollgate::{
    Acquire, AsyncIoClock, Clock, KeyedLine, ManualClock, Nanos, Quota, ShardedTokenBucket, Timer, TokioClock,
    WaitingTokenBucket,
};

const MINUTE: Duration = Duration::from_mins(1);

/// A timer that takes nothing.
struct Bare(ManualClock);

impl Clock for Bare {
    fn now(&self) -> Nanos {
        self.0.now()
    }
}

impl Timer for Bare {
    type Sleep = std::future::Pending<()>;

    fn sleep_until(&self, _: Nanos) -> Self::Sleep {
        std::future::pending()
    }
}

#[test]
fn a_wait_takes_at_most_two_hundred_bytes_beside_its_timer() {
    fn beside_the_timer<W, S>() -> usize {
        size_of::<W>() - size_of::<S>()
    }
    let sizes = [
        beside_the_timer::<Acquire<&WaitingTokenBucket<TokioClock>>, tokio::time::Sleep>(),
        beside_the_timer::<Acquire<Arc<WaitingTokenBucket<TokioClock>>>, tokio::time::Sleep>(),
        beside_the_timer::<Acquire<&WaitingTokenBucket<AsyncIoClock>>, <AsyncIoClock as Timer>::Sleep>(),
        beside_the_timer::<Acquire<&ShardedTokenBucket<TokioClock>>, tokio::time::Sleep>(),
        beside_the_timer::<Acquire<&WaitingTokenBucket<Bare>>, ()>(),
    ];
    assert!(sizes.iter().all(|size| *size <= 112), "{sizes:?}");
    let by_key = beside_the_timer::<Acquire<KeyedLine<'_, str, RandomState, TokioClock>>, tokio::time::Sleep>();
    assert!(by_key < 150, "{by_key}");
}

#[test]
fn a_wait_allocates_nothing() {
    let clock = ManualClock::new();
    let bucket = WaitingTokenBucket::with_clock(Quota::per_second(1), MINUTE, Bare(clock.clone()));
    let mut context = Context::from_waker(Waker::noop());
    let allocated = measure(|| {
        for _ in 0..1_000 {
            let first = pin!(bucket.acquire(1));
            assert!(first.poll(&mut context).is_ready());
            {
                let mut waiting = [pin!(bucket.acquire(1)), pin!(bucket.acquire(1))];
                for wait in &mut waiting {
                    assert!(wait.as_mut().poll(&mut context).is_pending());
                }
            }
            let mut last = pin!(bucket.acquire(1));
            assert!(last.as_mut().poll(&mut context).is_pending());
            clock.advance(Duration::from_secs(1));
            assert!(matches!(last.poll(&mut context), Poll::Pending | Poll::Ready(Ok(()))));
            clock.advance(Duration::from_secs(1));
        }
    });
    assert_eq!(allocated, AllocationInfo::default());
}

/// On tokio a wait allocates what its timer does, and a hundred thousand at once no more than their futures.
#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_pending_waits_take_their_futures() {
    const WAITS: usize = 100_000;
    let quota = Quota::per_second(1).with_burst(1);
    let bucket = WaitingTokenBucket::with_clock(quota, Duration::MAX, TokioClock);
    assert!(bucket.try_acquire().is_ok());
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting = Vec::new();
    let futures = measure(|| waiting = (0..WAITS).map(|_| Box::pin(bucket.acquire(1))).collect());
    let each = size_of::<Acquire<&WaitingTokenBucket<TokioClock>>>();
    assert!(futures.bytes_current <= i64::try_from(WAITS * (each + size_of::<usize>())).unwrap());
    // The first wait on a runtime sets its timers up.
    assert!(waiting[0].as_mut().poll(&mut context).is_pending());
    let allocated = measure(|| {
        for wait in &mut waiting[1..] {
            assert!(wait.as_mut().poll(&mut context).is_pending());
        }
    });
    black_box(&waiting);
    assert_eq!(allocated, AllocationInfo::default());
}
