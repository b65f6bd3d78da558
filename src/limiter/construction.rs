//! How a [`RateLimiter`] is made.

use super::RateLimiter;
use crate::algorithm::{Algorithm, Gcra, Packed, SlidingCounter, Window};
use crate::build_error::BuildError;
use crate::cell::StateCell;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::sync::const_unless_loom;

/// `new`, `try_new`, `with_clock` and `try_with_clock` for an algorithm.
macro_rules! constructors {
    ($algorithm:ty, |$quota:ident| $build:expr, |$built:ident| $fresh:expr) => {
        #[cfg(feature = "std")]
        impl RateLimiter<$algorithm, DefaultClock> {
            const_unless_loom! {
                /// A limiter on the default clock. It starts full. No reading of the clock is taken.
                ///
                /// # Panics
                ///
                /// If the quota does not fit the algorithm; in a `static`, that is a compile error.
                pub const fn new(quota: Quota) -> Self {
                    Self::with_clock(quota, DefaultClock)
                }
            }

            const_unless_loom! {
                /// As [`new`](Self::new), but reports what does not fit.
                ///
                /// # Errors
                ///
                /// [`BuildError::LimitTooLarge`] if the algorithm's word has no room for the quota.
                pub const fn try_new(quota: Quota) -> Result<Self, BuildError> {
                    match Self::algorithm(quota) {
                        Ok(algorithm) => Ok(Self::assemble(algorithm, DefaultClock)),
                        Err(error) => Err(error),
                    }
                }
            }
        }

        impl<C> RateLimiter<$algorithm, C> {
            #[allow(clippy::unnecessary_wraps)] // the token bucket takes every quota
            const fn algorithm($quota: Quota) -> Result<$algorithm, BuildError> {
                $build
            }

            const_unless_loom! {
                const fn assemble($built: $algorithm, clock: C) -> Self {
                    let cell = StateCell::new($fresh);
                    Self { cell, algorithm: $built, clock }
                }
            }

            const_unless_loom! {
                /// A limiter on `clock`. It starts full. No reading of the clock is taken.
                ///
                /// # Panics
                ///
                /// If the quota does not fit the algorithm; in a `static`, that is a compile error.
                pub const fn with_clock(quota: Quota, clock: C) -> Self {
                    match Self::algorithm(quota) {
                        Ok(algorithm) => Self::assemble(algorithm, clock),
                        Err(error) => error.panic(),
                    }
                }
            }

            /// As [`with_clock`](Self::with_clock), but reports what does not fit.
            ///
            /// # Errors
            ///
            /// [`BuildError::LimitTooLarge`] if the algorithm's word has no room for the quota.
            pub fn try_with_clock(quota: Quota, clock: C) -> Result<Self, BuildError> {
                Self::algorithm(quota).map(|algorithm| Self::assemble(algorithm, clock))
            }
        }
    };
}

constructors!(Gcra, |quota| Ok(Gcra::new(quota)), |_gcra| Gcra::FRESH);
constructors!(Packed, |quota| Packed::try_new(quota), |packed| packed.fresh());
constructors!(Window, |quota| Window::try_new(quota), |_window| Window::FRESH);
constructors!(SlidingCounter, |quota| SlidingCounter::try_new(quota), |_counter| SlidingCounter::FRESH);

impl<A: Algorithm, C> RateLimiter<A, C> {
    /// As [`with_initial`](Self::with_initial), as of `now`. No clock is read.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial_at`](Self::try_with_initial_at).
    #[must_use]
    pub fn with_initial_at(self, tokens: u64, now: Nanos) -> Self {
        self.try_with_initial_at(tokens, now).unwrap_or_else(|error| error.panic())
    }

    /// As [`try_with_initial`](Self::try_with_initial), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial_at(self, tokens: u64, now: Nanos) -> Result<Self, BuildError> {
        let largest = self.max_cost();
        let Some(missing) = largest.checked_sub(tokens) else {
            return Err(BuildError::InitialTooLarge { largest });
        };
        self.forgive();
        let missing = self.try_acquire_up_to_at(missing, now);
        debug_assert_eq!(missing, largest - tokens, "a fresh limiter is full");
        Ok(self)
    }
}

impl<A: Algorithm, C: Clock> RateLimiter<A, C> {
    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial`](Self::try_with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, TokenBucket};
    ///
    /// let cold = TokenBucket::new(Quota::per_hour(50)).with_initial(5);
    /// assert_eq!(cold.available(), 5);
    /// ```
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        self.try_with_initial(tokens).unwrap_or_else(|error| error.panic())
    }

    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial(self, tokens: u64) -> Result<Self, BuildError> {
        let now = self.clock.now();
        self.try_with_initial_at(tokens, now)
    }
}
