//! [`Slot`]: what a slot of the ring holds, in one word.

use crate::nanos::Nanos;

/// The flag of a group.
const GROUP: u64 = 1 << 63;

/// How many bits name a record.
const RECORD_BITS: u32 = 6;

/// The latest instant that fits: 146 years.
pub(super) const LATEST: u64 = (1 << 62) - 1;

/// One slot's word.
///
/// ```text
/// LAYOUT   unit     | 0 | due: 62 bits                 | lap: 1 bit       |
///          group    | 1 | lap: the lower 57 bits of it | record: 6 bits   |
/// ```
///
/// A *unit* is one admitted unit of cost: its slot is free again at the instant `due`. The lap's last bit tells a unit of
/// this lap from the one it replaces. A *group* is the first of several units admitted together, as long as not all of
/// them are written down; the record has the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u64);

impl Slot {
    /// Always free so far: the lap before the first.
    pub(super) const EMPTY: Self = Self(0);

    /// A unit admitted in lap `lap`. `due` is at most [`LATEST`].
    #[inline]
    pub(super) const fn unit(lap: u64, due: Nanos) -> Self {
        Self((due.0 << 1) | (lap & 1))
    }

    /// The first of a group admitted in lap `lap`.
    #[inline]
    pub(super) const fn group(lap: u64, record: usize) -> Self {
        Self(GROUP | ((lap << RECORD_BITS) & !GROUP) | record as u64)
    }

    /// The instant at which a unit's slot is free again; beyond any instant for a group.
    #[inline]
    pub(super) const fn due(self) -> Nanos {
        Nanos(self.0 >> 1)
    }

    /// Where a group is described; `None` for a unit.
    #[inline]
    pub(super) const fn record(self) -> Option<usize> {
        if self.0 & GROUP == 0 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // six bits
        Some((self.0 & ((1 << RECORD_BITS) - 1)) as usize)
    }

    /// Whether this was admitted in lap `lap`, and not in the one before.
    #[inline]
    pub(super) const fn is_of(self, lap: u64) -> bool {
        // A group stays one only as long as the head stands before it, in its own lap.
        self.0 & GROUP != 0 || self.0 & 1 == lap & 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_groups_come_apart_as_they_were_put_together() {
        for lap in [1, 2, (1 << 57) - 1, 1 << 57, u64::MAX] {
            for due in [0, 1, LATEST] {
                let unit = Slot::unit(lap, Nanos(due));
                assert_eq!((unit.due(), unit.record()), (Nanos(due), None));
                assert!(unit.is_of(lap) && !unit.is_of(lap - 1));
            }
            for record in [0, 63] {
                let group = Slot::group(lap, record);
                assert_eq!(group.record(), Some(record));
                assert!(group.is_of(lap) && group.due().0 > LATEST);
            }
        }
        assert!(!Slot::EMPTY.is_of(1) && Slot::EMPTY.due() == Nanos::ZERO);
    }

    #[test]
    fn units_sort_by_when_they_are_due() {
        assert!(Slot::unit(1, Nanos(7)).0 < Slot::unit(2, Nanos(8)).0);
        assert!(Slot::unit(2, Nanos(7)).0 < Slot::unit(1, Nanos(8)).0);
    }
}
