//! [`AdjustableLimiter`]: the type.

use super::carry_over::{AdjustError, CarryOver};
use super::change::Adjustable;
use super::state::State;
use super::terms::Terms;
use crate::build_error::BuildError;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use crate::taken::Taken;
use core::fmt;

/// A limiter whose quota can be changed while any number of threads use it.
///
/// Use it by one of its names: [`AdjustableTokenBucket`](crate::AdjustableTokenBucket),
/// [`AdjustableFixedWindow`](crate::AdjustableFixedWindow), [`AdjustableIntervalBucket`](crate::AdjustableIntervalBucket),
/// [`AdjustableSlidingWindowCounter`](crate::AdjustableSlidingWindowCounter). Each documents its bound. A change counts as of
/// the reading of the clock that it makes. By default what was spent stays spent ([`CarryOver::Debt`]): ten changes in one
/// instant admit nothing extra, and changes in quick succession take nothing away.
///
/// A plain [`RateLimiter`](crate::RateLimiter) is a little faster and an eighth of the size: take it where the quota is known
/// and stays. It takes 512 bytes.
///
/// # Progress and ordering
///
/// Lock-free: a decision is two loads and one compare-and-swap on one word, and some loads from lines that only a change
/// writes; a denial writes nothing. A thread that sleeps in the middle of a change blocks nobody; three that do so keep
/// others from changing the same limiter ([`AdjustError::Contended`]). Nothing allocates. Decisions and changes are
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
pub struct AdjustableLimiter<A, #[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    pub(super) state: State<A>,
    pub(super) clock: C,
}

impl<A: Adjustable, C> AdjustableLimiter<A, C> {
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

    /// As [`refund`](Self::refund), of tokens that were taken on the reading `taken`. No clock is read.
    ///
    /// A window takes back what was taken in it, as [`RateLimiter::refund_at`](crate::RateLimiter::refund_at) does, and after a
    /// change of quota only what it is sure to have counted: of a reading before its quota came into force, nothing. For a
    /// bucket any reading since the taking will do.
    pub fn refund_at(&self, n: u64, taken: Nanos) {
        self.state.apply(|terms, position| (terms.refund(position, n, taken), ()));
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

    /// Gives back what [`take_n`](Self::take_n) of this limiter has taken; returns whether it is as if that had never
    /// been. No clock is read.
    ///
    /// It is, unless a change of quota came in between, or, for a bucket, another call: then the tokens stay spent. A window
    /// takes back what it has counted whoever has called since.
    #[allow(clippy::needless_pass_by_value)] // given back once
    pub fn give_back(&self, taken: Taken) -> bool {
        let (before, after) = (taken.before(), taken.after());
        if before == after {
            return true; // nothing was taken
        }
        self.state.apply(|terms, position| {
            // No position comes back after a change of quota (rule 4 of the module).
            let without = if position == after { Some(before) } else { terms.without(position, taken.n(), after) };
            (without.unwrap_or(position), without.is_some())
        })
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), as of `now`. No clock is read.
    pub fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let (decision, status) = self.take_n_with_status_at(n, now);
        (decision.map(drop), status)
    }

    fn take_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<Taken, Denied>, Status) {
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
        self.state.load().0.algorithm.quota()
    }

    /// The most tokens that one call can take under the quota in force.
    pub fn max_cost(&self) -> u64 {
        self.state.load().0.algorithm.max_cost()
    }
}

impl<A: Adjustable, C: Clock> AdjustableLimiter<A, C> {
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
        self.state.change(AdjustError::Contended, |old, position, floor| {
            let now = self.clock.now(); // rule 3: after the look at the word
            let Some(begun) = old.algorithm.changed(old.word(position), old.start, now, quota, carry_over)? else {
                return Ok(None);
            };
            // Room for what can be taken at once, or the change would end the limiter's life.
            let begun = Terms::begin(begun, floor).filter(|(terms, position)| terms.has_room(*position));
            begun.map(Some).ok_or(AdjustError::TooLarge)
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

    /// Takes as many tokens as there are, up to `n`; returns how many, which may be 0.
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        self.try_acquire_up_to_at(n, self.clock.now())
    }

    /// Takes `n` tokens, or none; returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.take_n_at(n, self.clock.now())
    }

    /// As [`take_n`](Self::take_n), with the status that the decision has left; see
    /// [`try_acquire_n_with_status`](Self::try_acquire_n_with_status).
    pub fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        self.take_n_with_status_at(n, self.clock.now())
    }

    /// Gives `n` tokens back, for work that was admitted and then not done; never more than the burst is there, nor more
    /// than the present window has counted.
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

delegate!([A: Adjustable, C: Clock] AdjustableLimiter<A, C> => Self);
delegate!(at [A: Adjustable, C: Clock] AdjustableLimiter<A, C> => Self);

impl<A: Adjustable, C> fmt::Debug for AdjustableLimiter<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::ADJUSTABLE).field("quota", &self.quota()).finish_non_exhaustive()
    }
}
