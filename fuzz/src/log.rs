//! The sliding window log beside an exact log kept as a plain list.

use crate::input::{Number, read};
use arbitrary::Arbitrary;
use core::time::Duration;
use tollgate::{Denied, ManualClock, Nanos, Quota, QuotaError, SlidingWindowLog, Status};
use tollgate_testing::trace::{Admission, first_overfull_span};

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Forward(Span),
    Back(Span),
    Take(u8),
    UpTo(u8),
    /// All there is, and a little more or less.
    TakeFree(i8),
    Look,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Span {
    Nanos(Number),
    /// In 64ths of a period.
    Part(u8),
    /// A period, and a little more or less.
    Period(i8),
}

#[derive(Arbitrary, Debug)]
struct Input {
    limit: u8,
    period: Number,
    start: Number,
    steps: Vec<Step>,
}

/// The longest period, and the last reading that every log can hold: just under 2^61 ns.
const LONGEST: u64 = (1 << 61) - 1;

/// When each unit that was admitted is free again. Never decreasing.
struct Exact {
    limit: u8,
    period: u64,
    free: Vec<u64>,
}

impl Exact {
    /// The last so many units: where those before them were, these are now.
    fn last(&self) -> impl Iterator<Item = u64> {
        self.free.iter().rev().take(usize::from(self.limit)).rev().copied()
    }

    fn room(&self, now: u64) -> u64 {
        u64::from(self.limit) - self.last().filter(|&free| free > now).count() as u64
    }

    /// The first instant from `now` on with room for `n`.
    fn earliest(&self, n: u64, now: u64) -> u64 {
        core::iter::once(now)
            .chain(self.last().filter(|&free| free > now))
            .find(|&at| self.room(at) >= n)
            .expect("all are free in the end")
    }

    fn admit(&mut self, n: u64, now: u64) {
        let free = (now + self.period).max(self.free.last().copied().unwrap_or(0));
        self.free.extend((0..n).map(|_| free));
    }
}

/// Every decision, hint and status of the log against the list, and every span of the run against the limit.
///
/// # Panics
///
/// If any of them is wrong.
pub fn sliding_window_log(data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    let (limit, period) = (u64::from(input.limit).max(1), input.period.positive().min(LONGEST));
    let quota = match Quota::try_new(limit, Duration::from_nanos(period), 1) {
        Err(QuotaError::RateTooHigh { most, .. }) => Quota::per(most, Duration::from_nanos(period)),
        quota => quota.expect("neither is zero, and the period is not too long"),
    };
    let (limit, clock) = (quota.tokens(), ManualClock::new());
    let log = SlidingWindowLog::with_clock(quota, clock.clone());
    let mut exact = Exact { limit: u8::try_from(limit).expect("it was made from one"), period, free: Vec::new() };
    let (mut now, mut run) = (input.start.up_to(LONGEST), Vec::new());

    for step in input.steps {
        let nanos = |span| match span {
            Span::Nanos(nanos) => nanos.get(),
            Span::Part(part) => (u128::from(period) * u128::from(part) / 64).try_into().unwrap_or(u64::MAX),
            Span::Period(off) => period.saturating_add_signed(off.into()),
        };
        let take = |n: u64| match log.try_acquire_n(n) {
            Ok(()) => {
                assert!(n <= exact.room(now), "{n} admitted at {now}");
                n
            }
            Err(Denied::ExceedsBurst { cost, max_cost }) => {
                assert_eq!((cost, max_cost), (n, limit));
                assert!(n > limit);
                0
            }
            Err(denied) => {
                assert!(n > exact.room(now) && n <= limit, "{n} refused at {now}");
                let wait = Duration::from_nanos(exact.earliest(n, now) - now);
                assert_eq!(denied.retry_after(), Some(wait), "{n} refused at {now}");
                0
            }
        };
        clock.set(Nanos(now));
        let taken = match step {
            Step::Forward(span) => {
                now = now.saturating_add(nanos(span)).min(LONGEST);
                0
            }
            Step::Back(span) => {
                now = now.saturating_sub(nanos(span));
                0
            }
            Step::Take(n) => take(n.into()),
            Step::TakeFree(off) => take(exact.room(now).saturating_add_signed(off.into())),
            Step::UpTo(n) => {
                let taken = log.try_acquire_up_to(n.into());
                assert_eq!(taken, exact.room(now).min(n.into()), "up to {n} at {now}");
                taken
            }
            Step::Look => {
                let wait = |n| Duration::from_nanos(exact.earliest(n, now) - now);
                let (remaining, retry_after, reset_after) = (exact.room(now), Some(wait(1)), wait(limit));
                assert_eq!(log.status(), Status::new(limit, remaining, retry_after, reset_after), "at {now}");
                0
            }
        };
        if taken > 0 {
            exact.admit(taken, now);
            run.push(Admission::new(taken, Nanos(now)));
        }
    }
    let overfull = first_overfull_span(&run, Duration::from_nanos(period), limit);
    assert!(overfull.is_none(), "{overfull:?}");
}
