//! Quotas and schedules over the whole range that there is.

use core::time::Duration;
use proptest::prelude::*;
use tollgate::{BuildError, Nanos, Quota, QuotaError};
use tollgate_testing::subject::{Kind, Pair};

/// A number of at most `bits` bits, all lengths alike, never 0.
fn up_to_bits(bits: u32) -> impl Strategy<Value = u64> {
    (1..=bits, any::<u64>()).prop_map(|(bits, x)| (x >> (64 - bits)).max(1))
}

/// Quotas of every size. What does not fit is moved to the very edge of what does, as the error names it.
pub(crate) fn quotas() -> impl Strategy<Value = Quota> {
    let any_size = (up_to_bits(64), up_to_bits(63), up_to_bits(64));
    let everyday = (1_u64..2_000, prop::sample::select(EVERYDAY_PERIODS), 1_u64..2_000);
    // So short that a nanosecond is a large part of a token, or many.
    let hasty = (1_u64..20, 1_u64..50, 1_u64..300);
    // A rate with no short fraction.
    let coprime = (prop::sample::select(PRIMES), prop::sample::select(PRIMES), 1_u64..100);
    prop_oneof![3 => any_size, 2 => everyday, 1 => hasty, 1 => coprime].prop_map(|(tokens, period, burst)| {
        let (mut tokens, mut period, mut burst) = (tokens, Duration::from_nanos(period), burst);
        loop {
            match Quota::try_new(tokens, period, burst) {
                Ok(quota) => return quota,
                Err(QuotaError::PeriodTooLong { longest }) => period = longest,
                Err(QuotaError::RateTooHigh { most, .. }) => tokens = most,
                Err(QuotaError::BurstTooLarge { largest }) => burst = largest,
                Err(other) => panic!("{other}"),
            }
        }
    })
}

const EVERYDAY_PERIODS: &[u64] =
    &[1_000_000, 1_000_000_000, 60_000_000_000, 3_600_000_000_000, 86_400_000_000_000, 2_592_000_000_000_000];

const PRIMES: &[u64] = &[3, 7, 1_009, 1_000_003, 1_000_000_007, 99_999_999_977, 4_611_686_018_427_387_847];

/// A pair for the quota as `kind` can hold it: where there is no room for the limit, the largest that fits; where there
/// is none for the rate either, one token per period. Logs are kept short, to save the time.
pub(crate) fn fitted(kind: Kind, quota: Quota) -> Pair {
    let (tokens, period) = (quota.tokens(), quota.period());
    let smaller = match Pair::new(kind, quota) {
        Ok(pair) => return pair,
        Err(BuildError::LogTooLong { .. }) => Quota::try_new(tokens % 3_000 + 1, period, 1),
        Err(BuildError::LimitTooLarge { largest: 0 }) => Quota::try_new(1, period, quota.burst().min(1 << 60)),
        Err(BuildError::LimitTooLarge { largest }) if Kind::BUCKETS.contains(&kind) => {
            Quota::try_new(tokens, period, largest)
        }
        Err(BuildError::LimitTooLarge { largest }) => Quota::try_new(largest, period, 1),
        Err(other) => panic!("{other}"),
    };
    fitted(kind, smaller.expect("what is smaller than a quota is a quota"))
}

/// A stretch of time, in terms of the quota it is used with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    Nanos(u64),
    /// So many eighths of the time of one token.
    Eighths(u32),
    /// The time in which a whole capacity falls due, plus or minus a nanosecond.
    Capacity(i8),
    /// So many periods.
    Periods(u8),
    /// To the start of the next period of the clock, plus or minus a nanosecond.
    NextPeriod(i8),
}

impl Span {
    pub(crate) fn nanos(self, pair: &Pair) -> u64 {
        let (tokens, period) = (u128::from(pair.quota.tokens()), pair.quota.period().as_nanos());
        let capacity = u128::from(pair.kind.capacity(pair.quota));
        let nanos = match self {
            Self::Nanos(nanos) => nanos.into(),
            Self::Eighths(eighths) => u128::from(eighths) * period / 8 / tokens,
            Self::Capacity(off) => (capacity * period / tokens).saturating_add_signed(off.into()),
            Self::Periods(periods) => u128::from(periods) * period,
            Self::NextPeriod(off) => {
                (period - u128::from(pair.now().as_nanos()) % period).saturating_add_signed(off.into())
            }
        };
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

/// A cost, in terms of the limiter it is asked of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Tokens(u64),
    /// What is there, plus or minus one.
    Available(i8),
    /// The capacity, plus or minus one.
    Capacity(i8),
    /// A part of the capacity, in 256ths.
    Part(u8),
}

impl Cost {
    pub(crate) fn tokens(self, pair: &Pair) -> u64 {
        let capacity = pair.kind.capacity(pair.quota);
        match self {
            Self::Tokens(n) => n,
            Self::Available(off) => pair.limiter.available().saturating_add_signed(off.into()),
            Self::Capacity(off) => capacity.saturating_add_signed(off.into()),
            Self::Part(part) => capacity / 256 * u64::from(part),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Forward(Span),
    /// A reading from a clock that is behind, then on from there.
    Back(Span),
    Acquire(Cost),
    /// If refused, wait for exactly as long as the hint says.
    AcquireAndWait(Cost),
    UpTo(Cost),
    Refund(Cost),
    Look,
}

impl Step {
    pub(crate) fn take(self, pair: &mut Pair) {
        match self {
            Self::Forward(span) => {
                let now = pair.now().as_nanos().saturating_add(span.nanos(pair));
                pair.set(Nanos(now).min(pair.kind.horizon()));
            }
            Self::Back(span) => {
                let now = pair.now().as_nanos().saturating_sub(span.nanos(pair));
                pair.set(Nanos(now));
            }
            Self::Acquire(cost) => {
                let _ = pair.acquire(cost.tokens(pair));
            }
            Self::AcquireAndWait(cost) => {
                let cost = cost.tokens(pair);
                let wait = pair.acquire(cost).err().and_then(|denied| denied.retry_after());
                let in_time = |wait: &Duration| pair.now().saturating_add(*wait) <= pair.kind.horizon();
                if let Some(wait) = wait.filter(in_time) {
                    pair.wait_for(cost, wait);
                }
            }
            Self::UpTo(cost) => {
                pair.up_to(cost.tokens(pair));
            }
            Self::Refund(cost) => pair.refund(cost.tokens(pair)),
            Self::Look => pair.look(),
        }
    }
}

fn spans() -> impl Strategy<Value = Span> {
    prop_oneof![
        up_to_bits(58).prop_map(Span::Nanos), // nine years
        (1_u64..4).prop_map(Span::Nanos),
        (1_u32..40).prop_map(Span::Eighths),
        (-1_i8..=1).prop_map(Span::Capacity),
        (1_u8..4).prop_map(Span::Periods),
        (-1_i8..=1).prop_map(Span::NextPeriod),
    ]
}

fn costs() -> impl Strategy<Value = Cost> {
    prop_oneof![
        1 => up_to_bits(64).prop_map(Cost::Tokens),
        3 => (0_u64..4).prop_map(Cost::Tokens),
        1 => Just(Cost::Tokens(u64::MAX)),
        3 => (-1_i8..=1).prop_map(Cost::Available),
        2 => (-1_i8..=1).prop_map(Cost::Capacity),
        2 => any::<u8>().prop_map(Cost::Part),
    ]
}

/// Schedules with so many steps back in each dozen steps.
pub(crate) fn schedules(back: u32) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => spans().prop_map(Step::Forward),
        back => spans().prop_map(Step::Back),
        4 => costs().prop_map(Step::Acquire),
        2 => costs().prop_map(Step::AcquireAndWait),
        2 => costs().prop_map(Step::UpTo),
        1 => costs().prop_map(Step::Refund),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 1..40)
}
