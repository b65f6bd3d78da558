//! [`Places`]: a place in each of several lines.

use crate::nanos::Nanos;
use crate::wait::{Line, Place};
use core::fmt;
use core::time::Duration;
#[cfg(feature = "std")]
use std::thread;

/// A place in each of several lines, to be spent together: what [`LimitSet::reserve_n`](crate::LimitSet::reserve_n) returns.
///
/// As a [`Place`], it is held by value: [spent](Self::spend) at its instant or later, which is the latest of theirs, or
/// [given back](Self::cancel), all of it; to drop it is to give it back. With the feature `async` it can be awaited.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{LimitSet, ManualClock, Nanos, Quota, WaitingTokenBucket};
///
/// let clock = ManualClock::new();
/// let line = |quota| WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), clock.clone());
/// let set = LimitSet::with_clock([line(Quota::per_second(1)), line(Quota::per_minute(1))], clock.clone());
/// assert!(set.try_acquire().is_ok());
///
/// let places = set.reserve_n([1, 1])?;
/// assert_eq!(places.each().each_ref().map(|place| place.due()), [1, 60].map(Nanos::from_secs));
/// assert_eq!(places.due(), Nanos::from_secs(60));
///
/// let Err(places) = places.spend() else { panic!("too early") };
/// clock.advance(Duration::from_secs(60));
/// assert!(places.spend().is_ok());
/// # Ok::<_, tollgate::DeniedBy>(())
/// ```
#[must_use = "places that are dropped are given back"]
pub struct Places<L: Line, const N: usize> {
    places: [Place<L>; N],
    /// Which of them is due last.
    latest: usize,
}

impl<L: Line, const N: usize> Places<L, N> {
    pub(super) fn new(places: [Place<L>; N]) -> Self {
        let latest = (0..N).max_by_key(|&number| places[number].due()).unwrap_or(0);
        Self { places, latest }
    }

    /// The places, in the order of the set's limits.
    pub const fn each(&self) -> &[Place<L>; N] {
        &self.places
    }

    /// The place that is due last.
    pub(super) const fn latest(&self) -> &Place<L> {
        &self.places[self.latest]
    }

    /// The first instant at which they may be spent: the latest of theirs.
    pub const fn due(&self) -> Nanos {
        self.latest().due()
    }

    /// How long from now until they may be spent. Reads the clock, unless they were due at once.
    pub fn delay(&self) -> Duration {
        self.latest().delay()
    }

    /// How long from `now` until they may be spent. No clock is read.
    pub const fn delay_at(&self, now: Nanos) -> Duration {
        self.latest().delay_at(now)
    }

    /// Uses the tokens of all. Reads the clock, unless they were due at once. Wait-free: nothing is written.
    ///
    /// # Errors
    ///
    /// The places themselves, if they are not all due yet.
    pub fn spend(self) -> Result<(), Self> {
        if !self.delay().is_zero() {
            return Err(self);
        }
        self.use_up();
        Ok(())
    }

    /// As [`spend`](Self::spend), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// The places themselves, if they are not all due at `now`.
    pub fn spend_at(self, now: Nanos) -> Result<(), Self> {
        if !self.delay_at(now).is_zero() {
            return Err(self);
        }
        self.use_up();
        Ok(())
    }

    /// Uses the tokens of places that have been seen to be due.
    pub(super) fn use_up(mut self) {
        self.places.iter_mut().for_each(Place::clear);
    }

    /// Gives all tokens back, the last limit's first; returns how many of each somebody can spend now or later. See
    /// [`Place::cancel`]. Lock-free.
    pub fn cancel(mut self) -> [u64; N] {
        self.empty()
    }

    /// Where two places are in one line, the later is the last there until it is given back.
    fn empty(&mut self) -> [u64; N] {
        let mut given_back = [0; N];
        for (given_back, place) in given_back.iter_mut().zip(&mut self.places).rev() {
            *given_back = place.empty();
        }
        given_back
    }

    /// Parks the thread until they are all due, and spends them; see [`Place::wait`].
    #[cfg(feature = "std")]
    pub fn wait(self) {
        let mut places = self;
        // PROGRESS: blocking, by intent; ends at the first look at the clock after the last is due.
        while let Err(early) = places.spend() {
            thread::park_timeout(early.delay());
            places = early;
        }
    }
}

/// As [`cancel`](Places::cancel): the last limit's first.
impl<L: Line, const N: usize> Drop for Places<L, N> {
    fn drop(&mut self) {
        self.empty();
    }
}

impl<L: Line, const N: usize> fmt::Debug for Places<L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.places).finish()
    }
}
