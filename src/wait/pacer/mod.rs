//! [`Pacer`]: ticks at an even pace.

use crate::clock::{Clock, DefaultClock};
use crate::nanos::Nanos;
use crate::quota::Quota;
use crate::timeline::Timeline;
use std::thread;

#[cfg(feature = "async")]
mod ticks;
#[cfg(feature = "async")]
pub use ticks::Ticks;

/// Ticks at an even pace, for one who works through a list: an iterator that blocks until the next tick.
///
/// The first tick is due at once, and the others follow at exact multiples of the quota's period for one token: instants are
/// computed from the first, so that nothing drifts. The quota's burst has no meaning here.
///
/// # When the consumer is late
///
/// A tick may be up to one interval late without any being missed. Of those that the consumer has missed altogether, the last
/// few, as many as the [slack](Self::with_slack), are caught up at once; the rest are skipped, and
/// [`Tick::skipped`] says how many. The pace goes on as before: ticks stay multiples of the period. So in any span of
/// time `t` at most `1 + slack + rate * t` ticks are handed out.
///
/// For many who share one pace there is [`WaitingTokenBucket`](crate::WaitingTokenBucket).
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use tollgate::{Pacer, Quota};
///
/// let start = Instant::now();
/// for (page, _tick) in (1..=3).zip(Pacer::new(Quota::per_second(200))) {
///     println!("fetching page {page}"); // the first at once, the others 5 ms apart
/// }
/// assert!(start.elapsed() >= Duration::from_millis(10));
/// ```
#[derive(Clone, Debug)]
pub struct Pacer<C = DefaultClock> {
    timeline: Timeline,
    slack: u64,
    /// The next tick's position, once there was one.
    next: Option<u64>,
    /// Whether ticks come at all.
    open: bool,
    clock: C,
}

/// A tick of a [`Pacer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// When it was due, on the pacer's clock.
    pub due: Nanos,
    /// How many before it were skipped, since the consumer was too late for them.
    pub skipped: u64,
}

impl Pacer {
    /// A pace on the default clock.
    pub fn new(quota: Quota) -> Self {
        Self::with_clock(quota, DefaultClock)
    }
}

impl<C> Pacer<C> {
    /// A pace on `clock`.
    pub const fn with_clock(quota: Quota, clock: C) -> Self {
        let timeline = if quota.is_unlimited() {
            Timeline::FREE
        } else if quota.is_deny_all() {
            Timeline::STILL
        } else {
            Timeline::finest(quota.tokens(), quota.period_nanos(), 1)
        };
        Self { timeline, slack: 0, next: None, open: !quota.is_deny_all(), clock }
    }

    /// The same, where up to `ticks` that were missed are caught up.
    #[must_use]
    pub const fn with_slack(mut self, ticks: u64) -> Self {
        self.slack = ticks;
        self
    }

    /// Passes over what is too late at `now`; returns the next tick and whether it is due. It is not handed out yet.
    fn look(&mut self, now: Nanos) -> (Tick, bool) {
        let here = self.timeline.position(now);
        let next = *self.next.get_or_insert(here);
        // Ticks that were due before the latest one.
        let missed = here.saturating_sub(next).checked_div(self.interval()).unwrap_or(0);
        let skipped = missed.saturating_sub(self.slack);
        let next = next + skipped * self.interval();
        (Tick { due: self.timeline.instant(next), skipped }, next <= here)
    }

    /// Hands a tick out.
    fn hand_out(&mut self, tick: Tick) {
        let interval = self.interval();
        if let Some(next) = &mut self.next {
            // PROGRESS: none is needed; positions last as long as the clock can count.
            *next = next.saturating_add((tick.skipped + 1).saturating_mul(interval));
        }
    }

    /// From one tick to the next, in positions: what a token costs; 0 if ticks are not limited.
    fn interval(&self) -> u64 {
        self.timeline.cost(1).unwrap_or(0)
    }
}

/// Blocks until the next tick is due. Without end, but for [`Quota::DENY_ALL`], of which no tick ever comes.
impl<C: Clock> Iterator for Pacer<C> {
    type Item = Tick;

    fn next(&mut self) -> Option<Tick> {
        if !self.open {
            return None;
        }
        // PROGRESS: blocking, by intent; ends at the first look at the clock after the tick is due.
        loop {
            let now = self.clock.now();
            let (tick, due) = self.look(now);
            if due {
                self.hand_out(tick);
                return Some(tick);
            }
            thread::park_timeout(tick.due.saturating_since(now));
        }
    }
}
