//! [`Fields`]: a position in time beside one or two counts, in one word.

use crate::quota::QuotaError;
use crate::timeline::Timeline;

/// How long a packed position must last: 30 years, in nanoseconds.
const LASTING: u64 = 10_958 * 86_400 * 1_000_000_000;

/// A word of bit fields: a position on a timeline of whole steps, above counts of up to `limit`.
///
/// ```text
/// LAYOUT   | position: the other bits | count .. count: as many bits as the limit needs, each |
/// ```
///
/// The counts' width follows the limit; the position gets the rest and cannot overflow: the timeline ends before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) timeline: Timeline,
    limit: u64,
}

impl Fields {
    /// Calls cost nothing, and the word stays 0.
    pub(super) const FREE: Self = Self { timeline: Timeline::FREE, limit: 0 };

    /// No call is ever admitted.
    pub(super) const DENY_ALL: Self = Self { timeline: Timeline::STILL, limit: 0 };

    /// Positions that advance by `steps` each `period`, above `counts` counts of up to `limit`.
    pub(super) const fn try_new(steps: u64, period: u64, limit: u64, counts: u32) -> Result<Self, QuotaError> {
        let bits = u64::BITS - limit.leading_zeros();
        if let Some(timeline) = lasting(steps, period, bits * counts) {
            return Ok(Self { timeline, limit });
        }
        let mut largest = bits;
        // PROGRESS: at most 63 steps.
        while largest > 0 && lasting(steps, period, largest * counts).is_none() {
            largest -= 1;
        }
        Err(QuotaError::LimitTooLarge { largest: (1 << largest) - 1 })
    }

    /// The most that a count can hold; also the most that one call can cost.
    #[inline]
    pub(super) const fn limit(&self) -> u64 {
        if self.timeline.is_free() { u64::MAX } else { self.limit }
    }

    #[inline]
    const fn bits(&self) -> u32 {
        u64::BITS - self.limit.leading_zeros()
    }

    /// What stands above the lowest count, and that count.
    #[inline]
    pub(super) const fn split(&self, word: u64) -> (u64, u64) {
        (word >> self.bits(), word & ((1 << self.bits()) - 1))
    }

    /// The inverse of [`split`](Self::split).
    #[inline]
    pub(super) const fn join(&self, above: u64, count: u64) -> u64 {
        (above << self.bits()) | count
    }
}

/// The timeline whose positions fit above `taken` bits, if it lasts.
const fn lasting(steps: u64, period: u64, taken: u32) -> Option<Timeline> {
    if taken >= u64::BITS {
        return None;
    }
    let timeline = Timeline::whole(steps, period, u64::MAX >> taken);
    if timeline.end() >= LASTING { Some(timeline) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_largest_limit_is_named_and_fits() {
        for counts in [1, 2] {
            for period in [1, 1_000, SECOND, 86_400 * SECOND, 1 << 62] {
                match Fields::try_new(1, period, u64::MAX, counts) {
                    Err(QuotaError::LimitTooLarge { largest: 0 }) => assert!(period < 1_000),
                    Err(QuotaError::LimitTooLarge { largest }) => {
                        assert!(Fields::try_new(1, period, largest, counts).is_ok());
                        assert!(Fields::try_new(1, period, largest + 1, counts).is_err());
                    }
                    other => panic!("a count of 64 bits leaves no room: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn fields_come_apart_as_they_were_put_together() {
        let fields = Fields::try_new(1, SECOND, 1_000, 2).unwrap();
        let word = fields.join(fields.join(77, 1_000), 3);
        assert_eq!(fields.split(word), (fields.join(77, 1_000), 3));
        assert_eq!(fields.split(fields.split(word).0), (77, 1_000));
    }
}
