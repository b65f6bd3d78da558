//! The sharded token bucket, by one thread that also takes and drops handles: never too much, and not too little.

use crate::input::{Number, Wish, read};
use arbitrary::Arbitrary;
use tollgate::{Denied, ManualClock, Nanos, ShardedTokenBucket};
use tollgate_testing::reference::{Model, TokenBucket};
use tollgate_testing::subject::{Kind, units_per_token};
use tollgate_testing::trace::{Admission, worst_window};

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Step {
    Forward(Number),
    /// In eighths of the time of one token.
    Eighths(u8),
    /// The time in which everything falls due.
    Refill,
    Take(Cost),
    /// On a reading that is late.
    TakeLate(Cost, Number),
    UpTo(Cost),
    Handle,
    Drop(u8),
    /// By one of the handles.
    TakeBy(u8, Cost),
    UpToBy(u8, Cost),
    Look,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Cost {
    One,
    Few(u8),
    Any(Number),
    /// All there is, and a little more or less.
    Available(i8),
    /// The most that one call can cost, and a little more or less.
    Most(i8),
}

#[derive(Arbitrary, Debug)]
struct Input {
    wish: Wish,
    shards: u8,
    start: Number,
    steps: Vec<Step>,
}

/// 120 years, which every quota lasts.
const HORIZON: u64 = 43_830 * 86_400 * 1_000_000_000;

type Bucket = ShardedTokenBucket<ManualClock>;
type Handle<'a> = tollgate::Handle<'a, ManualClock>;

struct Run {
    model: TokenBucket,
    /// Whether a unit of the bucket's scale is no more than a token, as of the model's.
    counts_tokens: bool,
    admitted: Vec<Admission>,
}

impl Run {
    fn admit(&mut self, n: u64, now: Nanos) {
        self.model.charge(n, now);
        if n > 0 {
            self.admitted.push(Admission::new(n, now));
        }
    }
}

/// Any calls by a bucket and its handles, one after the other.
///
/// # Panics
///
/// If a window holds more than the burst and the rate allow, if more is denied than can be out of reach, or if a hint is
/// wrong.
pub fn sharded_token_bucket(data: &[u8]) {
    let Some(input) = read::<Input>(data) else { return };
    let quota = input.wish.granted();
    let clock = ManualClock::starting_at(Nanos(input.start.up_to(HORIZON)));
    let bucket = ShardedTokenBucket::with_shards_and_clock(quota, usize::from(input.shards) + 1, clock.clone());
    let mut handles: Vec<Handle<'_>> = Vec::new();
    let unit = Kind::TokenBucket.tokens_per_unit(quota).expect("every quota fits the token bucket");
    let mut run = Run { model: TokenBucket::new(quota), counts_tokens: unit == 1, admitted: Vec::new() };
    let mut now = input.start.up_to(HORIZON);

    for step in input.steps {
        let per_token = quota.period().as_nanos() / u128::from(quota.tokens());
        let eighths = |n: u128| u64::try_from(n * quota.period().as_nanos() / 8 / u128::from(quota.tokens()));
        let by = |i: u8, handles: &[Handle<'_>]| usize::from(i) % handles.len().max(1);
        match step {
            Step::Forward(nanos) => now = now.saturating_add(nanos.get()).min(HORIZON),
            Step::Eighths(n) => now = now.saturating_add(eighths(n.into()).unwrap_or(u64::MAX)).min(HORIZON),
            Step::Refill => {
                let refill = u64::try_from(per_token.saturating_add(1).saturating_mul(quota.burst().into()));
                now = now.saturating_add(refill.unwrap_or(u64::MAX)).min(HORIZON);
            }
            Step::Take(cost) => {
                let cost = tokens(cost, &bucket);
                let answer = bucket.try_acquire_n(cost);
                let again = |at: u64| {
                    clock.set(Nanos(at));
                    bucket.try_acquire_n(cost)
                };
                now = decided(&mut run, &bucket, !handles.is_empty(), (cost, now), answer, again);
            }
            Step::TakeBy(i, cost) if !handles.is_empty() => {
                let (handle, cost) = (&handles[by(i, &handles)], tokens(cost, &bucket));
                let answer = handle.try_acquire_n(cost);
                let again = |at: u64| {
                    clock.set(Nanos(at));
                    handle.try_acquire_n(cost)
                };
                now = decided(&mut run, &bucket, true, (cost, now), answer, again);
            }
            Step::TakeLate(cost, late) => {
                let (cost, at) = (tokens(cost, &bucket), Nanos(now.saturating_sub(late.get())));
                if bucket.try_acquire_n_at(cost, at).is_ok() {
                    run.admit(cost, at);
                }
            }
            Step::UpTo(cost) => {
                let (cost, before) = (tokens(cost, &bucket), bucket.available());
                let taken = bucket.try_acquire_up_to(cost);
                // A full cost comes from one place; what is there at least is taken.
                assert!(
                    taken == cost || (before..cost).contains(&taken),
                    "{taken} of {cost} where there were {before}"
                );
                run.admit(taken, Nanos(now));
            }
            Step::UpToBy(i, cost) if !handles.is_empty() => {
                let handle = &handles[by(i, &handles)];
                let (cost, before) = (tokens(cost, &bucket), bucket.available().saturating_add(handle.credits()));
                let taken = handle.try_acquire_up_to(cost);
                let least = before.min(cost).min(quota.burst());
                assert!((least..=cost).contains(&taken), "{taken} of {cost} where there were {before}");
                run.admit(taken, Nanos(now));
            }
            Step::Handle if handles.len() < 80 => handles.push(bucket.handle()),
            Step::Drop(i) if !handles.is_empty() => drop(handles.remove(by(i, &handles))),
            Step::Look => {
                let (status, available) = (bucket.status(), bucket.available());
                assert_eq!((status.limit, status.remaining), (bucket.max_cost(), available.min(bucket.max_cost())));
                assert_eq!(available > 0, status.retry_after.is_some_and(|wait| wait.is_zero()));
            }
            Step::Handle | Step::Drop(_) | Step::TakeBy(..) | Step::UpToBy(..) => {}
        }
        clock.set(Nanos(now));
    }
    if let Some(window) = worst_window(&run.admitted, quota) {
        let excess = window.excess;
        let within = if unit == 1 {
            excess.is_less_than_one_in(units_per_token(quota))
        } else {
            // Early by less than a unit, where the burst has none to keep back for that.
            bucket.max_cost() == quota.burst() && excess.numerator() < excess.denominator() * u128::from(unit)
        };
        assert!(within, "{quota:?}: {window}");
    }
}

fn tokens(cost: Cost, bucket: &Bucket) -> u64 {
    match cost {
        Cost::One => 1,
        Cost::Few(n) => n.into(),
        Cost::Any(n) => n.get(),
        Cost::Available(off) => bucket.available().saturating_add_signed(off.into()),
        Cost::Most(off) => bucket.max_cost().saturating_add_signed(off.into()),
    }
}

/// Judges an answer; returns the time, which a hint may have moved.
fn decided(
    run: &mut Run,
    bucket: &Bucket,
    held: bool,
    (n, now): (u64, u64),
    answer: Result<(), Denied>,
    again: impl Fn(u64) -> Result<(), Denied>,
) -> u64 {
    let (most, reserve) = (bucket.max_cost(), bucket.quota().burst() - bucket.max_cost());
    let Err(denied) = answer else {
        run.admit(n, Nanos(now));
        return now;
    };
    if n > most {
        assert_eq!(denied, Denied::ExceedsBurst { cost: n, max_cost: most });
        return now;
    }
    // Out of reach: what is kept back for credits; and credits, if they lie in pieces or in handles.
    let out_of_reach = if n == 1 && !held { reserve } else { 2 * reserve };
    let left = run.model.available(Nanos(now));
    assert!(
        !run.counts_tokens || left < n.saturating_add(out_of_reach),
        "{n} denied at {now} where the model has {left}, {out_of_reach} out of reach"
    );
    // None where the limiter's time ends first.
    let Some(wait) = denied.retry_after() else { return now };
    assert!(!wait.is_zero());
    let due = Nanos(now).saturating_add(wait).0;
    if due > HORIZON {
        return now;
    }
    assert!(again(due - 1).is_err(), "{n} admitted a nanosecond before {due}");
    assert!(again(due).is_ok(), "{n} denied at {due}");
    run.admit(n, Nanos(due));
    due
}
