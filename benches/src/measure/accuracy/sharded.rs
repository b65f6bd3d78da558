//! [`Sharded`]: a sharded bucket beside the algorithms of one word.

use tollgate::{ManualClock, Nanos, Quota, ShardedTokenBucket};
use tollgate_replay::judge::sliding_sum::SlidingSum;
use tollgate_replay::judge::tally::Tally;

/// A sharded bucket on a clock that follows the arrivals of one key: calls on a reading would not see its credits.
pub(super) struct Sharded {
    clock: ManualClock,
    bucket: ShardedTokenBucket<ManualClock>,
    recent: SlidingSum,
    tally: Tally,
}

impl Sharded {
    pub(super) fn new(quota: Quota) -> Self {
        let clock = ManualClock::new();
        let bucket = ShardedTokenBucket::with_clock(quota, clock.clone());
        Self { clock, bucket, recent: SlidingSum::new(Nanos::from(quota.period()).as_nanos()), tally: Tally::default() }
    }

    /// One arrival, of which the exact log says this.
    pub(super) fn arrive(&mut self, now: Nanos, by_log: bool) {
        self.clock.set(now);
        let tally = &mut self.tally;
        if self.bucket.try_acquire().is_ok() {
            tally.admitted += 1;
            tally.over += u64::from(!by_log);
            tally.most_in_a_period = tally.most_in_a_period.max(self.recent.add(1, now.as_nanos()));
        } else {
            tally.denied += 1;
            tally.under += u64::from(by_log);
        }
    }

    /// What it did: how many it admitted and denied, and how that differs from the log.
    pub(super) fn tally(self) -> Tally {
        self.tally
    }
}
