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
//! Where more than four tokens fall due in a nanosecond, a unit is `2^k` tokens instead (see [`Grain`]): put `f = -k`.
//!
//! The division by `period` is a multiplication by a reciprocal of 128 bits, rounded up (T. Granlund and
//! P. L. Montgomery, "Division by invariant integers using multiplication", PLDI 1994). With
//! `m = ceil(tokens * 2^f * 2^126 / period)` the product `now * 2^2 * m / 2^128` exceeds the true quotient by less than
//! `now * 2^2 / 2^128 <= 2^-64`. The true quotient is a multiple of `1 / period`, or of `1 / (period * 2^k)`, and that
//! divisor is below `2^64`, so that the excess never carries it over a whole unit: the floor is exact. The shift by 2
//! lets the result be the product's upper half; it leaves `now` the lower 62 bits.

mod grain;
mod hint;

pub(crate) use grain::Grain;
pub use hint::Hint;

use crate::nanos::Nanos;

/// The longest period, in nanoseconds: 146 years.
pub(crate) const LONGEST: u64 = 1 << 62;

/// The shift that leaves instants so many bits less than 64.
const SHIFT: u32 = 2;

/// The most bits by which a unit can be more than a token on a scale of [`Timeline::finest`]: 65,536 tokens.
const COARSEST: u32 = 16;

/// How long every limiter lasts from its clock's origin at least: 120 years. So it serves for 30 years more on a clock
/// whose origin is 90 years ago, and into the 2080s on one that counts from 1970.
pub(crate) const LASTING: Nanos = Nanos::from_secs(43_830 * 86_400);

/// A rate as an exact scale from instants to token units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// The reciprocal `m`, low and high half.
    low: u64,
    high: u64,
    /// The rate: `tokens` each `period` nanoseconds.
    tokens: u64,
    period: u64,
    /// Units per token, a power of two; 0 where a unit is more than a token, and where tokens cost nothing.
    unit: u64,
    /// Tokens per unit, where that is more than one.
    grain: Grain,
}

impl Timeline {
    /// Tokens cost nothing; the scale stands still.
    pub(crate) const FREE: Self = Self { low: 0, high: 0, tokens: 0, period: 0, unit: 0, grain: Grain::SINGLE };

    /// No token ever comes.
    pub(crate) const STILL: Self = Self { unit: 1, ..Self::FREE };

    /// The last instant that the scale reaches: 146 years from the clock's origin.
    pub(crate) const END: Nanos = Nanos(u64::MAX >> SHIFT);

    /// The finest scale on which the position after 146 years and `burst` on top fit in 64 bits, for the numbers of a
    /// valid quota.
    ///
    /// `2^f` is the largest power of two for which they do; then a unit takes 0.25 to 0.5 ns, or more where a large burst
    /// needs the bits. From two tokens per nanosecond up a unit may have to be more than a token; then it takes at most
    /// 1 ns.
    pub(crate) const fn finest(tokens: u64, period: u64, burst: u64) -> Self {
        match Self::finest_beside(tokens, period, burst, 0) {
            Some(timeline) => timeline,
            None => panic!("a quota lasts for 146 years"),
        }
    }

    /// As [`finest`](Self::finest), with the upper `spare` bits of each position left free; `None` if no scale lasts
    /// 146 years with what remains.
    pub(crate) const fn finest_beside(tokens: u64, period: u64, burst: u64, spare: u32) -> Option<Self> {
        let last = u64::MAX >> spare;
        if fits(tokens as u128, period as u128, burst as u128, last) {
            let mut unit = 1;
            // PROGRESS: at most 63 steps.
            while fits(tokens as u128 * unit * 2, period as u128, burst as u128 * unit * 2, last) {
                unit *= 2;
            }
            return Some(Self::scaled(tokens, period, low(unit), Grain::SINGLE));
        }
        if fits(tokens as u128 * 2, period as u128, 1, last) {
            return None; // for want of room for the burst, not for the rate
        }
        let mut bits = 1;
        // PROGRESS: at most 16 steps.
        while bits <= coarsest(period) {
            let (longer, grain) = ((period as u128) << bits, Grain::new(bits, burst));
            if fits(tokens as u128, longer, grain.cost(burst) as u128, last) {
                return Some(Self::scaled(tokens, period, 0, grain));
            }
            bits += 1;
        }
        None
    }

    /// Positions that number the tokens, fewer than four each nanosecond.
    pub(crate) const fn whole(tokens: u64, period: u64) -> Self {
        Self::grains(tokens, period, Grain::SINGLE)
    }

    /// Positions that number the units of a `grain`, fewer than four each nanosecond; `period << grain.bits()` fits in 64
    /// bits.
    pub(crate) const fn grains(tokens: u64, period: u64, grain: Grain) -> Self {
        Self::scaled(tokens, period, grain.is_single() as u64, grain)
    }

    /// Positions that number the periods: a window index. The `grain` is for what is counted in each.
    pub(crate) const fn windows(period: u64, grain: Grain) -> Self {
        Self { grain, ..Self::scaled(1, period, 1, Grain::SINGLE) }
    }

    const fn scaled(tokens: u64, period: u64, unit: u64, grain: Grain) -> Self {
        // ceil(tokens * 2^f * 2^126 / period), by long division. The quotient's whole part is below 4, since the last
        // position fits in 64 bits; the divisor is below 2^64, so that remainders can be shifted by as much.
        let numerator = tokens as u128 * if unit == 0 { 1 } else { unit as u128 };
        let divisor = (period as u128) << grain.bits();
        let (whole, rest) = (numerator / divisor, numerator % divisor);
        let (first, rest) = ((rest << (64 - SHIFT)) / divisor, (rest << (64 - SHIFT)) % divisor);
        let (second, rest) = ((rest << 64) / divisor, (rest << 64) % divisor);
        let reciprocal = (whole << (128 - SHIFT)) + (first << 64) + second + (rest != 0) as u128;
        Self { low: low(reciprocal), high: low(reciprocal >> 64), tokens, period, unit, grain }
    }

    /// `E(now)`: the units that have fallen due since the clock's origin. Exact and monotone; readings after the last
    /// instant count as that.
    #[inline]
    pub(crate) const fn position(&self, now: Nanos) -> u64 {
        let now = if now.0 <= Self::END.0 { now.0 } else { Self::after_the_end() };
        let now = (now << SHIFT) as u128;
        // The upper half of a product of 64 by 128 bits, in two widening multiplications that cannot overflow.
        low((now * self.high as u128 + ((now * self.low as u128) >> 64)) >> 64)
    }

    /// A branch that is never taken costs an admission less than a minimum taken every time.
    #[cold]
    const fn after_the_end() -> u64 {
        Self::END.0
    }

    /// How tokens are counted where a unit is more than one.
    #[inline]
    pub(crate) const fn grain(&self) -> Grain {
        self.grain
    }

    /// How many whole tokens a unit has: 0 where it is a part of one, and where tokens cost nothing.
    pub(crate) const fn whole_tokens_in_a_unit(&self) -> u64 {
        match self.unit {
            0 if self.tokens > 0 => self.grain.whole(1),
            unit => (unit == 1) as u64,
        }
    }

    /// What `n` tokens cost, in units, rounded up; `None` if that is beyond any position.
    #[inline]
    pub(crate) const fn cost(&self, n: u64) -> Option<u64> {
        match n.checked_mul(self.unit) {
            Some(0) => Some(self.cost_in_grains(n)),
            cost => cost,
        }
    }

    /// Out of the way of what a call costs at the usual rates.
    #[cold]
    const fn cost_in_grains(&self, n: u64) -> u64 {
        // Nothing costs nothing on any scale, and anything where it is free.
        if self.tokens == 0 { 0 } else { self.grain.cost(n) }
    }

    /// Whole tokens in `units`, rounded down; without limit where tokens cost nothing.
    #[inline]
    pub(crate) const fn tokens_in(&self, units: u64) -> u64 {
        match self.unit {
            0 => self.tokens_in_grains(units),
            unit => units >> unit.trailing_zeros(),
        }
    }

    #[cold]
    const fn tokens_in_grains(&self, units: u64) -> u64 {
        if self.is_free() { u64::MAX } else { self.grain.tokens_in(units) }
    }

    /// What `n` tokens that are given back are in units, rounded down; the last position if that is beyond any.
    #[inline]
    pub(crate) const fn given_back(&self, n: u64) -> u64 {
        if self.unit == 0 { self.grain.given_back(n) } else { n.saturating_mul(self.unit) }
    }

    /// The exact time from `now` until the scale stands at `position`.
    #[inline]
    pub(crate) const fn hint(&self, position: u64, now: Nanos) -> Hint {
        // The divisor of a scale of grains is below 2^64.
        let (unit, period) =
            if self.unit == 0 { (1, self.period << self.grain.bits()) } else { (self.unit, self.period) };
        Hint { position, tokens: self.tokens, unit, period, start: Nanos::ZERO, lasting: Self::END.0, now }
    }

    /// The instant at which the scale first stands at `position`, the inverse of [`Timeline::position`]; or
    /// [`Nanos::MAX`] if it never does.
    pub(crate) const fn instant(&self, position: u64) -> Nanos {
        self.hint(position, Nanos::ZERO).due()
    }

    /// How far the scale is on its way from `E(now)` to the next unit: in parts of the divisor, of which a unit has as many as
    /// the divisor says. Not for a scale that stands still.
    const fn phase(&self, now: Nanos) -> u128 {
        let now = if now.0 <= Self::END.0 { now.0 } else { Self::END.0 };
        let unit = if self.unit == 0 { 1 } else { self.unit as u128 };
        // Below 2^62 times the units per period, of which there are at most 2^65.
        (now as u128 * (self.tokens as u128 * unit)) % ((self.period as u128) << self.grain.bits())
    }

    /// Where the position that is `position` at the instant `from` of one clock is for another clock, which reads `to` in that
    /// same instant; `None` if that is beyond any position.
    ///
    /// ```text
    /// position + E(to) - E(from), and one more where the new clock will reach its next unit before the old one would have
    /// ```
    ///
    /// For every later instant, `d` after that one, `E(to + d)` is then at most as far above it as `E(from + d)` would have been,
    /// and at most a unit less: `floor(a + y) - floor(b + y) <= floor(a) - floor(b)` if the fraction of `a` is not above that of
    /// `b`, and one more otherwise. A position that the old clock has reached, which tells nothing any more, stays one.
    pub(crate) const fn carried(&self, position: u64, from: Nanos, to: Nanos) -> Option<u64> {
        if self.period == 0 {
            return Some(position);
        }
        let (was, is) = (self.position(from), self.position(to));
        let early = (self.phase(to) > self.phase(from)) as i128;
        let carried = position as i128 + (is as i128 - was as i128) + early;
        if position <= was && carried > is as i128 {
            Some(is)
        } else if carried > u64::MAX as i128 {
            None
        } else if carried < 0 {
            Some(0)
        } else {
            Some(low(carried.cast_unsigned()))
        }
    }

    /// What `units` of another scale are on this one, in tokens alike, rounded down and up; `None` if that is beyond any
    /// position, or tokens cost nothing on either.
    pub(crate) const fn units_from(&self, units: u64, other: &Self) -> Option<(u64, u64)> {
        if self.is_free() || other.is_free() {
            return None;
        }
        // In tokens, as a fraction: at least so many, and at most.
        let (least, most, parts) = match other.unit {
            0 => (other.grain.tokens_in(units), (units as u128) << other.grain.bits(), 1),
            unit => (units, units as u128, unit as u128),
        };
        let (unit, parts) = match self.unit {
            0 => (1, parts << self.grain.bits()),
            unit => (unit as u128, parts),
        };
        let Some(most) = most.checked_mul(unit) else { return None };
        let (down, up) = (least as u128 * unit / parts, most.div_ceil(parts));
        if up > u64::MAX as u128 { None } else { Some((low(down), low(up))) }
    }

    /// How many words a timeline is.
    pub(crate) const WORDS: usize = 6;

    /// As words, for whoever keeps it in atomics.
    pub(crate) const fn to_words(self) -> [u64; Self::WORDS] {
        [self.low, self.high, self.tokens, self.period, self.unit, self.grain.to_word()]
    }

    /// The timeline that is these words.
    pub(crate) const fn from_words([low, high, tokens, period, unit, grain]: [u64; Self::WORDS]) -> Self {
        Self { low, high, tokens, period, unit, grain: Grain::from_word(grain) }
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
        self.unit == 0 && self.tokens == 0
    }
}

/// The most tokens per `period` that leave room for a burst of one on the coarsest scale of [`Timeline::finest`].
pub(crate) const fn most_tokens(period: u64) -> u64 {
    let most = ((u64::MAX as u128 - 1) * period as u128) >> (64 - SHIFT - coarsest(period));
    if most < u64::MAX as u128 { low(most) } else { u64::MAX }
}

/// The `k` of the coarsest unit, of `2^k` tokens: the time in which as many periods pass has to fit in 64 bits.
const fn coarsest(period: u64) -> u32 {
    if period.leading_zeros() < COARSEST { period.leading_zeros() } else { COARSEST }
}

/// The largest burst beside `tokens` per `period` on the coarsest scale of [`Timeline::finest`] that there is for them.
pub(crate) const fn largest_burst(tokens: u64, period: u64) -> u64 {
    let bits = if fits(tokens as u128 * 2, period as u128, 1, u64::MAX) { 0 } else { coarsest(period) };
    let last = ((tokens as u128) << (64 - SHIFT)).div_ceil((period as u128) << bits);
    let largest = (u64::MAX as u128).saturating_sub(last) << bits;
    if largest < u64::MAX as u128 { low(largest) } else { u64::MAX }
}

/// Whether the position after 2^62 ns, and `burst` on top, are at most `last`; all in units. A rate is at most 2^65, a
/// period at most 2^64.
const fn fits(rate: u128, period: u128, burst: u128, last: u64) -> bool {
    burst <= last as u128 && rate << (64 - SHIFT) <= (last as u128 - burst) * period
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

#[cfg(test)]
mod tests;
