//! [`Hammer`]: beats on any limiter from many threads, and finds the window in which it admitted too much.

use super::reference::Fraction;
use super::trace::Window;
use core::cell::Cell;
use core::time::Duration;
use std::thread;
use tollgate::{Clock, ManualClock, Nanos, Quota, RateLimit};

/// Beats on a limiter, of this crate or any other, from several threads that share a clock moved by hand; looks for a
/// window of clock readings in which more was admitted than a bound allows.
///
/// Random calls alone rarely do harm. So a thread is now and then held up where it hurts: *after* it has read the clock
/// and before it acts on the reading, while others move the clock on and act. A limiter that takes the time between two
/// readings for granted then mints tokens. That needs no odd clock, only a thread that loses its processor. Clocks that
/// disagree are tried as well if a [`skew`](Self::skew) is set.
///
/// Each admission is known by the readings that were taken for it. A limiter that spends reserved tokens takes none;
/// then it counts from [`skew`](Self::skew) before the call began to the end of the call. A window counts only what lies
/// in it altogether, so whatever is found is a fault and no artefact. What is not found proves nothing: a model checker
/// tries all interleavings, this tries some.
///
/// Unlike everything else here this is a matter of luck, and of the scheduler: the same seed may find a fault in one run
/// and not in the next.
///
/// # Examples
///
/// ```
/// use tollgate_testing::hammer::Hammer;
/// use tollgate::{Quota, TokenBucket};
///
/// let quota = Quota::per_second(1_000).with_burst(20);
/// let verdict = Hammer::new(quota).rounds(5).strike(|clock| TokenBucket::with_clock(quota, clock));
/// assert!(verdict.violation.is_none(), "{verdict:?}");
///
/// // Held to half of its burst, the same bucket is found out at once.
/// let verdict = Hammer::new(quota.with_burst(10)).rounds(5).strike(|clock| TokenBucket::with_clock(quota, clock));
/// assert!(verdict.violation.is_some());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Hammer {
    bound: Quota,
    threads: usize,
    rounds: u32,
    calls: u32,
    costs: u64,
    skew: Duration,
    seed: u64,
    /// Windows whose excess is less than one in so many are let pass; 0 for none.
    parts: u64,
    /// Whether an admission counts for its reading alone.
    by_reading: bool,
}

/// What came of it.
#[must_use]
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdict {
    /// Rounds played, each on a fresh limiter.
    pub rounds: u32,
    /// Calls made.
    pub calls: u64,
    /// Tokens admitted.
    pub admitted: u64,
    /// The worst window of the first round in which there was one.
    pub violation: Option<Window>,
}

impl Hammer {
    /// A hammer that holds a limiter to `burst + tokens * (t - s) / period` in every window `[s, t]` of readings.
    ///
    /// Four threads, 100 rounds of 200 calls each, costs of 1 and 2, clocks that agree.
    pub const fn new(bound: Quota) -> Self {
        Self {
            bound,
            threads: 4,
            rounds: 100,
            calls: 200,
            costs: 2,
            skew: Duration::ZERO,
            seed: 1,
            parts: 0,
            by_reading: true,
        }
    }

    /// So many threads, at least one.
    #[must_use]
    pub const fn threads(self, threads: usize) -> Self {
        Self { threads: if threads == 0 { 1 } else { threads }, ..self }
    }

    /// At most so many rounds, each on a fresh limiter.
    #[must_use]
    pub const fn rounds(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }

    /// So many calls by each thread in each round. The search for a window takes time in proportion to the square of
    /// what is admitted in a round.
    #[must_use]
    pub const fn calls(self, calls: u32) -> Self {
        Self { calls, ..self }
    }

    /// Costs from 1 to `most`.
    #[must_use]
    pub const fn costs(self, most: u64) -> Self {
        Self { costs: if most == 0 { 1 } else { most }, ..self }
    }

    /// Lets one reading in four be late by up to `skew`, as clocks of different cores may be.
    #[must_use]
    pub const fn skew(self, skew: Duration) -> Self {
        Self { skew, ..self }
    }

    /// Lets pass what is less than one in `parts` of a token too much, for limiters that count in such parts. With 1, any
    /// excess of less than a whole token.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_testing::hammer::Hammer;
    /// use tollgate::{PackedTokenBucket, Quota};
    ///
    /// // A packed bucket may be up to one token early, once.
    /// let quota = Quota::per_second(1_000).with_burst(20);
    /// let hammer = Hammer::new(quota).rounds(5).forgiving_less_than_one_in(1);
    /// assert!(hammer.strike(|clock| PackedTokenBucket::with_clock(quota, clock)).violation.is_none());
    /// ```
    #[must_use]
    pub const fn forgiving_less_than_one_in(self, parts: u64) -> Self {
        Self { parts, ..self }
    }

    /// Lets an admission count from its reading to the end of the call instead of for its reading alone.
    ///
    /// A thread that is held up after its reading may then spend what fell due meanwhile. By the clock on the wall that is
    /// no fault, and limiters that promise nothing about readings should be judged so.
    #[must_use]
    pub const fn by_the_whole_call(self) -> Self {
        Self { by_reading: false, ..self }
    }

    /// Where the random choices start.
    #[must_use]
    pub const fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Beats on limiters that `build` makes on the clock that it is given.
    ///
    /// # Panics
    ///
    /// If the limiter does.
    pub fn strike<L: RateLimit + Sync>(&self, build: impl Fn(HammerClock) -> L) -> Verdict {
        self.strike_with(build, |limiter, cost| limiter.try_acquire_n(cost).is_ok())
    }

    /// As [`strike`](Self::strike), for limiters that are no [`RateLimit`]: `acquire` says whether a cost was admitted.
    ///
    /// # Panics
    ///
    /// If `acquire` does.
    pub fn strike_with<L: Sync>(
        &self,
        build: impl Fn(HammerClock) -> L,
        acquire: impl Fn(&L, u64) -> bool + Sync,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        while verdict.rounds < self.rounds && verdict.violation.is_none() {
            let clock = HammerClock { time: ManualClock::new(), skew: self.skew };
            let limiter = build(clock.clone());
            let seed = |thread: usize| random(self.seed ^ u64::from(verdict.rounds) << 32 ^ (thread as u64 + 1));
            let run: Vec<Evidence> = thread::scope(|scope| {
                let threads: Vec<_> = (0..self.threads)
                    .map(|thread| {
                        let (clock, limiter, acquire, seed) = (&clock, &limiter, &acquire, seed(thread));
                        scope.spawn(move || self.beat(seed, clock, |cost| acquire(limiter, cost)))
                    })
                    .collect();
                threads.into_iter().flat_map(|thread| thread.join().expect("the limiter panicked")).collect()
            });
            verdict.rounds += 1;
            verdict.calls += self.threads as u64 * u64::from(self.calls);
            verdict.admitted += run.iter().map(|evidence| evidence.cost).sum::<u64>();
            verdict.violation = worst_window(&run, self.bound)
                .filter(|window| self.parts == 0 || !window.excess.is_less_than_one_in(self.parts));
        }
        verdict
    }

    /// One thread's part of a round.
    fn beat(&self, seed: u64, clock: &HammerClock, acquire: impl Fn(u64) -> bool) -> Vec<Evidence> {
        RANDOM.set(seed);
        let per_token = nanos(self.bound.period()) / self.bound.tokens().max(1);
        let mut run = Vec::new();
        for _ in 0..self.calls {
            // Half a token's time on average, so that tokens are always scarce; now and then a full refill at once.
            let refill = if one_in(64) { self.bound.burst() } else { 1 };
            clock.time.advance(Duration::from_nanos(draw(per_token.saturating_mul(refill).saturating_add(1))));
            let cost = 1 + draw(self.costs);
            let before = clock.time.now().saturating_sub(self.skew);
            READ.set(None);
            if acquire(cost) {
                let after = clock.time.now();
                let (from, to) = READ.get().unwrap_or((before, after));
                run.push(Evidence { from, to: if self.by_reading { to } else { after }, cost });
            }
        }
        run
    }
}

/// The clock of a limiter under the hammer: moved by hand, shared by all threads, and treacherous.
///
/// A reading may come long before its reader goes on, and late if the hammer has a skew. A thread's readings never lie in
/// the future of the shared time.
#[derive(Clone, Debug)]
pub struct HammerClock {
    time: ManualClock,
    skew: Duration,
}

impl Clock for HammerClock {
    fn now(&self) -> Nanos {
        let late = if one_in(4) { draw(nanos(self.skew).saturating_add(1)) } else { 0 };
        let reading = self.time.now().saturating_sub(Duration::from_nanos(late));
        READ.set(Some(READ.get().map_or((reading, reading), |(from, to)| (from.min(reading), to.max(reading)))));
        if one_in(16) {
            thread::yield_now(); // others move on meanwhile
        }
        reading
    }
}

thread_local! {
    /// The earliest and the latest reading that this thread has taken in the present call.
    static READ: Cell<Option<(Nanos, Nanos)>> = const { Cell::new(None) };
    static RANDOM: Cell<u64> = const { Cell::new(1) };
}

/// The next number after `x`. Marsaglia 2003, "Xorshift RNGs". Never 0 for an `x` that is not.
const fn random(x: u64) -> u64 {
    let x = x ^ (x << 13);
    let x = x ^ (x >> 7);
    x ^ (x << 17)
}

/// A number below `end`, which is not 0.
fn draw(end: u64) -> u64 {
    RANDOM.set(random(RANDOM.get()));
    RANDOM.get() % end
}

fn one_in(n: u64) -> bool {
    draw(n) == 0
}

/// `duration` in nanoseconds, as far as they can be counted.
fn nanos(duration: Duration) -> u64 {
    Nanos::from(duration).as_nanos()
}

/// An admission that was decided on readings from `from` to `to`.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    from: Nanos,
    to: Nanos,
    cost: u64,
}

/// The window whose admissions, counting those that lie in it altogether, exceed the bound by most.
fn worst_window(run: &[Evidence], bound: Quota) -> Option<Window> {
    let mut by_end = run.to_vec();
    by_end.sort_by_key(|evidence| evidence.to);
    let period = bound.period().as_nanos().max(1);
    let mut worst: Option<Window> = None;
    for &Evidence { from, .. } in run {
        let mut admitted = 0;
        for &Evidence { to, cost, .. } in by_end.iter().filter(|evidence| evidence.from >= from) {
            admitted += u128::from(cost);
            let due = u128::from(bound.tokens()) * u128::from(to.as_nanos() - from.as_nanos());
            let excess = (admitted * period).saturating_sub(u128::from(bound.burst()) * period + due);
            if excess > worst.map_or(0, |worst| worst.excess.numerator()) {
                worst = Some(Window { from, to, admitted, excess: Fraction::new(excess, period) });
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use tollgate::{PackedTokenBucket, TokenBucket};

    const QUOTA: Quota = Quota::per_second(1_000).with_burst(20);
    const SKEW: Duration = Duration::from_millis(30);

    #[test]
    fn buckets_hold_on_agreeing_clocks_and_on_others() {
        for hammer in [Hammer::new(QUOTA), Hammer::new(QUOTA).skew(SKEW).seed(2)].map(|hammer| hammer.rounds(20)) {
            // A token of this quota has 2^21 units.
            let fine = hammer.forgiving_less_than_one_in(1 << 21);
            let verdict = fine.strike(|clock| TokenBucket::with_clock(QUOTA, clock));
            assert!(verdict.violation.is_none() && verdict.admitted > 1_000, "{verdict:?}");
            let coarse = hammer.forgiving_less_than_one_in(1);
            let verdict = coarse.strike(|clock| PackedTokenBucket::with_clock(QUOTA, clock));
            assert!(verdict.violation.is_none() && verdict.admitted > 1_000, "{verdict:?}");
            assert_eq!((verdict.rounds, verdict.calls), (20, 20 * 4 * 200));
        }
    }

    /// Correct but for one thing: a reading that comes late is taken for one that comes after a very long time.
    struct Wrapping {
        clock: HammerClock,
        state: Mutex<(u64, u64)>,
    }

    fn wrapping(clock: HammerClock) -> Wrapping {
        Wrapping { clock, state: Mutex::new((20, 0)) }
    }

    fn acquire(limiter: &Wrapping, cost: u64) -> bool {
        let due = limiter.clock.now().as_nanos() / 1_000_000;
        let mut state = limiter.state.lock().unwrap();
        let (tokens, stamp) = *state;
        let tokens = tokens.saturating_add(due.wrapping_sub(stamp)).min(20);
        let admitted = cost <= tokens;
        *state = (if admitted { tokens - cost } else { tokens }, due);
        admitted
    }

    #[test]
    fn a_late_reading_that_refills_the_bucket_is_found_without_any_skew() {
        let hammer = Hammer::new(QUOTA).rounds(2_000);
        for hammer in [hammer, hammer.by_the_whole_call()] {
            let verdict = hammer.strike_with(wrapping, acquire);
            assert!(verdict.violation.is_some(), "{verdict:?}");
        }
    }

    #[test]
    fn only_what_lies_in_a_window_altogether_counts() {
        let evidence = |from, to, cost| Evidence { from: Nanos(from), to: Nanos(to), cost };
        let quota = Quota::per(1, Duration::from_nanos(10)).with_burst(3);
        assert!(worst_window(&[evidence(0, 10, 4)], quota).is_none());
        let window = worst_window(&[evidence(0, 9, 4)], quota).unwrap();
        assert_eq!((window.from, window.to, window.admitted, window.excess.numerator()), (Nanos(0), Nanos(9), 4, 1));
        // The worst of several; what began before it is left out.
        let run = [evidence(0, 50, 2), evidence(40, 45, 3), evidence(45, 50, 3)];
        let window = worst_window(&run, quota).unwrap();
        assert_eq!((window.from, window.to, window.admitted, window.excess.numerator()), (Nanos(40), Nanos(50), 6, 20));
    }
}
