//! The arithmetic behind every figure that is printed.

/// The middle value of `values`, or the lower of the two middle values: always one that was measured. `None` of none.
///
/// # Examples
///
/// ```
/// use tollgate_bench::figures::stats::median;
///
/// assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.0));
/// assert_eq!(median(&[]), None);
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    median_index(values).map(|index| values[index])
}

/// Where in `values` the [`median`] stands.
pub fn median_index(values: &[f64]) -> Option<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order.get(values.len().checked_sub(1)? / 2).copied()
}

/// `value` as a multiple of `base`; `None` where there is nothing to divide by.
///
/// # Examples
///
/// ```
/// use tollgate_bench::figures::stats::ratio;
///
/// assert_eq!(ratio(30.0, Some(20.0)), Some(1.5));
/// assert_eq!(ratio(30.0, None), None);
/// assert_eq!(ratio(30.0, Some(0.0)), None);
/// ```
pub fn ratio(value: f64, base: Option<f64>) -> Option<f64> {
    base.filter(|&base| base > 0.0).map(|base| value / base)
}

/// Millions of operations per second.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
pub fn mops(ops: u64, seconds: f64) -> f64 {
    ops as f64 / seconds / 1e6
}

/// Nanoseconds that one operation takes as its caller sees it: the time of all running threads over all operations.
///
/// Of `threads` threads at most `cores` run at once; a waiting thread's time is not charged to its operations.
#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
pub fn ns_per_op(ops: u64, seconds: f64, threads: usize, cores: usize) -> f64 {
    seconds * 1e9 * threads.min(cores) as f64 / ops as f64
}

/// The values that there are, each once, in their order.
pub fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_measured_value_whatever_the_order() {
        assert_eq!(median_index(&[9.0, 1.0, 5.0, 7.0, 3.0]), Some(2));
        assert_eq!(median_index(&[2.0, 1.0]), Some(1));
        assert_eq!(median(&[f64::INFINITY, 1.0, 2.0]), Some(2.0));
        assert_eq!(median_index(&[]), None);
    }

    #[test]
    fn rates_and_times_of_one_operation() {
        assert!((mops(3_000_000, 1.5) - 2.0).abs() < 1e-12);
        // One thread: the inverse of the rate.
        assert!((ns_per_op(2_000_000, 1.0, 1, 2) - 500.0).abs() < 1e-9);
        // Two threads on two cores did twice as much in the same time: an operation still takes as long.
        assert!((ns_per_op(4_000_000, 1.0, 2, 2) - 500.0).abs() < 1e-9);
        // Sixteen threads on two cores: only two of them run at once.
        assert!((ns_per_op(4_000_000, 1.0, 16, 2) - 500.0).abs() < 1e-9);
    }
}
