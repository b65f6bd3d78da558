//! [`Fields`]: a position in time beside one or two counts, in one word.

use crate::build_error::BuildError;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::Timeline;

/// How long a packed position must last: 30 years.
const LASTING: Nanos = Nanos::from_secs(10_958 * 86_400);

/// A word of bit fields: a position on a timeline of whole steps, above `COUNTS` counts of up to `limit`.
///
/// ```text
/// LAYOUT   | position: the other bits | count .. count: as many bits as the limit needs, each |
/// ```
///
/// The counts' width follows the limit. The position gets the rest, which must last for 30 years; it stops at the largest
/// value that fits and never wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields<const COUNTS: u32> {
    pub(super) timeline: Timeline,
    limit: u64,
}

impl<const COUNTS: u32> Fields<COUNTS> {
    /// For `quota`: positions that advance by `steps` each period, above counts of up to `limit`.
    ///
    /// Where calls cost nothing the word stays 0.
    pub(super) const fn try_new(quota: Quota, steps: u64, limit: u64) -> Result<Self, BuildError> {
        if quota.is_unlimited() {
            return Ok(Self { timeline: Timeline::FREE, limit: 0 });
        }
        if quota.is_deny_all() {
            return Ok(Self { timeline: Timeline::STILL, limit: 0 });
        }
        let timeline = Timeline::whole(steps, quota.period_nanos());
        let position_bits = bits(timeline.position(LASTING) | 1);
        let count_bits = (u64::BITS - position_bits) / COUNTS;
        if bits(limit) <= count_bits {
            Ok(Self { timeline, limit })
        } else {
            Err(BuildError::LimitTooLarge { largest: (1 << count_bits) - 1 })
        }
    }

    /// What the fields were built for, given how many tokens there are each period.
    pub(super) const fn quota(&self, tokens: u64) -> Quota {
        if self.timeline.is_free() {
            return Quota::UNLIMITED;
        }
        Quota::from_valid(tokens, self.timeline.period(), self.limit)
    }

    /// The most that a count can hold; also the most that one call can cost.
    #[inline]
    pub(super) const fn limit(&self) -> u64 {
        if self.timeline.is_free() { u64::MAX } else { self.limit }
    }

    /// The position at `now`, or the last one that fits.
    #[inline]
    pub(super) const fn position(&self, now: Nanos) -> u64 {
        let (position, last) = (self.timeline.position(now), u64::MAX >> (bits(self.limit) * COUNTS));
        if position < last { position } else { last }
    }

    /// What stands above the lowest count, and that count.
    #[inline]
    pub(super) const fn split(&self, word: u64) -> (u64, u64) {
        (word >> bits(self.limit), word & ((1 << bits(self.limit)) - 1))
    }

    /// The inverse of [`split`](Self::split).
    #[inline]
    pub(super) const fn join(&self, above: u64, count: u64) -> u64 {
        (above << bits(self.limit)) | count
    }
}

/// How many bits it takes to write `value`.
#[inline]
const fn bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn try_new<const COUNTS: u32>(period: u64, limit: u64) -> Result<Fields<COUNTS>, BuildError> {
        Fields::try_new(Quota::from_valid(1, period, 1), 1, limit)
    }

    fn the_largest_limit_is_named_and_fits<const COUNTS: u32>() {
        for period in [1, 1_000, SECOND, 86_400 * SECOND, 1 << 62] {
            let Err(BuildError::LimitTooLarge { largest }) = try_new::<COUNTS>(period, u64::MAX) else {
                panic!("counts of 64 bits leave no room")
            };
            assert!(try_new::<COUNTS>(period, largest).is_ok());
            assert!(try_new::<COUNTS>(period, largest + 1).is_err());
        }
    }

    #[test]
    fn the_largest_limit_is_named() {
        the_largest_limit_is_named_and_fits::<1>();
        the_largest_limit_is_named_and_fits::<2>();
        assert!(try_new::<2>(60 * SECOND, 1_000_000).is_ok());
    }

    #[test]
    fn the_position_stops_before_it_would_wrap() {
        let fields = try_new::<1>(SECOND, u64::MAX >> 30).unwrap();
        assert_eq!(fields.position(LASTING), LASTING.0 / SECOND);
        assert_eq!(fields.position(Nanos::MAX), u64::MAX >> 34);
        // As many positions as nanoseconds leave two bits for each of two counts.
        let fields = try_new::<2>(1, 3).unwrap();
        assert_eq!(fields.position(Nanos::MAX), u64::MAX >> 4);
    }

    #[test]
    fn a_position_has_a_bit_even_if_it_hardly_ever_moves() {
        let twenty_years = 20 * 365 * 86_400 * SECOND;
        let largest = (1 << 31) - 1;
        assert!(try_new::<2>(twenty_years, largest).is_ok());
        let error = try_new::<2>(twenty_years, largest + 1).unwrap_err();
        assert_eq!(error, BuildError::LimitTooLarge { largest });
    }

    #[test]
    fn fields_come_apart_as_they_were_put_together() {
        let fields = try_new::<2>(SECOND, 1_000).unwrap();
        let word = fields.join(fields.join(77, 1_000), 3);
        assert_eq!(fields.split(word), (fields.join(77, 1_000), 3));
        assert_eq!(fields.split(fields.split(word).0), (77, 1_000));
    }
}
