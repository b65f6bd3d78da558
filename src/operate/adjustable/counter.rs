//! A sliding window counter's change of quota: its two windows go on from the same point, longer or shorter.

use super::carry_over::{AdjustError, CarryOver};
use super::change::{Adjustable, Begun};
use super::terms::{SPARE, since};
use crate::algorithm::{Algorithm, ContinuedCounter, MOST_OWED, Standing};
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec;
use alloc::vec::Vec;

impl Adjustable for ContinuedCounter {
    const ADJUSTABLE: &'static str = "AdjustableSlidingWindowCounter";
    const TAKES_BACK_EARLIER: bool = false;

    #[inline]
    fn to_words(self) -> [u64; 7] {
        Self::to_words(self)
    }

    #[inline]
    fn from_words(words: [u64; 7]) -> Self {
        Self::from_words(words)
    }

    fn changed(
        &self,
        word: u64,
        start: Nanos,
        now: Nanos,
        quota: Quota,
        carry_over: CarryOver,
    ) -> Result<Option<Begun<Self>>, AdjustError> {
        let new = Self::beside(quota, SPARE).ok_or(AdjustError::TooLarge)?;
        if carry_over.keeps() && new.quota() == self.quota() {
            return Ok(None);
        }
        let standing = self.stand(word, since(start, now));
        // A window that has been seen is not left again, whatever the clock says.
        let at = now.max(start).0.saturating_add(standing.ahead);
        let counts = if self.is_free() || new.is_free() {
            Some((0, carry_over.of_nothing(new.limit())))
        } else {
            counts(carry_over, self, &standing, new.limit())
        };
        let fits = |&(previous, current): &(u64, u64)| previous.max(current) <= MOST_OWED;
        let (previous, current) = counts.filter(fits).ok_or(AdjustError::TooLarge)?;
        // Where nothing is admitted, no time passes: the windows stay as long as they are.
        let stands_still = new.limit() == 0 && !new.is_free();
        let period = if stands_still { self.period() } else { new.period() };
        let elapsed = match (self.period(), period) {
            (_, 0) => 0,
            (0, period) => at % period, // there were no windows: they begin where the clock says
            (old, period) => mul_div(standing.elapsed.min(old), period, old),
        };
        let (algorithm, word) = new.standing(&Standing { previous, current, elapsed, ahead: 0 }, period);
        Ok(Some(Begun { algorithm, start: Nanos(at), word }))
    }

    fn highest(&self, word: u64) -> u64 {
        self.spent(word)
    }

    /// What the two windows count; when the present one begins, by a clock that stands at 0 then or now, whichever is earlier; and
    /// how long a window is. Where no time passes, how far the window has come in the place of when it begins.
    fn saved(&self, word: u64, start: Nanos, now: Nanos) -> (Nanos, Vec<u64>) {
        let Standing { previous, current, elapsed, ahead } = self.stand(word, since(start, now));
        let ahead = ahead.saturating_add(start.0.saturating_sub(now.0));
        let place = if self.limit() == 0 { elapsed } else { ahead };
        (Nanos(elapsed), vec![previous, current, place, self.period()])
    }

    fn restored(&self, state: &[u64], from: Nanos, to: Nanos) -> Option<Begun<Self>> {
        let &[previous, current, place, period] = state else { return None };
        let stands_still = self.limit() == 0 && !self.is_free();
        if previous.max(current) > MOST_OWED || !stands_still && period != self.period() {
            return None;
        }
        let nothing = Begun { algorithm: *self, start: Nanos::ZERO, word: 0 };
        if previous == 0 && current == 0 || self.is_free() {
            return Some(nothing);
        }
        let (start, standing) = if stands_still {
            if place > period {
                return None;
            }
            (to.0, Standing { previous, current, elapsed: place, ahead: 0 })
        } else {
            let elapsed = from.0.saturating_sub(place);
            let (previous, current) = match elapsed / period {
                0 => (previous, current),
                1 => (current, 0),
                _ => return Some(nothing),
            };
            let start = to.0.checked_add(place.saturating_sub(from.0))?;
            (start, Standing { previous, current, elapsed: elapsed % period, ahead: 0 })
        };
        let (algorithm, word) = self.standing(&standing, period);
        Some(Begun { algorithm, start: Nanos(start), word })
    }
}

/// What the window before the present one is to have counted, and the present one, so that the estimate is as it should be or
/// higher; `None` if that is beyond any number.
fn counts(carry_over: CarryOver, old: &ContinuedCounter, standing: &Standing, limit: u64) -> Option<(u64, u64)> {
    let &Standing { previous, current, elapsed, .. } = standing;
    match carry_over {
        CarryOver::Debt => Some((previous, current)),
        CarryOver::Tokens if limit >= old.limit() => Some((previous, current + (limit - old.limit()))),
        CarryOver::Tokens => {
            let less = old.limit() - limit;
            // What the present window has not counted comes off the one before, for what that still weighs.
            let rest = less.saturating_sub(current);
            let weighs = old.period().saturating_sub(elapsed);
            let off = if weighs == 0 { 0 } else { mul_div(rest, old.period(), weighs) };
            Some((previous.saturating_sub(off), current.saturating_sub(less)))
        }
        // A limiter that never held anything was as empty as it was full.
        CarryOver::Scaled if old.limit() == 0 => Some((0, limit)),
        CarryOver::Scaled => {
            let scaled = |count: u64| {
                u64::try_from((u128::from(count) * u128::from(limit)).div_ceil(u128::from(old.limit()))).ok()
            };
            Some((scaled(previous)?, scaled(current)?))
        }
        CarryOver::Full | CarryOver::Empty => Some((0, carry_over.of_nothing(limit))),
    }
}

/// `floor(a * b / divisor)`, or the last number there is.
fn mul_div(a: u64, b: u64, divisor: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(divisor)).unwrap_or(u64::MAX)
}
