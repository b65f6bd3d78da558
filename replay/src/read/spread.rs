//! Times in whole seconds spread over their seconds.

use super::order::Waiting;

const SECOND: u64 = 1_000_000_000;

/// Spreads the arrivals of one second evenly over it, in their order.
///
/// A log in whole seconds says that they came at once, which a burst below a second's tokens would be held to. A log that
/// has shown a part of a second is left as it is.
#[derive(Debug, Default)]
pub(super) struct Spread {
    second: Vec<Waiting>,
    moved: u64,
}

impl Spread {
    /// Takes the next arrival, and gives back those of the second before it.
    pub(super) fn push(&mut self, next: Waiting, mut give: impl FnMut(Waiting)) {
        if self.second.first().is_some_and(|first| first.at != next.at) {
            self.flush(&mut give);
        }
        if next.at.is_multiple_of(SECOND) {
            self.second.push(next);
        } else {
            give(next);
        }
    }

    /// Gives back what is left.
    pub(super) fn flush(&mut self, mut give: impl FnMut(Waiting)) {
        let count = self.second.len() as u64;
        for (place, mut one) in (0..).zip(self.second.drain(..)) {
            one.at += SECOND * place / count;
            self.moved += u64::from(place > 0);
            give(one);
        }
    }

    /// Arrivals that were moved.
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_of_a_second_are_spread_over_it() {
        let mut spread = Spread::default();
        let mut given = Vec::new();
        for (sequence, at) in (0..).zip([5, 7, 7, 7, 7, 8]) {
            let one = Waiting { at: at * SECOND, sequence, key: 0, cost: 1 };
            spread.push(one, |one| given.push((one.sequence, one.at)));
        }
        assert_eq!(given.len(), 5, "the last second may have more");
        spread.flush(|one| given.push((one.sequence, one.at)));
        let quarter = SECOND / 4;
        let seven = 7 * SECOND;
        let expected = [5 * SECOND, seven, seven + quarter, seven + 2 * quarter, seven + 3 * quarter, 8 * SECOND];
        assert!(given.into_iter().eq((0..).zip(expected)));
        assert_eq!(spread.moved(), 3);
    }
}
