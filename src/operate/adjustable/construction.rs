//! How an [`AdjustableLimiter`] is made.

use super::carry_over::AdjustError;
use super::limiter::AdjustableLimiter;
use super::state::State;
use super::terms::SPARE;
use crate::algorithm::{ContinuedCounter, ContinuedWindow, Gcra};
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::quota::Quota;
use crate::sync::const_unless_loom;

/// `new`, `try_new`, `with_clock` and `try_with_clock` for an algorithm.
macro_rules! constructors {
    ($algorithm:ty) => {
        #[cfg(feature = "std")]
        impl AdjustableLimiter<$algorithm, DefaultClock> {
            const_unless_loom! {
                /// A limiter on the default clock. It starts full. No reading of the clock is taken.
                ///
                /// # Panics
                ///
                /// If 62 bits do not last for the quota; in a `static`, that is a compile error.
                pub const fn new(quota: Quota) -> Self {
                    Self::with_clock(quota, DefaultClock)
                }
            }

            /// As [`new`](Self::new), but reports what does not fit.
            ///
            /// # Errors
            ///
            /// [`AdjustError::TooLarge`].
            pub fn try_new(quota: Quota) -> Result<Self, AdjustError> {
                Self::try_with_clock(quota, DefaultClock)
            }
        }

        impl<C> AdjustableLimiter<$algorithm, C> {
            const_unless_loom! {
                /// A limiter on `clock`. It starts full. No reading of the clock is taken.
                ///
                /// # Panics
                ///
                /// If 62 bits do not last for the quota; in a `static`, that is a compile error.
                pub const fn with_clock(quota: Quota, clock: C) -> Self {
                    match <$algorithm>::beside(quota, SPARE) {
                        Some(algorithm) => Self { state: State::new(algorithm.to_words()), clock },
                        None => panic!("the rate, the burst or the limit of a window is too large for a position of 62 bits to last"),
                    }
                }
            }

            /// As [`with_clock`](Self::with_clock), but reports what does not fit.
            ///
            /// # Errors
            ///
            /// [`AdjustError::TooLarge`].
            pub fn try_with_clock(quota: Quota, clock: C) -> Result<Self, AdjustError> {
                let algorithm = <$algorithm>::beside(quota, SPARE).ok_or(AdjustError::TooLarge)?;
                Ok(Self { state: State::new(algorithm.to_words()), clock })
            }
        }
    };
}

constructors!(Gcra);
constructors!(ContinuedWindow);
constructors!(ContinuedCounter);
