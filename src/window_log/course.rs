//! [`Course`]: positions along the ring, lap after lap.

/// The place of one unit in the order of all that were ever admitted.
///
/// ```text
/// LAYOUT   | lap: the other bits | slot: as many bits as the number of slots needs |
/// ```
///
/// Positions only grow. A lap takes at least a period, so that they never wrap around: at a thousand million units per
/// second they last for hundreds of years.
pub(super) type Position = u64;

/// A number of slots, gone round again and again. Nothing here divides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    slots: usize,
    /// How many bits of a position are the slot.
    bits: u32,
}

impl Course {
    /// Round `slots` slots, at most 2^32.
    pub(super) const fn new(slots: usize) -> Self {
        Self { slots, bits: usize::BITS - slots.saturating_sub(1).leading_zeros() }
    }

    /// The first slot in lap 1.
    pub(super) const fn start(self) -> Position {
        1 << self.bits
    }

    #[inline]
    pub(super) const fn lap(self, position: Position) -> u64 {
        position >> self.bits
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // below `slots`
    pub(super) const fn slot(self, position: Position) -> usize {
        (position & ((1 << self.bits) - 1)) as usize
    }

    /// The position `n` later, where `n` is at most the number of slots.
    #[inline]
    pub(super) const fn after(self, position: Position, n: usize) -> Position {
        let unused = (1 << self.bits) - self.slots as u64;
        let wraps = self.slot(position) + n >= self.slots;
        position + n as u64 + if wraps { unused } else { 0 }
    }

    /// The slot `n` after `slot`, where `n` is at most the number of slots.
    #[inline]
    pub(super) const fn slot_after(self, slot: usize, n: usize) -> usize {
        let next = slot + n;
        if next < self.slots { next } else { next - self.slots }
    }

    #[inline]
    pub(super) const fn slot_before(self, slot: usize) -> usize {
        if slot == 0 { self.slots - 1 } else { slot - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_go_round_slot_by_slot_and_lap_by_lap() {
        for slots in [1, 2, 3, 4, 5, 7, 8, 9] {
            let course = Course::new(slots);
            for step in 1..=slots {
                let mut position = course.start();
                for k in (0..40).step_by(step) {
                    assert_eq!(course.slot(position), k % slots);
                    assert_eq!(course.lap(position), 1 + (k / slots) as u64);
                    assert_eq!(course.slot_after(course.slot(position), step), (k + step) % slots);
                    assert_eq!(course.slot_before(course.slot(position)), (k + slots - 1) % slots);
                    assert!(course.after(position, step) > position);
                    position = course.after(position, step);
                }
            }
        }
    }
}
