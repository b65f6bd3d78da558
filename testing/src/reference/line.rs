use super::{least, period};
use core::time::Duration;
use tollgate::{Nanos, Quota};

/// How many stretches from the middle of a line are remembered.
const ROOM: usize = 7;

/// A line of places, as its definition reads: positions on a scale, and a list of those that were given back.
///
/// Positions are counted in parts of a token, one part being `1 / period in nanoseconds`, so a nanosecond moves the scale by
/// exactly `quota.tokens()` parts and nothing is ever rounded.
///
/// Tokens may be spent at a reading `t` if there is an instant in the nanosecond that ends at `t` at which the scale has not
/// passed the first of them and, with the burst on top, has reached the last.
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use tollgate_testing::reference::Line;
/// use tollgate::{Nanos, Quota};
///
/// let mut line = Line::new(Quota::per_second(1), Duration::from_secs(60));
/// let [first, second, third] = [0; 3].map(|_| line.reserve(1, Duration::MAX, Nanos::ZERO).unwrap());
/// assert_eq!([first.due, second.due, third.due], [0, 1, 2].map(Nanos::from_secs));
///
/// line.give_back(second, Nanos::ZERO);
/// assert_eq!(line.reserve(1, Duration::MAX, Nanos::ZERO).unwrap().due, Nanos::from_secs(1));
/// ```
#[derive(Clone, Debug)]
pub struct Line {
    quota: Quota,
    longest: Duration,
    /// Everything from here on is still to be had.
    head: i128,
    given_back: [Option<Interval>; ROOM],
}

/// Positions `start..end` and when they are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    start: i128,
    end: i128,
    /// The first reading at which they may be spent, from when they were reserved on.
    pub due: Nanos,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The first is due at this instant, which is later than the caller would wait.
    TooLate(Nanos),
    /// The first is due at this instant, which is further than the line may reach.
    LineFull(Nanos),
    /// Never.
    ExceedsBurst,
}

impl Line {
    /// A full bucket with nobody in line, in which places are due within `longest`.
    pub fn new(quota: Quota, longest: Duration) -> Self {
        Self { quota, longest, head: 0, given_back: [None; ROOM] }
    }

    /// A place for `n` tokens, 1 or more, that is due by `now + max_wait`.
    ///
    /// # Errors
    ///
    /// Why there is none. Nothing has changed then.
    ///
    /// # Panics
    ///
    /// If it would be due after the end of time.
    pub fn reserve(&mut self, n: u64, max_wait: Duration, now: Nanos) -> Result<Interval, Refusal> {
        if n > self.quota.burst() {
            return Err(Refusal::ExceedsBurst);
        }
        let last = now.saturating_add(max_wait.min(self.longest));
        let head = self.places(self.head.max(self.scale(now.as_nanos().into())), n, now).expect("time has no end");
        let pooled = (0..ROOM).filter_map(|i| {
            let whole = self.given_back[i]?;
            let cut = self.places(self.begin(whole, now), n, now)?;
            (cut.end <= whole.end).then_some((i, cut))
        });
        let pooled = pooled.min_by_key(|(_, cut)| cut.start);
        match pooled {
            // Whoever needs not wait is served from the head.
            Some((i, cut)) if head.due > now && cut.due <= last => {
                let old = self.given_back[i].expect("it was just cut");
                self.given_back[i] = (cut.end < old.end).then_some(Interval { start: cut.end, ..old });
                Ok(cut)
            }
            _ if head.due <= last => {
                self.head = head.end;
                Ok(head)
            }
            _ => {
                let due = pooled.map_or(head.due, |(_, cut)| cut.due.min(head.due));
                Err(if max_wait < self.longest { Refusal::TooLate(due) } else { Refusal::LineFull(due) })
            }
        }
    }

    /// Takes a place back; returns how many whole tokens of it can still be spent by somebody.
    ///
    /// # Panics
    ///
    /// If the place is none of this line's.
    pub fn give_back(&mut self, place: Interval, now: Nanos) -> u64 {
        if self.head == place.end {
            self.head = place.start;
        } else {
            let gone = |it: &Option<Interval>| it.is_none_or(|it| self.begin(it, now) >= it.end);
            let Some(room) = self.given_back.iter().position(gone) else { return 0 };
            self.given_back[room] = Some(place);
        }
        // What ends at the head is the head's.
        while let Some(last) = self.given_back.iter_mut().find(|it| it.is_some_and(|it| it.end == self.head)) {
            self.head = last.take().expect("it was just found").start;
        }
        let left = (place.end - self.begin(place, now)).max(0) / i128::from(period(self.quota));
        u64::try_from(left).expect("no more than there were")
    }

    /// The most tokens that one call can take at `now`.
    pub fn available(&self, now: Nanos) -> u64 {
        let admits = |&n: &u64| n == 0 || self.clone().reserve(n, Duration::ZERO, now).is_ok();
        (0..=self.quota.burst()).rev().find(admits).unwrap_or(0)
    }

    /// When one token can be taken, from `now` on.
    pub fn earliest(&self, now: Nanos) -> Nanos {
        match self.clone().reserve(1, Duration::ZERO, now) {
            Ok(place) => place.due,
            Err(Refusal::TooLate(due) | Refusal::LineFull(due)) => due,
            Err(Refusal::ExceedsBurst) => Nanos::MAX,
        }
    }

    /// `n` tokens from a position on, and the first reading from `now` on that has reached the last of them.
    fn places(&self, start: i128, n: u64, now: Nanos) -> Option<Interval> {
        let end = start + i128::from(n) * i128::from(period(self.quota));
        let burst = i128::from(self.quota.burst()) * i128::from(period(self.quota));
        let due = least(now.as_nanos(), |t| end <= self.scale(i128::from(t)) + burst)?;
        Some(Interval { start, end, due: Nanos(due) })
    }

    /// The first position of an interval that may be spent at `now` or later.
    fn begin(&self, of: Interval, now: Nanos) -> i128 {
        let now = i128::from(now.as_nanos());
        if of.start > self.scale(now - 1) { of.start } else { of.start.max(self.scale(now)) }
    }

    /// Where the scale stands.
    fn scale(&self, at: i128) -> i128 {
        at * i128::from(self.quota.tokens())
    }
}
