//! A fixed window's change of quota: what the running window has counted, in the window of the new quota that holds the
//! instant.

use super::carry_over::{AdjustError, CarryOver};
use super::change::{Adjustable, Begun};
use super::terms::{SPARE, since};
use crate::algorithm::{Algorithm, ContinuedWindow, MOST_OWED};
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec;
use alloc::vec::Vec;

impl Adjustable for ContinuedWindow {
    const ADJUSTABLE: &'static str = "AdjustableFixedWindow";
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
        let now = since(start, now);
        let (begun, owed, counted_from) = self.owed(word, now);
        let instant = |since_start: u64| start.0.saturating_add(since_start);
        // A window that has been seen is not left again, whatever the clock says.
        let at = instant(begun.max(now.0));
        let owed = if self.is_free() || new.is_free() {
            Some(carry_over.of_nothing(new.limit()))
        } else {
            carry_over.debt(new.limit(), self.limit(), owed, |tokens| Some((tokens, tokens)))
        };
        let owed = owed.filter(|&owed| owed <= MOST_OWED).ok_or(AdjustError::TooLarge)?;
        let first = match new.period() {
            0 => at,
            period => at - at % period,
        };
        let keeps_counting = carry_over == CarryOver::Debt && !self.is_free();
        let counted_from = if keeps_counting { instant(counted_from) } else { at };
        let (algorithm, word) = new.owing(owed, counted_from.saturating_sub(first));
        Ok(Some(Begun { algorithm, start: Nanos(first), word }))
    }

    fn highest(&self, word: u64) -> u64 {
        self.spent(word)
    }

    /// When the window began, by the limiter's clock, and what it owes.
    fn saved(&self, word: u64, start: Nanos, now: Nanos) -> (Nanos, Vec<u64>) {
        let (begun, owed, _) = self.owed(word, since(start, now));
        (now, vec![start.0.saturating_add(begun), owed])
    }

    /// The window goes on until the first of the other clock's windows ends that does so no earlier.
    fn restored(&self, state: &[u64], from: Nanos, to: Nanos) -> Option<Begun<Self>> {
        let &[begun, owed] = state else { return None };
        if owed > MOST_OWED {
            return None;
        }
        let past = self.period() > 0 && from.0.saturating_sub(begun) >= self.period();
        if owed == 0 || past || self.is_free() {
            return Some(Begun { algorithm: *self, start: Nanos::ZERO, word: 0 });
        }
        let start = match i128::from(self.period()) {
            0 => to.0,
            period => {
                let begun = (i128::from(begun) + i128::from(to.0) - i128::from(from.0)).max(0);
                u64::try_from((begun + period - 1) / period * period).ok()?
            }
        };
        let (algorithm, word) = self.owing(owed, 0);
        Some(Begun { algorithm, start: Nanos(start), word })
    }
}
