//! Several limits at once: all of them, or nothing.

mod interface;
mod late;
mod look;
mod model;
mod stress;
mod waiting;

use std::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableSlidingWindowCounter, AdjustableTokenBucket, FixedWindow, KeyedLimiter,
    ManualClock, PackedTokenBucket, Quota, RateLimitAt, ShardedTokenBucket, SlidingWindowCounter, TokenBucket,
    WaitingTokenBucket,
};

type Limiter = Box<dyn RateLimitAt + Send + Sync>;

/// Those that take back whatever came in between.
const WINDOWS: [&str; 4] = ["fixed window", "sliding counter", "adjustable window", "adjustable sliding counter"];

/// Every limiter that takes something back, by name.
fn limiters(quota: Quota, clock: &ManualClock) -> Vec<(&'static str, Limiter)> {
    let c = || clock.clone();
    let keyed = std::sync::Arc::new(KeyedLimiter::<str>::with_clock(quota, 100, c()));
    vec![
        ("token bucket", Box::new(TokenBucket::with_clock(quota, c()))),
        ("packed", Box::new(PackedTokenBucket::with_clock(quota, c()))),
        ("fixed window", Box::new(FixedWindow::with_clock(quota, c()))),
        ("sliding counter", Box::new(SlidingWindowCounter::with_clock(quota, c()))),
        ("waiting", Box::new(WaitingTokenBucket::with_clock(quota, Duration::ZERO, c()))),
        ("adjustable", Box::new(AdjustableTokenBucket::with_clock(quota, c()))),
        ("adjustable window", Box::new(AdjustableFixedWindow::with_clock(quota, c()))),
        ("adjustable sliding counter", Box::new(AdjustableSlidingWindowCounter::with_clock(quota, c()))),
        ("sharded", Box::new(ShardedTokenBucket::with_shards_and_clock(quota, 4, c()))),
        ("keyed", Box::new(keyed.line_owned("alice"))),
    ]
}
