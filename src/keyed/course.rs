//! [`Course`]: what the instants in words mean to a class whose quota has changed.

use super::word::Word;

/// Corners of a course. Four where words may be that are left from before a change, one for the way back.
const CORNERS: usize = 6;

/// A word's instant and the class's own instant that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Corner {
    word: u64,
    instant: u64,
}

/// A line with corners from the instants of words to the class's own: at which a key with such a word is full.
///
/// Up to the first corner everything counts as that corner's instant, which is the one of the last change. After the last
/// corner words are instants as they are. The line never falls, and lies whole, rounded up, in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    /// In their order; the last is repeated where there are fewer.
    corners: [Corner; CORNERS],
    /// The last instant that a word can have from before the last change.
    reach: u64,
}

/// A factor for lengths of time: a rate over another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    numerator: u128,
    denominator: u128,
}

/// Why there is no course after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoCourse {
    /// It would lead beyond the last instant of a word.
    TooLong,
    /// It would have too many corners.
    TooManyCorners,
}

impl Factor {
    /// The rate `a` over the rate `b`: pairs of tokens and period, neither above 2^62. In lowest terms.
    pub(super) const fn of(a: (u64, u64), b: (u64, u64)) -> Self {
        let (tokens, periods) = (gcd(a.0, b.0), gcd(a.1, b.1));
        let (above, below) = ([a.0 / tokens, b.1 / periods], [a.1 / periods, b.0 / tokens]);
        let (one, other) = (gcd(above[0], below[0]), gcd(above[1], below[1]));
        Self {
            numerator: (above[0] / one) as u128 * (above[1] / other) as u128,
            denominator: (below[0] / one) as u128 * (below[1] / other) as u128,
        }
    }

    /// The next length, no shorter than this, that is whole times the factor; the same if that is a long way off.
    fn whole(self, length: u64) -> u64 {
        match u64::try_from(self.denominator) {
            Ok(part) if part <= length => length.next_multiple_of(part),
            _ => length,
        }
    }

    /// A length times the factor, rounded up; `None` if that is beyond any word. By long multiplication: the product would not
    /// fit in 128 bits.
    pub(super) fn times(self, length: u64) -> Option<u64> {
        let (whole, part) = (self.numerator / self.denominator, self.numerator % self.denominator);
        let (mut product, mut rest) = (0_u128, 0_u128);
        // PROGRESS: 64 steps, each of which has at most two more.
        for bit in (0..64).rev() {
            (product, rest) = (product * 2, rest * 2);
            if length >> bit & 1 == 1 {
                (product, rest) = (product.checked_add(whole)?, rest + part);
            }
            while rest >= self.denominator {
                (product, rest) = (product + 1, rest - self.denominator);
            }
            if product > u128::from(Word::LAST) {
                return None;
            }
        }
        u64::try_from(product + u128::from(rest > 0)).ok()
    }
}

/// Of what has to be known of a quota for a course.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spell {
    /// From when the quota counts, or until when it has; the class's own instant.
    pub(super) at: u64,
    /// The longest that a key can be in debt.
    pub(super) longest: u64,
}

impl Course {
    /// Of a class that was never changed: instants are what they say.
    pub(super) const PLAIN: Self = Self { corners: [Corner { word: 0, instant: 0 }; CORNERS], reach: 0 };

    const fn last(&self) -> Corner {
        self.corners[CORNERS - 1]
    }

    /// The class's instant from which on words are what they say.
    pub(super) const fn settled(&self) -> u64 {
        self.last().instant
    }

    /// The class's instant of a word's.
    #[inline]
    pub(super) fn instant(&self, word: u64) -> u64 {
        if word > self.last().word { word } else { self.bent(word) }
    }

    #[cold]
    fn bent(&self, word: u64) -> u64 {
        let mut before = self.corners[0];
        for &corner in &self.corners {
            if word <= corner.word {
                let rise = u128::from(corner.instant - before.instant);
                let run = corner.word - before.word;
                // Up to the first corner nothing rises.
                let risen = rise * u128::from(word.saturating_sub(before.word));
                return before.instant + if run == 0 { 0 } else { low(risen.div_ceil(run.into())) };
            }
            before = corner;
        }
        word
    }

    /// The first instant of a word that is `instant` or later to the class.
    #[inline]
    pub(super) fn word(&self, instant: u64) -> u64 {
        if instant > self.last().instant { instant } else { self.bent_back(instant) }
    }

    #[cold]
    fn bent_back(&self, instant: u64) -> u64 {
        let mut before = self.corners[0];
        if instant <= before.instant {
            return before.word;
        }
        for &corner in &self.corners {
            if instant <= corner.instant {
                let (run, rise) = (u128::from(corner.word - before.word), corner.instant - before.instant);
                return before.word + low(run * u128::from(instant - before.instant - 1) / u128::from(rise)) + 1;
            }
            before = corner;
        }
        instant
    }

    /// The last instant of a word that is full to the class at `now`.
    pub(super) fn idle(&self, now: u64) -> u64 {
        self.word(now + 1).saturating_sub(1)
    }

    /// The course after a change (rule Q3 of the module `terms`): what was owed in the `old` spell at its end, is owed from the
    /// beginning of the `new` one, `slower` times as long.
    pub(super) fn changed(&self, old: Spell, new: Spell, slower: Factor) -> Result<Self, NoCourse> {
        let since = self.idle(old.at);
        let reach = self.reaching(old).reach.max(since + 1);
        let stretched = |instant: u64| {
            let length = slower.times(instant.saturating_sub(old.at)).ok_or(NoCourse::TooLong)?;
            new.at.checked_add(length).filter(|&instant| instant <= Word::LAST).ok_or(NoCourse::TooLong)
        };
        let mut corners = [Corner { word: since, instant: new.at }; CORNERS];
        let mut count = 1;
        let mut put = |corner| {
            // The last one is for the way back.
            if count == CORNERS - 1 {
                return Err(NoCourse::TooManyCorners);
            }
            corners[count] = corner;
            count += 1;
            Ok(())
        };
        // What words can be, as it was.
        let mut before = Corner { word: since, instant: self.instant(since) };
        for &corner in self.corners.iter().filter(|corner| since < corner.word && corner.word < reach) {
            if corner != before {
                put(Corner { instant: stretched(corner.instant)?, ..corner })?;
                before = corner;
            }
        }
        // The same way on, and as far again, so that the next change, if it comes soon, finds no corner where words are.
        let far = since + slower.whole(2 * (reach - since));
        let end = Corner { word: far, instant: stretched(self.straight_on(before, reach, far)?)? };
        put(end)?;
        // The way back: at half the pace, or twice, or less steeply so that it is longer than what words can be.
        let apart = end.word.abs_diff(end.instant);
        let length = apart.max(new.longest).max(end.instant - new.at);
        let back = end.instant + if apart == 0 { 0 } else { 2 * length };
        if back > Word::LAST {
            return Err(NoCourse::TooLong);
        }
        corners[count..].fill(Corner { word: back, instant: back });
        if corners.iter().all(|corner| corner.word == corner.instant) {
            corners = Self::PLAIN.corners;
        }
        Ok(Self { corners, reach })
    }

    /// The instant of `far` on the line that leads from a corner through `through`.
    fn straight_on(&self, from: Corner, through: u64, far: u64) -> Result<u64, NoCourse> {
        let Some(to) = self.corners.iter().find(|corner| corner.word >= through) else { return Ok(far) };
        let (run, rise) = (u128::from(to.word - from.word), u128::from(to.instant - from.instant));
        let risen = (u128::from(far - from.word) * rise).div_ceil(run);
        let instant = u64::try_from(risen).ok().and_then(|risen| from.instant.checked_add(risen));
        instant.filter(|&instant| instant <= Word::LAST).ok_or(NoCourse::TooLong)
    }

    /// The same course, where words may be as late as the `old` spell has left them.
    pub(super) fn reaching(&self, old: Spell) -> Self {
        Self { reach: self.reach.max(self.word(old.at + old.longest)), ..*self }
    }

    /// How many words a course is.
    pub(super) const WORDS: usize = 2 * CORNERS + 1;

    /// As words, for a bank.
    pub(super) fn to_words(self) -> [u64; Self::WORDS] {
        core::array::from_fn(|i| match self.corners.get(i / 2) {
            Some(corner) if i % 2 == 0 => corner.word,
            Some(corner) => corner.instant,
            None => self.reach,
        })
    }

    /// The course that is these words.
    pub(super) fn from_words(words: [u64; Self::WORDS]) -> Self {
        let corners = core::array::from_fn(|i| Corner { word: words[2 * i], instant: words[2 * i + 1] });
        Self { corners, reach: words[2 * CORNERS] }
    }
}

/// The greatest common divisor of two numbers that are not 0 (Euclid).
const fn gcd(mut a: u64, mut b: u64) -> u64 {
    // PROGRESS: at most 93 steps: Fibonacci numbers take longest.
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The lower 64 bits.
#[allow(clippy::cast_possible_truncation)] // below an instant
const fn low(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// A quota as a course sees it: tokens, their period, and the burst.
    type Terms = (u64, u64, u64);

    fn terms() -> impl Strategy<Value = Terms> {
        (1..200_u64, 200..100_000_u64, 1..100_u64)
    }

    fn longest((tokens, period, burst): Terms) -> u64 {
        (burst * period).div_ceil(tokens) + 4
    }

    /// The courses of a class from change to change: instants of change, and what is in force afterwards.
    fn courses(first: Terms, changes: &[(u64, Terms)]) -> Vec<(u64, Terms, Course)> {
        let mut all = Vec::from([(0, first, Course::PLAIN)]);
        for &(wait, next) in changes {
            let &(since, old, course) = all.last().unwrap();
            let at = since + wait;
            let [old_spell, new_spell] = [old, next].map(|terms| Spell { at, longest: longest(terms) });
            let slower = Factor::of((old.0, old.1), (next.0, next.1));
            match course.changed(old_spell, new_spell, slower) {
                Ok(course) => all.push((at, next, course)),
                Err(error) => assert_eq!(error, NoCourse::TooManyCorners),
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn a_course_leads_there_and_back(
            first in terms(), changes in prop::collection::vec((0..100_000_u64, terms()), 1..20), steps: [u16; 8]
        ) {
            for (at, _, course) in courses(first, &changes) {
                let mut word = course.corners[0].word;
                for step in steps {
                    let instant = course.instant(word);
                    prop_assert!(instant >= at.min(course.settled()));
                    let back = course.word(instant);
                    prop_assert!(back <= word && course.instant(back) == instant);
                    let idle = course.idle(instant);
                    prop_assert!(idle >= word && course.instant(idle) <= instant && course.instant(idle + 1) > instant);
                    let next = word + u64::from(step) * 7;
                    prop_assert!(course.instant(next) >= instant);
                    word = next;
                }
                prop_assert_eq!(course.instant(course.settled() + 9), course.settled() + 9);
                prop_assert_eq!(Course::from_words(course.to_words()), course);
            }
        }

        /// Rule Q3: what a key owes is as many tokens after a change; less by a nanosecond of the old rate at most, or more by a few of the
    /// highest at which there are words.
        #[test]
        fn a_change_keeps_what_words_mean(
            first in terms(), changes in prop::collection::vec((0..30_000_u64, terms()), 1..20), parts: [u8; 8]
        ) {
            let (mut most, mut highest) = (0, (0, 1));
            for pair in courses(first, &changes).windows(2) {
                let &[(_, old, before), (at, new, after)] = pair else { unreachable!() };
                most = most.max(before.word(at + longest(old)));
                for (tokens, period, _) in [old, new] {
                    if tokens * highest.1 > highest.0 * period {
                        highest = (tokens, period);
                    }
                }
                // In parts of a token that both rates have in common.
                let owes = |course: &Course, word, terms: Terms, other: Terms| {
                    u128::from(course.instant(word).saturating_sub(at)) * u128::from(terms.0) * u128::from(other.1)
                };
                let a_nano = u128::from(old.0) * u128::from(new.1);
                let of_the_highest = (highest.0 * old.1 * new.1).div_ceil(highest.1);
                let from = before.idle(at);
                for part in parts {
                    let word = from + (most - from.min(most)) * u64::from(part) / 255;
                    let (was, is) = (owes(&before, word, old, new), owes(&after, word, new, old));
                    prop_assert!(is + a_nano >= was, "{was} is {is} at {word}");
                    prop_assert!(is <= was + 4 * u128::from(of_the_highest), "{was} is {is} at {word}");
                }
            }
        }

        #[test]
        fn a_factor_is_exact(length: u64, shift in 2..64_u32, numerator in 1..u64::MAX, denominator in 1..u64::MAX) {
            let (length, numerator, denominator) = (length >> shift, numerator >> 2, (denominator >> 2).max(1));
            let factor = Factor::of((numerator.max(1), 3), (denominator, 3));
            let exact = (u128::from(length) * u128::from(numerator.max(1))).div_ceil(denominator.into());
            let fits = u64::try_from(exact).ok().filter(|&exact| exact <= Word::LAST);
            prop_assert_eq!(factor.times(length).filter(|&product| product <= Word::LAST), fits);
        }
    }

    /// However often one quota takes turns with another, at any pace, there are corners enough.
    #[test]
    fn two_quotas_that_take_turns_never_run_out_of_corners() {
        let quotas: [Terms; 2] = [(60, 60_000, 60), (600, 60_000, 60)];
        for pause in [0, 1, 500, 3_000, 6_001, 30_000, 59_999, 61_000, 200_000] {
            let changes: Vec<_> = quotas.into_iter().rev().cycle().take(1_000).map(|terms| (pause, terms)).collect();
            assert_eq!(courses(quotas[0], &changes).len(), 1_001, "each {pause}");
        }
    }
}
