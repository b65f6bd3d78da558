//! [`DeniedBy`]: which of several limits have refused.

use crate::decision::Denied;
use core::fmt;
use core::time::Duration;

/// Why a call was refused by a [`LimitSet`](crate::LimitSet): which limits refused it, and the refusal that lasts longest.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{LimitSet, ManualClock, Quota, TokenBucket};
///
/// let quotas = [Quota::per_second(1), Quota::per_minute(1), Quota::per_hour(100)];
/// let clock = ManualClock::new();
/// let set = LimitSet::with_clock(quotas.map(|quota| TokenBucket::with_clock(quota, clock.clone())), clock);
/// assert!(set.try_acquire().is_ok());
///
/// let denied = set.try_acquire().unwrap_err();
/// assert_eq!(denied.limits().collect::<Vec<_>>(), [0, 1]);
/// assert_eq!(denied.names(&["per second", "per minute", "per hour"]).collect::<Vec<_>>(), ["per second", "per minute"]);
/// assert_eq!((denied.longest(), denied.retry_after()), (1, Some(Duration::from_secs(60))));
/// ```
#[must_use = "a refused call must not go ahead"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeniedBy {
    /// A bit for each limit that has refused.
    refused: u64,
    /// A bit for each limit of which tokens were taken and stay spent.
    spent: u64,
    late: bool,
    longest: usize,
    denied: Denied,
}

impl DeniedBy {
    /// As many limits as there are bits to name them.
    pub(super) const MOST: usize = u64::BITS as usize;

    /// Refused by this limit besides those that are known to.
    #[cold]
    pub(crate) fn and_by(known: Option<Self>, limit: usize, denied: Denied) -> Self {
        match known {
            None => Self::one(limit, denied),
            Some(known) => known.and(limit, denied),
        }
    }

    /// Refused by one limit, so far.
    const fn one(limit: usize, denied: Denied) -> Self {
        Self { refused: 1 << limit, spent: 0, late: false, longest: limit, denied }
    }

    /// Refused by one more.
    fn and(self, limit: usize, denied: Denied) -> Self {
        let refused = self.refused | 1 << limit;
        let longer = match (self.denied.retry_after(), denied.retry_after()) {
            (Some(so_far), Some(wait)) => wait > so_far,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if longer { Self { refused, longest: limit, denied, ..self } } else { Self { refused, ..self } }
    }

    /// Refused after the look had found nothing.
    pub(crate) const fn late(self) -> Self {
        Self { late: true, ..self }
    }

    /// A limit that has not taken back what was taken of it.
    pub(crate) const fn and_spent(self, limit: usize) -> Self {
        Self { spent: self.spent | 1 << limit, ..self }
    }

    /// The limits that have refused, by their numbers in the set, from 0 on.
    pub fn limits(&self) -> impl Iterator<Item = usize> + use<> {
        numbers(self.refused)
    }

    /// The limits that have refused, by names: `names` has one for each limit of the set.
    pub fn names<'n, T: ?Sized>(&self, names: &'n [&'n T]) -> impl Iterator<Item = &'n T> + use<'n, T> {
        self.limits().filter_map(|limit| names.get(limit).copied())
    }

    /// Whether this limit has refused.
    pub const fn is_by(&self, limit: usize) -> bool {
        limit < Self::MOST && self.refused >> limit & 1 == 1
    }

    /// The number of the limit whose refusal lasts longest; of several, the first.
    pub const fn longest(&self) -> usize {
        self.longest
    }

    /// The refusal that lasts longest.
    pub const fn denied(&self) -> Denied {
        self.denied
    }

    /// How long to wait before the same call would be admitted, if nobody else is served first: the longest that any of the limits
    /// says. `None` means never.
    ///
    /// Exact to the nanosecond, as [`Denied::retry_after`] is. Where several limits refused, their waits were compared: that is a
    /// division each, which a refusal by one limit does not make.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.denied.retry_after()
    }

    /// Whether all limits had enough when they were looked at, and one had not when it was its turn: then what had been taken of
    /// those before it was given back, and only such a refusal has written anything.
    pub const fn is_late(&self) -> bool {
        self.late
    }

    /// The limits that did not take back what was taken of them, by their numbers: there the tokens stay spent. Only after a
    /// [late](Self::is_late) refusal; see [`RateLimitAt::give_back`](crate::RateLimitAt::give_back).
    pub fn spent(&self) -> impl Iterator<Item = usize> + use<> {
        numbers(self.spent)
    }
}

/// The numbers of the bits that are set.
fn numbers(bits: u64) -> impl Iterator<Item = usize> + use<> {
    (0..DeniedBy::MOST).filter(move |&limit| bits >> limit & 1 == 1)
}

impl fmt::Display for DeniedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.limits().nth(1).is_none() { "limit " } else { "limits " })?;
        for (place, limit) in self.limits().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{limit}")?;
        }
        write!(f, ": {}", self.denied)
    }
}

impl core::error::Error for DeniedBy {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hint, Nanos};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn after(seconds: u64) -> Denied {
        Denied::TryAfter(Hint::at(Nanos::from_secs(seconds), Nanos::ZERO))
    }

    const NEVER: Denied = Denied::ExceedsBurst { cost: 7, max_cost: 5 };

    #[test]
    fn the_longest_refusal_counts_and_never_is_longest() {
        let denied = DeniedBy::one(3, after(2)).and(5, after(9)).and(63, after(9)).and(64 - 2, after(1));
        assert_eq!(denied.limits().collect::<Vec<_>>(), [3, 5, 62, 63]);
        assert_eq!(
            (denied.longest(), denied.denied(), denied.retry_after()),
            (5, after(9), Some(Duration::from_secs(9)))
        );
        for never in [denied.and(0, NEVER), DeniedBy::one(0, NEVER).and(1, after(9)).and(2, NEVER)] {
            assert_eq!((never.longest(), never.retry_after()), (0, None));
        }
        assert!(denied.is_by(63) && !denied.is_by(4) && !denied.is_by(64) && !denied.is_by(usize::MAX));
    }

    #[test]
    fn it_says_who_and_for_how_long() {
        let one = DeniedBy::one(2, after(1));
        assert_eq!(one.to_string(), "limit 2: rate limited: try again after 1s");
        assert_eq!(one.and(0, NEVER).to_string(), "limits 0, 2: a cost of 7 can never be admitted: at most 5 at once");
        assert_eq!(one.names(&["a", "b"]).count(), 0, "fewer names than limits");
    }

    #[test]
    fn a_late_refusal_says_what_stays_spent() {
        let denied = DeniedBy::one(2, after(1));
        assert_eq!((denied.is_late(), denied.spent().count()), (false, 0));
        let late = denied.late().and_spent(1).and_spent(0);
        assert_eq!((late.is_late(), late.spent().collect::<Vec<_>>()), (true, [0, 1].to_vec()));
        assert_eq!(late.limits().collect::<Vec<_>>(), [2]);
    }
}
