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
    fn times(self, length: u64) -> Option<u64> {
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
        let reach = self.reaching(old).reach;
        // Beyond what any word has, so that the next change, if it comes soon, finds no corner here.
        let mut far = since + slower.whole(self.word(old.at + 2 * old.longest).max(reach) - since);
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
        let mut before = since;
        for &Corner { word, instant } in self.corners.iter().filter(|corner| corner.word > since) {
            if word >= reach {
                far = far.min(word);
                break;
            }
            if word > before {
                put(Corner { word, instant: stretched(instant)? })?;
                before = word;
            }
        }
        let end = Corner { word: far, instant: stretched(self.instant(far))? };
        if far > before {
            put(end)?;
        }
        // The way back: at half the pace, or twice, or less steeply so that it is longer than a spent burst.
        let apart = end.word.abs_diff(end.instant);
        let back = end.instant + if apart == 0 { 0 } else { 2 * apart.max(new.longest) };
        if back > Word::LAST {
            return Err(NoCourse::TooLong);
        }
        corners[count..].fill(Corner { word: back, instant: back });
        if corners.iter().all(|corner| corner.word == corner.instant) {
            corners = Self::PLAIN.corners;
        }
        Ok(Self { corners, reach })
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
