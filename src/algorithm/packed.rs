//! [`Packed`]: a token bucket with tokens and time in separate fields of the word.

use super::fields::{Fields, within_time};
use super::{Algorithm, sealed};
use crate::build_error::BuildError;
use crate::decision::Denied;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::{Grain, Hint, LASTING};
use core::time::Duration;

/// The token bucket of the textbooks, packed: tokens left, and when they were last topped up.
///
/// ```text
/// LAYOUT      | stamp: the other bits | tokens: as many bits as the burst needs |
/// rule 1      refills(now) = floor(now * rate): whole tokens due since the clock's origin
/// rule 2      at a reading with refills(now) > stamp: tokens = min(burst, tokens + refills(now) - stamp),
///             stamp = refills(now)
/// rule 3      admit n iff n <= tokens - lag; then tokens -= n. Here lag = stamp - refills(now) where the reading is
///             older than the stamp, else 0: tokens that fell due after a reading are not there for it
/// ```
///
/// The stamp counts whole refills, so it moves by whole refills only and the remainder of time is never lost. A refund
/// on an older reading counts at the stamp. Bound: the token bucket's, plus at most one token, since a full bucket is
/// clamped on a whole token.
///
/// What the encoding costs is room. The stamp must last for 120 years from the clock's origin, so `rate * burst` can be
/// about 4.8e9 at most (rate in tokens per second); more is a [`LimitTooLarge`](BuildError::LimitTooLarge) error. Where four
/// tokens or more fall due in a nanosecond, the word counts units of `2^k` tokens instead, as few as fit, costs rounded up
/// as for [`Gcra`](super::Gcra); the bound is then wider by a unit in the place of a token. It is here to compare encodings;
/// [`Gcra`](super::Gcra) has no such limit, and finer units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed(Fields<1>);

impl Packed {
    /// The algorithm for `quota`.
    ///
    /// # Errors
    ///
    /// [`BuildError::LimitTooLarge`] if burst and stamp do not fit in a word together for 120 years.
    pub const fn try_new(quota: Quota) -> Result<Self, BuildError> {
        match Fields::refills(quota, Grain::COARSEST) {
            Ok(fields) => Ok(Self(fields)),
            Err(error) => Err(error),
        }
    }

    /// Full at the clock's origin, and so ever after.
    pub const fn fresh(&self) -> u64 {
        if self.0.timeline.is_free() { 0 } else { self.0.limit() }
    }

    /// The time from `now` until so many refills are due.
    #[inline]
    fn hint(&self, refills: u64, now: Nanos) -> Hint {
        self.0.timeline.hint(refills, now).until(LASTING)
    }

    /// The word as of `now`.
    #[inline]
    fn view(&self, word: u64, now: Nanos) -> View {
        let (stamp, tokens) = self.0.split(word);
        let refills = self.0.position(now);
        match refills.checked_sub(stamp) {
            Some(passed) => {
                let tokens = tokens.saturating_add(passed).min(self.0.limit());
                View { stamp: refills, tokens, spendable: tokens }
            }
            None => View { stamp, tokens, spendable: tokens.saturating_sub(stamp - refills) },
        }
    }
}

/// A word brought up to some instant by rule 2.
struct View {
    stamp: u64,
    tokens: u64,
    /// What rule 3 lets a call take.
    spendable: u64,
}

impl sealed::Sealed for Packed {}

impl Algorithm for Packed {
    const NAME: &'static str = "PackedTokenBucket";

    fn fresh(&self) -> u64 {
        Self::fresh(self)
    }

    #[inline]
    fn acquire(&self, word: u64, n: u64, now: Nanos) -> Result<u64, Denied> {
        let cost = self.0.price(n)?;
        if cost == 0 {
            return Ok(word);
        }
        let (stamp, tokens) = self.0.split(word);
        let refills = self.0.position(now);
        // Rules 2 and 3 together, on either side of the stamp: a cost is never above the burst, so that no cap decides.
        if refills + tokens < stamp + cost {
            // The subtraction cannot wrap.
            return Err(Denied::TryAfter(self.hint(stamp + cost - tokens, now)));
        }
        if refills <= stamp {
            return Ok(word - cost); // from the count, which has it: it stands lowest
        }
        let tokens = tokens.saturating_add(refills - stamp).min(self.0.limit());
        Ok(self.0.join(refills, tokens - cost))
    }

    #[inline]
    fn refund(&self, word: u64, n: u64, now: Nanos) -> u64 {
        if self.0.timeline.is_free() {
            return word;
        }
        let View { stamp, tokens, .. } = self.view(word, now);
        let given_back = self.0.timeline.grain().given_back(n);
        if given_back == 0 || tokens == self.0.limit() {
            return word; // and no later stamp, which would hide tokens from an older reading
        }
        self.0.join(stamp, tokens.saturating_add(given_back).min(self.0.limit()))
    }

    #[inline]
    fn available(&self, word: u64, now: Nanos) -> u64 {
        self.0.tokens_in(self.view(word, now).spendable)
    }

    fn reset_after(&self, word: u64, now: Nanos) -> Duration {
        let View { stamp, tokens, spendable } = self.view(word, now);
        if spendable == self.0.limit() {
            return Duration::ZERO;
        }
        self.hint(stamp + (self.0.limit() - tokens), now).retry_after()
    }

    /// Tokens and stamp say together up to where tokens were consumed: `stamp + burst - tokens`, a position as the Gcra's.
    fn carried(&self, word: u64, from: Nanos, to: Nanos) -> Option<u64> {
        let limit = self.0.limit();
        if limit == 0 {
            return Some(self.fresh());
        }
        let (stamp, tokens) = self.0.split(word);
        let consumed = stamp.checked_add(limit.checked_sub(tokens)?)?;
        let (from, to) = (within_time(from), within_time(to));
        let consumed = self.0.timeline.carried(consumed, from, to)?;
        let refills = self.0.position(to);
        let stamp = refills.max(consumed.saturating_sub(limit));
        let tokens = limit - consumed.saturating_sub(stamp);
        (stamp <= self.0.last()).then(|| self.0.join(stamp, tokens))
    }

    fn quota(&self) -> Quota {
        self.0.quota(self.0.timeline.tokens())
    }

    #[inline]
    fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gcra;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_refund_to_a_full_bucket_leaves_no_trace() {
        let bucket = Packed::try_new(Quota::per_second(10)).unwrap();
        for n in [0, 1, u64::MAX] {
            assert_eq!(bucket.refund(bucket.fresh(), n, Nanos::from_secs(7)), bucket.fresh());
        }
        let word = bucket.acquire(bucket.fresh(), 4, Nanos::from_secs(7)).unwrap();
        assert_eq!(bucket.refund(word, 0, Nanos::from_millis(7_100)), word);
        assert_eq!(bucket.available(bucket.refund(word, 3, Nanos::from_secs(7)), Nanos::from_secs(7)), 9);
        assert_eq!(bucket.available(bucket.refund(word, u64::MAX, Nanos::from_secs(7)), Nanos::from_secs(7)), 10);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        /// At readings on whole tokens the two encodings of a token bucket decide alike, whatever the order of the
        /// readings: the packed one is as strict with late readings as the other.
        #[test]
        fn on_whole_tokens_it_decides_as_gcra_does(calls in prop::collection::vec((0..12u64, 0..7u64), 1..40)) {
            let quota = Quota::per(2, Duration::from_nanos(16)).with_burst(5);
            let (packed, gcra) = (Packed::try_new(quota).unwrap(), Gcra::new(quota));
            let (mut one, mut other) = (packed.fresh(), Gcra::FRESH);
            for (token, n) in calls {
                let now = Nanos(8 * token);
                prop_assert_eq!(packed.available(one, now), gcra.available(other, now));
                prop_assert_eq!(packed.reset_after(one, now), gcra.reset_after(other, now));
                match (packed.acquire(one, n, now), gcra.acquire(other, n, now)) {
                    (Ok(next), Ok(other_next)) => (one, other) = (next, other_next),
                    (Err(denied), Err(other)) => prop_assert_eq!(denied.retry_after(), other.retry_after()),
                    differ => prop_assert!(false, "{:?}", differ),
                }
            }
        }
    }
}
