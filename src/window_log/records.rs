//! [`Records`]: descriptions of groups that are being written down.

use super::RECORDS;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Backoff, Ordering};

/// Several units admitted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) size: usize,
    /// When their slots are free again.
    pub(super) due: Nanos,
}

/// A fixed number of records, each held by one call at a time.
#[derive(Debug)]
pub(super) struct Records {
    /// A bit for each record: set while a call holds it.
    held: AtomicU64,
    records: [Record; RECORDS],
}

#[derive(Debug)]
struct Record {
    size: AtomicU64,
    due: AtomicU64,
}

impl Records {
    pub(super) fn new() -> Self {
        let record = |_| Record { size: AtomicU64::new(0), due: AtomicU64::new(0) };
        Self { held: AtomicU64::new(0), records: core::array::from_fn(record) }
    }

    /// A record for this call alone, until it is dropped.
    pub(super) fn hold(&self) -> Held<'_> {
        let mut backoff = Backoff::new();
        // ORDERING: relaxed; a guess, which the CAS checks.
        let mut held = self.held.load(Ordering::Relaxed);
        // PROGRESS: lock-free while fewer than `RECORDS` calls hold one: the CAS fails only if another call has taken or
        // given back a record, or spuriously. When all are held, this waits for one to come back.
        loop {
            let index = held.trailing_ones() as usize;
            if index < RECORDS {
                // ORDERING: acquire on success, pairs with the release in `drop`: what this call writes into the record
                // comes after everything that its last holder saw, above all the end of that group (rule 9).
                match self.held.compare_exchange_weak(held, held | (1 << index), Ordering::Acquire, Ordering::Relaxed) {
                    Ok(_) => return Held { records: self, index },
                    Err(seen) => held = seen,
                }
            } else {
                // ORDERING: as above.
                held = self.held.load(Ordering::Relaxed);
            }
            backoff.spin();
        }
    }

    /// What a record says. It means something only if the slot that named it still does afterwards (rule 9).
    pub(super) fn read(&self, index: usize) -> Group {
        let Record { size, due } = &self.records[index];
        // ORDERING: acquire, pairs with the releases in `write`: if these are the words of a later group, the slot that
        // is looked at next is seen as it was when the earlier group had ended.
        let (size, due) = (size.load(Ordering::Acquire), due.load(Ordering::Acquire));
        #[allow(clippy::cast_possible_truncation)] // it was a usize
        Group { size: size as usize, due: Nanos(due) }
    }
}

/// A record in the hands of one call.
#[derive(Debug)]
pub(super) struct Held<'a> {
    records: &'a Records,
    index: usize,
}

impl Held<'_> {
    pub(super) const fn index(&self) -> usize {
        self.index
    }

    /// Describes a group; only while no slot names this record.
    pub(super) fn write(&self, group: Group) {
        let Record { size, due } = &self.records.records[self.index];
        // ORDERING: release, pairs with the acquires in `read`.
        size.store(group.size as u64, Ordering::Release);
        due.store(group.due.0, Ordering::Release);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // ORDERING: release, pairs with the acquire in `hold`.
        self.records.held.fetch_and(!(1 << self.index), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::vec::Vec;

    #[test]
    fn nobody_gets_a_record_that_another_holds() {
        let records = Records::new();
        let mut held: Vec<_> = (0..RECORDS).map(|_| records.hold()).collect();
        let mut indices: Vec<_> = held.iter().map(Held::index).collect();
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), RECORDS);

        let given_back = AtomicU64::new(0);
        thread::scope(|scope| {
            let late = scope.spawn(|| {
                let index = records.hold().index();
                assert_eq!(given_back.load(Ordering::SeqCst), 1, "there was none to hold");
                index
            });
            thread::sleep(core::time::Duration::from_millis(20)); // long enough to be wrong, were it not to wait
            let last = held.pop().unwrap();
            let index = last.index();
            given_back.store(1, Ordering::SeqCst);
            drop(last);
            assert_eq!(late.join().unwrap(), index);
        });
    }
}
