//! A token bucket's change of quota: the debt, in units of the new scale.

use super::carry_over::{AdjustError, CarryOver};
use super::change::{Adjustable, Begun};
use super::terms::{SPARE, since};
use crate::algorithm::{Algorithm, Gcra};
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec;
use alloc::vec::Vec;

impl Adjustable for Gcra {
    const ADJUSTABLE: &'static str = "AdjustableTokenBucket";
    const TAKES_BACK_EARLIER: bool = true;

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
        let algorithm = Self::beside(quota, SPARE).ok_or(AdjustError::TooLarge)?;
        let (new, old) = (algorithm.timeline(), self.timeline());
        let word = if new.is_free() || old.is_free() {
            Some(carry_over.of_nothing(algorithm.burst()))
        } else {
            let owed = self.level(word, since(start, now));
            carry_over.debt(algorithm.burst(), self.burst(), owed, |units| new.units_from(units, old))
        };
        let word = word.ok_or(AdjustError::TooLarge)?;
        // Never earlier than the terms before: by them the stretch in between is paid already, whatever this thread's clock says.
        Ok(Some(Begun { algorithm, start: now.max(start), word }))
    }

    fn highest(&self, word: u64) -> u64 {
        word.saturating_add(self.burst())
    }

    /// The position, on a scale that begins with the clock.
    fn saved(&self, word: u64, start: Nanos, now: Nanos) -> (Nanos, Vec<u64>) {
        (since(start, now), vec![word])
    }

    fn restored(&self, state: &[u64], from: Nanos, to: Nanos) -> Option<Begun<Self>> {
        let &[position] = state else { return None };
        let word = self.carried(position, from, to)?;
        Some(Begun { algorithm: *self, start: Nanos::ZERO, word })
    }
}
