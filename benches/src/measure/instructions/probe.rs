//! The hot paths, a function each that callgrind can find by its name.

use crate::figures::error::{Error, Result};
use core::cell::Cell;
use core::hint::black_box;
use core::time::Duration;
use std::hash::RandomState;
use tollgate::algorithm::Algorithm;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, Counted, FixedWindow, Handle,
    HeavyKeys, IntervalBucket, KeyedLimiter, ManualClock, Nanos, PackedTokenBucket, Quota, RateLimiter,
    ShardedTokenBucket, SlidingWindowCounter, SlidingWindowLog, TokenBucket, WaitingTokenBucket,
};

/// Calls that a probe makes.
pub const CALLS: u64 = 10_000;

/// A hot path.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Its name.
    pub name: &'static str,
    run: fn(),
}

/// All of them.
pub const PROBES: &[Probe] = &[
    Probe { name: "token-bucket-admit", run: || token_bucket_admit(&TokenBucket::new(WIDE)) },
    Probe { name: "token-bucket-deny", run: || token_bucket_deny(&drained(TokenBucket::new(NARROW))) },
    Probe { name: "status-admit", run: || status_admit(&TokenBucket::new(WIDE)) },
    Probe { name: "status-deny", run: || status_deny(&drained(TokenBucket::new(NARROW))) },
    Probe { name: "adjustable-admit", run: || adjustable_admit(&AdjustableTokenBucket::new(WIDE)) },
    Probe { name: "adjustable-deny", run: || adjustable_deny(&spent()) },
    Probe { name: "adjustable-window-admit", run: || adjustable_window_admit(&AdjustableFixedWindow::new(COUNTED)) },
    Probe { name: "adjustable-window-deny", run: || adjustable_window_deny(&spent_window()) },
    Probe {
        name: "adjustable-counter-admit",
        run: || adjustable_counter_admit(&AdjustableSlidingWindowCounter::new(COUNTED)),
    },
    Probe { name: "adjustable-counter-deny", run: || adjustable_counter_deny(&spent_counter()) },
    Probe { name: "counted-admit", run: || counted_admit(&Counted::new(TokenBucket::new(WIDE))) },
    Probe { name: "counted-deny", run: || counted_deny(&Counted::new(drained(TokenBucket::new(NARROW)))) },
    Probe { name: "waiting-admit", run: || waiting_admit(&WaitingTokenBucket::new(WIDE, LONGEST)) },
    Probe { name: "waiting-deny", run: || waiting_deny(&waited_for()) },
    Probe { name: "waiting-reserve", run: || waiting_reserve(&WaitingTokenBucket::new(WIDE, LONGEST)) },
    Probe { name: "waiting-reserve-ahead", run: || waiting_reserve_ahead(&WaitingTokenBucket::new(AHEAD, LONGEST)) },
    Probe { name: "packed-admit", run: || packed_admit(&PackedTokenBucket::new(COUNTED)) },
    Probe { name: "packed-deny", run: || packed_deny(&drained(PackedTokenBucket::new(NARROW))) },
    Probe { name: "fixed-window-admit", run: || fixed_window_admit(&FixedWindow::new(COUNTED)) },
    Probe { name: "fixed-window-deny", run: || fixed_window_deny(&drained(FixedWindow::new(NARROW))) },
    Probe { name: "interval-up-to-deny", run: || interval_up_to_deny(&drained(IntervalBucket::new(NARROW))) },
    Probe { name: "sliding-counter-admit", run: || sliding_counter_admit(&SlidingWindowCounter::new(COUNTED)) },
    Probe { name: "sliding-counter-deny", run: || sliding_counter_deny(&drained(SlidingWindowCounter::new(NARROW))) },
    Probe { name: "sliding-log-admit", run: || sliding_log_admit(&SlidingWindowLog::new(COUNTED)) },
    Probe { name: "sliding-log-deny", run: || sliding_log_deny(&full_log()) },
    Probe { name: "sharded-admit", run: || sharded_admit(&ShardedTokenBucket::with_clock(WIDE, ManualClock::new())) },
    Probe { name: "sharded-deny", run: || sharded_deny(&empty()) },
    Probe {
        name: "sharded-status-admit",
        run: || sharded_status_admit(&ShardedTokenBucket::with_shards_and_clock(WIDE, SHARDS, ManualClock::new())),
    },
    Probe {
        name: "handle-admit",
        run: || handle_admit(&ShardedTokenBucket::with_clock(WIDE, ManualClock::new()).handle()),
    },
    Probe { name: "handle-deny", run: || handle_deny(&empty().handle()) },
    Probe { name: "keyed-admit", run: || keyed_admit(&KeyedLimiter::new(WIDE, 1_000)) },
    Probe { name: "keyed-deny", run: || keyed_deny(&indebted()) },
    Probe { name: "keyed-status-admit", run: || keyed_status_admit(&KeyedLimiter::new(WIDE, 1_000)) },
    Probe { name: "keyed-status-deny", run: || keyed_status_deny(&indebted()) },
    Probe { name: "keyed-look", run: || keyed_look(&indebted()) },
    Probe { name: "keyed-fractions-admit", run: || keyed_fractions_admit(&KeyedLimiter::new(FRACTIONS, 1_000)) },
    Probe { name: "keyed-changed-admit", run: || keyed_changed_admit(&changed(WIDE)) },
    Probe { name: "keyed-changed-deny", run: || keyed_changed_deny(&changed(NARROW)) },
    Probe { name: "keyed-changing-admit", run: || keyed_changing_admit(&changed(WIDE)) },
    Probe { name: "heavy-keys-known", run: || heavy_keys_known(&HeavyKeys::new(PLACES)) },
    Probe { name: "heavy-keys-new", run: || heavy_keys_new(&(HeavyKeys::new(PLACES), Cell::new(0))) },
];

/// Never used up by a probe.
const WIDE: Quota = Quota::per_second(1_000_000_000);
/// The same, where counts share the word with time.
const COUNTED: Quota = Quota::per_hour(100_000);
/// One token, which is gone when a probe begins.
const NARROW: Quota = Quota::per_hour(1);
/// So slow that every place but the first is ahead of now.
const AHEAD: Quota = Quota::per_second(1_000).with_burst(1);
/// As many on every machine, for a status looks at each.
const SHARDS: usize = 16;
/// Never used up by a probe, and a token takes no whole number of nanoseconds.
const FRACTIONS: Quota = Quota::per(300_000_000, Duration::from_millis(1_001));
/// How many keys are remembered.
const PLACES: usize = 100;
/// How far a line may reach.
const LONGEST: Duration = Duration::from_hours(1);
/// The instant of every call. No clock of the machine is read: its cost would depend on the machine.
const NOW: Nanos = Nanos::from_secs(1);
/// Long after a quota has changed at the clock's origin.
const LONG_AFTER: Nanos = Nanos::from_secs(1_000_000);

/// Runs the probe of that name.
///
/// # Errors
///
/// If there is none.
pub fn run(name: &str) -> Result<()> {
    let probe = PROBES.iter().find(|probe| probe.name == name);
    let probe = probe.ok_or_else(|| Error::Request(format!("no probe is called {name}")))?;
    (probe.run)();
    Ok(())
}

fn drained<A: Algorithm>(limiter: RateLimiter<A>) -> RateLimiter<A> {
    assert!(limiter.try_acquire_n_at(1, NOW).is_ok());
    limiter
}

fn full_log() -> SlidingWindowLog {
    let log = SlidingWindowLog::new(NARROW);
    assert!(log.try_acquire_n_at(1, NOW).is_ok());
    log
}

/// Its token is gone.
fn spent() -> AdjustableTokenBucket {
    let bucket = AdjustableTokenBucket::new(NARROW);
    assert!(bucket.try_acquire_n_at(1, NOW).is_ok());
    bucket
}

/// Its token is gone.
fn spent_window() -> AdjustableFixedWindow {
    let window = AdjustableFixedWindow::new(NARROW);
    assert!(window.try_acquire_n_at(1, NOW).is_ok());
    window
}

/// Its token is gone.
fn spent_counter() -> AdjustableSlidingWindowCounter {
    let counter = AdjustableSlidingWindowCounter::new(NARROW);
    assert!(counter.try_acquire_n_at(1, NOW).is_ok());
    counter
}

/// Its token is gone.
fn waited_for() -> WaitingTokenBucket {
    let bucket = WaitingTokenBucket::new(NARROW, LONGEST);
    assert!(bucket.try_acquire_n_at(1, NOW).is_ok());
    bucket
}

/// Large enough for shards, and empty.
fn empty() -> ShardedTokenBucket<ManualClock> {
    let bucket = ShardedTokenBucket::with_clock(NARROW.with_burst(100_000), ManualClock::new());
    bucket.try_acquire_up_to(u64::MAX);
    bucket
}

/// With a key that has spent its token.
fn indebted() -> KeyedLimiter<u64> {
    let limiter = KeyedLimiter::new(NARROW, 1_000);
    assert!(limiter.try_acquire_n_at(&7, 1, NOW).is_ok());
    limiter
}

/// Whose quota has changed to this one at the clock's origin, at which a key has spent its tokens long after that.
fn changed(quota: Quota) -> KeyedLimiter<u64, RandomState, ManualClock> {
    let half = Quota::per(quota.tokens(), 2 * quota.period()).with_burst(quota.burst());
    let limiter = KeyedLimiter::with_clock(half, 1_000, ManualClock::new());
    limiter.set_quota(quota).expect("a class can have it");
    assert!(quota != NARROW || limiter.try_acquire_n_at(&7, 1, LONG_AFTER).is_ok());
    limiter
}

/// A function with a name of its own that makes [`CALLS`] calls and checks every answer.
macro_rules! probe {
    ($name:ident, $limiter:ty, $call:expr) => {
        #[inline(never)]
        fn $name(limiter: &$limiter) {
            let call: fn(&$limiter) -> bool = $call;
            for _ in 0..CALLS {
                assert!(call(limiter));
            }
        }
    };
}

probe!(token_bucket_admit, TokenBucket, |bucket| bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok());
probe!(token_bucket_deny, TokenBucket, |bucket| bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_err());
probe!(status_admit, TokenBucket, |bucket| {
    let (decision, status) = bucket.try_acquire_n_with_status_at(black_box(1), black_box(NOW));
    decision.is_ok() && black_box(status).remaining > 0
});
probe!(status_deny, TokenBucket, |bucket| {
    let (decision, status) = bucket.try_acquire_n_with_status_at(black_box(1), black_box(NOW));
    decision.is_err() && black_box(status).remaining == 0
});
probe!(adjustable_admit, AdjustableTokenBucket, |bucket| {
    bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok()
});
probe!(adjustable_deny, AdjustableTokenBucket, |bucket| {
    bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_err()
});
probe!(adjustable_window_admit, AdjustableFixedWindow, |window| {
    window.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok()
});
probe!(adjustable_window_deny, AdjustableFixedWindow, |window| {
    window.try_acquire_n_at(black_box(1), black_box(NOW)).is_err()
});
probe!(adjustable_counter_admit, AdjustableSlidingWindowCounter, |counter| {
    counter.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok()
});
probe!(adjustable_counter_deny, AdjustableSlidingWindowCounter, |counter| {
    counter.try_acquire_n_at(black_box(1), black_box(NOW)).is_err()
});
probe!(counted_admit, Counted<TokenBucket>, |counted| {
    counted.count(counted.limiter().try_acquire_n_at(black_box(1), black_box(NOW))).is_ok()
});
probe!(counted_deny, Counted<TokenBucket>, |counted| {
    counted.count(counted.limiter().try_acquire_n_at(black_box(1), black_box(NOW))).is_err()
});
probe!(waiting_admit, WaitingTokenBucket, |bucket| bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok());
probe!(waiting_deny, WaitingTokenBucket, |bucket| bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_err());
probe!(waiting_reserve, WaitingTokenBucket, |bucket| {
    bucket.reserve_at(black_box(1), black_box(NOW)).is_ok_and(|place| place.spend().is_ok())
});
probe!(waiting_reserve_ahead, WaitingTokenBucket, |bucket| {
    bucket.reserve_at(black_box(1), black_box(NOW)).map(core::mem::forget).is_ok()
});
probe!(packed_admit, PackedTokenBucket, |bucket| bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok());
probe!(packed_deny, PackedTokenBucket, |bucket| bucket.try_acquire_n_at(black_box(1), black_box(NOW)).is_err());
probe!(fixed_window_deny, FixedWindow, |window| window.try_acquire_n_at(black_box(1), black_box(NOW)).is_err());
probe!(interval_up_to_deny, IntervalBucket, |bucket| bucket.try_acquire_up_to_at(black_box(1), black_box(NOW)) == 0);
probe!(sliding_counter_deny, SlidingWindowCounter, |counter| {
    counter.try_acquire_n_at(black_box(1), black_box(NOW)).is_err()
});
probe!(sliding_log_deny, SlidingWindowLog, |log| log.try_acquire_n_at(black_box(1), black_box(NOW)).is_err());
probe!(fixed_window_admit, FixedWindow, |window| window.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok());
probe!(sliding_counter_admit, SlidingWindowCounter, |counter| {
    counter.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok()
});
probe!(sliding_log_admit, SlidingWindowLog, |log| log.try_acquire_n_at(black_box(1), black_box(NOW)).is_ok());
probe!(sharded_admit, ShardedTokenBucket<ManualClock>, |bucket| bucket.try_acquire().is_ok());
probe!(sharded_deny, ShardedTokenBucket<ManualClock>, |bucket| bucket.try_acquire().is_err());
probe!(sharded_status_admit, ShardedTokenBucket<ManualClock>, |bucket| {
    let (decision, status) = bucket.try_acquire_with_status();
    decision.is_ok() && black_box(status).remaining > 0
});
probe!(handle_deny, Handle<'_, ManualClock>, |handle| black_box(handle).try_acquire().is_err());
probe!(handle_admit, Handle<'_, ManualClock>, |handle| black_box(handle).try_acquire().is_ok());
probe!(keyed_admit, KeyedLimiter<u64>, |keys| keys
    .try_acquire_n_at(&black_box(7), black_box(1), black_box(NOW))
    .is_ok());
probe!(keyed_deny, KeyedLimiter<u64>, |keys| keys
    .try_acquire_n_at(&black_box(7), black_box(1), black_box(NOW))
    .is_err());
probe!(keyed_status_admit, KeyedLimiter<u64>, |keys| {
    let (decision, status) = keys.try_acquire_n_with_status_at(&black_box(7), black_box(1), black_box(NOW));
    decision.is_ok() && black_box(status).remaining > 0
});
probe!(keyed_status_deny, KeyedLimiter<u64>, |keys| {
    let (decision, status) = keys.try_acquire_n_with_status_at(&black_box(7), black_box(1), black_box(NOW));
    decision.is_err() && black_box(status).remaining == 0
});
probe!(keyed_look, KeyedLimiter<u64>, |keys| {
    black_box(keys.status_at(&black_box(7), black_box(NOW))).remaining == 0
});
probe!(keyed_fractions_admit, KeyedLimiter<u64>, |keys| keys
    .try_acquire_n_at(&black_box(7), black_box(1), black_box(NOW))
    .is_ok());
probe!(keyed_changed_admit, KeyedLimiter<u64, RandomState, ManualClock>, |keys| keys
    .try_acquire_n_at(&black_box(7), black_box(1), black_box(LONG_AFTER))
    .is_ok());
probe!(keyed_changed_deny, KeyedLimiter<u64, RandomState, ManualClock>, |keys| keys
    .try_acquire_n_at(&black_box(7), black_box(1), black_box(LONG_AFTER))
    .is_err());
probe!(keyed_changing_admit, KeyedLimiter<u64, RandomState, ManualClock>, |keys| keys
    .try_acquire_n_at(&black_box(7), black_box(1), black_box(NOW))
    .is_ok());
probe!(heavy_keys_known, HeavyKeys<u64>, |keys| {
    keys.record(&black_box(7), 1);
    keys.missed() == 0
});
// Of another type of key: a function that is called from two probes would be inlined in neither.
probe!(heavy_keys_new, (HeavyKeys<u32>, Cell<u32>), |(keys, next)| {
    next.set(next.get() + 1);
    keys.record(&black_box(next.get()), 1);
    keys.missed() == 0
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_gets_the_answers_it_wants() {
        for probe in PROBES {
            run(probe.name).unwrap();
        }
        assert!(run("nothing").is_err());
    }
}
