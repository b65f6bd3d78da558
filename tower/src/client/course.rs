//! [`Course`]: time as it goes by for one host.

use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tollgate::{Clock, Nanos};

/// A host's own time, on which the line of its requests is counted.
///
/// It stands still while the host wants quiet, and otherwise goes by as much faster or slower than on the clock as the rate is
/// above or below the one that it began with. So whoever is in line stays in line, in order, and goes out at the rate in force;
/// and nothing falls due meanwhile that would all go out at once after a silence.
///
/// In any time, what falls due is the integral of the rate: floors of nanoseconds, one at each change, only make it less.
pub(super) struct Course<C> {
    clock: C,
    now: Mutex<Leg>,
}

/// The part that began with the last change.
#[derive(Clone, Copy, Debug)]
struct Leg {
    /// The instant of the clock at which it begins; later than now while there is quiet.
    from: Nanos,
    /// The host's own time until then.
    at: Nanos,
    /// Its own time goes by at `rate / base`.
    rate: u64,
    base: u64,
}

impl Leg {
    /// The host's own time at `now`.
    fn at(&self, now: Nanos) -> Nanos {
        let since = now.saturating_since(self.from);
        self.at.saturating_add(scaled(since, self.rate, self.base, false))
    }

    /// The first instant of the clock at which `due` has come and there is no quiet.
    fn when(&self, due: Nanos) -> Nanos {
        self.from.saturating_add(scaled(due.saturating_since(self.at), self.base, self.rate, true))
    }
}

/// `time * by / over`, rounded down or up, and no longer than a clock can tell.
fn scaled(time: Duration, by: u64, over: u64, up: bool) -> Duration {
    let (nanos, over) =
        (u128::from(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)) * u128::from(by), u128::from(over));
    let nanos = if up { nanos.div_ceil(over) } else { nanos / over };
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

impl<C: Clock> Course<C> {
    /// As on `clock`, at the rate `rate`, which is not 0.
    pub(super) const fn new(clock: C, rate: u64) -> Self {
        let leg = Leg { from: Nanos::ZERO, at: Nanos::ZERO, rate, base: rate };
        Self { clock, now: Mutex::new(leg) }
    }

    fn leg(&self) -> MutexGuard<'_, Leg> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host wants quiet until `until`. Of several the latest end counts.
    pub(super) fn quiet(&self, until: Nanos, now: Nanos) {
        let mut leg = self.leg();
        if until > leg.from.max(now) {
            *leg = Leg { from: until, at: leg.at(now), ..*leg };
        }
    }

    /// Goes by at `rate` from now on, or from the end of the quiet.
    pub(super) fn set_rate(&self, rate: u64, now: Nanos) {
        let mut leg = self.leg();
        *leg = Leg { from: leg.from.max(now), at: leg.at(now), rate, ..*leg };
    }

    /// The rate in force.
    pub(super) fn rate(&self) -> u64 {
        self.leg().rate
    }

    /// The first instant of the clock at which what is due at `due`, of the host's own time, may go out, as it looks now.
    pub(super) fn when(&self, due: Nanos) -> Nanos {
        self.leg().when(due)
    }

    /// How much of the host's own time goes by until `deadline`, as it looks at `now`; or the end of the quiet, if that is later.
    pub(super) fn until(&self, deadline: Nanos, now: Nanos) -> Result<Duration, Nanos> {
        let leg = self.leg();
        if leg.from > deadline.max(now) { Err(leg.from) } else { Ok(leg.at(deadline).saturating_since(leg.at(now))) }
    }
}

impl<C: Clock> Clock for Course<C> {
    fn now(&self) -> Nanos {
        let leg = self.leg();
        leg.at(self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate::ManualClock;

    fn at(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    #[test]
    fn it_stands_still_while_there_is_quiet_and_goes_by_at_the_rate_in_force() {
        let clock = ManualClock::new();
        let course = Course::new(clock.clone(), 10);
        let mut told = Vec::new();
        let mut tell = |now: u64| {
            clock.set(at(now));
            told.push((now, course.now().as_nanos() / 1_000_000));
        };
        tell(100);
        course.quiet(at(500), at(100));
        tell(300);
        course.quiet(at(400), at(300)); // an earlier end
        course.set_rate(5, at(300)); // from the end of the quiet
        tell(500);
        tell(700);
        course.set_rate(30, at(700));
        tell(800);
        course.quiet(at(750), at(800)); // past
        tell(900);
        assert_eq!(told, [(100, 100), (300, 100), (500, 100), (700, 200), (800, 500), (900, 800)]);
    }

    #[test]
    fn what_is_due_goes_out_no_earlier_and_no_later_than_its_own_time_comes() {
        for (rate, due) in [(7, 1), (7, 12_345_678_901), (3, 5), (1, 1_000_000_007), (1_000_003, 999_999_999)] {
            let clock = ManualClock::new();
            let course = Course::new(clock.clone(), 3);
            course.set_rate(rate, Nanos::ZERO);
            let when = course.when(Nanos(due));
            clock.set(when);
            assert!(course.now() >= Nanos(due), "{rate} {due}");
            clock.set(Nanos(when.0 - 1));
            assert!(course.now() < Nanos(due), "{rate} {due}");
        }
    }

    #[test]
    fn a_deadline_is_told_in_the_hosts_own_time_or_that_the_quiet_outlasts_it() {
        let course = Course::new(ManualClock::new(), 10);
        course.set_rate(5, Nanos::ZERO);
        assert_eq!(course.until(at(100), at(40)), Ok(Duration::from_millis(30)));
        course.quiet(at(70), at(40));
        assert_eq!(course.until(at(100), at(40)), Ok(Duration::from_millis(15)));
        assert_eq!(course.until(at(60), at(40)), Err(at(70)));
        assert_eq!(course.until(Nanos::MAX, at(80)).unwrap().as_nanos(), u128::from(u64::MAX - 80_000_000) / 2);
    }
}
