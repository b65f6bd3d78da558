//! [`assert_bounded`]: every window of a log of admissions keeps the bound.

use tollgate::{Nanos, Quota};
use tollgate_testing::trace::{Admission, first_violation};

/// Panics with "over-admission" if in any window more was admitted than `burst + tokens * (t - s) / period`.
///
/// `admitted` has the clock reading and the cost of each admission, in any order. Looks at every pair of readings
/// `s <= t`, in exact numbers. Where an algorithm documents a slack of whole tokens, add it to the quota's burst.
///
/// # Panics
///
/// See above; the message names the window.
pub fn assert_bounded(admitted: &[(Nanos, u64)], quota: Quota) {
    let run: Vec<_> = admitted.iter().map(|&(at, cost)| Admission::new(cost, at)).collect();
    if let Some(window) = first_violation(&run, quota) {
        panic!("over-admission: {window}, in {admitted:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    /// Two each 10 ns, three at once.
    fn quota() -> Quota {
        Quota::per(2, Duration::from_nanos(10)).with_burst(3)
    }

    #[test]
    fn what_the_bucket_allows_passes_in_any_order() {
        assert_bounded(&[(Nanos(5), 1), (Nanos(0), 3), (Nanos(10), 1)], quota());
    }

    #[test]
    #[should_panic(expected = "over-admission: 4 tokens from 0 to 4 ns")]
    fn a_token_too_early_is_found() {
        assert_bounded(&[(Nanos(0), 3), (Nanos(4), 1)], quota());
    }

    #[test]
    #[should_panic(expected = "over-admission: 4 tokens from 7 to 7 ns")]
    fn a_window_of_no_length_counts() {
        assert_bounded(&[(Nanos(7), 1), (Nanos(0), 1), (Nanos(7), 3)], quota());
    }
}
