use super::LimitSet;
use crate::sync::injected::counting_writes;
use crate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, FixedWindow, KeyedLimiter,
    ManualClock, Nanos, PackedTokenBucket, Quota, RateLimitAt, ShardedTokenBucket, SlidingWindowCounter,
    SlidingWindowLog, TokenBucket, WaitingTokenBucket,
};
use core::time::Duration;

/// Whoever refuses, and wherever it stands.
#[test]
fn a_refusal_writes_nothing_and_an_admission_once_for_each_word() {
    let (clock, ten) = (ManualClock::new(), Quota::per_hour(10));
    let keyed = KeyedLimiter::<u64>::with_clock(ten, 10, clock.clone());
    assert!(keyed.try_acquire(&1).is_ok());
    let (token, packed, fixed, counter, adjustable, (window, sliding), waiting, sharded, log) = (
        TokenBucket::with_clock(ten, clock.clone()),
        PackedTokenBucket::with_clock(ten, clock.clone()),
        FixedWindow::with_clock(ten, clock.clone()),
        SlidingWindowCounter::with_clock(ten, clock.clone()),
        AdjustableTokenBucket::with_clock(ten, clock.clone()),
        (
            AdjustableFixedWindow::with_clock(ten, clock.clone()),
            AdjustableSlidingWindowCounter::with_clock(ten, clock.clone()),
        ),
        WaitingTokenBucket::with_clock(ten, Duration::ZERO, clock.clone()),
        ShardedTokenBucket::with_shards_and_clock(ten, 4, clock.clone()),
        SlidingWindowLog::with_clock(ten, clock.clone()),
    );
    let line = keyed.line(&1);
    let limits: [&dyn RateLimitAt; 11] =
        [&token, &packed, &fixed, &counter, &adjustable, &window, &sliding, &waiting, &sharded, &line, &log];
    let set = LimitSet::try_with_clock(limits, clock).unwrap();
    let (decision, written) = counting_writes(|| set.try_acquire_n_at([1; 11], Nanos::ZERO));
    assert_eq!((decision, written), (Ok(()), 12), "each word once, and of the log the slot and the head");
    for refuses in 0..11 {
        for cost in [10, 11] {
            let mut costs = [1; 11];
            costs[refuses] = cost;
            let (decision, written) = counting_writes(|| set.try_acquire_n_at(costs, Nanos::ZERO));
            let denied = decision.unwrap_err();
            assert!(
                denied.limits().eq([refuses]) && written == 0 && !denied.is_late(),
                "{refuses}: {denied}, {written}"
            );
        }
    }
    assert_eq!(counting_writes(|| set.check_n_at([1; 11], Nanos::ZERO)), (Ok(()), 0));
    assert_eq!(counting_writes(|| set.try_acquire_n_at([0; 11], Nanos::ZERO)), (Ok(()), 0));
}
