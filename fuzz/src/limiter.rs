//! A limiter beside its reference model: whatever is done to both, they answer alike.

use crate::input::{Number, Wish, read};
use arbitrary::Arbitrary;
use tollgate::{BuildError, Nanos, Quota};
use tollgate_testing::subject::{Kind, Pair};

/// A stretch of time, in terms of the quota.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Span {
    Nanos(Number),
    /// So many eighths of the time of one token.
    Eighths(u8),
    /// The time in which everything falls due, and a little more or less.
    Refill(i8),
    Periods(u8),
    /// To the start of the next period of the clock, and a little more or less.
    NextPeriod(i8),
}

impl Span {
    fn nanos(self, pair: &Pair) -> u64 {
        let (tokens, period) = (u128::from(pair.quota.tokens()), pair.quota.period().as_nanos());
        let nanos = match self {
            Self::Nanos(nanos) => u128::from(nanos.get()),
            Self::Eighths(eighths) => u128::from(eighths) * period / 8 / tokens,
            Self::Refill(off) => {
                (u128::from(pair.limiter.max_cost()) * period / tokens).saturating_add_signed(off.into())
            }
            Self::Periods(periods) => u128::from(periods) * period,
            Self::NextPeriod(off) => (period - u128::from(pair.now().0) % period).saturating_add_signed(off.into()),
        };
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

/// A cost, in terms of the limiter.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Cost {
    Few(u8),
    Any(Number),
    /// What is there, and a little more or less.
    Available(i8),
    /// All there can be, and a little more or less.
    Most(i8),
}

impl Cost {
    fn tokens(self, pair: &Pair) -> u64 {
        match self {
            Self::Few(n) => n.into(),
            Self::Any(n) => n.get(),
            Self::Available(off) => pair.limiter.available().saturating_add_signed(off.into()),
            Self::Most(off) => pair.limiter.max_cost().saturating_add_signed(off.into()),
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Forward(Span),
    /// A reading from a clock that is behind, and on from there.
    Back(Span),
    Take(Cost),
    /// If refused, wait for exactly as long as the hint says.
    TakeAndWait(Cost),
    UpTo(Cost),
    Refund(Cost),
    Look,
}

#[derive(Arbitrary, Debug)]
struct Input {
    wish: Wish,
    start: Number,
    steps: Vec<Step>,
}

/// Takes every step on both sides. The pair compares all answers.
pub(crate) fn follow(kind: Kind, data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    let mut pair = fitted(kind, input.wish.granted());
    pair.set(Nanos(input.start.up_to(kind.horizon().0)));
    for step in input.steps {
        take(step, &mut pair);
    }
    pair.look();
}

/// A pair for the quota, or for the largest one that the word has room for.
fn fitted(kind: Kind, quota: Quota) -> Pair {
    let largest = match Pair::new(kind, quota) {
        Ok(pair) => return pair,
        Err(BuildError::LimitTooLarge { largest: 0 }) => {
            return fitted(kind, Quota::per(1, quota.period()).with_burst(quota.burst().min(1 << 60)));
        }
        // A short log, which its model can follow quickly.
        Err(BuildError::LogTooLong { .. }) => {
            return fitted(kind, Quota::per(1 + quota.tokens() % 256, quota.period()));
        }
        Err(BuildError::LimitTooLarge { largest }) => largest,
        Err(other) => panic!("a quota that is one, but: {other}"),
    };
    let with_limit = |limit| {
        let (tokens, burst) = if Kind::BUCKETS.contains(&kind) { (quota.tokens(), limit) } else { (limit, 1) };
        Quota::try_new(tokens, quota.period(), burst)
    };
    if let Ok(larger) = with_limit(largest + 1) {
        assert_eq!(Pair::new(kind, larger).err(), Some(BuildError::LimitTooLarge { largest }));
    }
    let fits = with_limit(largest).expect("what is smaller than a quota is a quota");
    Pair::new(kind, fits).expect("the largest that fits fits")
}

fn take(step: Step, pair: &mut Pair) {
    match step {
        Step::Forward(span) => {
            let now = pair.now().0.saturating_add(span.nanos(pair));
            pair.set(Nanos(now).min(pair.kind.horizon()));
        }
        Step::Back(span) => pair.set(Nanos(pair.now().0.saturating_sub(span.nanos(pair)))),
        Step::Take(cost) => {
            let _ = pair.acquire(cost.tokens(pair));
        }
        Step::TakeAndWait(cost) => {
            let cost = cost.tokens(pair);
            if let Some(wait) = pair.acquire(cost).err().and_then(|denied| denied.retry_after())
                && pair.now().saturating_add(wait) <= pair.kind.horizon()
            {
                pair.wait_for(cost, wait);
            }
        }
        Step::UpTo(cost) => {
            pair.up_to(cost.tokens(pair));
        }
        Step::Refund(cost) => pair.refund(cost.tokens(pair)),
        Step::Look => pair.look(),
    }
}
