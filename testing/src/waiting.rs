//! [`Waiters`]: a waiting bucket beside the model of its line, on a clock moved by hand.

use crate::reference::{Interval, Line, Refusal};
use crate::trace::{Admission, first_violation};
use core::time::Duration;
use std::sync::Arc;
use tollgate::{Clock, Denied, ManualClock, Nanos, Place, Quota, WaitingTokenBucket};

type Bucket = WaitingTokenBucket<ManualClock>;

/// The limiter, its model, and all the places that are held.
#[derive(Debug)]
pub struct Waiters {
    /// What both are built for.
    pub quota: Quota,
    bucket: Arc<Bucket>,
    clock: ManualClock,
    /// None where the limiter's scale rounds, so that answers may differ by a nanosecond.
    line: Option<Line>,
    held: Vec<(Place<Arc<Bucket>>, Option<Interval>)>,
    spent: Vec<Admission>,
}

impl Waiters {
    /// A full bucket with nobody in line, whose places are due within `longest`.
    ///
    /// If a nanosecond is worth a whole number of the limiter's units, as for [`exact`] quotas, every answer is compared
    /// with the model's. Otherwise only what has been spent is checked, in the end.
    pub fn new(quota: Quota, longest: Duration, exact: bool) -> Self {
        let clock = ManualClock::new();
        let bucket = Arc::new(Bucket::with_clock(quota, longest, clock.clone()));
        let line = exact.then(|| Line::new(quota, longest));
        Self { quota, bucket, clock, line, held: Vec::new(), spent: Vec::new() }
    }

    /// How many places are held.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The clock's reading.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Moves the clock, forward or back.
    pub fn set(&self, now: Nanos) {
        self.clock.set(now);
    }

    /// Takes a place for `n` tokens, 1 or more, and keeps it.
    ///
    /// # Panics
    ///
    /// If the model answers otherwise, or the place is due too late.
    pub fn reserve(&mut self, n: u64, max_wait: Duration) {
        let now = self.now();
        let expected = self.line.as_mut().map(|line| line.reserve(n, max_wait, now));
        match Arc::clone(&self.bucket).reserve_owned_within(n, max_wait) {
            Ok(place) => {
                let patience = max_wait.min(self.bucket.longest());
                assert!(now <= place.due() && place.due() <= now.saturating_add(patience), "{place:?} after {now:?}");
                let interval = expected.map(|expected| expected.unwrap_or_else(|no| panic!("{place:?}, but {no:?}")));
                assert_eq!(interval.map_or(place.due(), |interval| interval.due), place.due(), "{interval:?}");
                self.held.push((place, interval));
            }
            Err(denied) => {
                let refusal = match denied {
                    Denied::WouldExceedDeadline(hint) => Refusal::TooLate(hint.due()),
                    Denied::LineFull(hint) => Refusal::LineFull(hint.due()),
                    Denied::ExceedsBurst { .. } => Refusal::ExceedsBurst,
                    other => panic!("{other:?} for a place"),
                };
                assert_eq!(expected.unwrap_or(Err(refusal)), Err(refusal));
            }
        }
    }

    /// Takes `n` tokens, 1 or more, without waiting.
    ///
    /// # Panics
    ///
    /// If the model answers otherwise.
    pub fn take(&mut self, n: u64) {
        let now = self.now();
        let expected = self.line.as_mut().map(|line| line.reserve(n, Duration::ZERO, now));
        let decision = self.bucket.try_acquire_n(n);
        match decision {
            Ok(()) => self.spent.push(Admission::new(n, now)),
            Err(Denied::TryAfter(hint)) => {
                if let Some(Err(Refusal::TooLate(due) | Refusal::LineFull(due))) = expected {
                    assert_eq!(hint.due(), due);
                }
            }
            Err(_) => {}
        }
        assert_eq!(expected.map_or(decision.is_ok(), |expected| expected.is_ok()), decision.is_ok(), "{expected:?}");
    }

    /// Takes up to `n` tokens without waiting.
    ///
    /// # Panics
    ///
    /// If the model has another number of them.
    pub fn take_up_to(&mut self, n: u64) {
        let now = self.now();
        let taken = self.bucket.try_acquire_up_to(n);
        if let Some(line) = &mut self.line {
            assert_eq!(taken, line.available(now).min(n));
            if taken > 0 {
                line.reserve(taken, Duration::ZERO, now).expect("what is available can be taken");
            }
        }
        if taken > 0 {
            self.spent.push(Admission::new(taken, now));
        }
    }

    /// Spends a place, or keeps it where it is not due yet.
    ///
    /// # Panics
    ///
    /// If it can be spent before its instant, or cannot be at or after it.
    pub fn spend(&mut self, which: usize) {
        let (place, interval) = self.held.swap_remove(which);
        let (due, cost) = (place.due(), place.cost());
        match place.spend() {
            Ok(()) => {
                // A place that was due at once is, whatever the clock says meanwhile.
                self.spent.push(Admission::new(cost, due));
            }
            Err(early) => {
                assert!(self.now() < due);
                self.held.push((early, interval));
            }
        }
    }

    /// Gives a place back, by dropping it or in words.
    ///
    /// # Panics
    ///
    /// If the model says that another number of tokens has come back.
    pub fn give_back(&mut self, which: usize, in_words: bool) {
        let now = self.now();
        let (place, interval) = self.held.swap_remove(which);
        let expected = self.line.as_mut().zip(interval).map(|(line, interval)| line.give_back(interval, now));
        if in_words {
            let back = place.cancel();
            assert_eq!(expected.unwrap_or(back), back);
        }
    }

    /// Compares what can be seen without changing anything.
    ///
    /// # Panics
    ///
    /// If the model looks otherwise.
    pub fn look(&self) {
        let (now, status) = (self.now(), self.bucket.status());
        assert_eq!((status.limit, status.remaining), (self.quota.burst(), self.bucket.available()));
        if let Some(line) = &self.line {
            assert_eq!(status.remaining, line.available(now));
            assert_eq!(status.retry_after, Some(line.earliest(now).saturating_since(now)));
        }
    }

    /// Looks once more, and at everything that has been spent.
    ///
    /// # Panics
    ///
    /// If in any window of readings more was spent than the burst, what falls due in it and in a nanosecond more, and a
    /// unit.
    pub fn finish(mut self) {
        self.look();
        for (place, _) in core::mem::take(&mut self.held) {
            self.spent.push(Admission::new(place.cost(), place.due()));
            let due = place.due();
            place.spend_at(due).expect("it is due when it is due");
        }
        if let Some(window) = first_violation(&self.spent, self.quota) {
            // A unit takes half a nanosecond at most, or, where the burst and 146 years' tokens need the bits, is so small that
            // 2^63 of them are no more than these. A nanosecond and a unit are less than two, or than four units then.
            let (excess, period) = (window.excess, self.quota.period().as_nanos());
            let two_nanoseconds = 2 * u128::from(self.quota.tokens());
            let years = 146 * 366 * 86_400 * 1_000_000_000;
            let tokens = u128::from(self.quota.tokens()) * years / period + u128::from(self.quota.burst()) + 1;
            let is_little = excess.numerator() * period <= two_nanoseconds * excess.denominator()
                || excess.numerator().saturating_mul(1 << 61) <= tokens * excess.denominator();
            assert!(is_little, "{window}");
        }
    }
}

/// Quotas for which a nanosecond is worth a whole number of units: one, two or three tokens, doubled or halved at will.
///
/// # Panics
///
/// If that is no quota.
pub fn exact(tokens: u64, doublings: u32, halvings: u32, burst: u64) -> Quota {
    Quota::try_new(tokens << doublings, Duration::from_nanos(1 << halvings), burst).expect("small numbers")
}
