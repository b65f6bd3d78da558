//! Queues of many keys in one block of memory.
//!
//! A queue with nothing in it costs its key 8 bytes, and an entry 24: most keys of a log come once or twice, and a
//! collection of its own for each would cost them ten times that.

/// One entry: an instant, an amount, and what it is marked with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// In nanoseconds.
    pub(super) at: u64,
    /// In tokens.
    pub(super) amount: u64,
    /// Whatever the owner of the queue marks entries with.
    pub(super) marks: u16,
    next: Link,
}

/// The place of an entry in the pool; [`NONE`] is no place.
type Link = u32;
const NONE: Link = Link::MAX;

/// The two ends of a queue, whose entries lie in a [`Pool`]: always the same one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    head: Link,
    tail: Link,
}

impl Queue {
    /// A queue with nothing in it.
    pub(super) const EMPTY: Self = Self { head: NONE, tail: NONE };
}

/// The entries of all queues.
#[derive(Debug)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    /// The first of the places that are free again.
    free: Link,
}

impl Pool {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), free: NONE }
    }

    /// The oldest entry.
    pub(super) fn front(&self, queue: Queue) -> Option<&Entry> {
        self.entries.get(queue.head as usize)
    }

    /// The newest entry, to change it.
    pub(super) fn back_mut(&mut self, queue: Queue) -> Option<&mut Entry> {
        self.entries.get_mut(queue.tail as usize)
    }

    /// From the oldest to the newest.
    pub(super) fn iter(&self, queue: Queue) -> impl Iterator<Item = &Entry> {
        core::iter::successors(self.front(queue), |entry| self.entries.get(entry.next as usize))
    }

    /// Adds the newest.
    ///
    /// # Panics
    ///
    /// At 2^32 entries, which would take 100 GB.
    pub(super) fn push_back(&mut self, queue: &mut Queue, at: u64, amount: u64, marks: u16) {
        let entry = Entry { at, amount, marks, next: NONE };
        let place = self.free;
        let place = if let Some(freed) = self.entries.get_mut(place as usize) {
            self.free = freed.next;
            *freed = entry;
            place
        } else {
            let place = Link::try_from(self.entries.len()).ok().filter(|&place| place != NONE);
            self.entries.push(entry);
            place.expect("2^32 arrivals within one period")
        };
        match self.back_mut(*queue) {
            Some(back) => back.next = place,
            None => queue.head = place,
        }
        queue.tail = place;
    }

    /// Changes every entry of every queue.
    pub(super) fn for_each_mut(&mut self, change: impl FnMut(&mut Entry)) {
        self.entries.iter_mut().for_each(change);
    }

    /// Takes the oldest away.
    pub(super) fn pop_front(&mut self, queue: &mut Queue) -> Option<Entry> {
        let place = queue.head;
        let front = self.entries.get_mut(place as usize)?;
        let entry = *front;
        front.next = core::mem::replace(&mut self.free, place);
        queue.head = entry.next;
        if entry.next == NONE {
            queue.tail = NONE;
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn queues_share_memory_and_nothing_else() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut pool = Pool::new();
        let mut queues = [Queue::EMPTY; 3];
        let mut model = [(); 3].map(|()| VecDeque::new());
        for at in 0..10_000 {
            let which = rng.usize(..3);
            if rng.u8(..20) < 10 + u8::try_from(at / 1_000 % 2).unwrap() {
                pool.push_back(&mut queues[which], at, at * 2, 7);
                model[which].push_back(at);
            } else {
                assert_eq!(pool.pop_front(&mut queues[which]).map(|entry| entry.at), model[which].pop_front());
            }
            let queue = queues[which];
            assert_eq!(pool.front(queue).map(|entry| entry.at), model[which].front().copied());
            assert_eq!(pool.back_mut(queue).map(|entry| entry.at), model[which].back().copied());
            assert!(pool.iter(queue).map(|entry| entry.at).eq(model[which].iter().copied()));
        }
        let most = model.iter().map(VecDeque::len).sum::<usize>();
        assert!(most > 100 && pool.entries.len() < most + 1_000, "places are used again");
    }

    #[test]
    fn an_entry_takes_24_bytes() {
        assert_eq!((size_of::<Entry>(), size_of::<Queue>()), (24, 8));
    }
}
