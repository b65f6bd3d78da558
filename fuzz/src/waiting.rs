//! A line of places beside its model: whatever is done to both, they answer alike.

use crate::input::{Number, Wish, read};
use arbitrary::Arbitrary;
use core::time::Duration;
use tollgate::{Nanos, Quota};
use tollgate_testing::waiting::{Waiters, exact};

/// The last instant that is used: the scale of no quota ends before.
const END: u64 = 1 << 60;

#[derive(Arbitrary, Debug)]
enum Line {
    /// A quota of which every answer can be compared.
    Exact { tokens: u8, doublings: u8, halvings: u8, burst: u8 },
    /// Any other, of which only the bound is checked. (A large burst would make units of more than a nanosecond.)
    Any { wish: Wish, burst: u8 },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    /// Eighths of the time of one token, and a few nanoseconds.
    Forward(u16, u8),
    Back(u16),
    /// With a patience in eighths of the time of one token; without, as long as the line may be.
    Reserve(u8, Option<u16>),
    Take(u8),
    TakeUpTo(u8),
    Spend(u8),
    GiveBack(u8, bool),
    Look,
}

#[derive(Arbitrary, Debug)]
struct Input {
    line: Line,
    longest: Option<Number>,
    start: Number,
    steps: Vec<Step>,
}

/// The waiting bucket against its model, step by step.
///
/// # Panics
///
/// If they differ; or, for a quota whose scale is rounded, if the bound is broken.
pub fn waiting_token_bucket(data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    let (quota, compared) = match input.line {
        Line::Exact { tokens, doublings, halvings, burst } => {
            let halvings = u32::from(halvings % 40) + 1;
            let doublings = u32::from(doublings).min(halvings).min(4);
            (exact(u64::from(tokens % 3) + 1, doublings, halvings, u64::from(burst % 20) + 1), true)
        }
        Line::Any { wish, burst } => {
            let quota = wish.granted();
            let Ok(quota) = Quota::try_new(quota.tokens() % 1_000_000_000 + 1, quota.period(), u64::from(burst) + 1)
            else {
                return;
            };
            if quota.period() > Duration::from_secs(1 << 30) || rate_is_above_one_per_nanosecond(quota) {
                return;
            }
            (quota, false)
        }
    };
    let longest = input.longest.map_or(Duration::MAX, |nanos| Duration::from_nanos(nanos.get()));
    let mut waiters = Waiters::new(quota, longest, compared);
    waiters.set(Nanos(input.start.up_to(END / 2)));
    for step in input.steps {
        take(step, &mut waiters);
    }
    waiters.finish();
}

fn rate_is_above_one_per_nanosecond(quota: Quota) -> bool {
    u128::from(quota.tokens()) > quota.period().as_nanos()
}

fn take(step: Step, waiters: &mut Waiters) {
    let (period, tokens) = (waiters.quota.period().as_nanos(), u128::from(waiters.quota.tokens()));
    let eighths = |eighths: u16| u64::try_from(u128::from(eighths) * period / (8 * tokens)).unwrap_or(u64::MAX);
    let (now, held) = (waiters.now().0, waiters.held());
    let cost = |n: u8| u64::from(n) % (waiters.quota.burst() + 2);
    match step {
        Step::Forward(by, nanos) => {
            waiters.set(Nanos(now.saturating_add(eighths(by)).saturating_add(nanos.into()).min(END)));
        }
        Step::Back(by) => waiters.set(Nanos(now.saturating_sub(eighths(by)))),
        Step::Reserve(n, patience) => {
            let patience = patience.map_or(Duration::MAX, |by| Duration::from_nanos(eighths(by)));
            waiters.reserve(cost(n).max(1), patience);
        }
        Step::Take(n) => waiters.take(cost(n).max(1)),
        Step::TakeUpTo(n) => waiters.take_up_to(cost(n)),
        Step::Spend(which) if held > 0 => waiters.spend(usize::from(which) % held),
        Step::GiveBack(which, in_words) if held > 0 => waiters.give_back(usize::from(which) % held, in_words),
        Step::Look => waiters.look(),
        Step::Spend(_) | Step::GiveBack(..) => {}
    }
}
