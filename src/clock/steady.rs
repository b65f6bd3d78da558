//! [`Steady`]: a clock that passes no step of its inner clock on.

use super::Clock;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering, const_unless_loom};
use core::time::Duration;

/// A clock that goes on evenly, made of one that may step: be set, jump ahead for a moment, or start again at 0.
///
/// A limiter is strict on the readings it gets. So one reading that is an hour ahead, put right a moment later, shuts a
/// bucket for nearly an hour: until the clock has come back to where it was. A counter that starts again at 0, after a
/// machine was resumed or restored elsewhere, shuts it for as long as the counter had run before. This wrapper bounds that
/// by your choice. A reading that differs from the latest by more than is plausible is taken for a *step*: from then on
/// readings are shifted, so that the wrapper's own output goes on from where it was. It counts the steps, so that they can
/// be reported.
///
/// # What to choose
///
/// * `back`: how far behind the latest reading an honest one may be: what cores' clocks differ by, and slews; some
///   milliseconds will do. No step shuts a limiter for longer than this. (A reading is judged by what was there before it
///   was taken, so a thread that is held up after its reading of the clock does no harm, however long.)
/// * `forward`: how long it may be from one reading to the next. A longer gap counts as `forward` at most and as that less
///   `back` at least, whether the clock has jumped or nobody has called for so long. So choose it longer than the limiter
///   takes to fill up, a window's period or `burst / rate`, and a long pause costs nothing. [`Duration::MAX`] stands for 73
///   years: then the clock is followed wherever it jumps, and only steps back are repaired.
///
/// # Bound
///
/// On the wrapper's readings a limiter keeps its bound. Against the inner clock's true time, each step adds at most
/// `rate * forward` tokens, and never more than a burst, or a window's limit twice; a step of less than `forward` passes for
/// time, for there is no telling them apart, and adds at most as much. Nothing is ever added without a step.
/// [`steps`](Self::steps) counts those that were noticed. Where two cores' clocks differ by more than `back`, each change
/// from one to the other is such a step.
///
/// Windows are aligned to the output: after a step they no longer begin when the inner clock's do. On the time of day that
/// is not wanted; there a window is shut by a step back until the time of day has caught up, and
/// [`forgive`](crate::RateLimiter::forgive) is the way out.
///
/// # Progress and ordering
///
/// Lock-free: a reading is repeated only when another thread has noticed a step. Without steps it costs two loads beside
/// the inner reading, and a read-modify-write once in half of `back`. Callers get no happens-before edge to rely on.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Clock, ManualClock, Nanos, Quota, Steady, TokenBucket};
///
/// let inner = ManualClock::starting_at(Nanos::from_secs(1_000_000));
/// let clock = Steady::new(inner.clone(), Duration::from_millis(10), Duration::from_secs(60));
/// let bucket = TokenBucket::with_clock(Quota::per_second(10), &clock);
/// assert!(bucket.try_acquire_n(10).is_ok());
///
/// inner.set(Nanos::ZERO); // the machine was restored: its counter starts again
/// assert_eq!(bucket.try_acquire().unwrap_err().retry_after(), Some(Duration::from_millis(100)));
/// inner.advance(Duration::from_millis(100));
/// assert!(bucket.try_acquire().is_ok()); // and not after eleven days
/// assert_eq!(clock.steps(), 1);
/// ```
///
/// # Rules
///
/// ```text
/// offset    output = inner reading + offset, modulo 2^64
/// latest    an output, the latest but for half of `back`; 0 before the first reading. It only grows
///
/// rule 1  look      Load the offset, then the latest output, and only then read the inner clock.
/// rule 2  back      An output is a step back if it is behind that latest output by more than half of `back`. What was
///                   published before the reading was taken cannot be ahead of it otherwise, however long the thread is
///                   held up.
/// rule 3  forward   An output that is ahead of it by more than `forward` is a step forward only if it still is ahead of the
///                   latest output that there is *now*, read by a read-modify-write: if nobody has come near it meanwhile.
/// rule 4  re-base   A step is taken by one CAS of the offset, from that of rule 1. If it fails, another thread has re-based
///                   in between: look again. The new offset makes this reading's output the latest; or, after a step
///                   forward, that and `forward`, less half of `back`, so that others who come at once see no second step.
/// rule 5  publish   An output that is ahead of the latest by more than half of `back` becomes it, by a maximum.
/// ```
#[derive(Debug)]
pub struct Steady<C> {
    clock: C,
    /// Half of `back`.
    slack: u64,
    forward: u64,
    offset: AtomicU64,
    latest: AtomicU64,
    steps: AtomicU64,
    /// The last step's size, signed.
    last: AtomicU64,
}

/// A step that a [`Steady`] clock has noticed: how far the inner clock was from where it should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was behind, by so much.
    Back(Duration),
    /// It was ahead, by so much, or nobody had read it for so long.
    Forward(Duration),
}

impl<C> Steady<C> {
    const_unless_loom! {
        /// Wraps `clock`; readings may be behind the latest by `back`, and ahead of it by `forward`. A `forward` shorter
        /// than `back` counts as that.
        pub const fn new(clock: C, back: Duration, forward: Duration) -> Self {
            let (back, forward) = (in_nanos(back), in_nanos(forward));
            let (offset, latest) = (AtomicU64::new(0), AtomicU64::new(0));
            let (steps, last) = (AtomicU64::new(0), AtomicU64::new(0));
            let forward = if forward > back { forward } else { back };
            Self { clock, slack: back / 2, forward, offset, latest, steps, last }
        }
    }

    /// How many steps have been noticed.
    pub fn steps(&self) -> u64 {
        // ORDERING: relaxed; a number to report, which publishes nothing.
        self.steps.load(Ordering::Relaxed)
    }

    /// The step noticed last, if there was one. While several are noticed at once, it may be any of them.
    pub fn last_step(&self) -> Option<Step> {
        // ORDERING: relaxed; as for `steps`.
        match self.last.load(Ordering::Relaxed).cast_signed() {
            0 => None,
            by @ 1.. => Some(Step::Forward(Duration::from_nanos(by.unsigned_abs()))),
            by => Some(Step::Back(Duration::from_nanos(by.unsigned_abs()))),
        }
    }

    /// The first reading at all, or one of the first ones. None of them is a step; one at the origin counts as 1, so that 0
    /// means none.
    #[cold]
    fn first(&self, output: u64) -> Nanos {
        let first = if output == 0 { 1 } else { output };
        // ORDERING: release; as for `publish`.
        self.latest.fetch_max(first, Ordering::Release);
        Nanos(first)
    }

    /// Rules 3 and 4: decides about an output that looks like a step, and takes it if it is one; `None` if another thread
    /// has re-based since `offset` was loaded.
    #[cold]
    fn re_base(&self, offset: u64, reading: u64, is_back: bool) -> Option<Nanos> {
        let output = reading.wrapping_add(offset);
        // ORDERING: relaxed; a read-modify-write reads the latest value there is, which a load need not (rule 3).
        let latest = self.latest.fetch_max(0, Ordering::Relaxed);
        let ahead = distance(latest, output);
        let to = if is_back {
            latest
        } else if ahead > self.forward.cast_signed() {
            latest.wrapping_add(self.forward - self.slack)
        } else {
            return Some(self.publish(output, ahead)); // others have come near meanwhile
        };
        // ORDERING: release on success; pairs with the acquire in `now`: who adds the new offset reads the inner clock after
        // this reading of it was taken. Relaxed on failure: nothing is made of the value.
        let next = to.wrapping_sub(reading);
        self.offset.compare_exchange(offset, next, Ordering::Release, Ordering::Relaxed).ok()?;
        // ORDERING: release; as for `publish`.
        self.latest.fetch_max(to, Ordering::Release);
        // ORDERING: relaxed, both; numbers to report.
        self.last.store(ahead.cast_unsigned(), Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
        Some(Nanos(to))
    }

    /// Rule 5, for an output that is `ahead` of the latest by so much.
    #[inline]
    fn publish(&self, output: u64, ahead: i64) -> Nanos {
        if ahead > self.slack.cast_signed() {
            // ORDERING: release; pairs with the acquire in `now`: whoever judges by this output reads the inner clock after
            // it.
            self.latest.fetch_max(output, Ordering::Release);
        }
        Nanos(output)
    }
}

impl<C: Clock> Clock for Steady<C> {
    #[inline]
    fn now(&self) -> Nanos {
        // PROGRESS: lock-free. It goes round only if another thread has re-based.
        loop {
            // ORDERING: acquire, both; they pair with the releases in `re_base` and `publish`: the inner clock is read after
            // the readings that these come from were taken (rules 1 and 2).
            let offset = self.offset.load(Ordering::Acquire);
            let before = self.latest.load(Ordering::Acquire);
            let reading = self.clock.now().0;
            let output = reading.wrapping_add(offset);
            if before == 0 {
                return self.first(output);
            }
            let ahead = distance(before, output);
            let is_back = ahead < -self.slack.cast_signed();
            if !is_back && ahead <= self.forward.cast_signed() {
                return self.publish(output, ahead);
            }
            if let Some(now) = self.re_base(offset, reading, is_back) {
                return now;
            }
        }
    }
}

/// How far `to` is after `from`, modulo 2^64: at most 292 years either way.
#[inline]
const fn distance(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

/// In nanoseconds, at most 73 years.
const fn in_nanos(duration: Duration) -> u64 {
    let nanos = Nanos::from_duration(duration).0;
    if nanos < 1 << 61 { nanos } else { 1 << 61 }
}
