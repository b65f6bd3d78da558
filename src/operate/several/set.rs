//! [`LimitSet`]: the type, and how a call is decided. Rules are those of the module.

use super::denied::DeniedBy;
use super::error::LimitSetError;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::nanos::Nanos;
use crate::rate_limit::RateLimitAt;
use core::fmt;

/// Several limits at once: a call takes of all of them, each its own cost, or of none.
///
/// `L` is a limiter, or what points to one: an array of one type of limiter, of references, of `Arc`s, or of trait objects
/// for any mix: `[&(dyn RateLimitAt + Sync); N]`. A limit by key takes part as [`KeyedLimiter::line`](crate::KeyedLimiter::line).
/// A limiter that stands behind a pointer can be in any number of sets, and be called beside them: one limit for all, as the
/// parent of many.
///
/// What refuses most often is best put first: it is taken of first, so that nothing need be given back when it is gone. All limits
/// must go by one clock, which is the set's. Where some of the `N` are not wanted, fill up with limits of
/// [`Quota::UNLIMITED`](crate::Quota::UNLIMITED), which cost nothing.
///
/// # Bound
///
/// Each limit keeps its own, in whatever sets it stands and whoever else calls it. A call that is refused leaves each limit as if it had
/// never come, with one exception, never in the caller's favour: if a limit was gone between the look and the take, and if
/// meanwhile somebody else has taken of a bucket before it, then what was taken of that bucket stays spent. [`DeniedBy::spent`]
/// says so. A window always takes back, and so does a [`WaitingTokenBucket`](crate::WaitingTokenBucket), which has room for it; its plain calls cost the same.
///
/// # Progress and ordering
///
/// Lock-free, and heapless. A refusal writes nothing, but for a late one ([`DeniedBy::is_late`]), which writes as much as it had taken and gives
/// back. In between, another call may be refused for want of what it holds: for as long as the takes after it last, some ten
/// nanoseconds each, unless the thread is stopped there. Two calls can so refuse each other; not if all sets have the limits that they
/// share in one order. No happens-before edge.
///
/// # Examples
///
/// ```
/// use tollgate::{DeniedBy, FixedWindow, LimitSet, Quota, RateLimitAt, TokenBucket};
///
/// static BURSTS: TokenBucket = TokenBucket::new(Quota::per_second(10));
/// static HOURLY: FixedWindow = FixedWindow::new(Quota::per_hour(1_000));
/// static BYTES: TokenBucket = TokenBucket::new(Quota::per_hour(5_000_000));
/// static UPLOADS: LimitSet<&(dyn RateLimitAt + Sync), 3> = LimitSet::new([&BURSTS, &HOURLY, &BYTES]);
///
/// /// One call, and so many bytes.
/// fn upload(bytes: u64) -> Result<(), DeniedBy> {
///     UPLOADS.try_acquire_n([1, 1, bytes])
/// }
///
/// assert!(upload(4_000_000).is_ok());
/// let denied = upload(4_000_000).unwrap_err();
/// assert!(denied.limits().eq([2]));
/// assert_eq!((BURSTS.available(), HOURLY.available()), (9, 999)); // the refused call has taken nothing
/// ```
///
/// One limit for all, and one for each client, in a set that is made for the call and costs nothing but the client's hash:
///
/// ```
/// use tollgate::{DeniedBy, KeyedLimiter, LimitSet, Quota, RateLimitAt, TokenBucket};
///
/// struct Service {
///     all: TokenBucket,
///     clients: KeyedLimiter<str>,
/// }
///
/// impl Service {
///     fn admit(&self, client: &str) -> Result<(), DeniedBy> {
///         let limits: [&dyn RateLimitAt; 2] = [&self.clients.line(client), &self.all];
///         LimitSet::new(limits).try_acquire()
///     }
/// }
///
/// let service = Service {
///     all: TokenBucket::new(Quota::per_hour(3)),
///     clients: KeyedLimiter::new(Quota::per_hour(2), 1_000),
/// };
/// let admitted = ["alice", "alice", "alice", "bob", "bob"].map(|client| service.admit(client).is_ok());
/// assert_eq!(admitted, [true, true, false, true, false]);
/// assert_eq!(service.clients.status("bob").remaining, 1); // what was gone was the limit for all
/// ```
#[derive(Clone, Copy)]
pub struct LimitSet<L, const N: usize, #[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    limits: [L; N],
    clock: C,
}

#[cfg(feature = "std")]
impl<L, const N: usize> LimitSet<L, N> {
    /// These limits, on the default clock. From 1 to 64, or it does not compile.
    ///
    /// A limiter that takes nothing back must be the last. That is not looked at here, so that sets can be `static`; where there is
    /// such a one, see [`try_new`](Self::try_new). If it is not the last, a late refusal leaves its tokens spent.
    pub const fn new(limits: [L; N]) -> Self {
        Self::with_clock(limits, DefaultClock)
    }

    /// As [`new`](Self::new), but looks at what takes nothing back.
    ///
    /// # Errors
    ///
    /// [`LimitSetError::TakesNothingBack`] if that is not the last.
    pub fn try_new(limits: [L; N]) -> Result<Self, LimitSetError>
    where
        L: RateLimitAt,
    {
        Self::try_with_clock(limits, DefaultClock)
    }
}

impl<L, const N: usize, C> LimitSet<L, N, C> {
    /// As [`new`](LimitSet::new), on `clock`, which is the limiters' own.
    pub const fn with_clock(limits: [L; N], clock: C) -> Self {
        const { assert!(1 <= N && N <= DeniedBy::MOST, "a set has one limit at least, and 64 at most") };
        Self { limits, clock }
    }

    /// As [`try_new`](LimitSet::try_new), on `clock`, which is the limiters' own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](LimitSet::try_new).
    pub fn try_with_clock(limits: [L; N], clock: C) -> Result<Self, LimitSetError>
    where
        L: RateLimitAt,
    {
        match limits[..N - 1].iter().position(|limit| !limit.takes_back()) {
            Some(limit) => Err(LimitSetError::TakesNothingBack { limit }),
            None => Ok(Self::with_clock(limits, clock)),
        }
    }

    pub(crate) const fn clock(&self) -> &C {
        &self.clock
    }

    /// The limits, in order.
    pub const fn limits(&self) -> &[L; N] {
        &self.limits
    }
}

impl<L: RateLimitAt, const N: usize, C> LimitSet<L, N, C> {
    /// Takes of each limit its cost as of `now`, or of none: the primitive under every other form. No clock is read.
    ///
    /// A limit that costs 0 takes no part.
    ///
    /// # Errors
    ///
    /// [`DeniedBy`] all limits that refuse.
    pub fn try_acquire_n_at(&self, costs: [u64; N], now: Nanos) -> Result<(), DeniedBy> {
        self.check_n_at(costs, now)?;
        take(0, &self.limits, &costs, now)
    }

    /// Whether all limits would admit their costs as of `now`. Takes nothing, writes nothing, and reads no clock.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn check_n_at(&self, costs: [u64; N], now: Nanos) -> Result<(), DeniedBy> {
        look(0, &self.limits, &costs, now, None).map_or(Ok(()), Err)
    }
}

impl<L: RateLimitAt, const N: usize, C: Clock> LimitSet<L, N, C> {
    /// Takes one token of each limit, or of none.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    pub fn try_acquire(&self) -> Result<(), DeniedBy> {
        self.try_acquire_n([1; N])
    }

    /// Takes of each limit its cost, or of none. Reads the clock once.
    ///
    /// # Errors
    ///
    /// [`DeniedBy`] all limits that refuse: those that have too few tokens now, and those that never will have as many.
    pub fn try_acquire_n(&self, costs: [u64; N]) -> Result<(), DeniedBy> {
        self.try_acquire_n_at(costs, self.clock.now())
    }

    /// Whether all limits would admit their costs now. Takes nothing and writes nothing.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    pub fn check_n(&self, costs: [u64; N]) -> Result<(), DeniedBy> {
        self.check_n_at(costs, self.clock.now())
    }
}

impl<L, const N: usize, C> fmt::Debug for LimitSet<L, N, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitSet").field("limits", &N).finish_non_exhaustive()
    }
}

/// Rule 2: who refuses, of limits that are numbered from `first` on, besides those who are known to.
#[inline]
fn look<L: RateLimitAt>(
    first: usize,
    limits: &[L],
    costs: &[u64],
    now: Nanos,
    known: Option<DeniedBy>,
) -> Option<DeniedBy> {
    let asked = limits.iter().zip(costs).zip(first..);
    asked.fold(known, |known, ((limit, &cost), number)| match limit.check_n_at(cost, now) {
        Ok(()) => known,
        Err(denied) => Some(DeniedBy::and_by(known, number, denied)),
    })
}

/// Rules 3 and 4: takes of all limits, which are numbered from `first` on, or of none.
///
/// Each receipt is on the stack of its own call, so that giving back goes the way back. There are 64 at most.
fn take<L: RateLimitAt>(first: usize, limits: &[L], costs: &[u64], now: Nanos) -> Result<(), DeniedBy> {
    let (Some((limit, limits)), Some((&cost, costs))) = (limits.split_first(), costs.split_first()) else {
        return Ok(());
    };
    let taken = limit.take_n_at(cost, now).map_err(|denied| {
        let denied = DeniedBy::and_by(None, first, denied).late();
        look(first + 1, limits, costs, now, Some(denied)).unwrap_or(denied)
    })?;
    let rest = take(first + 1, limits, costs, now);
    rest.map_err(|denied| if limit.give_back(taken) { denied } else { denied.and_spent(first) })
}
