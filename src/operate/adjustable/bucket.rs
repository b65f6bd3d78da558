//! [`AdjustableTokenBucket`]: the type.

use super::carry_over::{AdjustError, CarryOver};
use super::state::State;
use super::terms::Terms;
use crate::algorithm::Algorithm;
use crate::build_error::BuildError;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use crate::sync::const_unless_loom;
use crate::taken::Taken;
use core::fmt;

/// A token bucket whose quota can be changed while any number of threads use it.
///
/// Bound: for any two readings `s <= t`, with changes of quota in between or without, at most the largest burst in force
/// in `[s, t]` and what each rate brings in its own part of it. A change counts as of the reading of the clock that it
/// makes. By default what was spent stays spent ([`CarryOver::Debt`]): ten changes in one instant admit nothing extra, and
/// changes in quick succession take no token away that has half come. Each change may cost a unit, at most 2 ns' worth.
///
/// A plain [`TokenBucket`](crate::TokenBucket) is a little faster and an eighth of the size: take it where the quota is known
/// and stays.
///
/// # Limits
///
/// Two bits of the word are needed for the change, so that a unit is 1 to 2 ns, the rate is below 1e9 per second, and rate
/// and burst together are at most a quarter of what a plain bucket can have. It serves for 146 years from its clock's
/// origin. It takes 512 bytes.
///
/// # Progress and ordering
///
/// Lock-free: a decision is two loads and one compare-and-swap on one word, and some loads from lines that only a change
/// writes; a denial writes nothing. A thread that sleeps in the middle of a change blocks nobody; three that do so keep
/// others from changing the same bucket ([`AdjustError::Contended`]). Nothing allocates. Decisions and changes are
/// linearizable. A limiter gives its callers no happens-before edge.
///
/// # Examples
///
/// ```
/// use tollgate::{AdjustableTokenBucket, Quota};
///
/// static API: AdjustableTokenBucket = AdjustableTokenBucket::new(Quota::per_second(100));
///
/// assert!(API.try_acquire_n(60).is_ok());
/// API.set_quota("200/s burst 80".parse()?)?; // from a file that was read again
/// assert!(API.try_acquire_n(30).is_err()); // 60 of 80 are spent
/// assert!(API.try_acquire_n(20).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AdjustableTokenBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    pub(super) state: State,
    pub(super) clock: C,
}

#[cfg(feature = "std")]
impl AdjustableTokenBucket<DefaultClock> {
    const_unless_loom! {
        /// A bucket on the default clock. It starts full. No reading of the clock is taken.
        ///
        /// # Panics
        ///
        /// If positions of 62 bits do not last for the quota; in a `static`, that is a compile error.
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

impl<C> AdjustableTokenBucket<C> {
    const_unless_loom! {
        /// A bucket on `clock`. It starts full. No reading of the clock is taken.
        ///
        /// # Panics
        ///
        /// As [`new`](AdjustableTokenBucket::new).
        pub const fn with_clock(quota: Quota, clock: C) -> Self {
            match Terms::first(quota) {
                Some(terms) => Self { state: State::new(terms, 0), clock },
                None => panic!("the rate or the burst is too large for a position of 62 bits to last"),
            }
        }
    }

    /// As [`with_clock`](Self::with_clock), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// [`AdjustError::TooLarge`].
    pub fn try_with_clock(quota: Quota, clock: C) -> Result<Self, AdjustError> {
        let terms = Terms::first(quota).ok_or(AdjustError::TooLarge)?;
        Ok(Self { state: State::new(terms, 0), clock })
    }

    /// Takes `n` tokens as of `now`, or none. No clock is read.
    ///
    /// `now` must be an instant of the clock that drives this limiter. One that is older than the latest seen, or than the
    /// last change of quota, counts as "no time has passed". A cost of 0 is always admitted.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens at `now`, with a hint that holds while the quota does;
    /// [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost).
    #[inline]
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.state.update(|terms, position| Ok((terms.acquire(position, n, now)?, ())))
    }

    /// As [`try_acquire_up_to`](Self::try_acquire_up_to), as of `now`. No clock is read.
    pub fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        self.state.apply(|terms, position| {
            let take = terms.available(position, now).min(n);
            // What is available can be acquired, unless the word's life is over; then nothing is taken.
            terms.acquire(position, take, now).map_or((position, 0), |next| (next, take))
        })
    }

    /// As [`refund`](Self::refund), as of `now`. No clock is read.
    pub fn refund_at(&self, n: u64, now: Nanos) {
        self.state.apply(|terms, position| (terms.refund(position, n, now), ()));
    }

    /// Whether `n` tokens could be taken as of `now`. Takes nothing, writes nothing, and reads no clock.
    ///
    /// # Errors
    ///
    /// Those of [`try_acquire_n_at`](Self::try_acquire_n_at), with the same hint.
    pub fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        let (terms, position) = self.state.load();
        terms.acquire(position, n, now).map(|_| ())
    }

    /// As [`try_acquire_n_at`](Self::try_acquire_n_at); returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        let taken = |before, after| Taken::new(n, now).with_states(before, after);
        self.state.update(|terms, position| terms.acquire(position, n, now).map(|next| (next, taken(position, next))))
    }

    /// Gives back what [`take_n_at`](Self::take_n_at) of this limiter has taken; returns whether it is as if that had never
    /// been. It is, unless another call or a change of quota came in between: then the tokens stay spent. No clock is read.
    #[allow(clippy::needless_pass_by_value)] // given back once
    pub fn give_back(&self, taken: Taken) -> bool {
        let (before, after) = (taken.before(), taken.after());
        // No position comes back after a change of quota (rule 4 of the module).
        self.state.apply(|_, position| {
            let same = position == after;
            (if same { before } else { position }, same || before == after)
        })
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), as of `now`. No clock is read.
    pub fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let (decision, status) = self.decide_with_status(n, now);
        (decision.map(|_| ()), status)
    }

    fn decide_with_status(&self, n: u64, now: Nanos) -> (Result<Taken, Denied>, Status) {
        let decided = self.state.update(|terms, position| match terms.acquire(position, n, now) {
            Ok(next) => Ok((next, (*terms, position, next))),
            Err(denied) => Err((denied, terms.status(position, now))),
        });
        match decided {
            Ok((terms, before, after)) => (Ok(Taken::new(n, now).with_states(before, after)), terms.status(after, now)),
            Err((denied, status)) => (Err(denied), status),
        }
    }

    /// As [`available`](Self::available), as of `now`. No clock is read.
    pub fn available_at(&self, now: Nanos) -> u64 {
        let (terms, position) = self.state.load();
        terms.available(position, now)
    }

    /// As [`status`](Self::status), as of `now`. No clock is read.
    pub fn status_at(&self, now: Nanos) -> Status {
        let (terms, position) = self.state.load();
        terms.status(position, now)
    }

    /// The quota in force.
    pub fn quota(&self) -> Quota {
        self.state.load().0.gcra.quota()
    }

    /// The most tokens that one call can take under the quota in force.
    pub fn max_cost(&self) -> u64 {
        self.state.load().0.gcra.max_cost()
    }
}

impl<C: Clock> AdjustableTokenBucket<C> {
    /// The same limiter holding `tokens` instead of starting full. Reads the clock.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial`](Self::try_with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{AdjustableTokenBucket, Quota};
    ///
    /// let cold = AdjustableTokenBucket::new(Quota::per_hour(50)).with_initial(5);
    /// assert_eq!(cold.available(), 5);
    /// ```
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        self.try_with_initial(tokens).unwrap_or_else(|error| error.panic())
    }

    /// As [`with_initial`](Self::with_initial), but reports.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial(self, tokens: u64) -> Result<Self, BuildError> {
        let largest = self.max_cost();
        let missing = largest.checked_sub(tokens).ok_or(BuildError::InitialTooLarge { largest })?;
        let now = self.clock.now();
        self.refund_at(u64::MAX, now);
        self.try_acquire_up_to_at(missing, now);
        Ok(self)
    }

    /// Changes the quota, from now on, for every thread. What was spent stays spent.
    ///
    /// Every call takes effect either before the change or after it. There is no form that takes an instant: a change has
    /// to read the clock at its own moment to be strict (rule 3 of the module).
    ///
    /// # Errors
    ///
    /// [`AdjustError`]; the old quota stays.
    pub fn set_quota(&self, quota: Quota) -> Result<(), AdjustError> {
        self.set_quota_with(quota, CarryOver::Debt)
    }

    /// Changes the quota, and makes of the tokens that are there what `carry_over` says.
    ///
    /// # Errors
    ///
    /// As [`set_quota`](Self::set_quota).
    pub fn set_quota_with(&self, quota: Quota, carry_over: CarryOver) -> Result<(), AdjustError> {
        self.state.change(|old, position, floor| {
            let now = self.clock.now(); // rule 3: after the look at the word
            carry_over.carry(old, position, quota, now, floor)
        })
    }

    /// Takes one token, or none.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Takes `n` tokens, or none. A cost of 0 is always admitted.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    #[inline]
    pub fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.try_acquire_n_at(n, self.clock.now())
    }

    /// Takes `n` tokens, or none; returns the decision and the status that it has left, admitted or denied: that of
    /// the very word which was decided on, under the quota that it names.
    pub fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status_at(n, self.clock.now())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// Takes `n` tokens, or none; returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    pub fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.take_n_at(n, self.clock.now())
    }

    /// As [`take_n`](Self::take_n), with the status that the decision has left.
    pub fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        self.decide_with_status(n, self.clock.now())
    }

    /// Takes as many tokens as there are, up to `n`; returns how many, which may be 0.
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        self.try_acquire_up_to_at(n, self.clock.now())
    }

    /// Gives `n` tokens back, for work that was admitted and then not done; never more than the burst is there.
    ///
    /// Only give back what was taken. The bound then holds for what was admitted less what was given back meanwhile.
    pub fn refund(&self, n: u64) {
        self.refund_at(n, self.clock.now());
    }

    /// Whole tokens that can be taken now. Exact as of one instant; writes nothing.
    pub fn available(&self) -> u64 {
        self.available_at(self.clock.now())
    }

    /// Limit, tokens left and waiting times, all as of the same instant and quota. Writes nothing.
    pub fn status(&self) -> Status {
        self.status_at(self.clock.now())
    }
}

delegate!([C: Clock] AdjustableTokenBucket<C> => Self);
delegate!(at [C: Clock] AdjustableTokenBucket<C> => Self);

impl<C> fmt::Debug for AdjustableTokenBucket<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdjustableTokenBucket").field("quota", &self.quota()).finish_non_exhaustive()
    }
}
