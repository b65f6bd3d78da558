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
//! `m = ceil(tokens * 2^f * 2^124 / period)` the product `now * m / 2^124` exceeds the true quotient by less than
//! `now / 2^124 <= 2^-62`. The true quotient is a multiple of `1 / period`, and `period <= 2^62`, so that excess never
//! carries it over a whole unit: the floor is exact.

use crate::nanos::Nanos;
use core::time::Duration;

/// Bits to the right of the binary point in the reciprocal.
const SCALE: u32 = 124;

/// The longest period and the latest instant told apart, in nanoseconds: 146 years.
pub(crate) const LONGEST: u64 = 1 << 62;

/// Every quota runs for at least this long from its clock's origin: 50 years, in nanoseconds.
pub(crate) const HORIZON: u64 = 18_263 * 86_400 * 1_000_000_000;

/// A rate as an exact scale from instants to token units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// The reciprocal `m`, low and high half.
    low: u64,
    high: u64,
    /// Later readings count as this one, so that no position overflows.
    end: u64,
    /// The rate: `tokens` each `period` nanoseconds.
    tokens: u64,
    period: u64,
    /// Units per token, a power of two; 0 where tokens cost nothing.
    unit: u64,
}

impl Timeline {
    /// Tokens cost nothing; the scale stands still.
    pub(crate) const FREE: Self = Self { low: 0, high: 0, end: 0, tokens: 0, period: 0, unit: 0 };

    /// No token ever comes.
    pub(crate) const STILL: Self = Self { low: 0, high: 0, end: 0, tokens: 0, period: 0, unit: 1 };

    /// The finest scale on which `E(end) + burst` fits in 64 bits, for `tokens` each `period` nanoseconds.
    ///
    /// `2^f` is the largest power of two for which the scale lasts [`LONGEST`]; then a unit takes 0.25 to 0.5 ns,
    /// or more where a large burst needs the bits. Rates above about 4e9 per second get whole tokens (`f = 0`) and
    /// an earlier `end`, at least [`HORIZON`].
    ///
    /// The caller has checked `fits`.
    pub(crate) const fn finest(tokens: u64, period: u64, burst: u64) -> Self {
        let mut bits = 0;
        // PROGRESS: at most 63 steps.
        while bits < 63 && lasts(tokens, period, burst, bits + 1) {
            bits += 1;
        }
        Self::scaled(tokens, period, 1 << bits, last_instant(tokens, period, u64::MAX - burst))
    }

    /// Whole tokens (`f = 0`), up to and including the position `last`.
    ///
    /// With one token per period the positions number the periods: a window index.
    pub(crate) const fn whole(tokens: u64, period: u64, last: u64) -> Self {
        Self::scaled(tokens, period, 1, last_instant(tokens, period, last))
    }

    const fn scaled(tokens: u64, period: u64, unit: u64, end: u64) -> Self {
        // ceil(tokens * unit * 2^124 / period), by long division in two digits of 62 bits. `period` has at most 63
        // bits, so that no remainder shifted by 62 exceeds 125 bits.
        let numerator = tokens as u128 * unit as u128;
        let divisor = period as u128;
        let (whole, rest) = (numerator / divisor, numerator % divisor);
        let (first, rest) = ((rest << 62) / divisor, (rest << 62) % divisor);
        let (second, rest) = ((rest << 62) / divisor, (rest << 62) % divisor);
        let reciprocal = (whole << SCALE) + (first << 62) + second + (rest != 0) as u128;
        Self { low: low(reciprocal), high: low(reciprocal >> 64), end, tokens, period, unit }
    }

    /// `E(now)`: the units that have fallen due since the clock's origin. Exact and monotone; readings after `end`
    /// count as `end`.
    #[inline]
    pub(crate) const fn position(&self, now: Nanos) -> u64 {
        let now = if now.0 < self.end { now.0 } else { self.end } as u128;
        // (now * m) >> 124, in two widening multiplications. The first product is below 2^62 * 2^64, and so is the
        // sum, since E(end) fits in 64 bits.
        low((now * self.high as u128 + ((now * self.low as u128) >> 64)) >> (SCALE - 64))
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

    /// The rate's numerator: tokens per period.
    pub(crate) const fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The rate's denominator, in nanoseconds.
    pub(crate) const fn period(&self) -> u64 {
        self.period
    }

    /// The last instant told apart.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Whether tokens cost nothing.
    pub(crate) const fn is_free(&self) -> bool {
        self.unit == 0
    }
}

/// Whether `E(LONGEST) + burst` fits in 64 bits with `2^bits` units per token.
const fn lasts(tokens: u64, period: u64, burst: u64, bits: u32) -> bool {
    let rate = (tokens as u128) << bits;
    let burst = (burst as u128) << bits;
    // The first two comparisons keep the products of the third below 2^128.
    rate <= 4 * period as u128
        && burst <= u64::MAX as u128
        && rate * LONGEST as u128 + burst * period as u128 <= u64::MAX as u128 * period as u128
}

/// The last instant, at most [`LONGEST`], by which no more than `position` tokens have fallen due.
const fn last_instant(tokens: u64, period: u64, position: u64) -> u64 {
    let last = ((position as u128 + 1) * period as u128 - 1) / tokens as u128;
    if last < LONGEST as u128 { low(last) } else { LONGEST }
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
            .prop_filter("within the horizon", |&(tokens, period, burst)| {
                u128::from(tokens) * u128::from(HORIZON) <= u128::from(period) * u128::from(u64::MAX - burst)
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn positions_are_exact_floors((tokens, period, burst) in rates(), now: u64, shift in 0..64u32) {
            let timeline = Timeline::finest(tokens, period, burst);
            prop_assert!(timeline.end >= HORIZON);
            let bits = timeline.unit.trailing_zeros();
            for now in [now >> shift, timeline.end, timeline.end - 1, u64::MAX] {
                let exact = by_long_division(now.min(timeline.end), tokens, bits, period);
                prop_assert_eq!(u128::from(timeline.position(Nanos(now))), exact);
                prop_assert!(exact + (u128::from(burst) << bits) <= u128::from(u64::MAX));
            }
        }

        #[test]
        fn the_inverse_is_the_first_instant((tokens, period, burst) in rates(), x: u64, shift in 0..64u32) {
            let timeline = Timeline::finest(tokens, period, burst);
            let x = (x >> shift).clamp(1, timeline.position(Nanos(timeline.end)).max(1));
            let due = timeline.instant(x);
            if due.0 <= timeline.end {
                prop_assert!(timeline.position(due) >= x);
                prop_assert!(timeline.position(Nanos(due.0 - 1)) < x);
            }
        }
    }

    #[test]
    fn instants_around_every_multiple_of_an_awkward_period_are_exact() {
        for period in [3, 7, 1_000_000_007, LONGEST - 1, LONGEST, (1 << 61) + 1] {
            let timeline = Timeline::whole(1, period, u64::MAX);
            for k in [1, 2, 3, LONGEST / period / 2, LONGEST / period] {
                let tick = period.saturating_mul(k);
                if tick <= LONGEST && k > 0 {
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
