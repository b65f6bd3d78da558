//! How each limiter without keys is saved and restored. The rules are those of the module.

use super::error::SnapshotError;
use super::format::Kind;
use super::moment::Moment;
use super::state::Snapshot;
use crate::algorithm::{Algorithm, Gcra};
use crate::cell::StateCell;
#[cfg(feature = "std")]
use crate::clock::Clock;
use crate::limiter::RateLimiter;
use crate::nanos::Nanos;
use crate::operate::{Adjustable, AdjustableLimiter};
use crate::quota::Quota;
use crate::sharded::ShardedTokenBucket;
use crate::wait::WaitingTokenBucket;
use crate::window_log::SlidingWindowLog;
use alloc::vec;

/// Puts the word that `fresh` becomes into a cell that nobody has changed yet.
fn restore_word(cell: &StateCell, fresh: u64, restored: u64) -> Result<(), SnapshotError> {
    cell.update(|word| if word == fresh { Ok((restored, ())) } else { Err(SnapshotError::InUse) })
}

impl<A: Algorithm, C> RateLimiter<A, C> {
    fn kind() -> Kind {
        match Kind::named(A::NAME) {
            Some(kind) => kind,
            None => unreachable!("every algorithm has a kind"),
        }
    }

    /// As [`snapshot`](Self::snapshot), as of `now`. No clock is read.
    pub fn snapshot_at(&self, now: Moment) -> Snapshot {
        Snapshot::new(Self::kind(), self.quota(), now, vec![self.cell.load()])
    }

    /// As [`restore`](Self::restore), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore).
    pub fn restore_at(&self, snapshot: &Snapshot, now: Moment) -> Result<(), SnapshotError> {
        let (state, from) = snapshot.continued(Self::kind(), self.quota(), now)?;
        let word = self.algorithm.carried(state[0], from, now.reading).ok_or(SnapshotError::OutOfRange)?;
        restore_word(&self.cell, self.algorithm.fresh(), word)
    }
}

impl<C> WaitingTokenBucket<C> {
    /// As [`snapshot`](Self::snapshot), as of `now`. No clock is read.
    pub fn snapshot_at(&self, now: Moment) -> Snapshot {
        let (quota, word) = (self.quota(), self.word());
        Snapshot::new(Kind::TokenBucket, quota, now, vec![word])
    }

    /// As [`restore`](Self::restore), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore).
    pub fn restore_at(&self, snapshot: &Snapshot, now: Moment) -> Result<(), SnapshotError> {
        self.bucket().restore_at(snapshot, now)
    }
}

impl<A: Adjustable, C> AdjustableLimiter<A, C> {
    fn kind() -> Kind {
        match Kind::named(A::ADJUSTABLE) {
            Some(kind) => kind,
            None => unreachable!("every algorithm has a kind"),
        }
    }

    /// As [`snapshot`](Self::snapshot), as of `now`. No clock is read.
    pub fn snapshot_at(&self, now: Moment) -> Snapshot {
        let (quota, reading, state) = self.saved(now.reading);
        Snapshot::new(Self::kind(), quota, Moment::new(reading, now.wall), state)
    }

    /// As [`restore`](Self::restore), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore).
    pub fn restore_at(&self, snapshot: &Snapshot, now: Moment) -> Result<(), SnapshotError> {
        let (state, from) = snapshot.continued(Self::kind(), self.quota(), now)?;
        self.restored(state, from, now.reading)
    }
}

impl<C> ShardedTokenBucket<C> {
    /// As [`snapshot`](Self::snapshot), as of `now`. No clock is read.
    pub fn snapshot_at(&self, now: Moment) -> Snapshot {
        // The slots first: what is drawn from the central word afterwards is gone from that too.
        let credits = self.credits();
        let (gcra, cell) = self.word();
        let word = gcra.refund(cell.load(), credits, now.reading);
        Snapshot::new(Kind::ShardedTokenBucket, self.quota(), now, vec![word, self.max_cost()])
    }

    /// As [`restore`](Self::restore), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore).
    pub fn restore_at(&self, snapshot: &Snapshot, now: Moment) -> Result<(), SnapshotError> {
        let (state, from) = snapshot.continued(Kind::ShardedTokenBucket, self.quota(), now)?;
        let (gcra, cell) = self.word();
        let word = if state[1] == self.max_cost() {
            gcra.carried(state[0], from, now.reading)
        } else {
            divided_otherwise(gcra, self.quota(), state, from, now.reading)
        };
        let word = word.ok_or(SnapshotError::OutOfRange)?;
        if self.credits() > 0 {
            return Err(SnapshotError::InUse);
        }
        restore_word(cell, Gcra::FRESH, word)
    }
}

/// The central word of a bucket whose burst is divided otherwise than that of the one that was saved: it has as many tokens,
/// up to what it holds.
fn divided_otherwise(gcra: &Gcra, quota: Quota, state: &[u64], from: Nanos, to: Nanos) -> Option<u64> {
    let (word, max_cost) = (state[0], state[1]);
    if max_cost == 0 || max_cost > quota.burst() {
        return None;
    }
    let old = Gcra::new(Quota::from_valid(quota.tokens(), quota.period_nanos(), max_cost));
    let level = old.level(old.carried(word, from, to)?, to);
    // In units of the new scale, against the bucket where they do not come out even. What was owed beyond the old burst, to
    // places in line, stays owed.
    let (left, _) = gcra.timeline().units_from(old.burst().saturating_sub(level), old.timeline())?;
    let (_, beyond) = gcra.timeline().units_from(level.saturating_sub(old.burst()), old.timeline())?;
    let owed = gcra.burst().saturating_sub(left).checked_add(beyond)?;
    // One more, since either scale may be the first to reach its next unit.
    gcra.timeline().position(to).checked_add(owed)?.checked_add(u64::from(owed > 0))
}

impl<C> SlidingWindowLog<C> {
    /// As [`snapshot`](Self::snapshot), as of `now`. No clock is read.
    pub fn snapshot_at(&self, now: Moment) -> Snapshot {
        let (reading, instants) = self.saved(now.reading);
        Snapshot::new(Kind::SlidingWindowLog, self.quota(), Moment::new(reading, now.wall), instants)
    }

    /// As [`restored`](Self::restored), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`restored`](Self::restored).
    pub fn restored_at(self, snapshot: &Snapshot, now: Moment) -> Result<Self, SnapshotError> {
        let (instants, from) = snapshot.continued(Kind::SlidingWindowLog, self.quota(), now)?;
        if !self.is_unused() {
            return Err(SnapshotError::InUse);
        }
        self.holding(instants, from, now.reading).ok_or(SnapshotError::OutOfRange)
    }
}

/// The forms that read the clocks.
#[cfg(feature = "std")]
macro_rules! reading_the_clocks {
    ([$($generics:tt)*] $limiter:ty, $self:ident => $clock:expr) => {
        impl<$($generics)*> $limiter {
            /// The state as of now, for [`restore`](Self::restore). Reads the limiter's clock and the wall's; writes nothing.
            pub fn snapshot(&$self) -> Snapshot {
                $self.snapshot_at(Moment::to_save($clock))
            }

            /// Takes up the state of a limiter of the same kind and quota, as it would be by now. Reads the wall's clock and the
            /// limiter's.
            ///
            /// For a limiter that has not been used yet. The change is one compare-and-swap: other threads may use the
            /// limiter already, and then either they or the snapshot come too late.
            ///
            /// # Errors
            ///
            /// A [`SnapshotError`]; the limiter is as it was.
            pub fn restore(&$self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
                $self.restore_at(snapshot, Moment::to_restore($clock))
            }
        }
    };
}

#[cfg(feature = "std")]
reading_the_clocks!([A: Algorithm, C: Clock] RateLimiter<A, C>, self => &self.clock);
#[cfg(feature = "std")]
reading_the_clocks!([C: Clock] WaitingTokenBucket<C>, self => &self.bucket().clock);
#[cfg(feature = "std")]
reading_the_clocks!([A: Adjustable, C: Clock] AdjustableLimiter<A, C>, self => self.clock());
#[cfg(feature = "std")]
reading_the_clocks!([C: Clock] ShardedTokenBucket<C>, self => self.clock());

#[cfg(feature = "std")]
impl<C: Clock> SlidingWindowLog<C> {
    /// The state as of now, for [`restored`](Self::restored): an instant for each unit that counts. Reads the log's clock and the
    /// wall's.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_at(Moment::to_save(self.clock()))
    }

    /// The same log with what a log of the same quota had in it, as it would be by now. Reads the wall's clock and the log's.
    ///
    /// # Errors
    ///
    /// A [`SnapshotError`], in place of the log.
    pub fn restored(self, snapshot: &Snapshot) -> Result<Self, SnapshotError> {
        let now = Moment::to_restore(self.clock());
        self.restored_at(snapshot, now)
    }
}
