//! [`Line`]: what places are had of.

use crate::clock::Clock;
use crate::nanos::Nanos;
use alloc::sync::Arc;

/// A limiter in which one can have a place, or what points to one: a reference, or an `Arc`.
///
/// The trait is sealed: a place's guarantees rest on the limiter's protocol.
pub trait Line: sealed::Line {
    /// The limiter's clock.
    type Clock: Clock;

    /// The limiter's clock, of which [`Place::due`](crate::Place::due) is an instant.
    fn clock(&self) -> &Self::Clock;

    /// The present instant on the limiter's clock.
    #[inline]
    fn now(&self) -> Nanos {
        self.clock().now()
    }
}

impl<L: Line + ?Sized> Line for &L {
    type Clock = L::Clock;

    #[inline]
    fn clock(&self) -> &Self::Clock {
        (**self).clock()
    }
}

impl<L: Line + ?Sized> Line for Arc<L> {
    type Clock = L::Clock;

    #[inline]
    fn clock(&self) -> &Self::Clock {
        (**self).clock()
    }
}

pub(crate) mod sealed {
    use crate::decision::{Denied, Status};
    use crate::nanos::Nanos;
    use alloc::sync::Arc;
    use core::time::Duration;

    /// Tokens that were handed out: the position after the last of them, and the instant at which they are due.
    #[derive(Clone, Copy, Debug)]
    pub struct Reserved {
        pub(crate) end: u64,
        pub(crate) due: Nanos,
    }

    /// Keeps [`Line`](super::Line) to this crate, and carries what only [`Place`](crate::Place) may call.
    pub trait Line {
        /// `n` tokens that are due at `now`, or by `max_wait` later.
        fn reserve(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied>;

        /// As [`reserve`](Self::reserve), with the status as of `now` that the decision has left.
        fn reserve_with_status(&self, n: u64, max_wait: Duration, now: Nanos) -> (Result<Reserved, Denied>, Status);

        /// Whether [`reserve`](Self::reserve) would hand out `n` tokens. Writes nothing.
        fn look(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<(), Denied>;

        /// Takes back at `now` the `n` tokens below the position `end`; returns how many of them can be spent again.
        fn give_back(&self, n: u64, end: u64, now: Nanos) -> u64;
    }

    /// Why there is no place in a line that has no bound of its own.
    pub(crate) fn not_in_time(denied: Denied, max_wait: Duration) -> Denied {
        match denied {
            Denied::TryAfter(hint) if max_wait < Duration::MAX => Denied::WouldExceedDeadline(hint),
            Denied::TryAfter(hint) => Denied::LineFull(hint),
            denied => denied,
        }
    }

    macro_rules! pointer {
        ($pointer:ty) => {
            impl<L: Line + ?Sized> Line for $pointer {
                #[inline]
                fn reserve(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<Reserved, Denied> {
                    (**self).reserve(n, max_wait, now)
                }

                fn reserve_with_status(
                    &self,
                    n: u64,
                    max_wait: Duration,
                    now: Nanos,
                ) -> (Result<Reserved, Denied>, Status) {
                    (**self).reserve_with_status(n, max_wait, now)
                }

                fn look(&self, n: u64, max_wait: Duration, now: Nanos) -> Result<(), Denied> {
                    (**self).look(n, max_wait, now)
                }

                #[inline]
                fn give_back(&self, n: u64, end: u64, now: Nanos) -> u64 {
                    (**self).give_back(n, end, now)
                }
            }
        };
    }
    pointer!(&L);
    pointer!(Arc<L>);
}
