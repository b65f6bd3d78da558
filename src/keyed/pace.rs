//! [`Pace`]: one class's quota in terms of instants.

use super::course::{Course, Factor, NoCourse, Spell};
use super::error::KeyedError;
use super::line::MARK_ROUNDING;
use super::usual::Usual;
use super::word::Word;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::{Grain, Hint, Timeline};
use core::time::Duration;

/// How long every keyed limiter lasts from its clock's origin: 110 years, so that one on Unix time lasts until 2080.
const LASTING: Nanos = Nanos::from_secs(40_177 * 86_400);

/// What rounding up to a whole unit, at most twice, can add to an instant; and what a line's mark needs beyond the last.
const ROUNDING: u64 = 4 + 2 * MARK_ROUNDING;

/// The longest time in which a spent burst may recover: 36 years.
const LONGEST_BURST: u64 = Word::LAST - LASTING.0 - ROUNDING;

/// The most tokens per period where one takes less than a nanosecond: twice as many must fit in 64 bits.
const MOST_TOKENS: u64 = 1 << 62;

/// A quota whose state is the instant at which the bucket is full again.
///
/// The token bucket counts in units along a scale that stands at `E(now)`; here, the scale's positions are kept as
/// instants, so that buckets of different rates can be told to be full without knowing their rate. A token is
/// `unit = floor(period / tokens)` units: a unit takes 1 ns exactly if `period` is a multiple of `tokens`, and between 1
/// and 2 ns otherwise. Because it takes no less than 1 ns, no two positions fall on the same instant, and
///
/// ```text
/// instant(V) = ceil(V * period / (tokens * unit))         the first instant at which E has reached V
/// position(t) = E(t - 1) + 1                              the first V whose instant is t or later
/// ```
///
/// are inverse to each other: nothing is lost on the way to the word and back, and nothing drifts. Where a token takes less
/// than a nanosecond, a unit is `2^k` tokens instead, as few as take one; see [`Grain`]. An instant that
/// another class has left counts as the next whole unit, against the caller, until it has come; so a key that changes
/// its class may gain up to a unit with each change.
///
/// What words hold is the class's own instant, unless the class's quota has changed a short while ago: then the
/// [`Course`] leads from one to the other. A step takes words and returns words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// From nanoseconds to units, and back.
    due: Timeline,
    back: Timeline,
    /// Units per token; 0 if tokens cost nothing, and where a unit is a grain of many.
    unit: u64,
    /// Units in a burst.
    burst: u64,
    /// The most tokens that a key nobody knows yet has.
    initial: u64,
    quota: Quota,
    /// The instant from which this is the class's quota. An older reading counts as that.
    start: Nanos,
    course: Course,
}

impl Pace {
    pub(super) const fn try_new(quota: Quota) -> Result<Self, KeyedError> {
        let (initial, start, course) = (u64::MAX, Nanos::ZERO, Course::PLAIN);
        if quota.is_unlimited() || quota.is_deny_all() {
            let (due, back) = (Timeline::STILL, Timeline::STILL);
            return Ok(Self { due, back, unit: quota.is_deny_all() as u64, burst: 0, initial, quota, start, course });
        }
        let (tokens, period) = (quota.tokens(), quota.period_nanos());
        let unit = period / tokens;
        if unit == 0 && tokens > MOST_TOKENS {
            return Err(KeyedError::RateTooHigh { most: MOST_TOKENS, period: quota.period() });
        }
        // A burst in nanoseconds, rounded up; a token takes less than 2 * unit of them.
        let window = (quota.burst() as u128 * period as u128).div_ceil(tokens as u128);
        if window > LONGEST_BURST as u128 {
            return Err(KeyedError::BurstTooLong { longest: Duration::from_nanos(LONGEST_BURST) });
        }
        if unit == 0 {
            let mut bits = 1;
            while period << bits < tokens {
                bits += 1;
            }
            let grain = Grain::new(bits, quota.burst());
            let (due, back) = (Timeline::grains(tokens, period, grain), Timeline::whole(period << bits, tokens));
            return Ok(Self { due, back, unit, burst: grain.cost(quota.burst()), initial, quota, start, course });
        }
        let (due, back) = (Timeline::whole(tokens * unit, period), Timeline::whole(period, tokens * unit));
        Ok(Self { due, back, unit, burst: quota.burst() * unit, initial, quota, start, course })
    }

    /// The same pace for keys that start with `tokens`, or full if that is less.
    pub(super) const fn starting_with(self, tokens: u64) -> Self {
        Self { initial: tokens, ..self }
    }

    /// The class from `now` on, with the `next` quota: what a key owes stays as many tokens (rule Q3 of `terms`).
    pub(super) fn changed(&self, next: Self, now: Nanos) -> Result<Self, NoCourse> {
        let now = now.max(self.start);
        let next = Self { initial: self.initial, start: now, ..next };
        if self.due.period() == 0 || next.quota.is_unlimited() {
            return Ok(next); // nothing was counted, or nothing will be
        }
        // While nothing is admitted nothing drains: what was owed when that began is kept, and how it was counted.
        let until = if self.quota.is_deny_all() { self.start } else { now };
        if next.quota.is_deny_all() {
            let course = self.course.reaching(self.spell(until));
            return Ok(Self { burst: 0, quota: next.quota, start: until, course, ..*self });
        }
        let slower = Factor::of(self.rate(), next.rate());
        let course = self.course.changed(self.spell(until), next.spell(now), slower)?;
        if course.settled() > next.end().0 {
            return Err(NoCourse::TooLong);
        }
        Ok(Self { course, ..next })
    }

    /// Tokens and the period in which they come.
    const fn rate(&self) -> (u64, u64) {
        let tokens = self.due.tokens();
        (
            match tokens.checked_div(self.unit) {
                Some(tokens) => tokens,
                None => tokens,
            },
            self.due.period(),
        )
    }

    const fn spell(&self, at: Nanos) -> Spell {
        Spell { at: at.0, longest: self.longest_debt() }
    }

    /// A reading as the class counts it.
    pub(super) fn within(&self, now: Nanos) -> Nanos {
        now.max(self.start).min(self.end())
    }

    /// Until when instants and a burst on top of them fit in a word.
    pub(super) const fn end(&self) -> Nanos {
        Nanos(Word::LAST - ROUNDING - self.instant(self.burst))
    }

    /// What `n` tokens cost, in units.
    ///
    /// # Errors
    ///
    /// [`Denied::ExceedsBurst`] if a full bucket has fewer.
    #[inline]
    pub(super) fn cost(&self, n: u64) -> Result<u64, Denied> {
        match n.checked_mul(self.unit) {
            Some(0) => self.cost_in_grains(n),
            Some(cost) if cost <= self.burst => Ok(cost),
            _ => Err(self.exceeds(n)),
        }
    }

    /// What the usual call needs of it, [from a certain instant on](Self::usual_from).
    #[inline]
    pub(super) const fn usual(&self) -> Usual {
        Usual { unit: self.unit, burst: self.burst }
    }

    /// Out of the way of what a call costs at the usual rates.
    #[cold]
    fn cost_in_grains(&self, n: u64) -> Result<u64, Denied> {
        // Nothing costs nothing, and anything where it is free.
        let cost = if self.quota.is_unlimited() { 0 } else { self.due.grain().cost(n) };
        if cost <= self.burst { Ok(cost) } else { Err(self.exceeds(n)) }
    }

    #[cold]
    const fn exceeds(&self, n: u64) -> Denied {
        Denied::ExceedsBurst { cost: n, max_cost: self.quota.burst() }
    }

    /// When a bucket that is full at `full_at` will be full again after a charge of `cost` at `now`; `None` if the bucket
    /// has less. `cost` is at least 1.
    #[inline]
    pub(super) fn charge(&self, full_at: u64, cost: u64, now: Nanos) -> Option<u64> {
        let full_at = self.course.instant(full_at);
        let full_at = if self.is_whole() {
            self.usual().charge(full_at, cost, now)?
        } else {
            let (due, spent) = self.due_and_spent(full_at, now);
            if spent + cost > due + self.burst {
                return None;
            }
            self.instant(spent + cost)
        };
        Some(self.course.word(full_at))
    }

    /// Where the scale stands at `now`, and up to where it is spent in a bucket that is full at `full_at`, the class's own instant.
    #[inline]
    const fn due_and_spent(&self, full_at: u64, now: Nanos) -> (u64, u64) {
        let due = self.due(now.0);
        (due, if full_at > now.0 { self.position(full_at) } else { due })
    }

    /// Why [`charge`](Self::charge) with the same arguments gave nothing, and when it would.
    #[inline]
    pub(super) fn refusal(&self, full_at: u64, cost: u64, now: Nanos) -> Denied {
        Denied::TryAfter(self.hint(full_at, cost, now))
    }

    /// When [`charge`](Self::charge) with the same arguments, which gave nothing, would.
    #[inline]
    pub(super) fn hint(&self, full_at: u64, cost: u64, now: Nanos) -> Hint {
        self.hint_plain(self.course.instant(full_at), cost, now)
    }

    /// [`hint`](Self::hint) where instants are what they say.
    #[inline]
    const fn hint_plain(&self, full_at: u64, cost: u64, now: Nanos) -> Hint {
        if cost == self.burst {
            // Only a full bucket will do. Where another class has left an instant between two positions, that is the
            // instant, and not the position after it.
            return Hint::at(Nanos(full_at), now);
        }
        // The first position at which the charge fits: full_at is later than now, and what it stands at, with the cost, is
        // above the burst.
        let due = (self.position(full_at) + cost).saturating_sub(self.burst);
        self.due.hint(due, now)
    }

    /// What `n` tokens are in units, rounded up.
    const fn units(&self, n: u64) -> u64 {
        if self.unit == 0 { self.due.grain().cost(n) } else { n.wrapping_mul(self.unit) }
    }

    /// When a key nobody knows yet will be full, which cannot have been full before `horizon`, or before `now`.
    pub(super) fn opening(&self, horizon: u64, now: Nanos) -> u64 {
        let start = self.course.instant(horizon).max(now.0);
        let lacking = if self.starts_short() { self.units(self.quota.burst() - self.initial) } else { 0 };
        // Whatever lies between two words counts for the key: there is no earlier call that it could be against.
        self.course.idle(if lacking == 0 { start } else { self.instant(self.position(start) + lacking) })
    }

    /// When a bucket that is full at `full_at` would be, had `n` tokens of what it gave not been taken.
    pub(super) fn refunded(&self, full_at: u64, n: u64) -> u64 {
        if self.burst == 0 {
            return full_at; // nothing was charged
        }
        let units = if self.unit == 0 { self.due.grain().given_back(n) } else { n.saturating_mul(self.unit) };
        let position = self.position(self.course.instant(full_at)).saturating_sub(units);
        self.course.word(self.instant(position))
    }

    /// The same pace for a call at `now` that will wait until `last`: with a burst that is larger by what falls due meanwhile.
    pub(super) fn patient(&self, now: Nanos, last: Nanos) -> Self {
        Self { burst: self.burst + (self.due(last.0) - self.due(now.0)), ..*self }
    }

    /// The hint of a [`patient`](Self::patient) call in terms of its tokens: due when they would have been, counted from `last`.
    pub(super) const fn hint_from(&self, hint: Hint, now: Nanos, last: Nanos) -> Hint {
        Hint { position: hint.position + (self.due(last.0) - self.due(now.0)), now: last, ..hint }
    }

    /// The first instant, `now` or later, at which a call may be admitted that leaves a bucket full at `full_at`.
    pub(super) fn due_at(&self, full_at: u64, now: Nanos) -> Nanos {
        match self.position(self.course.instant(full_at)).checked_sub(self.burst) {
            Some(position) if position > self.due(now.0) => Nanos(self.instant(position)),
            _ => now,
        }
    }

    /// Whole tokens of the last that were charged to a bucket, from when it is full at `from` to when it is at `full_at`, that
    /// have not drained at `now`.
    pub(super) fn undrained(&self, from: u64, full_at: u64, now: Nanos) -> u64 {
        let [from, full_at] = [from, full_at].map(|word| self.position(self.course.instant(word)));
        self.tokens_in(full_at.saturating_sub(from.max(self.due(now.0))))
    }

    /// The longest that a key can be in debt, in nanoseconds.
    pub(super) const fn longest_debt(&self) -> u64 {
        self.instant(self.burst) + 4 // units are rounded up
    }

    /// How many tokens so many units pay for.
    pub(super) const fn tokens_in(&self, units: u64) -> u64 {
        match units.checked_div(self.unit) {
            Some(tokens) => tokens,
            None => self.due.grain().tokens_in(units),
        }
    }

    /// Whether keys nobody knows yet start with less than the burst.
    pub(super) const fn starts_short(&self) -> bool {
        self.burst > 0 && self.initial < self.quota.burst()
    }

    /// The instant at which a bucket is full that is so at `full_at` by its word.
    pub(super) fn recovered(&self, full_at: u64) -> u64 {
        self.course.instant(full_at)
    }

    /// As [`recovered`](Self::recovered), and no earlier than if what is owed at `now` by the `present` pace, to which this one has
    /// changed since, were as many tokens here.
    pub(super) fn recovered_beside(&self, present: &Self, full_at: u64, now: Nanos) -> u64 {
        let recovered = self.recovered(full_at);
        if (present.start, present.quota) == (self.start, self.quota) {
            return recovered;
        }
        let owes = present.recovered(full_at).saturating_sub(now.0);
        let counted = self.due.period() > 0 && present.due.period() > 0;
        let owes = if counted { Factor::of(present.rate(), self.rate()).times(owes) } else { Some(owes) };
        let until = owes.and_then(|owes| now.0.checked_add(owes)).unwrap_or(Word::LAST);
        recovered.max(until.min(Word::LAST))
    }

    /// The instant that a word has of a bucket that is full at `instant`.
    pub(super) fn word(&self, instant: u64) -> u64 {
        self.course.word(instant)
    }

    /// The last instant that a word can have of a bucket that is full at `now`.
    pub(super) fn idle(&self, now: Nanos) -> u64 {
        self.course.idle(self.within(now).0)
    }

    /// The instant from which on words are what they say.
    pub(super) const fn settled(&self) -> u64 {
        self.course.settled()
    }

    /// The state at `now` of a bucket that is full at `full_at`.
    pub(super) fn status(&self, full_at: u64, now: Nanos) -> Status {
        if self.quota.is_unlimited() {
            let (limit, retry_after) = (u64::MAX, Some(Duration::ZERO));
            return Status { limit, remaining: limit, retry_after, reset_after: Duration::ZERO };
        }
        let full_at = self.course.instant(full_at).max(now.0);
        let (due, spent) = self.due_and_spent(full_at, now);
        Status {
            limit: self.quota.burst(),
            remaining: self.tokens_in((due + self.burst).saturating_sub(spent)),
            retry_after: match self.cost(1) {
                Ok(cost) if spent + cost <= due + self.burst => Some(Duration::ZERO),
                Ok(cost) => self.hint_plain(full_at, cost, now).retry_after_if_ever(),
                Err(_) => None,
            },
            reset_after: Duration::from_nanos(full_at - now.0),
        }
    }

    pub(super) const fn quota(&self) -> Quota {
        self.quota
    }

    /// The instant from which on the [usual](Self::usual) call is all there is to it: never where a unit is no nanosecond, else once
    /// no instant that is later stands for another.
    const fn usual_from(&self) -> u64 {
        match self.settled() {
            _ if !self.is_whole() => u64::MAX,
            settled if settled > self.start.0 => settled,
            _ => self.start.0,
        }
    }

    /// How many words a pace is.
    pub(super) const WORDS: usize = 15 + Course::WORDS;

    /// As words, for a bank: first those that the usual call needs.
    pub(super) fn to_words(self) -> [u64; Self::WORDS] {
        let [low, high, units, period, _, grain] = self.due.to_words();
        let [back_low, back_high, ..] = self.back.to_words();
        let (tokens, burst) = (self.quota.tokens(), self.quota.burst());
        let numbers = [
            self.unit,
            self.burst,
            self.usual_from(),
            self.end().0,
            low,
            high,
            units,
            period,
            grain,
            back_low,
            back_high,
            self.initial,
            tokens,
            burst,
            self.start.0,
        ];
        let mut words = numbers.into_iter().chain(self.course.to_words());
        core::array::from_fn(|_| words.next().unwrap_or_default())
    }

    /// The pace that is these words. Whatever they are, if they are a mixture of two.
    pub(super) fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [unit, burst, _, _, words @ ..] = words;
        let [low, high, units, period, grain, back_low, back_high, initial, tokens, most, start, course @ ..] = words;
        let kept = Grain::from_word(grain);
        let quota = match (tokens, period) {
            (0, _) => Quota::DENY_ALL,
            (_, 0) => Quota::UNLIMITED,
            _ => Quota::from_valid(tokens, period, most),
        };
        Self {
            due: Timeline::from_words([low, high, units, period, kept.is_single().into(), grain]),
            // The other way round: units, of which each takes so many periods.
            back: Timeline::from_words([back_low, back_high, period << kept.bits(), units, 1, Grain::SINGLE.to_word()]),
            unit,
            burst,
            initial,
            quota,
            start: Nanos(start),
            course: Course::from_words(course),
        }
    }

    /// Whether a unit is a nanosecond.
    #[inline]
    pub(super) const fn is_whole(&self) -> bool {
        self.due.tokens() == self.due.period()
    }

    /// `E(now)`: the units that have fallen due.
    #[inline]
    const fn due(&self, now: u64) -> u64 {
        if self.is_whole() { now } else { self.due.position(Nanos(now)) }
    }

    /// The first position whose instant is `instant` or later.
    #[inline]
    const fn position(&self, instant: u64) -> u64 {
        match instant.checked_sub(1) {
            Some(before) => self.due(before) + 1,
            None => 0,
        }
    }

    /// The first instant at which the scale has reached `position`.
    #[inline]
    const fn instant(&self, position: u64) -> u64 {
        if self.is_whole() {
            return position;
        }
        let whole = self.back.position(Nanos(position));
        // The division's remainder, below 2^62: exact, although both products may have wrapped.
        let rest = position.wrapping_mul(self.back.tokens()).wrapping_sub(whole.wrapping_mul(self.back.period()));
        whole + (rest != 0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    /// Quotas over the whole range that a pace admits, many of them with a period that is no multiple of the tokens.
    fn quotas() -> impl Strategy<Value = Quota> {
        (0..64u32, 0..=62u32, 0..64u32, any::<(u64, u64, u64)>()).prop_filter_map("a pace", |(a, b, c, (x, y, z))| {
            let period = Duration::from_nanos((y >> (63 - b)).clamp(1, 1 << 62));
            let quota = Quota::try_new((x >> a).max(1), period, (z >> c).max(1)).ok()?;
            Pace::try_new(quota).is_ok().then_some(quota)
        })
    }

    /// `floor(a * b / c)` and whether there is a remainder, in 192 bits, a bit at a time.
    fn mul_div(a: u64, b: u128, c: u128) -> (u128, bool) {
        let (mut quotient, mut rest) = (0, 0);
        for bit in (0..64).rev() {
            quotient *= 2;
            rest *= 2;
            if a >> bit & 1 == 1 {
                (quotient, rest) = (quotient + b / c, rest + b % c);
            }
            (quotient, rest) = (quotient + rest / c, rest % c);
        }
        (quotient, rest > 0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn positions_and_instants_are_inverse(quota in quotas(), x: u64, shift in 0..64u32) {
            let pace = Pace::try_new(quota).unwrap();
            let units = quota.tokens() * pace.unit.max(1);
            let period = u128::from(quota.period_nanos()) << pace.due.grain().bits();
            for now in [x >> shift, pace.end().0, pace.end().0 - 1].map(|now| now.min(pace.end().0)) {
                let due = pace.due(now);
                prop_assert_eq!(mul_div(now, units.into(), period).0, u128::from(due));
                for position in [due, due + pace.burst] {
                    let instant = pace.instant(position);
                    let (floor, rest) = mul_div(position, period, units.into());
                    prop_assert_eq!(u128::from(instant), floor + u128::from(rest));
                    prop_assert_eq!(pace.position(instant), position);
                }
                // Any instant at all counts as the next position, less than 2 ns later.
                let next = pace.instant(pace.position(now));
                prop_assert!(now <= next && next <= now + 1, "{now} {next}");
            }
        }

        #[test]
        fn charges_fit_a_word_to_the_end(quota in quotas(), behind in 0..1_000u64) {
            let pace = Pace::try_new(quota).unwrap().starting_with(0);
            let now = Nanos(pace.end().0 - behind);
            prop_assert!(pace.end() >= LASTING);
            prop_assert!(pace.charge(now.0, pace.burst, now).is_some_and(|full_at| full_at < Word::LAST));
            prop_assert!(pace.opening(now.0 + 1, now) < Word::LAST);
        }

        #[test]
        fn a_refusal_says_when(quota in quotas(), x: u64, n: u64, back: u64, shifts in (0..64u32, 0..64u32)) {
            let pace = Pace::try_new(quota).unwrap();
            let now = Nanos((x >> shifts.0).min(LASTING.0));
            // Where this pace itself would have left it, or at any instant before, as another may have.
            let spent = pace.charge(0, pace.burst, now).unwrap();
            let full_at = spent - (back >> shifts.1) % (spent - now.0);
            let cost = pace.cost(n % quota.burst() + 1).unwrap();
            let cost = if pace.charge(full_at, cost, now).is_none() { cost } else { pace.burst };
            prop_assert_eq!(pace.charge(full_at, cost, now), None);
            let Denied::TryAfter(hint) = pace.refusal(full_at, cost, now) else { panic!("not now") };
            prop_assert!(pace.charge(full_at, cost, hint.due()).is_some());
            prop_assert_eq!(pace.charge(full_at, cost, Nanos(hint.due().0 - 1)), None);
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let longest = Duration::from_nanos(1 << 61);
        let fast = |tokens| Pace::try_new(Quota::try_new(tokens, longest, 1).unwrap());
        let error = KeyedError::RateTooHigh { most: MOST_TOKENS, period: longest };
        assert_eq!(fast(MOST_TOKENS + 1).unwrap_err(), error);
        assert!(fast(MOST_TOKENS).is_ok());

        let longest = LONGEST_BURST / SECOND;
        assert!(Pace::try_new(Quota::per_second(1).with_burst(longest)).is_ok());
        let error = Pace::try_new(Quota::per_second(1).with_burst(longest + 1)).unwrap_err();
        assert_eq!(error, KeyedError::BurstTooLong { longest: Duration::from_nanos(LONGEST_BURST) });
    }

    #[test]
    fn an_instant_of_another_class_counts_against_the_caller() {
        // Three each ten nanoseconds: a token is three units of 10 / 9 ns.
        let pace = Pace::try_new(Quota::per(3, Duration::from_nanos(10))).unwrap();
        assert_eq!([1, 2, 3, 4].map(|position| pace.instant(position)), [2, 3, 4, 5]);
        assert_eq!([8, 9, 10].map(|position| pace.instant(position)), [9, 10, 12]);
        assert_eq!([10, 11, 12].map(|instant| pace.position(instant)), [9, 10, 10]);
    }
}
