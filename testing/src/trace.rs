//! Checks of a recorded run against its bound, over every window of it.
//!
//! A run is a list of admissions, each with the clock reading it was decided on, in any order: threads may keep a list
//! each and put them together afterwards. The checks sort the list and go over it once, in whole numbers, so they are
//! exact.
//!
//! # Examples
//!
//! ```
//! use tollgate_testing::trace::{Admission, first_violation};
//! use tollgate::{Nanos, Quota};
//!
//! let quota = Quota::per_second(2).with_burst(1);
//! let mut run = vec![Admission::new(1, Nanos::ZERO), Admission::new(1, Nanos::from_millis(500))];
//! assert!(first_violation(&run, quota).is_none());
//!
//! run.push(Admission::new(1, Nanos::from_millis(900)));
//! let window = first_violation(&run, quota).unwrap();
//! // Two within 400 ms, where 1 + 2 * 0.4 may pass.
//! assert_eq!((window.from, window.to, window.admitted), (Nanos::from_millis(500), Nanos::from_millis(900), 2));
//! assert_eq!(window.excess.to_string(), "200000000/1000000000");
//! ```

use core::fmt;
use core::time::Duration;

use super::reference::Fraction;
use tollgate::{Nanos, Quota};

/// One admission of a recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The clock reading on which it was decided.
    pub at: Nanos,
    /// The tokens it took.
    pub cost: u64,
}

impl Admission {
    /// An admission of `cost` tokens, decided on the reading `at`.
    pub const fn new(cost: u64, at: Nanos) -> Self {
        Self { at, cost }
    }
}

/// A window of a run in which too much was admitted.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The reading of the first admission in it.
    pub from: Nanos,
    /// The reading of the last admission in it.
    pub to: Nanos,
    /// The tokens admitted on readings from `from` to `to`, both included.
    pub admitted: u128,
    /// By how many tokens that is above the bound.
    pub excess: Fraction,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.as_nanos(), self.to.as_nanos());
        write!(f, "{} tokens from {from} to {to} ns, {} too many", self.admitted, self.excess)
    }
}

/// The window that breaks `admitted <= burst + tokens * (to - from) / period` first: the one with the earliest end, and
/// of those the one with the greatest excess, and of those the shortest. `None` when every window keeps the bound.
///
/// Exact for costs that come to less than 2^126 / period; above that a window is still found, but its excess is a lower
/// bound. Takes O(n log n).
///
/// Rather than look at all pairs, this pours the run through a bucket of exact size: the bucket runs dry exactly when
/// some window that ends there breaks the bound, and the worst such window began when the bucket was last full. Le
/// Boudec and Thiran 2001, "Network Calculus", section 1.2: a flow conforms to a leaky bucket if and only if every
/// window of it keeps the bound.
#[must_use]
pub fn first_violation(run: &[Admission], quota: Quota) -> Option<Window> {
    dry_windows(run, quota).next()
}

/// The window with the greatest excess over `burst + tokens * (to - from) / period`, the first of them when there are
/// several. `None` when every window keeps the bound.
///
/// Limiters that count in units of `1 / 2^f` of a token may be early by less than one of them, which shows here as an
/// excess that [is less than one in](Fraction::is_less_than_one_in) `2^f`. Cost and exactness as for
/// [`first_violation`].
///
/// # Examples
///
/// ```
/// use tollgate_testing::trace::{Admission, worst_window};
/// use tollgate::{Nanos, Quota};
///
/// // The second token is due after 333333333 and a third nanoseconds.
/// let run = [Admission::new(1, Nanos::ZERO), Admission::new(1, Nanos::from_nanos(333_333_333))];
/// let window = worst_window(&run, Quota::per_second(3).with_burst(1)).unwrap();
/// assert!(window.excess.is_less_than_one_in(999_999_999));
/// assert!(!window.excess.is_less_than_one_in(1_000_000_000));
/// ```
#[must_use]
pub fn worst_window(run: &[Admission], quota: Quota) -> Option<Window> {
    // All of them have the same denominator: the period.
    dry_windows(run, quota).reduce(
        |worst, next| {
            if next.excess.numerator() > worst.excess.numerator() { next } else { worst }
        },
    )
}

/// The half-open span of length `width` that first holds more than `limit`: the one that ends earliest. `None` when no
/// span does.
///
/// Takes O(n log n).
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use tollgate::Nanos;
/// use tollgate_testing::trace::{Admission, first_overfull_span};
///
/// let run = [Admission::new(3, Nanos::from_secs(1)), Admission::new(3, Nanos::from_secs(2))];
/// assert!(first_overfull_span(&run, Duration::from_secs(1), 3).is_none());
/// assert!(first_overfull_span(&run, Duration::from_nanos(1_000_000_001), 3).is_some());
/// ```
#[must_use]
pub fn first_overfull_span(run: &[Admission], width: Duration, limit: u64) -> Option<Window> {
    let run = sorted(run);
    let mut first = 0;
    let mut admitted = 0;
    for (index, last) in run.iter().enumerate() {
        admitted += u128::from(last.cost);
        while first <= index && last.at.saturating_since(run[first].at) >= width {
            admitted -= u128::from(run[first].cost);
            first += 1;
        }
        let more_at_once = run.get(index + 1).is_some_and(|next| next.at == last.at);
        if admitted > limit.into() && !more_at_once {
            let excess = Fraction::new(admitted - u128::from(limit), 1);
            return Some(Window { from: run[first].at, to: last.at, admitted, excess });
        }
    }
    None
}

fn sorted(run: &[Admission]) -> Vec<Admission> {
    let mut run = run.to_vec();
    run.sort_by_key(|admission| admission.at);
    run
}

/// Pours the run through a bucket, and yields the worst window that ends at each reading at which the bucket was dry.
fn dry_windows(run: &[Admission], quota: Quota) -> impl Iterator<Item = Window> {
    let run = sorted(run);
    let part = i128::from(u64::try_from(quota.period().as_nanos()).expect("at most 2^62").max(1));
    let full = i128::from(quota.burst()) * part;
    let mut parts = full;
    let (mut from, mut to) = (Nanos::ZERO, Nanos::ZERO);
    let mut admitted = 0;
    let mut index = 0;
    core::iter::from_fn(move || {
        while index < run.len() && !quota.is_unlimited() {
            let at = run[index].at;
            let gained = u128::from(quota.tokens()) * at.saturating_since(to).as_nanos();
            let room = full.abs_diff(parts);
            parts = parts.saturating_add_unsigned(gained.min(room));
            to = at;
            if parts == full {
                (from, admitted) = (at, 0);
            }
            while let Some(next) = run.get(index).filter(|next| next.at == at) {
                parts = parts.saturating_sub(i128::from(next.cost) * part);
                admitted += u128::from(next.cost);
                index += 1;
            }
            if parts < 0 {
                let excess = Fraction::new(parts.unsigned_abs(), part.unsigned_abs());
                return Some(Window { from, to, admitted, excess });
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All pairs of readings, in order of their end, in arithmetic that fits because the numbers are small.
    fn naive(run: &[Admission], quota: Quota) -> Vec<(u64, u64, u128, u128)> {
        let mut readings: Vec<u64> = run.iter().map(|admission| admission.at.as_nanos()).collect();
        readings.sort_unstable();
        readings.dedup();
        let mut worst_per_end = Vec::new();
        for &to in &readings {
            let mut worst = None;
            for &from in readings.iter().take_while(|&&from| from <= to) {
                let inside = |admission: &&Admission| (from..=to).contains(&admission.at.as_nanos());
                let admitted: u128 = run.iter().filter(inside).map(|admission| u128::from(admission.cost)).sum();
                let period = quota.period().as_nanos();
                let bound = u128::from(quota.burst()) * period + u128::from(quota.tokens()) * u128::from(to - from);
                let excess = (admitted * period).saturating_sub(bound);
                // At equal excess the later start makes the shorter window.
                if excess > 0 && worst.is_none_or(|(_, _, _, most)| excess >= most) {
                    worst = Some((from, to, admitted, excess));
                }
            }
            worst_per_end.extend(worst);
        }
        worst_per_end
    }

    fn naive_span(run: &[Admission], width: u64, limit: u64) -> Option<(u64, u128)> {
        let mut ends: Vec<u64> = run.iter().map(|admission| admission.at.as_nanos()).collect();
        ends.sort_unstable();
        ends.into_iter().find_map(|end| {
            let inside = |at: u64| at <= end && end - at < width;
            let admitted = run.iter().filter(|admission| inside(admission.at.as_nanos()));
            let admitted: u128 = admitted.map(|admission| u128::from(admission.cost)).sum();
            (admitted > limit.into()).then_some((end, admitted))
        })
    }

    fn plain(window: Window) -> (u64, u64, u128, u128) {
        (window.from.as_nanos(), window.to.as_nanos(), window.admitted, window.excess.numerator())
    }

    fn runs() -> impl Strategy<Value = Vec<Admission>> {
        let admission = (0_u64..60, 0_u64..4).prop_map(|(at, cost)| Admission::new(cost, Nanos::from_nanos(at)));
        prop::collection::vec(admission, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        #[test]
        fn one_pass_finds_what_all_pairs_find(
            run in runs(), tokens in 1_u64..4, period in 1_u64..12, burst in 1_u64..20,
        ) {
            let quota = Quota::try_new(tokens, Duration::from_nanos(period), burst).unwrap();
            let all = naive(&run, quota);
            prop_assert_eq!(first_violation(&run, quota).map(plain), all.first().copied());
            // The first of the greatest.
            let worst = all.into_iter().reduce(|worst, next| if next.3 > worst.3 { next } else { worst });
            prop_assert_eq!(worst_window(&run, quota).map(plain), worst);
        }

        #[test]
        fn two_pointers_find_what_all_spans_hold(run in runs(), width in 1_u64..30, limit in 1_u64..12) {
            let found = first_overfull_span(&run, Duration::from_nanos(width), limit);
            let found = found.map(|window| (window.to.as_nanos(), window.admitted));
            prop_assert_eq!(found, naive_span(&run, width, limit));
        }
    }

    #[test]
    fn the_largest_numbers_stay_exact() {
        let century = Duration::from_nanos(1 << 62);
        let quota = Quota::try_new(1, century, u64::MAX - 1).unwrap();
        let full = Admission::new(u64::MAX - 1, Nanos::ZERO);
        let due = Nanos::from_nanos(1 << 62);
        assert!(first_violation(&[full, Admission::new(1, due)], quota).is_none());
        let early = Admission::new(1, Nanos::from_nanos(due.as_nanos() - 1));
        let window = first_violation(&[full, early], quota).unwrap();
        assert_eq!(
            window.to_string(),
            format!("{} tokens from 0 to {} ns, 1/{} too many", u64::MAX, early.at.0, due.0)
        );
    }

    #[test]
    fn nothing_breaks_an_unlimited_quota() {
        let run = [Admission::new(u64::MAX, Nanos::ZERO); 3];
        assert!(first_violation(&run, Quota::UNLIMITED).is_none());
        assert!(first_violation(&run, Quota::DENY_ALL).is_some());
    }
}
