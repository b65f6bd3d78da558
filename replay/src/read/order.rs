//! Arrivals put in the order of time.

use core::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// An arrival that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    /// In nanoseconds.
    pub(super) at: u64,
    /// The arrivals of one instant stay in the order in which they were read.
    pub(super) sequence: u64,
    pub(super) key: u32,
    pub(super) cost: u64,
}

/// Sorts arrivals that are out of order by at most a window.
///
/// Those that come in order wait in a queue, and only the others in a heap: a log is sorted but for a few lines.
#[derive(Debug)]
pub(super) struct Order {
    window: u64,
    sorted: VecDeque<Waiting>,
    late: BinaryHeap<Reverse<Waiting>>,
    newest: u64,
    sequence: u64,
    late_count: u64,
}

impl Order {
    /// A window of this many nanoseconds.
    pub(super) fn new(window: u64) -> Self {
        let (sorted, late) = (VecDeque::new(), BinaryHeap::new());
        Self { window, sorted, late, newest: 0, sequence: 0, late_count: 0 }
    }

    /// Adds an arrival.
    ///
    /// # Errors
    ///
    /// It is older than the newest by more than the window: by so many nanoseconds.
    pub(super) fn push(&mut self, at: u64, key: u32, cost: u64) -> Result<(), u64> {
        let behind = self.newest.saturating_sub(at);
        if behind > self.window {
            return Err(behind);
        }
        let waiting = Waiting { at, sequence: self.sequence, key, cost };
        self.sequence += 1;
        if behind == 0 {
            self.newest = at;
            self.sorted.push_back(waiting);
        } else {
            self.late_count += 1;
            self.late.push(Reverse(waiting));
        }
        Ok(())
    }

    /// The oldest arrival, once nothing older can come.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let oldest = self.oldest()?.at;
        if self.newest - oldest > self.window { self.pop_any() } else { None }
    }

    /// The oldest arrival, when no other will come.
    pub(super) fn pop_any(&mut self) -> Option<Waiting> {
        match self.late.peek() {
            Some(&Reverse(late)) if self.sorted.front().is_none_or(|front| late < *front) => {
                self.late.pop().map(|Reverse(late)| late)
            }
            _ => self.sorted.pop_front(),
        }
    }

    fn oldest(&self) -> Option<&Waiting> {
        match (self.sorted.front(), self.late.peek()) {
            (Some(front), Some(Reverse(late))) => Some(front.min(late)),
            (front, late) => front.or(late.map(|Reverse(late)| late)),
        }
    }

    /// Arrivals that came after a newer one.
    pub(super) fn late(&self) -> u64 {
        self.late_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_the_window_is_sorted() {
        let mut rng = fastrand::Rng::with_seed(1);
        for window in [0, 1, 50, 10_000] {
            let mut order = Order::new(window);
            let (mut base, mut pushed, mut popped) = (100_000, Vec::new(), Vec::new());
            for key in 0..5_000 {
                base += rng.u64(..3);
                let at = base - rng.u64(..=window / 2);
                pushed.push((at, key));
                assert_eq!(order.push(at, key, 1), Ok(()));
                popped.extend(core::iter::from_fn(|| order.pop()).map(|one| (one.at, one.key)));
            }
            assert!(popped.len() > 4_000 || window == 10_000, "nothing is held for longer than it must");
            popped.extend(core::iter::from_fn(|| order.pop_any()).map(|one| (one.at, one.key)));
            pushed.sort_unstable();
            assert_eq!(popped, pushed, "window {window}");
            assert_eq!(order.late() > 0, window > 1);
        }
    }

    #[test]
    fn what_is_older_is_refused() {
        let mut order = Order::new(10);
        assert_eq!(order.push(100, 0, 1), Ok(()));
        assert_eq!(order.push(90, 1, 1), Ok(()));
        assert_eq!(order.push(89, 2, 1), Err(11));
        assert_eq!(order.pop(), None);
        assert_eq!(order.push(101, 3, 1), Ok(()));
        assert_eq!(order.pop().map(|one| one.key), Some(1));
        assert_eq!(order.pop(), None);
    }
}
