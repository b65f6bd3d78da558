//! What a snapshot of a [`SlidingWindowLog`] has to know.

use super::{END, SlidingWindowLog};
use crate::nanos::Nanos;
use alloc::vec::Vec;

impl<C> SlidingWindowLog<C> {
    #[cfg(feature = "std")]
    pub(crate) const fn clock(&self) -> &C {
        &self.clock
    }

    /// When each unit stops to count that does at `now`, in order, by the ring's time; and what `now` is by that.
    pub(crate) fn saved(&self, now: Nanos) -> (Nanos, Vec<u64>) {
        if self.ring.len() == 0 {
            return (now, Vec::new());
        }
        let free_by = self.reading(now).0.max(self.ring.forgiven());
        let mut instants: Vec<_> = self.ring.held(free_by).map(|due| due.0).collect();
        instants.sort_unstable();
        (self.in_the_ring(now), instants)
    }

    /// Whether no unit was ever admitted.
    pub(crate) fn is_unused(&self) -> bool {
        self.ring.held(Nanos::ZERO).next().is_none()
    }

    /// The log with units in it that were another's, which read `from` when this one reads `to`. `None` if there are too many
    /// of them, or one counts until after the end of time. For a log that is unused.
    pub(crate) fn holding(mut self, instants: &[u64], from: Nanos, to: Nanos) -> Option<Self> {
        if self.ring.len() == 0 {
            return instants.is_empty().then_some(self);
        }
        let passed = i128::from(to.0.min(END.0)) - i128::from(from.0.min(END.0));
        let counts_no_more = i128::from(to.0.min(END.0)) - i128::from(self.period - 1);
        let carried = instants.iter().map(|&due| i128::from(due) + passed).filter(|&due| due > counts_no_more);
        let mut carried: Vec<_> = carried.collect();
        carried.sort_unstable();
        let Some(&oldest) = carried.first() else { return Some(self) };
        if carried.len() > self.ring.len() {
            return None;
        }
        // The ring's instants begin at 1.
        let ahead = (1 - oldest).max(0);
        for due in carried {
            let due = u64::try_from(due + ahead).ok().filter(|&due| due <= END.0 + 1)?;
            self.ring.take(1, Nanos::ZERO, 0, Nanos(due)).ok()?;
        }
        self.ahead = u64::try_from(ahead).ok()?;
        Some(self)
    }
}
