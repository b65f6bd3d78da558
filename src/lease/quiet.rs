//! [`Quiet`]: for how long a slot need not look at the centre; [`Pause`]: how long that may be.

use crate::nanos::Nanos;

/// Until when the centre is known to be short, and what `news` there had been when that was found out (rule 8 of
/// `sharded`).
///
/// ```text
/// LAYOUT   | until: the lower 48 bits of an instant | news: the lower 16 bits of a count |
/// ```
///
/// What is left of a pause is at most `Pause::most`, microseconds. So the bits that are missing count only where a clock
/// stands still during 65,536 news, or reads three days later to some microseconds; and even then for one pause more.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet(pub u64);

impl Quiet {
    /// How many bits are those of the news.
    const NEWS: u32 = 16;

    /// Until `until`, unless there are more than `news`.
    #[inline]
    pub const fn new(until: Nanos, news: u64) -> Self {
        Self(until.0 << Self::NEWS | (news & ((1 << Self::NEWS) - 1)))
    }

    /// Whether nothing need be looked at, at `now`, where there are `news`, and no pause takes longer than `most`
    /// nanoseconds. Where more than that seems to be left, `now` is another clock's, or one's that went back.
    #[inline]
    pub const fn lasts(self, now: Nanos, news: u64, most: u64) -> bool {
        // The same news cancel out; others leave some of the lower bits.
        let left = self.0.wrapping_sub(Self::new(now, news).0).rotate_right(Self::NEWS);
        left.wrapping_sub(1) < most
    }
}

/// How long a slot is quiet after a look that found nothing, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// For so long in any case, to let a few tokens fall due; 0 where tokens are rare.
    pub(crate) least: u64,
    /// And for no longer than this, however far away the next token is.
    pub(crate) most: u64,
}

impl Pause {
    /// How long tokens may be left to fall due: as long as a line takes on its way between cores, some ten times.
    const SETTLING: u64 = 2_000;

    /// With fewer in that time, every token is fetched when it is due.
    const FEWEST: u64 = 4;

    /// How long a slot is quiet where there is nothing to settle.
    const LONGEST: u64 = 10_000;

    /// The pauses of a bucket of `tokens` each `period` nanoseconds, whose batches are `batch`: no more than half a batch
    /// falls due meanwhile.
    pub(crate) const fn new(tokens: u64, period: u64, batch: u64) -> Self {
        let due = tokens as u128 * Self::SETTLING as u128;
        let (fewest, half) = (Self::FEWEST as u128 * period as u128, (batch / 2) as u128 * period as u128);
        if due < fewest || half < fewest {
            return Self { least: 0, most: Self::LONGEST };
        }
        #[allow(clippy::cast_possible_truncation)] // at most SETTLING
        let least = if due <= half { Self::SETTLING } else { (half / tokens as u128) as u64 };
        // Half a batch may be due within a nanosecond.
        if least == 0 { Self { least, most: Self::LONGEST } } else { Self { least, most: least } }
    }

    /// Whether tokens are left to fall due for a while.
    pub(crate) const fn settles(self) -> bool {
        self.least > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_at_its_end_or_with_the_first_news() {
        for until in [Nanos(5_000), Nanos((1 << 48) + 3), Nanos(u64::MAX / 4)] {
            let quiet = Quiet::new(until, 65_535);
            let at = |before: u64| Nanos(until.0 - before);
            assert!([1, 2, 1_000].iter().all(|&before| quiet.lasts(at(before), 65_535, 1_000)));
            assert!(!quiet.lasts(until, 65_535, 1_000));
            assert!(!quiet.lasts(Nanos(until.0 + 1), 65_535, 1_000));
            assert!(!quiet.lasts(at(1_001), 65_535, 1_000), "more than there can be");
            assert!([65_534, 65_536, 0].iter().all(|&news| !quiet.lasts(at(1), news, 1_000)));
        }
    }

    #[test]
    fn tokens_settle_where_they_are_many() {
        let second = 1_000_000_000;
        let pause = |per_second, batch| Pause::new(per_second, second, batch);
        assert_eq!(pause(1_999_999, 4_096), Pause { least: 0, most: 10_000 });
        assert_eq!(pause(2_000_000, 4_096), Pause { least: 2_000, most: 2_000 });
        assert_eq!(pause(10_000_000, 39), Pause { least: 1_900, most: 1_900 });
        assert_eq!(pause(10_000_000, 7), Pause { least: 0, most: 10_000 }, "half a batch is too few");
        assert_eq!(pause(second, 8), Pause { least: 4, most: 4 });
        assert_eq!(pause(100 * second, 8), Pause { least: 0, most: 10_000 }, "within a nanosecond");
        assert_eq!(pause(0, 8), Pause { least: 0, most: 10_000 });
    }
}
