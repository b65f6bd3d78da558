//! [`RateLimit`], [`RateLimitAt`] and [`KeyedRateLimit`]: what limiters have in common, as traits for trait objects.

use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::taken::Taken;

mod delegate;
pub(crate) use delegate::delegate;

/// Any limiter without keys, whatever its algorithm and clock. Object-safe.
///
/// Anybody may implement it: build refusals with [`Hint::after`](crate::Hint::after) and a [`Status::new`]. Methods that
/// are added later will have defaults.
///
/// # Examples
///
/// ```
/// use tollgate::{FixedWindow, Quota, RateLimit, TokenBucket};
///
/// let limiters: Vec<Box<dyn RateLimit + Send + Sync>> = vec![
///     Box::new(TokenBucket::new(Quota::per_second(100))),
///     Box::new(FixedWindow::new(Quota::per_minute(1_000))),
/// ];
/// assert!(limiters.iter().all(|limiter| limiter.try_acquire().is_ok()));
/// ```
///
/// A limiter of one's own, in front of another service:
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Denied, Hint, Quota, RateLimit, Status};
///
/// struct Maintenance(Duration);
///
/// impl RateLimit for Maintenance {
///     fn try_acquire_n(&self, _: u64) -> Result<(), Denied> {
///         Err(Denied::TryAfter(Hint::after(self.0)))
///     }
///
///     fn status(&self) -> Status {
///         Status::new(0, 0, Some(self.0), self.0)
///     }
///
///     fn quota(&self) -> Quota {
///         Quota::DENY_ALL
///     }
///
///     fn max_cost(&self) -> u64 {
///         u64::MAX
///     }
/// }
///
/// let denied = Maintenance(Duration::from_secs(60)).try_acquire().unwrap_err();
/// assert_eq!(denied.retry_after(), Some(Duration::from_secs(60)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limiter",
    note = "every limiter of this crate is one if its clock is a `Clock`, but for a `KeyedLimiter`, which is a `KeyedRateLimit`"
)]
pub trait RateLimit {
    /// Takes `n` tokens, or none. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Denied`], which tells when the same call would be admitted, or that it never will be.
    fn try_acquire_n(&self, n: u64) -> Result<(), Denied>;

    /// Takes one token, or none. Never blocks.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Takes `n` tokens, or none; returns the decision and the status that it has left, admitted or denied.
    ///
    /// The limiters of this crate compute it from the very state that was decided on, on one reading of the clock. The
    /// default, for limiters of your own, decides and then asks for the [`status`](Self::status): another call may come in
    /// between.
    fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        let decision = self.try_acquire_n(n);
        (decision, self.status())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// Takes as many tokens as there are, up to `n`; returns how many, which may be 0.
    ///
    /// By default that is what [`available`](Self::available) says, or nothing if another call comes in between.
    fn try_acquire_up_to(&self, n: u64) -> u64 {
        let n = n.min(self.available());
        if self.try_acquire_n(n).is_ok() { n } else { 0 }
    }

    /// Gives back `n` tokens that were taken and not used.
    ///
    /// A limiter that can take nothing back, such as a log, does nothing, which is also the default: the tokens stay
    /// spent, and its bound holds.
    fn refund(&self, n: u64) {
        let _ = n;
    }

    /// Takes `n` tokens, or none; returns what it takes to [take exactly those back](Self::take_back), however much later. The
    /// default, for limiters of your own, notes nothing but how many.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{FixedWindow, ManualClock, Quota, RateLimit};
    ///
    /// let clock = ManualClock::new();
    /// let limiter: &dyn RateLimit = &FixedWindow::with_clock(Quota::per_minute(5), clock.clone());
    /// let taken = limiter.take_n(5)?;
    /// clock.advance(Duration::from_secs(60));
    /// limiter.try_acquire_n(5)?;
    /// limiter.take_back(taken);
    /// assert_eq!(limiter.available(), 0); // the last minute's five are not this one's
    /// # Ok::<_, tollgate::Denied>(())
    /// ```
    fn take_n(&self, n: u64) -> Result<Taken, Denied> {
        self.try_acquire_n(n).map(|()| Taken::new(n, Nanos::ZERO))
    }

    /// As [`take_n`](Self::take_n), with the status that the decision has left: see
    /// [`try_acquire_n_with_status`](Self::try_acquire_n_with_status).
    fn take_n_with_status(&self, n: u64) -> (Result<Taken, Denied>, Status) {
        let (decision, status) = self.try_acquire_n_with_status(n);
        (decision.map(|()| Taken::new(n, Nanos::ZERO)), status)
    }

    /// Takes back what [`take_n`](Self::take_n) of this limiter has taken; returns whether the limiter is as if that had never
    /// been. Where it is not, the tokens stay spent; none is ever minted. See [`RateLimitAt::give_back`], which the limiters of
    /// this crate do.
    ///
    /// The default, for limiters of your own, is a [`refund`](Self::refund), with the bound that this leaves.
    fn take_back(&self, taken: Taken) -> bool {
        self.refund(taken.n());
        true
    }

    /// Whole tokens that can be taken now. Writes nothing.
    fn available(&self) -> u64 {
        self.status().remaining
    }

    /// Limit, tokens left and waiting times, as of now. Writes nothing.
    fn status(&self) -> Status;

    /// What the limiter was built for.
    fn quota(&self) -> Quota;

    /// The most tokens that one call can take.
    fn max_cost(&self) -> u64;
}

/// A limiter that can be told the time: for callers that decide on one reading for several limiters, or on recorded
/// instants. No method reads a clock. Object-safe.
///
/// Instants are those of the limiter's own clock, if it has one. Anybody may implement the trait; methods that are added
/// later will have defaults.
///
/// # Examples
///
/// ```
/// use tollgate::{Nanos, Quota, RateLimitAt, SlidingWindowLog, TokenBucket};
///
/// /// How many of these arrivals a limiter would have admitted.
/// fn replay(limiter: &dyn RateLimitAt, arrivals: &[Nanos]) -> usize {
///     arrivals.iter().filter(|&&at| limiter.try_acquire_n_at(1, at).is_ok()).count()
/// }
///
/// let arrivals = [0, 10, 20, 990, 1_000, 1_010].map(Nanos::from_millis);
/// assert_eq!(replay(&TokenBucket::new(Quota::per_second(2)), &arrivals), 4);
/// assert_eq!(replay(&SlidingWindowLog::new(Quota::per_second(2)), &arrivals), 4);
/// ```
pub trait RateLimitAt: RateLimit {
    /// Takes `n` tokens as of `now`, or none.
    ///
    /// # Errors
    ///
    /// As [`RateLimit::try_acquire_n`].
    fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied>;

    /// Takes `n` tokens as of `now`, or none; returns the decision and the status that it has left. See
    /// [`RateLimit::try_acquire_n_with_status`], also for the default.
    fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        let decision = self.try_acquire_n_at(n, now);
        (decision, self.status_at(now))
    }

    /// Takes as many tokens as there are at `now`, up to `n`; returns how many, which may be 0.
    fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64;

    /// Gives back `n` tokens as of `now`. See [`RateLimit::refund`].
    fn refund_at(&self, n: u64, now: Nanos) {
        let _ = (n, now);
    }

    /// Whether `n` tokens could be taken as of `now`. Takes nothing and writes nothing.
    ///
    /// The limiters of this crate answer as [`try_acquire_n_at`](Self::try_acquire_n_at) would at that moment, with the same
    /// hint. The default, for limiters of your own, knows nothing beforehand: it says yes, and the call is decided when it
    /// takes.
    ///
    /// # Errors
    ///
    /// As [`RateLimit::try_acquire_n`].
    fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        let _ = (n, now);
        Ok(())
    }

    /// Takes `n` tokens as of `now`, or none; returns what it takes to [give exactly that back](Self::give_back).
    ///
    /// # Errors
    ///
    /// As [`RateLimit::try_acquire_n`].
    fn take_n_at(&self, n: u64, now: Nanos) -> Result<Taken, Denied> {
        self.try_acquire_n_at(n, now).map(|()| Taken::new(n, now))
    }

    /// Gives back what [`take_n_at`](Self::take_n_at) of this limiter has taken; returns whether the limiter is as if that had
    /// never been. Where it is not, the tokens stay spent; none is ever minted.
    ///
    /// The default is a [`refund_at`](Self::refund_at) on the reading of the take.
    fn give_back(&self, taken: Taken) -> bool {
        self.refund_at(taken.n(), taken.at());
        self.takes_back()
    }

    /// Whether the limiter takes anything back. Of those of this crate, a [`SlidingWindowLog`](crate::SlidingWindowLog) alone
    /// does not.
    fn takes_back(&self) -> bool {
        true
    }

    /// Whole tokens that can be taken at `now`. Writes nothing.
    fn available_at(&self, now: Nanos) -> u64 {
        self.status_at(now).remaining
    }

    /// Limit, tokens left and waiting times, as of `now`. Writes nothing.
    fn status_at(&self, now: Nanos) -> Status;
}

/// A limiter with a limit for each key, whatever its hasher and clock. Object-safe.
///
/// Anybody may implement it. Methods that are added later will have defaults.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a rate limiter for keys of type `{K}`")]
pub trait KeyedRateLimit<K: ?Sized> {
    /// Takes `n` tokens of `key`, or none. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Denied`], which tells when the same call would be admitted, or that it never will be.
    fn try_acquire_n(&self, key: &K, n: u64) -> Result<(), Denied>;

    /// Takes one token of `key`, or none. Never blocks.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    fn try_acquire(&self, key: &K) -> Result<(), Denied> {
        self.try_acquire_n(key, 1)
    }

    /// Takes `n` tokens of `key`, or none; returns the decision and the status of the key that it has left. See
    /// [`RateLimit::try_acquire_n_with_status`], also for the default.
    fn try_acquire_n_with_status(&self, key: &K, n: u64) -> (Result<(), Denied>, Status) {
        let decision = self.try_acquire_n(key, n);
        (decision, self.status(key))
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    fn try_acquire_with_status(&self, key: &K) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(key, 1)
    }

    /// Gives back `n` tokens of `key` that were taken and not used. The default does nothing; see [`RateLimit::refund`].
    fn refund(&self, key: &K, n: u64) {
        let _ = (key, n);
    }

    /// Limit, tokens left and waiting times of `key`, as of now. Writes nothing.
    fn status(&self, key: &K) -> Status;

    /// Forgets `key` if it owes nothing; returns whether it owes nothing. The default remembers, and says that it does.
    fn forget(&self, key: &K) -> bool {
        let _ = key;
        false
    }

    /// What keys are limited to, unless a call says otherwise.
    fn quota(&self) -> Quota;
}
