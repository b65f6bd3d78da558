//! The sliding window log: a lock-free ring of instants.
//!
//! An exact log of limit `L` and period `W` admits a call at `now` iff the unit admitted `L` units ago is at least `W`
//! old. So it needs the last `L` units and no more, in a ring: what a call overwrites is what it has to look at. A slot
//! holds, instead of the instant of an admission, the instant at which it is *free again*, `W` later.
//!
//! # Rules
//!
//! ```text
//! rule 1  order     Units have positions, in the order of admission: a lap and a slot. A slot holds the unit admitted
//!                   there last. The front is the first position not taken; its slot holds the unit of a lap ago.
//! rule 2  admit     What admits is one CAS on the front's slot, from the unit of a lap ago: to a unit, for a cost of 1;
//!                   to the mark of a group, for more. Nothing else does.
//! rule 3  look      Read the head; walk to the front; read slots beyond it; read the front's slot and the head again.
//!                   If those two are as before, everything seen was there at once.
//! rule 4  help      Whoever meets a group's mark writes the group down: a unit in each of its other slots, then a unit in
//!                   place of the mark. No position behind it is taken before. Nobody waits for anybody.
//! rule 5  clamp     A unit is due at max(reading + W, when the unit before it is due). So slots are free in order.
//! rule 6  decide    Admit n iff the n-th slot from the front on is due at the reading or before. A reading counts for
//!                   itself, even if it is older than the newest unit.
//! rule 7  grow      The word of a slot, as an instant, only grows, and so does the head. So a CAS on a word seen earlier
//!                   succeeds only if nothing has happened there since, and a late helper changes nothing.
//! rule 8  follow    All before the head is written down. It moves by CAS. Nothing is admitted but at the head, so that
//!                   no slot is ever more than a lap ahead of it, and a single bit tells this lap from the last.
//! rule 9  describe  A group's mark names a record that holds its size and when it is due. The record is written before
//!                   the mark is set, and stays as it is until the mark is gone. What was read of it counts only if the
//!                   mark is there afterwards.
//! rule 10 forgive   An instant F, which only grows, is raised to when the newest unit is due. It is read while the front
//!                   is looked at; slots due at F or before are free, and what is then admitted is due after F.
//! ```
//!
//! # Why it is strict
//!
//! A slot passes from a unit due at `d` to another only on a reading of at least `d` (rules 2 and 6, for a group's other
//! slots with rule 5), and `d` is at least the earlier unit's reading plus `W` (rule 5). So any two readings on which a
//! slot was taken lie at least `W` apart, and a half-open span of length `W` has at most one of each slot: at most `L`.
//! This needs neither order nor the head, only that a slot's word grows (rule 7).
//!
//! A slot that is forgiven is taken once more, before `d`, and is due later than `d` then (rule 10), so that its word grows
//! as well. A call that is about to admit while F is raised may not have seen that. If its unit is then due at F or before, it
//! counts as admitted before, on the state that it was decided on. So what comes before and what comes after keep the bound.
//!
//! # Why it is exact
//!
//! Admissions are in one order (rule 1, rule 2), and each is decided on the slot that the exact log would look at, in
//! the state that its CAS replaces; a refusal is decided on a state that was there at once (rule 3). So all calls are
//! linearizable: they take effect in one order, as on a sequential log that admits by rule 6 and records by rule 5.
//!
//! # Why a group needs a record
//!
//! Size and instant of a group are more than 64 bits, and both must be known to helpers from the CAS on. A record is
//! held from before that CAS until the group is written down. There are 64. A call that is stopped in between keeps its
//! record, and nobody waits for it, unless 64 are: then the next call of a cost above 1 has no record left, and waits
//! until one of them goes on. Calls of cost 1 never wait.

mod course;
mod records;
mod ring;
mod saved;
mod slot;

use crate::build_error::BuildError;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use crate::timeline::Hint;
use core::fmt;
use core::time::Duration;
use ring::{Ring, Survey};

/// How many groups can be in the making at once.
const RECORDS: usize = if cfg!(all(loom, feature = "loom")) { 4 } else { 64 };

/// The largest limit: 2^32, or what a machine of fewer than 64 bits can address.
const LARGEST: u64 = if usize::BITS < 64 { isize::MAX as u64 / 8 } else { 1 << 32 };

/// The last reading that a slot can hold: 146 years from the clock's origin.
const END: Nanos = Nanos(slot::LATEST - 1);

/// At most `tokens` in any span of one `period`, exactly: a sliding window log. The quota's burst has no meaning
/// here.
///
/// It remembers when each of the last `tokens` units was admitted, in a lock-free ring of instants.
///
/// Bound: no half-open span of one period, `[t, t + period)`, ever holds more than `tokens` units, by the readings
/// on which they were admitted, whatever the threads and clocks do. It refuses nothing that such a log has room
/// for. A reading that is older than the newest unit counts for itself when the call is decided, and as the
/// newest one when it is remembered: it may be refused, and it never adds room.
///
/// A log serves for 146 years from its clock's origin; every later reading counts as the last instant of those.
/// A clock that was ahead can shut it until a period after that instant; see [`Steady`](crate::Steady) for the way out.
///
/// # Cost
///
/// A call of cost 1 takes the same time whatever the limit: an admission is two compare-and-swaps or fewer, a
/// refusal a few loads. A cost of `n` takes `n` compare-and-swaps. Nothing is divided.
///
/// Memory: 8 bytes for each unit of the limit, and a fixed 1.1 KiB, allocated once by the constructor.
///
/// # Progress and ordering
///
/// Every method is lock-free, with one exception, and a thread that is stopped anywhere holds nobody up: what it
/// has begun is completed by the next call. The exception: of calls with a cost above 1, each uses one of 64
/// records for a moment; while 64 threads are all stopped in that moment, the next such call spins. No method
/// panics, allocates or makes a system call, unless the clock does.
///
/// A refusal writes nothing of its own, but may complete a call that another thread has begun. Methods that only
/// read write nothing. Decisions are linearizable. Callers get no happens-before edge to rely on.
///
/// There is no `refund`, though all can be [forgiven](Self::forgive): a unit is an instant amid others, and to take it out
/// would mean to move all that came after. Where calls come back, use a [`TokenBucket`](crate::TokenBucket).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, Quota, SlidingWindowLog};
///
/// let clock = ManualClock::new();
/// let log = SlidingWindowLog::with_clock(Quota::per_minute(100), clock.clone());
/// clock.advance(Duration::from_secs(59));
/// assert_eq!(log.try_acquire_up_to(100), 100);
/// clock.advance(Duration::from_secs(1));
/// let denied = log.try_acquire().unwrap_err(); // a new minute, but the last hundred are a second old
/// assert_eq!(denied.retry_after(), Some(Duration::from_secs(59)));
/// ```
#[repr(align(64))] // the head's cache line, and no other limiter on it
pub struct SlidingWindowLog<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    /// No slots if the quota is [`Quota::UNLIMITED`] or [`Quota::DENY_ALL`].
    ring: Ring,
    /// The most that one call can cost.
    limit: u64,
    period: u64,
    /// By how much the ring's time is ahead of the clock's: 0 unless units were restored that are older than the clock.
    ahead: u64,
    clock: C,
}

#[cfg(feature = "std")]
impl SlidingWindowLog<DefaultClock> {
    /// A log on the default clock, with nothing in it. Allocates its memory; takes no reading of the clock.
    ///
    /// # Panics
    ///
    /// If the quota does not fit; see [`try_new`](Self::try_new).
    pub fn new(quota: Quota) -> Self {
        Self::with_clock(quota, DefaultClock)
    }

    /// As [`new`](Self::new), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// As [`try_with_clock`](Self::try_with_clock).
    pub fn try_new(quota: Quota) -> Result<Self, BuildError> {
        Self::try_with_clock(quota, DefaultClock)
    }
}

impl<C> SlidingWindowLog<C> {
    /// A log on `clock`, with nothing in it. Allocates its memory; takes no reading of the clock.
    ///
    /// # Panics
    ///
    /// If the quota does not fit; see [`try_with_clock`](Self::try_with_clock).
    pub fn with_clock(quota: Quota, clock: C) -> Self {
        Self::try_with_clock(quota, clock).unwrap_or_else(|error| error.panic())
    }

    /// As [`with_clock`](Self::with_clock), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// [`BuildError::LogTooLong`] for a limit above 2^32; [`BuildError::OutOfMemory`] where there is not enough memory.
    pub fn try_with_clock(quota: Quota, clock: C) -> Result<Self, BuildError> {
        let limit = quota.tokens();
        let slots = if quota.is_unlimited() { 0 } else { limit };
        if slots > LARGEST {
            return Err(BuildError::LogTooLong { largest: LARGEST });
        }
        #[allow(clippy::cast_possible_truncation)] // at most what can be addressed
        let ring = Ring::try_new(slots as usize).map_err(|_| BuildError::OutOfMemory { bytes: slots * 8 })?;
        Ok(Self { ring, limit, period: quota.period_nanos(), ahead: 0, clock })
    }

    /// Takes `n` tokens as of `now`, or none: the primitive under every other form. No clock is read.
    ///
    /// `now` must be an instant of the clock that drives this log. One that is older than the newest unit counts for
    /// itself: what was free at `now`, less what was taken since.
    ///
    /// A cost of 0 is always admitted and writes nothing.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens at `now`; [`Denied::ExceedsBurst`] if `n` is above
    /// [`max_cost`](Self::max_cost), so that there never will be.
    #[inline]
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        if n.wrapping_sub(1) >= self.ring.len() as u64 {
            return self.without_the_ring(n);
        }
        let reading = self.in_the_ring(now);
        #[allow(clippy::cast_possible_truncation)] // at most the number of slots
        let taken = self.ring.take(n as usize, reading, self.period - 1, Nanos(reading.0 + 1));
        taken.map_err(|due| Denied::TryAfter(self.told(due, now)))
    }

    /// Whether `n` tokens could be taken as of `now`. Takes nothing, writes nothing, and reads no clock.
    ///
    /// # Errors
    ///
    /// Those of [`try_acquire_n_at`](Self::try_acquire_n_at), with the same hint.
    pub fn check_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        if n.wrapping_sub(1) >= self.ring.len() as u64 {
            return self.without_the_ring(n);
        }
        #[allow(clippy::cast_possible_truncation)] // at most the number of slots
        self.ring.check(n as usize, self.reading(now).0).map_err(|due| Denied::TryAfter(self.told(due, now)))
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), as of `now`. No clock is read.
    ///
    /// Takes `O(log limit)` steps more than [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        if n.wrapping_sub(1) >= self.ring.len() as u64 {
            return (self.without_the_ring(n), self.status_at(now));
        }
        let (reading, due) = self.reading(now);
        #[allow(clippy::cast_possible_truncation)] // at most the number of slots
        let (decision, survey) = self.ring.take_and_survey(n as usize, reading, due);
        (decision.map_err(|due| Denied::TryAfter(self.told(due, now))), self.status_of(survey, now))
    }

    /// Costs that no slot decides about: 0, more than the limit, and any if there are no slots.
    #[cold]
    fn without_the_ring(&self, n: u64) -> Result<(), Denied> {
        if n <= self.limit {
            return Ok(());
        }
        Err(Denied::ExceedsBurst { cost: n, max_cost: self.limit })
    }

    /// Which of the ring's instants have come at `now`, and the one until which a unit admitted on it takes its slot.
    ///
    /// The ring's instants are the clock's, a period less a nanosecond earlier. So both fit whatever the period, and a
    /// slot that was never taken is free at once, for its instant is 0.
    #[inline]
    fn reading(&self, now: Nanos) -> (Nanos, Nanos) {
        let reading = self.in_the_ring(now);
        (Nanos(reading.0.saturating_sub(self.period - 1)), Nanos(reading.0 + 1))
    }

    /// A reading in the ring's time.
    #[inline]
    fn in_the_ring(&self, now: Nanos) -> Nanos {
        match now.0.checked_add(self.ahead) {
            Some(reading) if reading <= END.0 => Nanos(reading),
            _ => Self::after_the_end(),
        }
    }

    /// Branches that are never taken cost a call less than a sum and a minimum that stop there.
    #[cold]
    const fn after_the_end() -> Nanos {
        END
    }

    /// When one of the ring's instants comes.
    fn told(&self, due: Nanos, now: Nanos) -> Hint {
        let due = if due == Nanos::ZERO { due } else { Nanos((due.0 + (self.period - 1)).saturating_sub(self.ahead)) };
        Hint::at(due, now).until(END)
    }

    /// As [`try_acquire`](Self::try_acquire), as of `now`. No clock is read.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    #[inline]
    pub fn try_acquire_at(&self, now: Nanos) -> Result<(), Denied> {
        self.try_acquire_n_at(1, now)
    }

    /// As [`try_acquire_up_to`](Self::try_acquire_up_to), as of `now`. No clock is read.
    pub fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        if self.ring.len() == 0 {
            return n.min(self.limit);
        }
        let (reading, due) = self.reading(now);
        self.ring.take_up_to(usize::try_from(n).unwrap_or(usize::MAX), reading, due) as u64
    }

    /// As [`available`](Self::available), as of `now`. No clock is read.
    pub fn available_at(&self, now: Nanos) -> u64 {
        self.status_at(now).remaining
    }

    /// As [`status`](Self::status), as of `now`. No clock is read.
    pub fn status_at(&self, now: Nanos) -> Status {
        let limit = self.limit;
        if self.ring.len() == 0 {
            let retry_after = (limit > 0).then_some(Duration::ZERO);
            return Status::new(limit, limit, retry_after, Duration::ZERO);
        }
        self.status_of(self.ring.survey(self.reading(now).0), now)
    }

    fn status_of(&self, survey: Survey, now: Nanos) -> Status {
        let [oldest, newest] = [survey.oldest, survey.newest]
            .map(|due| self.told(if due > survey.forgiven { due } else { Nanos::ZERO }, now));
        Status::new(self.limit, survey.free as u64, oldest.retry_after_if_ever(), newest.retry_after())
    }

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
        let largest = self.limit;
        let Some(missing) = largest.checked_sub(tokens) else {
            return Err(BuildError::InitialTooLarge { largest });
        };
        let missing = missing.saturating_sub(largest - self.available_at(now)); // what it has admitted before
        self.try_acquire_up_to_at(missing, now);
        Ok(self)
    }

    /// Forgets all that the log has admitted so far, so that there is room for the whole limit at once. It needs no reading.
    ///
    /// For a person who lifts a limit by hand. Bound: of what is admitted before and what is admitted after, each keeps the
    /// log's bound for itself. So a span in which it was called `k` times holds at most `k + 1` times the limit.
    ///
    /// A unit that is admitted afterwards counts for longer than what was forgiven: for a nanosecond more than a period, where
    /// all that is on one reading; and where a clock was far ahead, until that clock's instant is past. So the whole limit is
    /// there once, and no more before then; see [`Steady`](crate::Steady) for such clocks.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, SlidingWindowLog};
    ///
    /// let log = SlidingWindowLog::new(Quota::per_hour(10));
    /// assert!(log.try_acquire_n(10).is_ok() && log.try_acquire().is_err());
    /// log.forgive();
    /// assert_eq!(log.available(), 10);
    /// ```
    pub fn forgive(&self) {
        if self.ring.len() > 0 {
            self.ring.forgive();
        }
    }

    /// What the log was built for; its burst is the limit.
    pub const fn quota(&self) -> Quota {
        match self.limit {
            u64::MAX => Quota::UNLIMITED,
            0 => Quota::DENY_ALL,
            limit => Quota::from_valid(limit, self.period, limit),
        }
    }

    /// The most tokens that one call can take: the limit. A larger cost can never be admitted.
    pub const fn max_cost(&self) -> u64 {
        self.limit
    }
}

impl<C: Clock> SlidingWindowLog<C> {
    /// The same log with room for `tokens` for the time being instead of with nothing in it: all else counts as admitted
    /// now. Reads the clock.
    ///
    /// Takes `O(limit)` steps.
    ///
    /// # Panics
    ///
    /// If `tokens` is above [`max_cost`](Self::max_cost); see [`try_with_initial`](Self::try_with_initial).
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, SlidingWindowLog};
    ///
    /// let cold = SlidingWindowLog::new(Quota::per_hour(50)).with_initial(5);
    /// assert_eq!(cold.available(), 5);
    /// ```
    #[must_use]
    pub fn with_initial(self, tokens: u64) -> Self {
        self.try_with_initial(tokens).unwrap_or_else(|error| error.panic())
    }

    /// As [`with_initial`](Self::with_initial), but reports what does not fit.
    ///
    /// # Errors
    ///
    /// [`BuildError::InitialTooLarge`] if `tokens` is above [`max_cost`](Self::max_cost).
    pub fn try_with_initial(self, tokens: u64) -> Result<Self, BuildError> {
        let now = self.clock.now();
        self.try_with_initial_at(tokens, now)
    }

    /// Takes one token, or none.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Takes `n` tokens, or none. A cost of 0 is always admitted.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if there are fewer than `n` tokens now; [`Denied::ExceedsBurst`] if `n` is above
    /// [`max_cost`](Self::max_cost), so that there never will be.
    #[inline]
    pub fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        self.try_acquire_n_at(n, self.clock.now())
    }

    /// Takes `n` tokens, or none; returns the decision and the status that it has left, admitted or denied: as of
    /// that very decision, on the same reading of the clock.
    pub fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status_at(n, self.clock.now())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// Takes as many tokens as there are, up to `n`; returns how many, which may be 0.
    ///
    /// Finds out how many by binary search.
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        self.try_acquire_up_to_at(n, self.clock.now())
    }

    /// Tokens that can be taken now, at most [`max_cost`](Self::max_cost). Exact as of one instant; writes nothing.
    ///
    /// Takes `O(log limit)` steps.
    pub fn available(&self) -> u64 {
        self.status().remaining
    }

    /// Limit, tokens left and waiting times, all as of the same instant. Writes nothing.
    ///
    /// Takes `O(log limit)` steps.
    pub fn status(&self) -> Status {
        self.status_at(self.clock.now())
    }
}

delegate!([C: Clock] SlidingWindowLog<C> => Self, nothing back);
delegate!(at [C: Clock] SlidingWindowLog<C> => Self, nothing back);

impl<C> fmt::Debug for SlidingWindowLog<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlidingWindowLog").field("quota", &self.quota()).finish_non_exhaustive()
    }
}
