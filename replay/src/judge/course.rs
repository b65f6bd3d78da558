//! [`Course`]: what was offered and admitted over time.

use tollgate::Nanos;

/// What came within one stretch of time, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Asked for.
    pub offered: u64,
    /// Admitted.
    pub admitted: u64,
}

/// What was offered and admitted, in at most 512 stretches of one length, which doubles as the log goes on.
#[derive(Clone, Debug)]
pub struct Course {
    /// The first stretch begins here.
    start: Option<u64>,
    /// The length of a stretch is 2 to this, in nanoseconds.
    shift: u32,
    stretches: Vec<Stretch>,
}

impl Default for Course {
    fn default() -> Self {
        Self { start: None, shift: 20, stretches: Vec::new() }
    }
}

impl Course {
    const MOST: usize = 512;

    /// Counts an arrival; they come in the order of time.
    pub fn record(&mut self, cost: u64, admitted: bool, now: Nanos) {
        let now = now.as_nanos();
        let since = now.saturating_sub(*self.start.get_or_insert(now));
        while since >> self.shift >= Self::MOST as u64 {
            self.shift += 1;
            let pairs = self.stretches.chunks(2).map(|pair| Stretch {
                offered: pair.iter().fold(0, |sum, one| sum.saturating_add(one.offered)),
                admitted: pair.iter().fold(0, |sum, one| sum.saturating_add(one.admitted)),
            });
            self.stretches = pairs.collect();
        }
        let place = usize::try_from(since >> self.shift).unwrap_or_default();
        if place >= self.stretches.len() {
            self.stretches.resize(place + 1, Stretch::default());
        }
        let stretch = &mut self.stretches[place];
        stretch.offered = stretch.offered.saturating_add(cost);
        if admitted {
            stretch.admitted = stretch.admitted.saturating_add(cost);
        }
    }

    /// The stretches, in their order.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    /// The length of each.
    pub fn length(&self) -> core::time::Duration {
        core::time::Duration::from_nanos(1 << self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_as_stretches_double() {
        let mut course = Course::default();
        let mut at = 7_000_000_000;
        for n in 0..10_000_u64 {
            at += n * 1_000;
            course.record(2, n % 2 == 0, Nanos::from_nanos(at));
            assert!(course.stretches().len() <= 512);
        }
        assert_eq!(course.stretches().iter().map(|one| one.offered).sum::<u64>(), 20_000);
        assert_eq!(course.stretches().iter().map(|one| one.admitted).sum::<u64>(), 10_000);
        let whole = course.length().as_nanos() * course.stretches().len() as u128;
        assert!(whole >= 49_995_000_000 && course.stretches().len() > 256, "{whole}");
    }
}
