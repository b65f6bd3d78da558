//! The limiters of this crate.

use super::Engine;
use super::label::{Label, Named};
use super::load::Load;
use core::time::Duration;
use tollgate::{
    AdjustableFixedWindow, AdjustableTokenBucket, Clock, Counted, DefaultClock, FixedWindow, IntervalBucket,
    LeakyBucket, LimitSet, MonotonicClock, PackedTokenBucket, Quota, ShardedTokenBucket, SlidingWindowCounter,
    SlidingWindowLog, TokenBucket, WaitingTokenBucket,
};

impl Named for DefaultClock {
    const NAME: &'static str = "quanta";
}

impl Named for MonotonicClock {
    const NAME: &'static str = "std";
}

/// GCRA in one word, on the default clock (quanta) or another.
impl<C: Clock + Named> Engine for TokenBucket<C> {
    const LABEL: Label = Label::ours("token-bucket", C::NAME);

    fn build(quota: Quota) -> Self {
        Self::with_clock(quota, C::default())
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }
}

/// The token bucket seen from the other side. Its machine code is the token bucket's: how far the two rows of a table are
/// apart is how far chance alone takes them.
#[derive(Debug)]
pub struct Leaky(LeakyBucket);

impl Engine for Leaky {
    const LABEL: Label = Label::ours("leaky-bucket", "quanta");

    fn build(quota: Quota) -> Self {
        Self(LeakyBucket::new(quota))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.try_acquire().is_ok()
    }
}

/// The token bucket whose quota can be changed while it is in use. Nobody changes it here.
impl Engine for AdjustableTokenBucket {
    const LABEL: Label = Label::ours("adjustable", "quanta");

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }
}

/// The fixed window whose quota can be changed while it is in use. Nobody changes it here.
impl Engine for AdjustableFixedWindow {
    const LABEL: Label = Label::ours("adjustable-window", "quanta");

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }
}

/// The token bucket with a count of its decisions for each thread: what counting costs.
impl Engine for Counted<TokenBucket> {
    const LABEL: Label = Label::ours("counted", "quanta");

    fn build(quota: Quota) -> Self {
        Self::new(TokenBucket::new(quota))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.count(self.limiter().try_acquire()).is_ok()
    }
}

/// The token bucket in which callers can wait, asked for a place that is due now and then spent: what waiting costs where
/// nobody has to.
#[derive(Debug)]
pub struct Places(WaitingTokenBucket);

impl Engine for Places {
    const LABEL: Label = Label::ours("places", "quanta");

    fn build(quota: Quota) -> Self {
        Self(WaitingTokenBucket::new(quota, Duration::MAX))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.reserve_within(1, Duration::ZERO).is_ok_and(|place| place.spend().is_ok())
    }
}

/// Three token buckets at once, all of them or none: what each limit more costs, and what it costs to look first.
#[derive(Debug)]
pub struct ThreeLimits(LimitSet<TokenBucket, 3>);

impl Engine for ThreeLimits {
    const LABEL: Label = Label::ours("three-limits", "quanta");

    fn build(quota: Quota) -> Self {
        Self(LimitSet::new([quota; 3].map(TokenBucket::new)))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.try_acquire().is_ok()
    }
}

/// Tokens and time in fields of one word.
impl Engine for PackedTokenBucket {
    const LABEL: Label = Label::ours("packed", "quanta");

    /// Its word holds `rate * burst` up to 4.8e9 only. Under an admit load it gets the burst of all, but a token each
    /// four seconds on top; under the fastest mixed load it has a fortieth of the burst.
    fn quota(load: Load) -> Quota {
        match load {
            Load::Admit => Quota::per(1, Duration::from_secs(4)).with_burst(load.quota().burst()),
            Load::Mixed => load.quota().with_burst(250),
            _ => load.quota(),
        }
    }

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }
}

/// A token bucket whose threads spend from words of their own, with as many shards as it chooses.
impl Engine for ShardedTokenBucket {
    const LABEL: Label = Label::ours("sharded", "quanta");

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }

    /// An eighth of the burst may lie where a call does not find it.
    fn supply(quota: Quota) -> u64 {
        quota.burst() / 8 * 7
    }
}

/// The sharded token bucket, from which each thread takes a handle, with tokens in plain memory.
#[derive(Debug)]
pub struct Handles(ShardedTokenBucket);

impl Engine for Handles {
    const LABEL: Label = Label::ours("handle", "quanta");

    fn build(quota: Quota) -> Self {
        Self(ShardedTokenBucket::new(quota))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        let handle = self.0.handle();
        move || handle.try_acquire().is_ok()
    }

    fn supply(quota: Quota) -> u64 {
        ShardedTokenBucket::supply(quota)
    }
}

/// A count for each window of the clock.
impl Engine for FixedWindow {
    const LABEL: Label = Label::ours("fixed-window", "quanta");
    const WINDOWED: bool = true;

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }

    /// Each window brings the whole limit anew, faster than one word can be changed.
    fn supply(_: Quota) -> u64 {
        u64::MAX
    }
}

/// The fixed window, asked for what there is, as its users do.
#[derive(Debug)]
pub struct Interval(IntervalBucket);

impl Engine for Interval {
    const LABEL: Label = Label::ours("interval", "quanta");
    const WINDOWED: bool = true;

    fn build(quota: Quota) -> Self {
        Self(IntervalBucket::new(quota))
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.0.try_acquire_up_to(1) == 1
    }

    fn supply(quota: Quota) -> u64 {
        FixedWindow::supply(quota)
    }
}

/// Two windows, the earlier one weighted.
impl Engine for SlidingWindowCounter {
    const LABEL: Label = Label::ours("sliding-counter", "quanta");
    const WINDOWED: bool = true;

    /// Its word holds two counts: the smaller the limit, the shorter the window may be. Under an admit load it gets a
    /// limit of 1e8 in 60 days, under the fastest mixed load one of 500 each tenth of a millisecond.
    fn quota(load: Load) -> Quota {
        match load {
            Load::Admit => Quota::per(100_000_000, Duration::from_hours(1_440)),
            Load::Mixed => Quota::per(500, Duration::from_micros(100)),
            _ => load.quota(),
        }
    }

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }
}

/// A ring of instants, one for each unit of the limit.
impl Engine for SlidingWindowLog {
    const LABEL: Label = Label::ours("sliding-log", "quanta");
    const WINDOWED: bool = true;

    fn build(quota: Quota) -> Self {
        Self::new(quota)
    }

    fn caller(&self) -> impl FnMut() -> bool {
        || self.try_acquire().is_ok()
    }

    /// A thread that was without a core may come with a reading that is older than the ring: once round, and no more,
    /// is sure.
    fn supply(quota: Quota) -> u64 {
        quota.tokens()
    }
}
