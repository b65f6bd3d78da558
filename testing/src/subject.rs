//! A limiter under test, beside the reference model of its algorithm, on a clock moved by hand.

use crate::reference::{self, Fraction, InUnits, Model};
use core::fmt;
use core::time::Duration;
use tollgate::{
    BuildError, Denied, FixedWindow, ManualClock, Nanos, PackedTokenBucket, Quota, RateLimitAt, SlidingWindowCounter,
    SlidingWindowLog, TokenBucket,
};

/// The largest limit that tests give a log, which takes 8 bytes for each unit of it.
const LONGEST_LOG: u64 = 1 << 20;

/// The last instant that packed words tell apart: 120 years.
const PACKED_END: Nanos = Nanos(120 * 31_557_600 * 1_000_000_000);

/// A limiter that is told the time, on a clock moved by hand.
pub type Subject = dyn RateLimitAt + Send + Sync;

/// The algorithms. Leaky bucket and interval bucket are the token bucket and the fixed window by other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`TokenBucket`]
    TokenBucket,
    /// [`PackedTokenBucket`]
    PackedTokenBucket,
    /// [`FixedWindow`]
    FixedWindow,
    /// [`SlidingWindowCounter`]
    SlidingWindowCounter,
    /// [`SlidingWindowLog`]
    SlidingWindowLog,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::TokenBucket,
        Self::PackedTokenBucket,
        Self::FixedWindow,
        Self::SlidingWindowCounter,
        Self::SlidingWindowLog,
    ];
    /// Those whose quota's burst counts.
    pub const BUCKETS: [Self; 2] = [Self::TokenBucket, Self::PackedTokenBucket];
    /// Those that take refunds, which a log does not.
    pub const REFUNDING: [Self; 4] =
        [Self::TokenBucket, Self::PackedTokenBucket, Self::FixedWindow, Self::SlidingWindowCounter];

    /// A fresh limiter.
    ///
    /// # Errors
    ///
    /// The limiter's, if the quota does not fit it; or if it is a log that would take more than 8 MiB, or a limiter whose
    /// model could not count so many tokens to a unit.
    pub fn limiter(self, quota: Quota, clock: &ManualClock) -> Result<Box<Subject>, BuildError> {
        let clock = clock.clone();
        if self == Self::SlidingWindowLog && quota.tokens() > LONGEST_LOG && !quota.is_unlimited() {
            return Err(BuildError::LogTooLong { largest: LONGEST_LOG });
        }
        if self.in_units(quota).is_none() {
            return Err(BuildError::LimitTooLarge { largest: 0 });
        }
        Ok(match self {
            Self::TokenBucket => Box::new(TokenBucket::try_with_clock(quota, clock)?),
            Self::PackedTokenBucket => Box::new(PackedTokenBucket::try_with_clock(quota, clock)?),
            Self::FixedWindow => Box::new(FixedWindow::try_with_clock(quota, clock)?),
            Self::SlidingWindowCounter => Box::new(SlidingWindowCounter::try_with_clock(quota, clock)?),
            Self::SlidingWindowLog => Box::new(SlidingWindowLog::try_with_clock(quota, clock)?),
        })
    }

    /// The model of a fresh limiter.
    pub fn model(self, quota: Quota) -> Box<dyn Model> {
        self.model_holding(self.capacity(quota), quota, Nanos::ZERO)
    }

    /// The model of a limiter that has so many tokens at `at`; the sliding windows' are always full.
    fn model_holding(self, tokens: u64, quota: Quota, at: Nanos) -> Box<dyn Model> {
        let most = self.capacity(quota);
        let (unit, quota) = self.in_units(quota).expect("there is no limiter of this kind for this quota");
        match self {
            Self::TokenBucket | Self::PackedTokenBucket => {
                let mut bucket = InUnits::new(reference::TokenBucket::holding(quota.burst(), quota, at), unit, most);
                bucket.charge(most - tokens, at);
                Box::new(bucket)
            }
            Self::FixedWindow => {
                let mut window = InUnits::new(reference::FixedWindow::new(quota), unit, most);
                window.charge(most - tokens, at);
                Box::new(window)
            }
            Self::SlidingWindowCounter => Box::new(reference::SlidingWindowCounter::new(quota)),
            Self::SlidingWindowLog => Box::new(reference::SlidingWindowLog::new(quota)),
        }
    }

    /// How many tokens a unit has: a power of two; `None` if so many as it would take are too many.
    ///
    /// Units have more than one token only where two or more fall due in a nanosecond (four in a packed bucket). Then they
    /// have as few as it takes for the word to last.
    pub fn tokens_per_unit(self, quota: Quota) -> Option<u64> {
        let (tokens, period) = (u128::from(quota.tokens()), quota.period().as_nanos());
        if period == 0 || tokens / period < if self == Self::PackedTokenBucket { 4 } else { 2 } {
            return Some(1);
        }
        let bits = |count: u128| 128 - count.leading_zeros();
        let lasts = |unit: u64| {
            let wide = u128::from(unit);
            match self {
                // What is due in 2^62 ns, and the burst on top.
                Self::TokenBucket => {
                    (tokens << 62).div_ceil(period * wide) + u128::from(quota.burst().div_ceil(unit)) <= u64::MAX.into()
                }
                // What is due in 120 years, beside what the bucket can hold; no faster than a scale can be.
                Self::PackedTokenBucket => {
                    let due = tokens * u128::from(PACKED_END.0) / (period * wide);
                    tokens / wide < 4 * period && bits(due) + bits(quota.burst().div_ceil(unit).into()) <= 64
                }
                // The windows in 120 years, beside what one can count.
                Self::FixedWindow => {
                    bits((u128::from(PACKED_END.0) / period).max(1)) + bits(quota.tokens().div_ceil(unit).into()) <= 64
                }
                Self::SlidingWindowCounter | Self::SlidingWindowLog => true,
            }
        };
        (0..32).map(|bits| 1 << bits).find(|&unit| lasts(unit))
    }

    /// How many tokens a unit has, and the quota in units; `None` if there is no such quota.
    fn in_units(self, quota: Quota) -> Option<(u64, Quota)> {
        let unit = self.tokens_per_unit(quota)?;
        if unit == 1 {
            return Some((unit, quota));
        }
        let in_units = if Self::BUCKETS.contains(&self) {
            let period = quota.period().as_nanos() * u128::from(unit);
            let period = Duration::from_nanos(u64::try_from(period).ok()?);
            Quota::try_new(quota.tokens(), period, quota.burst().div_ceil(unit))
        } else {
            Quota::try_new(quota.tokens().div_ceil(unit), quota.period(), 1)
        };
        Some((unit, in_units.ok()?))
    }

    /// The most there can be, and the most that one call can cost.
    pub fn capacity(self, quota: Quota) -> u64 {
        if Self::BUCKETS.contains(&self) { quota.burst() } else { quota.tokens() }
    }

    /// The last instant that a limiter tells apart from later ones: 146 years, or 120 where the word is packed.
    pub fn horizon(self) -> Nanos {
        match self {
            Self::TokenBucket => Nanos((1 << 62) - 1),
            Self::SlidingWindowLog => Nanos((1 << 62) - 2),
            Self::PackedTokenBucket | Self::FixedWindow | Self::SlidingWindowCounter => PACKED_END,
        }
    }

    /// Whether being `early` by so much, in the model's units, is within what the algorithm's documentation allows.
    pub fn allows(self, early: Fraction, quota: Quota) -> bool {
        match self {
            Self::TokenBucket => early.is_less_than_one_in(units_per_token(quota)),
            // A full packed bucket is clamped on a whole token, or a unit of many.
            Self::PackedTokenBucket => early.is_less_than_one_in(1),
            Self::FixedWindow | Self::SlidingWindowCounter | Self::SlidingWindowLog => early.is_zero(),
        }
    }
}

/// Token units per token, by their definition: the largest power of two for which the units that fall due in 2^62 ns, with
/// the burst on top, can be counted in 64 bits.
pub fn units_per_token(quota: Quota) -> u64 {
    let fits = |units: u64| {
        // Due in 2^62 ns: tokens * units * 2^62 / period.
        let rate = u128::from(quota.tokens()).checked_mul(units.into());
        let whole = rate.map(|rate| (rate / quota.period().as_nanos(), rate % quota.period().as_nanos()));
        let due = whole.and_then(|(whole, rest)| {
            let rest = (rest << 62).div_ceil(quota.period().as_nanos());
            whole.checked_mul(1 << 62).and_then(|due| due.checked_add(rest))
        });
        let burst = u128::from(quota.burst()).checked_mul(units.into());
        due.zip(burst).and_then(|(due, burst)| due.checked_add(burst)).is_some_and(|sum| sum <= u64::MAX.into())
    };
    (0..64).map(|f| 1 << f).take_while(|&units| fits(units)).last().unwrap_or(1)
}

/// A limiter and its model, side by side on one clock. Each step is taken by both and their answers are compared; the model
/// follows the limiter's decisions.
pub struct Pair {
    /// Which algorithm.
    pub kind: Kind,
    /// What both were made for.
    pub quota: Quota,
    /// The limiter's clock.
    pub clock: ManualClock,
    /// The limiter.
    pub limiter: Box<Subject>,
    /// Its model, which follows the limiter's decisions.
    pub model: Box<dyn Model>,
    now: Nanos,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, quota, now, .. } = self;
        write!(f, "{kind:?} of {quota:?} at {now:?}")
    }
}

impl Pair {
    /// A fresh pair at the origin of time.
    ///
    /// # Errors
    ///
    /// The limiter's, if the quota does not fit it.
    pub fn new(kind: Kind, quota: Quota) -> Result<Self, BuildError> {
        let clock = ManualClock::new();
        let limiter = kind.limiter(quota, &clock)?;
        Ok(Self { kind, quota, limiter, model: kind.model(quota), clock, now: Nanos::ZERO })
    }

    /// A pair made at `at` that holds `tokens`, or the most it can hold. Sliding windows always start full.
    ///
    /// # Errors
    ///
    /// The limiter's, if the quota does not fit it.
    pub fn holding(tokens: u64, kind: Kind, quota: Quota, at: Nanos) -> Result<Self, BuildError> {
        let mut pair = Self::new(kind, quota)?;
        pair.set(at);
        let tokens = tokens.min(kind.capacity(quota));
        let clock = pair.clock.clone();
        pair.limiter = match kind {
            Kind::TokenBucket => Box::new(TokenBucket::with_clock(quota, clock).with_initial(tokens)),
            Kind::PackedTokenBucket => Box::new(PackedTokenBucket::with_clock(quota, clock).with_initial(tokens)),
            Kind::FixedWindow => Box::new(FixedWindow::with_clock(quota, clock).with_initial(tokens)),
            Kind::SlidingWindowCounter | Kind::SlidingWindowLog => return Ok(pair),
        };
        pair.model = kind.model_holding(tokens, quota, at);
        Ok(pair)
    }

    /// What the clock says.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Sets the clock to `now`.
    pub fn set(&mut self, now: Nanos) {
        self.now = now;
        self.clock.set(now);
    }

    /// Moves the clock on.
    pub fn advance(&mut self, by: Duration) {
        self.set(self.now.saturating_add(by));
    }

    /// Asks both for `n` tokens.
    ///
    /// # Errors
    ///
    /// The limiter's answer.
    ///
    /// # Panics
    ///
    /// If the model says that the answer is wrong.
    #[track_caller]
    pub fn acquire(&mut self, n: u64) -> Result<(), Denied> {
        let (max_cost, now) = (self.limiter.max_cost(), self.now);
        let answer = self.limiter.try_acquire_n_at(n, now);
        match answer {
            Ok(()) => self.charge(n),
            Err(denied) => {
                assert!(!self.model.would_admit(n, now), "{n} refused at {now:?}, which the model admits: {denied}");
                if n > max_cost {
                    assert_eq!(denied, Denied::ExceedsBurst { cost: n, max_cost });
                    assert_eq!(denied.retry_after(), None);
                } else {
                    self.expect_wait(n, denied.retry_after());
                }
            }
        }
        answer
    }

    /// Takes up to `n` tokens from both.
    ///
    /// # Panics
    ///
    /// If the model says that they were too many or too few.
    #[track_caller]
    pub fn up_to(&mut self, n: u64) -> u64 {
        let (before, now) = (self.model.available(self.now), self.now);
        let taken = self.limiter.try_acquire_up_to(n);
        assert!(taken <= n, "took {taken} of {n}");
        assert!(taken >= before.min(n), "took {taken} of {n} at {now:?}, where the model has {before}");
        self.charge(taken);
        taken
    }

    /// Gives `n` tokens back to both, if the algorithm takes any back.
    pub fn refund(&mut self, n: u64) {
        if Kind::REFUNDING.contains(&self.kind) {
            self.limiter.refund(n);
            self.model.refund(n, self.now);
        }
    }

    /// Compares all that can be read without changing anything.
    ///
    /// # Panics
    ///
    /// If the model says that something is wrong.
    #[track_caller]
    pub fn look(&self) {
        let (limit, now) = (self.kind.capacity(self.quota), self.now);
        let (status, available) = (self.limiter.status(), self.limiter.available());
        assert_eq!((status.limit, status.remaining), (limit, available));
        assert!(available <= limit, "{available} tokens left of {limit}");
        let least = self.model.available(now);
        assert!(available >= least, "{available} tokens left at {now:?}, where the model has {least}");
        let early = self.model.shortfall(available, now);
        assert!(self.kind.allows(early, self.quota), "{available} tokens left at {now:?}, {early} too many");
        self.expect_wait(1, status.retry_after);
        self.expect_wait(limit, Some(status.reset_after).filter(|&wait| wait < Duration::MAX));
    }

    /// Moves on by `wait`, a hint for a cost of `n`: refused a nanosecond before, admitted at it.
    ///
    /// # Panics
    ///
    /// If it is otherwise.
    #[track_caller]
    pub fn wait_for(&mut self, n: u64, wait: Duration) {
        let due = self.now.saturating_add(wait);
        let before = self.now.max(Nanos(due.0 - 1));
        self.set(before);
        assert!(self.acquire(n).is_err(), "{n} admitted a nanosecond before {due:?}");
        self.set(due);
        assert!(self.acquire(n).is_ok(), "{n} refused at {due:?}");
    }

    #[track_caller]
    fn charge(&mut self, n: u64) {
        let now = self.now;
        let early = self.model.charge(n, now);
        assert!(self.kind.allows(early, self.quota), "{n} admitted at {now:?}, {early} tokens early");
    }

    /// Checks the limiter's answer to when `n` tokens would be admitted.
    #[track_caller]
    fn expect_wait(&self, n: u64, wait: Option<Duration>) {
        let earliest = self.model.earliest(n, self.now);
        let Some(wait) = wait else {
            let horizon = self.kind.horizon();
            assert!(earliest.is_none_or(|at| at > horizon), "{n} refused for ever, by the model until {earliest:?}");
            return;
        };
        let (due, latest) = (self.now.saturating_add(wait), earliest.unwrap_or(Nanos::MAX));
        assert!(due <= latest, "{n} due at {due:?}, by the model at {latest:?}");
        let early = self.model.shortfall(n, due);
        assert!(self.kind.allows(early, self.quota), "{n} due at {due:?}, {early} tokens early");
    }
}
