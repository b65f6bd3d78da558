//! [`Handle`]: credits in plain memory.

use super::token_bucket::ShardedTokenBucket;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::lease::{Quiet, Slot};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use crate::timeline::Hint;
use alloc::sync::Arc;
use core::cell::Cell;
use core::fmt;
use core::ops::Deref;

/// One thread's own share of a [`ShardedTokenBucket`]: the fastest way to be admitted that there is.
///
/// It holds up to a batch of the bucket's tokens in plain memory: an admission is a subtraction, without any atomic
/// access, but for once a batch. It can be sent to another thread, but not shared. What it holds counts towards the
/// bucket's bound like anything else, and cannot be used by others until it is dropped; then it is left for whoever
/// comes.
///
/// The number of tokens that handles can hold is part of the bucket's reserve. When there are more handles than that
/// allows ([`ShardedTokenBucket::handles`]), the rest of them have no memory of their own and use the bucket's shards.
/// A handle that is leaked rather than dropped keeps its tokens and its place for ever.
///
/// [`ShardedTokenBucket::handle`] lends one out. One that keeps the bucket alive, to be stored beside it or moved into a
/// task, comes from [`ShardedTokenBucket::handle_owned`] and is a `Handle<'static>`.
///
/// Progress and ordering are the bucket's; an admission from the handle's own memory is wait-free.
///
/// # Examples
///
/// ```
/// use tollgate::{ManualClock, Quota, ShardedTokenBucket};
///
/// let bucket = ShardedTokenBucket::with_clock(Quota::per_second(1_000), ManualClock::new());
/// let before = bucket.available();
/// let handle = bucket.handle();
/// assert!(handle.try_acquire().is_ok());
/// assert_eq!(bucket.available() + handle.credits(), before - 1);
/// drop(handle);
/// assert_eq!(bucket.available(), before - 1);
/// ```
#[must_use = "a handle that is dropped at once gives its tokens back"]
pub struct Handle<'a, #[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    bucket: Kept<'a, C>,
    /// The number of the slot whose REFILL bit is held for as long as the handle lives (rule 7); without one, `credits`
    /// stays 0.
    slot: Option<usize>,
    credits: Cell<u64>,
    /// Until when the centre is known to be short (rule 8), and when a call that is denied because of it is admitted.
    quiet: Cell<Quiet>,
    due: Cell<Nanos>,
}

/// How a handle keeps its bucket. Looked at only when credits have run out.
enum Kept<'a, C> {
    Lent(&'a ShardedTokenBucket<C>),
    Owned(Arc<ShardedTokenBucket<C>>),
}

impl<C> Deref for Kept<'_, C> {
    type Target = ShardedTokenBucket<C>;

    #[inline]
    fn deref(&self) -> &ShardedTokenBucket<C> {
        match self {
            Self::Lent(bucket) => bucket,
            Self::Owned(bucket) => bucket,
        }
    }
}

impl<C> ShardedTokenBucket<C> {
    /// A share for one thread to keep: credits in plain memory, within the same bounds.
    ///
    /// There is room for [`handles`](Self::handles) at a time; further ones work too, through this bucket itself. Each
    /// keeps up to a batch of tokens for as long as it lives. Takes a scan of the slots.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::{Quota, ShardedTokenBucket};
    ///
    /// let bucket = ShardedTokenBucket::new(Quota::per_second(1_000_000));
    /// std::thread::scope(|scope| {
    ///     for _ in 0..2 {
    ///         scope.spawn(|| {
    ///             let handle = bucket.handle();
    ///             assert!((0..100).all(|_| handle.try_acquire().is_ok()));
    ///         });
    ///     }
    /// });
    /// ```
    pub fn handle(&self) -> Handle<'_, C> {
        Handle::new(Kept::Lent(self))
    }

    /// As [`handle`](Self::handle), but the handle keeps the bucket alive: it can be stored beside its bucket, or moved
    /// into a thread or a task that outlives the caller. Takes a scan of the slots.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tollgate::{Handle, Quota, ShardedTokenBucket};
    ///
    /// struct Worker {
    ///     limit: Arc<ShardedTokenBucket>,
    ///     share: Handle<'static>,
    /// }
    ///
    /// let limit = Arc::new(ShardedTokenBucket::new(Quota::per_second(1_000_000)));
    /// let worker = Worker { share: limit.handle_owned(), limit };
    /// let thread = std::thread::spawn(move || worker.share.try_acquire().is_ok() && worker.limit.try_acquire().is_ok());
    /// assert!(thread.join().unwrap());
    /// ```
    pub fn handle_owned(self: &Arc<Self>) -> Handle<'static, C> {
        Handle::new(Kept::Owned(Arc::clone(self)))
    }

    /// How many handles have credits of their own at a time: as many as there are [`shards`](Self::shards), or none where
    /// the burst is too small to be divided. Handles beyond that use the bucket itself.
    pub fn handles(&self) -> usize {
        self.slots.len() - self.shards()
    }
}

impl<'a, C> Handle<'a, C> {
    fn new(bucket: Kept<'a, C>) -> Self {
        let claim = |at: usize| Some((at, bucket.slots[at].claim()?));
        let claimed = (bucket.shards()..bucket.slots.len()).find_map(claim);
        let (slot, credits) = claimed.map_or((None, 0), |(at, credits)| (Some(at), credits));
        let (quiet, due) = (Cell::new(Quiet(0)), Cell::new(Nanos::ZERO));
        Self { bucket, slot, credits: Cell::new(credits), quiet, due }
    }

    /// The slot of its own, if it has one.
    #[inline]
    fn slot(&self) -> Option<&Slot> {
        self.slot.map(|at| &*self.bucket.slots[at])
    }

    /// Tokens that this handle holds.
    pub fn credits(&self) -> u64 {
        self.credits.get()
    }

    /// Spends `n` of its own, if there are that many.
    #[inline]
    fn spend(&self, n: u64) -> bool {
        let left = self.credits.get().checked_sub(n);
        if let Some(left) = left {
            self.credits.set(left);
        }
        left.is_some()
    }
}

impl<C: Clock> Handle<'_, C> {
    /// Takes one token, or none.
    ///
    /// # Errors
    ///
    /// As [`ShardedTokenBucket::try_acquire_n`].
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Denied> {
        self.try_acquire_n(1)
    }

    /// Takes `n` tokens, or none: from the handle, or else from the central word, or from any one slot.
    ///
    /// # Errors
    ///
    /// As [`ShardedTokenBucket::try_acquire_n`].
    #[inline]
    pub fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        if self.spend(n) { Ok(()) } else { self.acquire_elsewhere(n) }
    }

    /// Takes `n` tokens, or none; the handle is short. Most denials end here.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as for the bucket
    fn acquire_elsewhere(&self, n: u64) -> Result<(), Denied> {
        if self.slot.is_none() {
            return self.bucket.try_acquire_n(n);
        }
        let news = self.bucket.central.news(); // before the clock
        let now = self.bucket.clock.now(); // rule 7: the batch before has long been put away
        let due = self.due.get();
        if n == 1 && self.quiet.get().lasts(now, news, self.bucket.pause.most) && now < due {
            return Err(Denied::TryAfter(Hint::at(due, now)));
        }
        self.look(n, now, news)
    }

    /// Takes `n` tokens, or none; the handle is short and not quiet.
    #[inline(never)]
    fn look(&self, n: u64, now: Nanos, news: u64) -> Result<(), Denied> {
        let bucket = &*self.bucket;
        match bucket.central.look(n, now) {
            Ok(_) => self.draw(n, now),
            Err(denied) => bucket.steal_or(n, denied).map_err(|denied| match bucket.pause(n, &denied, news) {
                Some((quiet, due)) => {
                    self.quiet.set(quiet);
                    self.due.set(due);
                    Denied::TryAfter(Hint::at(due, now))
                }
                None => denied,
            }),
        }
    }

    /// Draws `n` tokens, and what the handle has room for.
    #[inline(never)]
    fn draw(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        let held = self.credits.get();
        match self.bucket.central.draw(n, n + (self.bucket.batch - held), now) {
            Ok(drawn) => {
                self.credits.set(held + (drawn - n));
                Ok(())
            }
            Err(denied) => self.bucket.steal_or(n, denied),
        }
    }

    /// Takes `n` tokens, or none; returns the decision and the status that it has left, as in
    /// [`ShardedTokenBucket::try_acquire_n_with_status`] with what this handle holds besides.
    pub fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        if self.spend(n) {
            return (Ok(()), self.bucket.status_with(self.credits.get()));
        }
        if self.slot.is_none() {
            return self.bucket.try_acquire_n_with_status(n);
        }
        self.bucket.draw_with_status(n, self.credits.get())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// Takes as many tokens as there are, up to `n`, from wherever they are; returns how many, which may be 0.
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        if self.try_acquire_n(n).is_ok() {
            return n;
        }
        let own = self.credits.replace(0); // fewer than n
        own + self.bucket.try_acquire_up_to(n - own)
    }

    /// Gives `n` tokens back to the bucket; see [`ShardedTokenBucket::refund`].
    pub fn refund(&self, n: u64) {
        self.bucket.refund(n);
    }

    /// Whole tokens that could be taken now, one at a time, as in [`ShardedTokenBucket::available`] with what this handle
    /// holds besides.
    pub fn available(&self) -> u64 {
        self.bucket.available().saturating_add(self.credits()).min(self.bucket.quota().burst())
    }

    /// Limit, tokens left and waiting times, as in [`ShardedTokenBucket::status`] with what this handle holds besides.
    pub fn status(&self) -> Status {
        self.bucket.status_with(self.credits.get())
    }

    /// What the bucket was built for.
    pub fn quota(&self) -> Quota {
        self.bucket.quota()
    }

    /// The most tokens that one call can take: the bucket's [`max_cost`](ShardedTokenBucket::max_cost).
    pub fn max_cost(&self) -> u64 {
        self.bucket.max_cost()
    }
}

impl<C> Drop for Handle<'_, C> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot() {
            let credits = self.credits.get();
            slot.finish(credits);
            if credits > 0 {
                self.bucket.central.count_deposit();
                self.bucket.central.tell();
            }
        }
    }
}

delegate!([C: Clock] Handle<'_, C> => Self, refunds alone);

impl<C> fmt::Debug for Handle<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("quota", &self.bucket.quota())
            .field("credits", &self.credits)
            .finish_non_exhaustive()
    }
}
