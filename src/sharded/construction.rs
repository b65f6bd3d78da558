//! How a [`ShardedTokenBucket`] is made.

use super::central::Central;
use super::token_bucket::ShardedTokenBucket;
use crate::build_error::BuildError;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::lease::{Layout, Pause, Slot, default_shards};
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::boxed::Box;
use crossbeam_utils::CachePadded;

#[cfg(feature = "std")]
impl ShardedTokenBucket<DefaultClock> {
    /// A bucket on the default clock, with shards for this machine. It starts full. No reading of the clock is taken.
    pub fn new(quota: Quota) -> Self {
        Self::with_clock(quota, DefaultClock)
    }

    /// A bucket on the default clock with about `shards` shards: a power of two, fewer if the burst does not stretch to
    /// them, at most 1024.
    ///
    /// # Panics
    ///
    /// If `shards` is 0; see [`try_with_shards`](Self::try_with_shards).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, ShardedTokenBucket};
    ///
    /// let bucket = ShardedTokenBucket::with_shards(Quota::per_second(1_000_000), 6);
    /// assert_eq!(bucket.shards(), 8);
    /// let bucket = ShardedTokenBucket::with_shards(Quota::per_second(1_000), 64);
    /// assert_eq!(bucket.shards(), 4); // for an eighth of the burst is only 125 tokens
    /// ```
    pub fn with_shards(quota: Quota, shards: usize) -> Self {
        Self::with_shards_and_clock(quota, shards, DefaultClock)
    }

    /// As [`new`](Self::new). Every quota fits: there is no error; it is here because every limiter has it.
    ///
    /// # Errors
    ///
    /// None.
    pub fn try_new(quota: Quota) -> Result<Self, BuildError> {
        Ok(Self::new(quota))
    }

    /// As [`with_shards`](Self::with_shards), but reports.
    ///
    /// # Errors
    ///
    /// [`BuildError::ZeroShards`] if `shards` is 0.
    pub fn try_with_shards(quota: Quota, shards: usize) -> Result<Self, BuildError> {
        Self::try_with_shards_and_clock(quota, shards, DefaultClock)
    }
}

impl<C> ShardedTokenBucket<C> {
    /// A bucket on `clock`, with shards for this machine. It starts full. No reading of the clock is taken.
    pub fn with_clock(quota: Quota, clock: C) -> Self {
        Self::assemble(quota, Layout::new(quota, default_shards()), clock)
    }

    /// As [`with_clock`](Self::with_clock). Every quota fits: there is no error; it is here because every limiter has it.
    ///
    /// # Errors
    ///
    /// None.
    pub fn try_with_clock(quota: Quota, clock: C) -> Result<Self, BuildError> {
        Ok(Self::with_clock(quota, clock))
    }

    /// A bucket on `clock` with about `shards` shards; see [`with_shards`](ShardedTokenBucket::with_shards).
    ///
    /// # Panics
    ///
    /// If `shards` is 0; see [`try_with_shards_and_clock`](Self::try_with_shards_and_clock).
    pub fn with_shards_and_clock(quota: Quota, shards: usize, clock: C) -> Self {
        Self::try_with_shards_and_clock(quota, shards, clock).unwrap_or_else(|error| error.panic())
    }

    /// As [`with_shards_and_clock`](Self::with_shards_and_clock), but reports.
    ///
    /// # Errors
    ///
    /// [`BuildError::ZeroShards`] if `shards` is 0.
    pub fn try_with_shards_and_clock(quota: Quota, shards: usize, clock: C) -> Result<Self, BuildError> {
        if shards == 0 {
            return Err(BuildError::ZeroShards);
        }
        let shards = if cfg!(feature = "std") { shards } else { 1 };
        Ok(Self::assemble(quota, Layout::new(quota, shards), clock))
    }

    /// A bucket of exactly these sizes, for model checks, whose bursts must be tiny. The burst must cover them.
    ///
    /// No part of the interface: it may change or go in any release.
    #[doc(hidden)]
    pub fn with_sizes(quota: Quota, shards: usize, handles: usize, batch: u64, clock: C) -> Self {
        Self::assemble(quota, Layout { shards, handles, batch }, clock)
    }

    fn assemble(quota: Quota, layout: Layout, clock: C) -> Self {
        let slots = empty_slots(layout.shards + layout.handles);
        let central = Quota::from_valid(quota.tokens(), quota.period_nanos(), layout.central(quota));
        let (mask, batch) = (layout.shards - 1, layout.batch);
        let pause = Pause::new(quota.tokens(), quota.period_nanos(), batch);
        Self { slots, mask, batch, pause, quota, clock, central: Central::new(central) }
    }
}

fn empty_slots(count: usize) -> Box<[CachePadded<Slot>]> {
    (0..count).map(|_| CachePadded::new(Slot::new())).collect()
}

impl<C> ShardedTokenBucket<C> {
    /// As [`with_initial`](Self::with_initial), as of `now`. No clock is read.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial_at`](Self::try_with_initial_at).
    #[must_use]
    pub fn with_initial_at(self, tokens: u64, now: Nanos) -> Self {
        self.try_with_initial_at(tokens, now).unwrap_or_else(|error| error.panic())
    }

    /// As [`try_with_initial`](Self::try_with_initial), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial_at(self, tokens: u64, now: Nanos) -> Result<Self, BuildError> {
        let largest = self.max_cost();
        if tokens > largest {
            return Err(BuildError::InitialTooLarge { largest });
        }
        let central = self.central.holding(tokens, now);
        // Nobody else has the bucket. Credits from before would come on top of what was asked for.
        let slots = empty_slots(self.slots.len());
        Ok(Self { slots, central, ..self })
    }
}

impl<C: Clock> ShardedTokenBucket<C> {
    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial`](Self::try_with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, ShardedTokenBucket};
    ///
    /// let cold = ShardedTokenBucket::new(Quota::per_hour(100_000)).with_initial(5);
    /// assert_eq!(cold.available(), 5);
    /// ```
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        self.try_with_initial(tokens).unwrap_or_else(|error| error.panic())
    }

    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial(self, tokens: u64) -> Result<Self, BuildError> {
        let now = self.clock.now();
        self.try_with_initial_at(tokens, now)
    }
}
