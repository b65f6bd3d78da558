//! [`Fields`]: a position in time beside one or two counts, in one word.

use crate::build_error::BuildError;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::{Grain, LASTING, Timeline};

/// A word of bit fields: a position on a timeline of whole steps, above `COUNTS` counts of up to `limit`.
///
/// ```text
/// LAYOUT   | position: the other bits | count .. count: as many bits as the limit needs, each |
/// ```
///
/// The counts' width follows the limit. The position gets the rest, which must last for 120 years from the clock's origin;
/// time stands still there, and never wraps. What is counted is tokens; or, where the bits are too few and several tokens
/// fall due in a nanosecond, so that single ones do not matter, the units of a [`Grain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields<const COUNTS: u32> {
    pub(super) timeline: Timeline,
    /// The most that a count can hold, in units; 0 where nothing is counted.
    limit: u64,
}

impl<const COUNTS: u32> Fields<COUNTS> {
    /// Positions number the periods of `quota`, above counts of up to its tokens; the upper `spare` bits of a word are left
    /// free.
    ///
    /// Where calls cost nothing the word stays 0. Units have at most `2^coarsest` tokens, and more than one only from two
    /// tokens each nanosecond up.
    pub(super) const fn windows(quota: Quota, coarsest: u32, spare: u32) -> Result<Self, BuildError> {
        if let Some(fields) = Self::without_state(quota) {
            return Ok(fields);
        }
        let mut bits = 0;
        // PROGRESS: at most 32 steps.
        loop {
            let grain = Grain::new(bits, quota.tokens());
            match Self::fitting(Timeline::windows(quota.period_nanos(), grain), quota.tokens(), u64::BITS - spare) {
                Err(_) if bits < coarsest && quota.tokens() / quota.period_nanos() >= 2 => bits += 1,
                result => return result,
            }
        }
    }

    /// Positions number the tokens of `quota` that have fallen due, above counts of up to its burst.
    ///
    /// Where calls cost nothing the word stays 0. Units have at most `2^coarsest` tokens, and more than one only from four
    /// tokens each nanosecond up, which no scale can count one by one.
    pub(super) const fn refills(quota: Quota, coarsest: u32) -> Result<Self, BuildError> {
        if let Some(fields) = Self::without_state(quota) {
            return Ok(fields);
        }
        let mut bits = 0;
        // PROGRESS: at most 32 steps.
        loop {
            // Fewer than four units each nanosecond.
            let fits_a_timeline = quota.tokens() >> bits < quota.period_nanos().saturating_mul(4);
            let (grain, longer) = (Grain::new(bits, quota.burst()), (quota.period_nanos() as u128) << (bits + 1));
            let more = bits < coarsest && quota.tokens() / quota.period_nanos() >= 4 && longer <= u64::MAX as u128;
            if fits_a_timeline || !more {
                let timeline = Timeline::grains(quota.tokens(), quota.period_nanos(), grain);
                match Self::fitting(timeline, quota.burst(), u64::BITS) {
                    Err(_) if more => {}
                    result => return result,
                }
            }
            bits += 1;
        }
    }

    const fn without_state(quota: Quota) -> Option<Self> {
        if quota.is_unlimited() {
            return Some(Self { timeline: Timeline::FREE, limit: 0 });
        }
        if quota.is_deny_all() {
            return Some(Self { timeline: Timeline::STILL, limit: 0 });
        }
        None
    }

    /// Windows of this length that stand still and count nothing.
    pub(super) const fn still(period: u64) -> Self {
        Self::from_words([0, 0, period, 0])
    }

    /// The fields for counts of up to `limit` tokens, if they leave `timeline` enough of the word's bits.
    const fn fitting(timeline: Timeline, limit: u64, word_bits: u32) -> Result<Self, BuildError> {
        let position_bits = bits(timeline.position(LASTING) | 1);
        let count_bits = (word_bits - position_bits) / COUNTS;
        let units = timeline.grain().cost(limit);
        if bits(units) <= count_bits {
            Ok(Self { timeline, limit: units })
        } else {
            Err(BuildError::LimitTooLarge { largest: timeline.grain().whole((1 << count_bits) - 1) })
        }
    }

    /// As words, for whoever keeps them in atomics: of windows that count single tokens.
    pub(super) const fn to_words(self) -> [u64; 4] {
        let [low, high, _, period, _, _] = self.timeline.to_words();
        [low, high, period, if self.timeline.is_free() { u64::MAX } else { self.limit }]
    }

    /// The fields that are these words.
    #[inline]
    pub(super) const fn from_words([low, high, period, limit]: [u64; 4]) -> Self {
        if limit == u64::MAX {
            return Self { timeline: Timeline::FREE, limit: 0 };
        }
        Self { timeline: Timeline::from_words([low, high, 1, period, 1, Grain::SINGLE.to_word()]), limit }
    }

    /// What the fields were built for, given how many tokens there are each period.
    pub(super) const fn quota(&self, tokens: u64) -> Quota {
        if self.timeline.is_free() {
            return Quota::UNLIMITED;
        }
        Quota::from_valid(tokens, self.timeline.period(), self.max_cost())
    }

    /// The most that a count can hold, in units.
    #[inline]
    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    /// The most tokens that a count can hold; also the most that one call can cost.
    #[inline]
    pub(super) const fn max_cost(&self) -> u64 {
        self.tokens_in(self.limit)
    }

    /// What `n` tokens cost, in units: 0 for nothing, and where calls cost nothing.
    ///
    /// # Errors
    ///
    /// [`Denied::ExceedsBurst`] if no count can hold so much.
    #[inline]
    pub(super) const fn price(&self, n: u64) -> Result<u64, Denied> {
        if n.wrapping_sub(1) < self.limit && self.timeline.grain().is_single() {
            return Ok(n);
        }
        // Numbers, which fit in registers, and not a refusal, which would have a place in memory kept for it in every call.
        match self.unusual_price(n) {
            Some(cost) => Ok(cost),
            None => Err(Denied::ExceedsBurst { cost: n, max_cost: self.most() }),
        }
    }

    #[cold]
    const fn unusual_price(&self, n: u64) -> Option<u64> {
        let cost = self.timeline.grain().cost(n);
        if self.timeline.is_free() {
            Some(0)
        } else if cost <= self.limit {
            Some(cost)
        } else {
            None
        }
    }

    #[cold]
    const fn most(&self) -> u64 {
        self.max_cost()
    }

    /// Whole tokens that `units` of a count pay for.
    #[inline]
    pub(super) const fn tokens_in(&self, units: u64) -> u64 {
        let grain = self.timeline.grain();
        if self.timeline.is_free() {
            u64::MAX
        } else if grain.is_single() {
            units
        } else {
            grain.tokens_in(units)
        }
    }

    /// The position at `now`.
    #[inline]
    pub(super) const fn position(&self, now: Nanos) -> u64 {
        self.timeline.position(within_time(now))
    }

    /// The instant at which the window of this index, which a word holds, ends: known without the clock, by one short
    /// multiplication. 0 where windows have no length.
    ///
    /// `now` lies in the window or before it iff `now < end`, up to the last instant that windows are counted for.
    #[inline]
    pub(super) const fn end(&self, index: u64) -> u64 {
        // The last position ends less than a period after the last instant that is counted, and no period is above 2^62.
        (index + 1) * self.timeline.period()
    }

    /// The last position there is.
    pub(super) const fn last(&self) -> u64 {
        self.timeline.position(LASTING)
    }

    /// The first window of another clock, which reads `to` when this one reads `from`, that begins no earlier than the window
    /// `index` of this one; `None` if there is no such index.
    pub(super) const fn window_from(&self, index: u64, from: Nanos, to: Nanos) -> Option<u64> {
        if index > self.last() {
            return None;
        }
        let period = self.timeline.period() as i128;
        let start = index as i128 * period + (within_time(to).0 as i128 - within_time(from).0 as i128);
        if start <= 0 {
            return Some(0);
        }
        let window = (start - 1) / period + 1;
        if window > self.last() as i128 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to the last position
        let window = window as u64;
        Some(window)
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

/// `now`, or the last instant that windows are counted for.
#[inline]
pub(super) const fn within_time(now: Nanos) -> Nanos {
    if now.0 < LASTING.0 { now } else { after_the_end() }
}

/// A branch that is never taken costs a call less than a minimum taken every time.
#[cold]
const fn after_the_end() -> Nanos {
    LASTING
}

/// How many bits it takes to write `value`.
#[inline]
const fn bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5_000) })]

        #[test]
        fn a_window_ends_where_the_next_begins(x: u64, y: u64, z: u64, shifts in (0..63_u32, 0..64_u32, 0..64_u32), near in 0..3_u64) {
            let fields = try_new::<1>((x >> shifts.0).clamp(1, 1 << 62), 1).unwrap();
            let index = (y >> shifts.1).min(fields.last());
            let end = fields.end(index);
            for now in [z >> shifts.2, (end + near).saturating_sub(1), LASTING.0 - near, LASTING.0 + near, u64::MAX] {
                let is_past = fields.position(Nanos(now)) > index;
                // Beyond the last instant that is counted, the last window goes on.
                prop_assert_eq!(now < end || now > LASTING.0 && !is_past, !is_past, "{} {}", now, end);
                prop_assert!(now >= end || !is_past);
            }
        }
    }

    fn try_new<const COUNTS: u32>(period: u64, limit: u64) -> Result<Fields<COUNTS>, BuildError> {
        Fields::windows(Quota::from_valid(limit, period, 1), 0, 0)
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
        assert!(try_new::<2>(60 * SECOND, 524_287).is_ok() && try_new::<2>(60 * SECOND, 524_288).is_err());
        assert!(try_new::<2>(SECOND, 65_535).is_ok() && try_new::<2>(SECOND, 65_536).is_err());
    }

    #[test]
    fn the_position_stops_before_it_would_wrap() {
        let fields = try_new::<1>(SECOND, u64::MAX >> 32).unwrap();
        for now in [LASTING, Nanos(LASTING.0 + 1), Nanos::MAX] {
            assert_eq!(fields.position(now), LASTING.0 / SECOND);
        }
        // As many positions as nanoseconds leave a bit for each of two counts.
        let fields = try_new::<2>(1, 1).unwrap();
        assert_eq!(fields.position(Nanos::MAX), LASTING.0);
    }

    #[test]
    fn units_are_tokens_up_to_two_each_nanosecond_and_as_few_as_fit_above() {
        let fields =
            |tokens| Fields::<1>::windows(Quota::per(tokens, core::time::Duration::from_secs(1)), 31, 0).unwrap();
        for tokens in [1_999_999_999, 4_294_967_295] {
            assert!(fields(tokens).timeline.grain().is_single());
        }
        for (tokens, bits) in [(4_294_967_296, 1), (12_500_000_000, 2), (10_000_000_000_000, 12)] {
            let fields = fields(tokens);
            assert_eq!((fields.timeline.grain().bits(), fields.max_cost()), (bits, tokens));
        }
    }

    #[test]
    fn a_position_has_a_bit_even_if_it_hardly_ever_moves() {
        let longest = 130 * 365 * 86_400 * SECOND;
        let largest = (1 << 31) - 1;
        assert!(try_new::<2>(longest, largest).is_ok());
        let error = try_new::<2>(longest, largest + 1).unwrap_err();
        assert_eq!(error, BuildError::LimitTooLarge { largest });
    }

    #[test]
    fn spare_bits_stay_free_and_words_come_back() {
        for (period, limit) in [(1_000, 7), (SECOND, (1 << 30) - 1), (86_400 * SECOND, 1 << 40)] {
            let fields = Fields::<1>::windows(Quota::from_valid(limit, period, 1), 0, 2).unwrap();
            assert!(fields.join(fields.position(Nanos::MAX), limit) < 1 << 62);
            assert_eq!(Fields::from_words(fields.to_words()), fields);
        }
        assert!(Fields::<1>::windows(Quota::from_valid(1 << 30, SECOND, 1), 0, 2).is_err());
        assert!(Fields::<1>::windows(Quota::from_valid(1 << 30, SECOND, 1), 0, 1).is_ok());
        for (quota, is) in [(Quota::UNLIMITED, Quota::UNLIMITED), (Quota::DENY_ALL, Quota::DENY_ALL)] {
            let fields = Fields::<2>::windows(quota, 0, 2).unwrap();
            assert_eq!(Fields::<2>::from_words(fields.to_words()).quota(0), is);
        }
    }

    #[test]
    fn fields_come_apart_as_they_were_put_together() {
        let fields = try_new::<2>(SECOND, 1_000).unwrap();
        let word = fields.join(fields.join(77, 1_000), 3);
        assert_eq!(fields.split(word), (fields.join(77, 1_000), 3));
        assert_eq!(fields.split(fields.split(word).0), (77, 1_000));
    }
}
