//! [`Adjustable`]: what a change of quota has to know of an algorithm.

use super::carry_over::{AdjustError, CarryOver};
use crate::algorithm::Algorithm;
use crate::nanos::Nanos;
use crate::quota::Quota;
use alloc::vec::Vec;

/// An algorithm whose quota can be changed while it is used: that of an [`AdjustableLimiter`](crate::AdjustableLimiter).
///
/// Its instants count from when its quota came into force; an earlier one reads as that. Sealed, as [`Algorithm`] is.
pub trait Adjustable: Algorithm + Copy + PartialEq {
    /// The name by which people know the limiter.
    const ADJUSTABLE: &'static str;

    /// Whether tokens that were taken before the present quota came into force can be given back by the instant of their
    /// taking. A window would not know whether it has counted them.
    const TAKES_BACK_EARLIER: bool;

    /// The constants as words.
    fn to_words(self) -> [u64; 7];

    /// The constants that are these words.
    fn from_words(words: [u64; 7]) -> Self;

    /// What `quota` makes at `now` of the `word` of a limiter that has been under this one since `start`; `None` if it
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// [`AdjustError::TooLarge`].
    fn changed(
        &self,
        word: u64,
        start: Nanos,
        now: Nanos,
        quota: Quota,
        carry_over: CarryOver,
    ) -> Result<Option<Begun<Self>>, AdjustError>;

    /// The highest word that calls at one instant can make of `word`; at most the last there is if that is beyond it.
    fn highest(&self, word: u64) -> u64;

    /// What is to be saved of the `word` of a limiter that has been under this quota since `start`; and what the clock that
    /// it tells instants by reads at `now`.
    fn saved(&self, word: u64, start: Nanos, now: Nanos) -> (Nanos, Vec<u64>);

    /// What a limiter that has not been used makes at `to` of the state that another saved, whose clock would read `from`
    /// by now; `None` if no such limiter can have left that state.
    fn restored(&self, state: &[u64], from: Nanos, to: Nanos) -> Option<Begun<Self>>;
}

/// A quota as it comes into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun<A> {
    pub(super) algorithm: A,
    /// Since when.
    pub(super) start: Nanos,
    /// What is owed.
    pub(super) word: u64,
}
