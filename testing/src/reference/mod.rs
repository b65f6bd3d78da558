//! Reference models: each algorithm as its definition reads, in exact arithmetic.
//!
//! A model is a plain value, used through `&mut`. It counts in whole numbers (or in fractions with a common
//! denominator), so it never rounds. Where a limiter computes an answer by a formula, the model finds it by search over
//! its own decisions: the tokens available are the greatest cost it would admit, and a hint is the first instant at
//! which it would admit.
//!
//! # Contracts
//!
//! The windows are exact: a limiter decides as its model does, always.
//!
//! The token bucket keeps time in whole token units (see [`Fraction::is_less_than_one_in`]). Let the model follow the
//! limiter's decisions with [`Model::charge`]. Then
//!
//! 1. the limiter never denies what the model would admit, and
//! 2. it never admits what leaves the model short by one whole token unit.
//!
//! # Late readings
//!
//! A reading is late when the model has already charged at a later one. No model ever lets such a reading add tokens.
//! The token bucket and the log look at what there was at that instant, with all that was charged since taken away, so
//! that their bound holds for readings in any order. The other windows have forgotten that instant: they treat it as the
//! start of the newest window, and their bound holds for readings in order.
//!
//! # Examples
//!
//! ```
//! use tollgate_testing::reference::{Model, TokenBucket};
//! use tollgate::{Nanos, Quota};
//!
//! let mut bucket = TokenBucket::new(Quota::per_second(2).with_burst(10));
//! assert!(bucket.admit(10, Nanos::ZERO));
//! assert!(!bucket.admit(1, Nanos::from_millis(499)));
//! assert_eq!(bucket.earliest(1, Nanos::ZERO), Some(Nanos::from_millis(500)));
//! ```

mod adjustable_fixed_window;
mod adjustable_sliding_window_counter;
mod fixed_window;
mod fraction;
mod line;
mod sliding_window_counter;
mod sliding_window_log;
mod token_bucket;
mod units;

pub use adjustable_fixed_window::AdjustableFixedWindow;
pub use adjustable_sliding_window_counter::AdjustableSlidingWindowCounter;
pub use fixed_window::FixedWindow;
pub use fraction::Fraction;
pub use line::{Interval, Line, Refusal};
pub use sliding_window_counter::SlidingWindowCounter;
pub use sliding_window_log::SlidingWindowLog;
pub use token_bucket::TokenBucket;
pub use units::InUnits;

use tollgate::{Nanos, Quota};

/// A slow and obviously correct limiter.
///
/// Implementors define what a cost lacks and what a charge changes; the rest follows from that by search.
///
/// # Examples
///
/// ```
/// use tollgate_testing::reference::{FixedWindow, Model, SlidingWindowLog};
/// use tollgate::{Nanos, Quota};
///
/// let quota = Quota::per_second(100);
/// let models: [&mut dyn Model; 2] = [&mut FixedWindow::new(quota), &mut SlidingWindowLog::new(quota)];
/// let passed = models.map(|model| {
///     let before = model.admit_up_to(100, Nanos::from_millis(999));
///     before + model.admit_up_to(100, Nanos::from_millis(1_000))
/// });
/// assert_eq!(passed, [200, 100]);
/// ```
pub trait Model {
    /// By how many tokens the model is short of a cost of `n` at `now`: zero when it would admit. A cost of 0 always is
    /// admitted. Changes nothing.
    fn shortfall(&self, n: u64, now: Nanos) -> Fraction;

    /// Charges `n` tokens at `now` whether they are there or not, so that a model can follow the decisions of a
    /// limiter. Returns the [`shortfall`](Model::shortfall) there was: zero when it would have admitted.
    ///
    /// A cost of 0 changes nothing.
    fn charge(&mut self, n: u64, now: Nanos) -> Fraction;

    /// Gives back `n` tokens of what was charged at `taken`. The model never holds more than when it was full, and what a
    /// window counted that is past stays counted.
    fn refund(&mut self, n: u64, taken: Nanos);

    /// Whether a cost of `n` tokens would be admitted at `now`. Changes nothing.
    fn would_admit(&self, n: u64, now: Nanos) -> bool {
        self.shortfall(n, now).is_zero()
    }

    /// Admits a cost of `n` tokens at `now`, or changes nothing. Returns whether it was admitted.
    fn admit(&mut self, n: u64, now: Nanos) -> bool {
        let admitted = self.would_admit(n, now);
        if admitted {
            self.charge(n, now);
        }
        admitted
    }

    /// Admits as much as there is at `now`, up to `n` tokens. Returns how many that was.
    fn admit_up_to(&mut self, n: u64, now: Nanos) -> u64 {
        let taken = self.available(now).min(n);
        self.charge(taken, now);
        taken
    }

    /// The tokens that can be spent at `now`: the greatest cost that would be admitted.
    fn available(&self, now: Nanos) -> u64 {
        greatest(|n| self.would_admit(n, now))
    }

    /// The first instant from `now` on at which a cost of `n` tokens would be admitted if nothing else came in between.
    /// `None` when no instant that fits a [`Nanos`] is late enough.
    fn earliest(&self, n: u64, now: Nanos) -> Option<Nanos> {
        least(now.as_nanos(), |t| self.would_admit(n, Nanos::from_nanos(t))).map(Nanos::from_nanos)
    }
}

/// The quota's period in nanoseconds. Quotas that limit nothing or deny everything have none, and get one that does no
/// harm.
fn period(quota: Quota) -> u64 {
    u64::try_from(quota.period().as_nanos()).expect("at most 2^62").max(1)
}

/// The least `x >= from` with `holds(x)`, where `holds` stays true once it is.
fn least(from: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (from, u64::MAX);
    if !holds(high) {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

/// The greatest `x` with `holds(x)`, where `holds(0)` is true and `holds` stays false once it is.
fn greatest(holds: impl Fn(u64) -> bool) -> u64 {
    least(0, |x| !holds(x)).map_or(u64::MAX, |x| x - 1)
}

#[cfg(test)]
mod tests {
    use super::{greatest, least};

    #[test]
    fn searches_find_the_edge() {
        for edge in [0, 1, 2, 77, u64::MAX - 1, u64::MAX] {
            assert_eq!(least(0, |x| x >= edge), Some(edge));
            assert_eq!(greatest(|x| x <= edge), edge);
        }
        assert_eq!(least(10, |x| x >= 3), Some(10), "the search starts where it is told to");
        assert_eq!(least(0, |_| false), None);
    }
}
