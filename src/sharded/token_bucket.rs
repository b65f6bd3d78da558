//! [`ShardedTokenBucket`]: the type. Rules are those of the module.

use super::central::Central;
use crate::algorithm::Gcra;
use crate::cell::StateCell;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::DefaultClock;
use crate::decision::{Denied, Status};
use crate::lease::{self, Pause, Quiet, Refill, Slot};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::rate_limit::delegate;
use crate::timeline::Hint;
use alloc::boxed::Box;
use core::fmt;
use core::time::Duration;
use crossbeam_utils::CachePadded;

/// With so many tokens left a refill is worth its cost in any case, however large a batch may be.
const ENOUGH: u64 = 512;

/// A token bucket whose threads admit from words of their own, and which never admits more for it.
///
/// Each thread spends credits from its *shard*, a padded word; they were taken from a central word in a batch. An
/// admission costs one read-modify-write on a line that nobody else is using, and reads no clock but for once a batch. A
/// denial reads the clock and its own shard; only the first of a pause looks elsewhere, and notes there what it found. For a thread that can keep it, a [`handle`](Self::handle) is faster still.
///
/// Use it where many calls per second are *admitted*; for low limits a [`TokenBucket`](crate::TokenBucket) does as well,
/// since denials are only reads there too.
///
/// # Bounds
///
/// For any two instants `s <= t` of the clock, at most `burst + rate * (t - s)` tokens are admitted in `[s, t]`. A call
/// counts at the reading of the clock on which it took tokens from the central word, or at the moment in which it took
/// credits. Clocks that disagree by `e` add at most `2 * rate * e`, as for any limiter.
///
/// A [`TokenBucket`](crate::TokenBucket) keeps this bound to a unit of its scale, which is a part of a token at rates below
/// 2e9 per second, and a token or more from there up. Here a divided burst has a token in reserve for that, or a unit if
/// that is more. One that is not divided keeps back a unit where that is a token or more and the burst has more than that;
/// at lower rates it may be over by the part of a token that a unit is.
///
/// After [`refund`](Self::refund)s it holds for what is admitted less what was given back meanwhile.
///
/// Under-admission: a call may be denied although a [`TokenBucket`](crate::TokenBucket) of the same quota would admit it.
/// Let `r = burst - max_cost()`, which is at most an eighth of a divided burst; of one that is not divided, nothing, or a
/// unit where that is a token or more.
///
/// * Calls of cost 1, while there is no handle, are short of at most `r` tokens: those that are kept back for credits.
///   They find the credits in every shard.
/// * A larger cost cannot be paid with credits from several shards, and nobody but a handle's owner can use what the
///   handle holds: together at most `2 * r` tokens, a quarter of the burst, are out of reach.
///
/// While there is demand this does not grow: every token that falls due is admitted in the long run, be it by one thread
/// alone. But an idle period fills the central word alone, not the slots, since nobody can tell when their credits were
/// spent. So each idle period that is long enough to fill the bucket costs up to `r` again (with handles, or larger
/// costs, `2 * r`). Traffic that comes in bursts, and each time takes all there is, gets the part `max_cost() / burst` of
/// what a token bucket admits: 119 of 136, seven eighths for bursts up to about a million, and nearly all for far larger
/// ones, whose reserve is limited by the size of batches. Ask for fewer shards where that matters, or for a larger burst.
///
/// In saturation, at rates from two million per second up, tokens are left to fall due for a moment before a thread that was
/// denied looks for them again: 2 us, or as long as half a batch takes if that is less. So long may a call of cost 1 be
/// denied although [`available`](Self::available) has tokens by then; its hint says so, and the tokens are not lost. A refund is
/// noticed at once, and at lower rates so is every token.
///
/// # Sizes
///
/// A burst below 136 is not divided: every call then goes to the central word, which makes this an exact
/// [`TokenBucket`](crate::TokenBucket), of a burst smaller by a unit where that is a token or more. Larger ones get a power of two of shards (by default as many as there are cores,
/// and at least 16), as many slots for handles, and equal batches of up to 4096 credits, so that all together are at
/// most an eighth of the burst. Where that would make batches smaller than 8 credits, or than the number of shards, there
/// are fewer shards. Each shard and each slot takes 128 bytes.
///
/// A thread gets a number when it first uses a sharded bucket, the lowest that is free, and gives it back when it ends:
/// as many threads as there are shards have a shard each, and when there are more, some share one. Without the feature
/// `std` one thread cannot be told from another, and there is one shard.
///
/// # Progress and ordering
///
/// Lock-free: a thread that is suspended anywhere, even in a refill, blocks nobody. An admission of one token from the
/// thread's own shard is wait-free. No method panics, blocks or makes a system call, unless the clock does. Construction
/// allocates, and a thread's very first call may, to note what is to be done when the thread ends. A limiter gives its
/// callers no happens-before edge. Denials are not linearizable: a call may be denied while another, suspended in the
/// middle of a refill, has tokens in hand.
///
/// # Examples
///
/// ```
/// use std::sync::LazyLock;
/// use tollgate::{Quota, ShardedTokenBucket};
///
/// static PACKETS: LazyLock<ShardedTokenBucket> =
///     LazyLock::new(|| ShardedTokenBucket::new(Quota::per_second(50_000_000).with_burst(1_000_000)));
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| assert!(PACKETS.try_acquire().is_ok()));
///     }
/// });
/// ```
pub struct ShardedTokenBucket<#[cfg(feature = "std")] C = DefaultClock, #[cfg(not(feature = "std"))] C> {
    /// First the shards, then the slots for handles.
    pub(super) slots: Box<[CachePadded<Slot>]>,
    /// The number of shards less one.
    pub(super) mask: usize,
    /// The most credits in a slot: `q`.
    pub(super) batch: u64,
    /// How long a slot is quiet (rule 8).
    pub(super) pause: Pause,
    pub(super) quota: Quota,
    pub(super) clock: C,
    pub(super) central: Central,
}

impl<C> ShardedTokenBucket<C> {
    /// Takes `n` tokens as of `now`, or none. No clock is read.
    ///
    /// This takes exactly `n` from the central word, and neither spends nor fetches credits. For a reading that the caller
    /// took may be old by now: a batch must not be sized by it (rule 2), and credits may have been paid for by later
    /// readings, so that any number of them could be spent as of one old instant. Hence calls on readings keep the bound
    /// on those readings, as for a [`TokenBucket`](crate::TokenBucket) with a burst of `max_cost()`, and cost as much as
    /// there. To be fast, call [`try_acquire_n`](Self::try_acquire_n), which reads no clock either, in most cases.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if the central word has fewer than `n` tokens, even where a slot has them: by the hint the
    /// central word will, if nobody else is served first. [`Denied::ExceedsBurst`] if `n` is above
    /// [`max_cost`](Self::max_cost).
    #[inline]
    pub fn try_acquire_n_at(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.central.draw(n, n, now).map(|_| ())
    }

    /// Takes one token as of `now`, or none; see [`try_acquire_n_at`](Self::try_acquire_n_at). No clock is read.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n_at`](Self::try_acquire_n_at).
    #[inline]
    pub fn try_acquire_at(&self, now: Nanos) -> Result<(), Denied> {
        self.try_acquire_n_at(1, now)
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), of the central word as of `now`. No clock is read.
    pub fn try_acquire_n_with_status_at(&self, n: u64, now: Nanos) -> (Result<(), Denied>, Status) {
        self.central.draw_with_status(n, now)
    }

    /// Takes as many tokens as the central word has at `now`, up to `n`; returns how many. No clock is read; credits stay
    /// where they are, as for [`try_acquire_n_at`](Self::try_acquire_n_at).
    pub fn try_acquire_up_to_at(&self, n: u64, now: Nanos) -> u64 {
        self.central.draw_up_to(n, now)
    }

    /// As [`refund`](Self::refund), as of `now`. No clock is read.
    #[inline]
    pub fn refund_at(&self, n: u64, now: Nanos) {
        self.central.refund(n, now);
    }

    /// Whole tokens that the calls on a reading can take at `now`: those in the central word. No clock is read.
    pub fn available_at(&self, now: Nanos) -> u64 {
        self.central.available(now)
    }

    /// Limit, tokens left and waiting times of the central word, as of `now`. No clock is read.
    pub fn status_at(&self, now: Nanos) -> Status {
        self.central.status(now)
    }

    /// Makes the central word as good as new: what it has given out so far is forgotten, and it is full at once.
    ///
    /// For a person who lifts a limit by hand; and the way out where a clock has been far ahead and was put right. To give
    /// back what was admitted and not used, [`refund`](Self::refund) it instead.
    ///
    /// Bound: what is drawn from the central word before and what is drawn after keep the bucket's bound, each for itself.
    /// So a window of readings in which it was called `k` times admits at most `k + 1` times what it would have.
    pub fn forgive(&self) {
        self.central.forgive();
    }

    /// What the limiter was built for.
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// The central word and its algorithm, for places in line.
    pub(crate) fn word(&self) -> (&Gcra, &StateCell) {
        self.central.word()
    }

    /// Says that the central word was lowered (rule 8).
    pub(crate) fn tell(&self) {
        self.central.tell();
    }

    pub(crate) const fn clock(&self) -> &C {
        &self.clock
    }

    /// The most tokens that one call can take: the burst less what may lie in slots, at least seven eighths of it. Where the
    /// burst is too small to be divided, all of it, or all but a unit that is a token or more.
    #[inline]
    pub fn max_cost(&self) -> u64 {
        self.central.max_cost()
    }

    /// The credits in all slots, each as it is when it is looked at: before `V` is (rule 9).
    pub(crate) fn credits(&self) -> u64 {
        let credits = self.slots.iter().map(|slot| slot.credits()).sum();
        lease::seen();
        credits
    }

    /// How many words threads share out among them.
    pub fn shards(&self) -> usize {
        self.mask + 1
    }

    /// Takes `n` credits from any one slot, if `take`; returns whether it did, and how many all slots have then. Each slot is
    /// looked at once, this thread's own first, and before `V` is (rule 9).
    fn take_and_count(&self, n: u64, mut take: bool) -> (bool, u64) {
        let wanted = take;
        let (before, after) = self.slots.split_at(lease::index() & self.mask);
        let credits = after.iter().chain(before).map(|slot| {
            let looked_at = if take { slot.take_leaving(n) } else { Err(slot.credits()) };
            take &= looked_at.is_err();
            looked_at.unwrap_or_else(|seen| seen)
        });
        let credits = credits.sum();
        lease::seen();
        (wanted && !take, credits)
    }

    /// This thread's shard.
    #[inline]
    fn own(&self) -> &Slot {
        &self.slots[lease::index() & self.mask]
    }

    /// Ends a refill with `credits` left over (rules 2d and 5).
    fn put_away(&self, refill: Refill<'_>, credits: u64) {
        refill.deposit(credits);
        if credits > 0 {
            self.central.count_deposit();
            if !self.pause.settles() {
                self.central.tell(); // where refills are rare, nobody need miss one for a moment
            }
        }
    }

    /// For how long a slot is quiet after a look at `V` denied a call of cost `n` like this, when there had been `news`; and
    /// when the next call is admitted (rule 8). `None` if it was not one token that was missed, or a slot may have credits,
    /// or nothing is ever admitted again.
    pub(super) fn pause(&self, n: u64, denied: &Denied, news: u64) -> Option<(Quiet, Nanos)> {
        match denied {
            &Denied::TryAfter(hint) if n == 1 && self.central.is_dry() => {
                let (until, due) = self.central.pause(hint, self.pause)?;
                Some((Quiet::new(until, news), due))
            }
            _ => None,
        }
    }

    /// Takes `n` credits from any one slot, or denies with what `V` said (rules 4 and 5).
    #[inline]
    pub(super) fn steal_or(&self, n: u64, denied: Denied) -> Result<(), Denied> {
        if self.central.is_dry() || !self.steal(n) { Err(denied) } else { Ok(()) }
    }

    /// Takes `n` credits from any one slot, beginning with this thread's own.
    #[inline(never)]
    fn steal(&self, n: u64) -> bool {
        let deposits = self.central.deposits();
        let (before, after) = self.slots.split_at(lease::index() & self.mask);
        let mut dry = true;
        for slot in after.iter().chain(before) {
            let credits = slot.credits();
            if credits >= n && slot.take(n) {
                return true;
            }
            dry &= credits == 0;
        }
        if dry {
            self.central.set_dry(deposits);
        }
        false
    }
}

impl<C: Clock> ShardedTokenBucket<C> {
    /// Takes one token, or none.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_n`](Self::try_acquire_n).
    #[inline]
    pub fn try_acquire(&self) -> Result<(), Denied> {
        if self.own().take_one() { Ok(()) } else { self.acquire_elsewhere(1) }
    }

    /// Takes `n` tokens, or none. A cost of 0 is always admitted.
    ///
    /// All `n` come from one place: this thread's shard, the central word, or another shard.
    ///
    /// # Errors
    ///
    /// [`Denied::TryAfter`] if no place has `n` tokens now: by the hint the central word will, if nobody else is served
    /// first. [`Denied::ExceedsBurst`] if `n` is above [`max_cost`](Self::max_cost), so that there never will be.
    #[inline]
    pub fn try_acquire_n(&self, n: u64) -> Result<(), Denied> {
        if self.own().take(n) { Ok(()) } else { self.acquire_elsewhere(n) }
    }

    /// Takes `n` tokens, or none; this thread's shard is short. Most denials end here.
    #[inline(always)]
    #[allow(clippy::inline_always)] // what a refusal says need not reach memory where nobody reads it
    fn acquire_elsewhere(&self, n: u64) -> Result<(), Denied> {
        let news = self.central.news(); // before the clock
        // A reading to look with. It may size a draw of exactly `n`, but no batch (rules 3 and 2).
        let now = self.clock.now();
        let own = self.own();
        match own.quiet(now, news, self.pause.most) {
            Some(due) if n == 1 => Err(Denied::TryAfter(Hint::at(due, now))),
            _ => self.look(n, own, now, news),
        }
    }

    /// Takes `n` tokens, or none; this thread's shard, `own`, is short and not quiet.
    #[inline(never)]
    fn look(&self, n: u64, own: &Slot, now: Nanos, news: u64) -> Result<(), Denied> {
        match self.central.look(n, now) {
            Ok(available) => self.draw(n, available, now),
            Err(denied) => self.steal_or(n, denied).map_err(|denied| match self.pause(n, &denied, news) {
                Some((quiet, due)) => {
                    own.hush(quiet, due);
                    Denied::TryAfter(Hint::at(due, now))
                }
                None => denied,
            }),
        }
    }

    /// Draws `n` tokens from `V`, where `available` were seen at `now`.
    #[inline(never)]
    fn draw(&self, n: u64, available: u64, now: Nanos) -> Result<(), Denied> {
        // A few tokens are not worth a refill, which costs another reading and two more writes; unless they were waited for.
        let enough = if self.pause.settles() { 1 } else { (self.batch / 2).min(ENOUGH) };
        if available - n < enough { self.draw_exactly(n, now) } else { self.draw_batch(n, now) }
    }

    /// Draws `n` tokens from `V` at `now` (rule 3).
    #[inline(never)]
    fn draw_exactly(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        self.try_acquire_n_at(n, now).or_else(|denied| self.steal_or(n, denied))
    }

    /// Draws `n` tokens from `V`, and credits for this thread's shard with them unless somebody else is refilling it.
    #[inline(never)]
    fn draw_batch(&self, n: u64, now: Nanos) -> Result<(), Denied> {
        let refill = if self.batch > 0 { self.own().begin() } else { None };
        let drawn = match refill {
            Some(refill) => {
                let now = self.clock.now(); // rule 2b: not the reading from before
                let drawn = self.central.draw(n, n + (self.batch - refill.credits()), now);
                drawn.map(|drawn| self.put_away(refill, drawn - n))
            }
            None => return self.draw_exactly(n, now),
        };
        drawn.or_else(|denied| self.steal_or(n, denied))
    }

    /// Takes as many tokens as there are, up to `n`, from wherever they are; returns how many, which may be 0.
    pub fn try_acquire_up_to(&self, n: u64) -> u64 {
        if self.try_acquire_n(n).is_ok() {
            return n;
        }
        let drawn = self.central.draw_up_to(n, self.clock.now());
        self.slots.iter().fold(drawn, |taken, slot| taken + slot.take_up_to(n - taken))
    }

    /// Gives `n` tokens back, for work that was admitted and then not done.
    ///
    /// They go to the central word, whose level is capped at `max_cost()`. Only give back what was taken: the bound then
    /// holds for what is admitted less what was given back meanwhile.
    #[inline]
    pub fn refund(&self, n: u64) {
        self.refund_at(n, self.clock.now());
    }

    /// Whole tokens that could be taken now, one at a time: those in the central word and in all slots. Not those that
    /// handles hold. Where a unit of the scale is several tokens, each call on the central word takes a whole one. Never more than the burst; writes nothing.
    ///
    /// Exact when no other call is under way. A token that another thread moves from the central word to its shard meanwhile may
    /// be missed, and is never counted twice: there is never said to be more than there was when the call began and what
    /// fell due or was given back since.
    pub fn available(&self) -> u64 {
        let credits = self.credits();
        credits.saturating_add(self.central.available(self.clock.now())).min(self.quota.burst())
    }

    /// Limit, tokens left and waiting times. Writes nothing.
    ///
    /// `limit` is [`max_cost`](Self::max_cost): what a full bucket is sure to have. `remaining` is
    /// [`available`](Self::available), up to that: it can be spent now one token at a time, while one larger cost may find
    /// it in pieces. `reset_after` is when the central word is full.
    pub fn status(&self) -> Status {
        self.status_with(0)
    }

    /// Takes `n` tokens, or none; returns the decision and the status that it has left, admitted or denied.
    ///
    /// The word that decided is told as the decision has left it, on one reading of the clock. So the status says what a caller
    /// can spend next, one token at a time, as [`status`](Self::status) does. Other threads' calls in between may or may not be
    /// counted in the words that did not decide, but no token is counted twice, as for [`available`](Self::available). A refusal
    /// of one token never says that there is one.
    ///
    /// To look at every shard costs more than the rest. So these calls spend what is in shards but fill none: where only the
    /// answer matters, [`try_acquire_n`](Self::try_acquire_n) is many times as fast.
    pub fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Denied>, Status) {
        if let Ok(left) = self.own().take_leaving(n) {
            let own = lease::index() & self.mask;
            let others = self.slots.iter().enumerate().filter(|&(at, _)| at != own);
            let held = left + others.map(|(_, slot)| slot.credits()).sum::<u64>();
            lease::seen();
            return (Ok(()), Self::holding_besides(held, self.central.status(self.clock.now())));
        }
        self.draw_with_status(n, 0)
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub fn try_acquire_with_status(&self) -> (Result<(), Denied>, Status) {
        self.try_acquire_n_with_status(1)
    }

    /// Draws exactly `n` tokens from `V` (rule 3), or takes them from any one slot (rule 4); for one who holds `credits` besides.
    pub(super) fn draw_with_status(&self, n: u64, credits: u64) -> (Result<(), Denied>, Status) {
        let now = self.clock.now();
        let held = if self.central.look(n, now).is_ok() { self.credits() } else { 0 };
        let (decision, status) = self.central.draw_with_status(n, now);
        if decision.is_ok() {
            return (decision, Self::holding_besides(credits + held, status));
        }
        let (taken, held) = self.take_and_count(n, matches!(decision, Err(Denied::TryAfter(_))));
        // What was seen in `V` may have become credits, and be counted (rule 9).
        let later = self.central.status(now);
        let status = if later.remaining < status.remaining { later } else { status };
        (if taken { Ok(()) } else { decision }, Self::holding_besides(credits + held, status))
    }

    /// The status as it looks to one who holds `credits` besides.
    pub(super) fn status_with(&self, credits: u64) -> Status {
        Self::holding_besides(credits + self.credits(), self.central.status(self.clock.now()))
    }

    /// The central word's status for one who can spend `held` credits as well.
    fn holding_besides(held: u64, mut status: Status) -> Status {
        status.remaining = status.remaining.saturating_add(held).min(status.limit);
        if held > 0 {
            status.retry_after = Some(Duration::ZERO);
        }
        status
    }
}

delegate!([C: Clock] ShardedTokenBucket<C> => Self);
delegate!(at [C: Clock] ShardedTokenBucket<C> => Self);

impl<C> fmt::Debug for ShardedTokenBucket<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shards, batch) = (self.shards(), self.batch);
        let mut out = f.debug_struct("ShardedTokenBucket");
        out.field("quota", &self.quota).field("shards", &shards).field("batch", &batch).finish_non_exhaustive()
    }
}
