//! [`Timeline`]: nanoseconds to token units and back. The only place where anything is rounded.
//!
//! Tokens are counted in *units* on an absolute scale. `2^f` units make a token, and at instant `now` the scale stands
//! at
//!
//! ```text
//! E(now) = floor(now * tokens * 2^f / period)          exactly, for every `now` up to `end`
//! ```
//!
//! Time is never accumulated from call to call, so nothing drifts: the position depends on `now` alone. A token that
//! falls due at an instant is there at that instant.
//!
//! The division by `period` is a multiplication by a reciprocal of 128 bits, rounded up (T. Granlund and
//! P. L. Montgomery, "Division by invariant integers using multiplication", PLDI 1994). With
//! `m = ceil(tokens * 2^f * 2^(128 - s) / period)` the product `now * 2^s * m / 2^128` exceeds the true quotient by less
//! than `now * 2^s / 2^128 <= 2^-64`. The true quotient is a multiple of `1 / period`, and `period <= 2^62`, so that
//! excess never carries it over a whole unit: the floor is exact. The shift `s` lets the result be the product's upper
//! half; it leaves `now` the lower `64 - s` bits.

use crate::nanos::Nanos;
use core::time::Duration;

/// The longest period, in nanoseconds: 146 years.
pub(crate) const LONGEST: u64 = 1 << 62;

/// The shift `s` of a timeline that lasts for 146 years: rates below 4 tokens per nanosecond.
const LONG: u32 = 2;

/// The shift `s` of a timeline that lasts for 73 years: rates below 8 tokens per nanosecond.
const SHORT: u32 = 3;

/// A rate as an exact scale from instants to token units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// The reciprocal `m`, low and high half.
    low: u64,
    high: u64,
    /// The rate: `tokens` each `period` nanoseconds.
    tokens: u64,
    period: u64,
    /// Units per token, a power of two; 0 where tokens cost nothing.
    unit: u64,
    /// The `s` of the module's formula.
    shift: u32,
}

impl Timeline {
    /// Tokens cost nothing; the scale stands still.
    pub(crate) const FREE: Self = Self { low: 0, high: 0, tokens: 0, period: 0, unit: 0, shift: 0 };

    /// No token ever comes.
    pub(crate) const STILL: Self = Self { low: 0, high: 0, tokens: 0, period: 0, unit: 1, shift: 0 };

    /// The finest scale on which the last position and `burst` on top fit in 64 bits, for the numbers of a valid quota.
    ///
    /// `2^f` is the largest power of two for which the scale lasts 146 years; then a unit takes 0.25 to 0.5 ns, or more
    /// where a large burst needs the bits. Rates above about 4e9 per second get whole tokens (`f = 0`) and 73 years.
    pub(crate) const fn finest(tokens: u64, period: u64, burst: u64) -> Self {
        if !fits(tokens, period, burst, LONG) {
            return Self::scaled(tokens, period, 1, SHORT);
        }
        let mut unit = 1;
        // PROGRESS: at most 63 steps.
        while unit <= u64::MAX / 2 / burst && unit <= u64::MAX / 2 / tokens {
            if !fits(tokens * unit * 2, period, burst * unit * 2, LONG) {
                break;
            }
            unit *= 2;
        }
        Self::scaled(tokens, period, unit, LONG)
    }

    /// As [`finest`](Self::finest), with the upper `spare` bits of each position left free; `None` if no scale lasts
    /// 146 years with what remains.
    pub(crate) const fn finest_beside(tokens: u64, period: u64, burst: u64, spare: u32) -> Option<Self> {
        if tokens > u64::MAX >> spare || burst > u64::MAX >> spare {
            return None;
        }
        let (more, larger) = (tokens << spare, burst << spare);
        if !fits(more, period, larger, LONG) {
            return None;
        }
        let unit = Self::finest(more, period, larger).unit;
        Some(Self::scaled(tokens, period, unit, LONG))
    }

    /// Whole tokens. With one token per period the positions number the periods: a window index.
    ///
    /// `tokens` each `period` is a valid quota's rate, or slower.
    pub(crate) const fn whole(tokens: u64, period: u64) -> Self {
        Self::scaled(tokens, period, 1, if fits(tokens, period, 0, LONG) { LONG } else { SHORT })
    }

    const fn scaled(tokens: u64, period: u64, unit: u64, shift: u32) -> Self {
        // ceil(tokens * unit * 2^(128 - shift) / period), by long division. The quotient's whole part is below 2^shift,
        // since the last position fits in 64 bits; a remainder is below 2^62, so that it can be shifted by 64.
        let numerator = tokens as u128 * unit as u128;
        let divisor = period as u128;
        let (whole, rest) = (numerator / divisor, numerator % divisor);
        let (first, rest) = ((rest << (64 - shift)) / divisor, (rest << (64 - shift)) % divisor);
        let (second, rest) = ((rest << 64) / divisor, (rest << 64) % divisor);
        let reciprocal = (whole << (128 - shift)) + (first << 64) + second + (rest != 0) as u128;
        Self { low: low(reciprocal), high: low(reciprocal >> 64), tokens, period, unit, shift }
    }

    /// `E(now)`: the units that have fallen due since the clock's origin. Exact and monotone; readings after the last
    /// instant count as that.
    #[inline]
    pub(crate) const fn position(&self, now: Nanos) -> u64 {
        let now = if now.0 <= self.end().0 { now.0 } else { self.after_the_end() };
        let now = (now << self.shift) as u128;
        // The upper half of a product of 64 by 128 bits, in two widening multiplications that cannot overflow.
        low((now * self.high as u128 + ((now * self.low as u128) >> 64)) >> 64)
    }

    /// A branch that is never taken costs an admission less than a minimum taken every time.
    #[cold]
    const fn after_the_end(&self) -> u64 {
        self.end().0
    }

    /// The last instant that can be represented: 146 or 73 years from the clock's origin.
    #[inline]
    pub(crate) const fn end(&self) -> Nanos {
        Nanos(u64::MAX >> self.shift)
    }

    /// Units per token; 0 where tokens cost nothing.
    pub(crate) const fn unit(&self) -> u64 {
        self.unit
    }

    /// What `n` tokens cost, in units; `None` if that is beyond any position.
    #[inline]
    pub(crate) const fn cost(&self, n: u64) -> Option<u64> {
        n.checked_mul(self.unit)
    }

    /// Whole tokens in `units`; without limit where tokens cost nothing.
    #[inline]
    pub(crate) const fn tokens_in(&self, units: u64) -> u64 {
        match self.unit {
            0 => u64::MAX,
            unit => units >> unit.trailing_zeros(),
        }
    }

    /// The exact time from `now` until the scale stands at `position`.
    #[inline]
    pub(crate) const fn hint(&self, position: u64, now: Nanos) -> Hint {
        Hint { position, tokens: self.tokens, unit: self.unit, period: self.period, start: Nanos::ZERO, now }
    }

    /// The instant at which the scale first stands at `position`; the inverse of [`Timeline::position`].
    pub(crate) const fn instant(&self, position: u64) -> Nanos {
        self.hint(position, Nanos::ZERO).due()
    }

    /// What `units` of another scale are on this one, in tokens alike, rounded down and up; `None` if that is beyond any
    /// position, or tokens cost nothing on either.
    pub(crate) const fn units_from(&self, units: u64, other: &Self) -> Option<(u64, u64)> {
        if self.unit == 0 || other.unit == 0 {
            return None;
        }
        let product = units as u128 * self.unit as u128;
        let (down, up) = (product / other.unit as u128, product.div_ceil(other.unit as u128));
        if up > u64::MAX as u128 { None } else { Some((low(down), low(up))) }
    }

    /// How many words a timeline is.
    pub(crate) const WORDS: usize = 6;

    /// As words, for whoever keeps it in atomics.
    pub(crate) const fn to_words(self) -> [u64; Self::WORDS] {
        [self.low, self.high, self.tokens, self.period, self.unit, self.shift as u64]
    }

    /// The timeline that is these words.
    pub(crate) const fn from_words([low, high, tokens, period, unit, shift]: [u64; Self::WORDS]) -> Self {
        #[allow(clippy::cast_possible_truncation)] // at most 3
        Self { low, high, tokens, period, unit, shift: shift as u32 }
    }

    /// The rate's numerator: tokens per period.
    pub(crate) const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The rate's denominator, in nanoseconds.
    pub(crate) const fn period(&self) -> u64 {
        self.period
    }

    /// Whether tokens cost nothing.
    #[inline]
    pub(crate) const fn is_free(&self) -> bool {
        self.unit == 0
    }
}

/// The most tokens per `period` that leave room for a burst of one on the coarsest scale of [`Timeline::finest`].
pub(crate) const fn most_tokens(period: u64) -> u64 {
    let most = ((u64::MAX as u128 - 1) * period as u128) >> (64 - SHORT);
    if most < u64::MAX as u128 { low(most) } else { u64::MAX }
}

/// The largest burst beside `tokens` per `period` on the coarsest scale of [`Timeline::finest`].
pub(crate) const fn largest_burst(tokens: u64, period: u64) -> u64 {
    let last = ((tokens as u128) << (64 - SHORT)).div_ceil(period as u128);
    if last < u64::MAX as u128 { u64::MAX - low(last) } else { 0 }
}

/// Whether the position at `2^(64 - shift)` ns, and `burst` on top, fit in 64 bits.
const fn fits(rate: u64, period: u64, burst: u64, shift: u32) -> bool {
    ((rate as u128) << (64 - shift)) <= (u64::MAX - burst) as u128 * period as u128
}

/// The lower 64 bits.
#[allow(clippy::cast_possible_truncation)] // the point of it
const fn low(wide: u128) -> u64 {
    wide as u64
}

/// `ceil(a * b / divisor)`, where the quotient fits in 64 bits.
pub(crate) const fn mul_div_ceil(a: u64, b: u64, divisor: u64) -> u64 {
    low((a as u128 * b as u128).div_ceil(divisor as u128))
}

/// How long until a refused call would be admitted, exact to the nanosecond, if nobody else is served first.
///
/// A refusal only notes what the time depends on; the one division is made when the time is asked for. At one
/// nanosecond less than [`Hint::retry_after`] the same call is refused again.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, ManualClock, Quota, TokenBucket};
///
/// let bucket = TokenBucket::with_clock(Quota::per_second(3).with_burst(1), ManualClock::new());
/// assert!(bucket.try_acquire().is_ok());
/// let Err(Denied::TryAfter(hint)) = bucket.try_acquire() else { panic!("the bucket is empty") };
/// assert_eq!(hint.retry_after(), Duration::from_nanos(333_333_334)); // a third of a second, rounded up
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Due once `floor((t - start) * tokens * unit / period) >= position`.
    pub(crate) position: u64,
    pub(crate) tokens: u64,
    pub(crate) unit: u64,
    pub(crate) period: u64,
    /// Where `t` is counted from.
    pub(crate) start: Nanos,
    /// When the call was refused.
    pub(crate) now: Nanos,
}

impl Hint {
    /// A call refused at `now` that would be admitted at `due`, both on the limiter's clock: for a
    /// [`RateLimit`](crate::RateLimit) of your own.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint, Nanos};
    ///
    /// let denied = Denied::TryAfter(Hint::at(Nanos::from_secs(9), Nanos::from_secs(7)));
    /// assert_eq!(denied.retry_after(), Some(Duration::from_secs(2)));
    /// ```
    #[inline]
    pub const fn at(due: Nanos, now: Nanos) -> Self {
        Self { position: due.0, tokens: 1, unit: 1, period: 1, start: Nanos::ZERO, now }
    }

    /// A call refused now that would be admitted after `wait`, where there is no clock to name instants by:
    /// [`due`](Self::due) counts from the refused call. A wait of more than 584 years reads as that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Denied, Hint};
    ///
    /// let denied = Denied::TryAfter(Hint::after(Duration::from_millis(250)));
    /// assert_eq!(denied.retry_after(), Some(Duration::from_millis(250)));
    /// ```
    pub const fn after(wait: Duration) -> Self {
        Self::at(Nanos::from_duration(wait), Nanos::ZERO)
    }

    /// The first instant, on the limiter's clock, at which the refused call would be admitted.
    ///
    /// With `x` for the position to reach and `r = tokens * unit / period` it is `ceil(x / r)`: the inverse of the
    /// scale. Instants beyond [`Nanos::MAX`] read as that.
    pub const fn due(&self) -> Nanos {
        let rate = self.tokens as u128 * self.unit as u128;
        if rate == 0 {
            return self.now; // tokens that cost nothing are always due
        }
        let since_start = (self.position as u128 * self.period as u128).div_ceil(rate);
        let due = since_start + self.start.0 as u128;
        if due > u64::MAX as u128 { Nanos::MAX } else { Nanos(low(due)) }
    }

    /// How long after the refused call's reading of the clock the call would be admitted.
    pub const fn retry_after(&self) -> Duration {
        self.due().saturating_since(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `floor(now * tokens * 2^bits / period)` by schoolbook long division, a bit at a time.
    fn by_long_division(now: u64, tokens: u64, bits: u32, period: u64) -> u128 {
        let product = u128::from(now) * u128::from(tokens);
        let (mut quotient, mut rest) = (product / u128::from(period), product % u128::from(period));
        for _ in 0..bits {
            rest *= 2;
            quotient = quotient * 2 + u128::from(rest >= u128::from(period));
            rest %= u128::from(period);
        }
        quotient
    }

    /// Rates and bursts over the whole range that a quota admits.
    fn rates() -> impl Strategy<Value = (u64, u64, u64)> {
        (0..64u32, 0..=62u32, 0..64u32, any::<(u64, u64, u64)>())
            .prop_map(|(a, b, c, (x, y, z))| ((x >> a).max(1), (y >> (63 - b)).clamp(1, LONGEST), (z >> c).max(1)))
            .prop_filter("a scale that lasts", |&(tokens, period, burst)| fits(tokens, period, burst, SHORT))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn positions_are_exact_floors((tokens, period, burst) in rates(), now: u64, shift in 0..64u32) {
            let timeline = Timeline::finest(tokens, period, burst);
            let end = timeline.end().0;
            prop_assert!(end >= (1 << 61) - 1);
            let bits = timeline.unit.trailing_zeros();
            for now in [now >> shift, end, end - 1, u64::MAX] {
                let exact = by_long_division(now.min(end), tokens, bits, period);
                prop_assert_eq!(u128::from(timeline.position(Nanos(now))), exact);
                prop_assert!(exact + (u128::from(burst) << bits) <= u128::from(u64::MAX));
            }
        }

        #[test]
        fn the_inverse_is_the_first_instant((tokens, period, burst) in rates(), x: u64, shift in 0..64u32) {
            let timeline = Timeline::finest(tokens, period, burst);
            let x = (x >> shift).clamp(1, timeline.position(Nanos::MAX).max(1));
            let due = timeline.instant(x);
            if due <= timeline.end() {
                prop_assert!(timeline.position(due) >= x);
                prop_assert!(timeline.position(Nanos(due.0 - 1)) < x);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        /// One more does not fit.
        #[test]
        fn the_limits_that_errors_name_are_the_last_that_fit((tokens, period, _) in rates()) {
            let most = most_tokens(period);
            prop_assert!(fits(most, period, 1, SHORT) && (most == u64::MAX || !fits(most + 1, period, 1, SHORT)));
            let largest = largest_burst(tokens, period);
            prop_assert!(fits(tokens, period, largest, SHORT) && !fits(tokens, period, largest + 1, SHORT));
        }
    }

    #[test]
    fn instants_around_every_multiple_of_an_awkward_period_are_exact() {
        for period in [3, 7, 1_000_000_007, LONGEST - 1, LONGEST, (1 << 61) + 1] {
            let timeline = Timeline::whole(1, period);
            for k in [1, 2, 3, LONGEST / period / 2, LONGEST / period] {
                let tick = period.saturating_mul(k);
                if tick < LONGEST && k > 0 {
                    assert_eq!(timeline.position(Nanos(tick)), k);
                    assert_eq!(timeline.position(Nanos(tick - 1)), k - 1);
                }
            }
        }
    }

    #[test]
    fn a_unit_is_at_most_half_a_nanosecond_where_the_burst_leaves_room() {
        for (tokens, period, burst) in
            [(1, 30 * 86_400_000_000_000, 100), (1, 1_000_000_000, 1_000), (700, 1_000, 1 << 60), (2, 1, 1_000)]
        {
            let timeline = Timeline::finest(tokens, period, burst);
            let per_nano = u128::from(tokens) * u128::from(timeline.unit) / u128::from(period);
            assert!((2..4).contains(&per_nano), "{per_nano} units per ns");
        }
    }
}
