//! The sharded limiter: no window over the bound, no token lost or out of reach.
//!
//! Each model runs over the library's type, over a transcription of its protocol, and over the transcription with one
//! rule left out, which must fail. The transcription says at which instant exactly it admits; of the library's calls it
//! is known when they begin and end.

use tollgate_loom::sharded::Call::{Acquire, AcquireAt, Claim, FallBehind, Refund, Release, Tick, UpTo};
use tollgate_loom::sharded::{Call, Cancel, Limiter, Real, Rules, Sum, Transcription, World, assert_bounded_within};
use tollgate_loom::sync::Arc;
use tollgate_loom::{explore, must_fail, race};

/// A model: a world, what one thread does beforehand, and what two or three do at once, each with its slot.
#[derive(Clone, Copy)]
struct Model<const N: usize> {
    name: &'static str,
    world: World,
    before: &'static [Call],
    threads: [(usize, &'static [Call]); N],
    preemptions: usize,
}

impl<const N: usize> Model<N> {
    fn play(&self, limiter: impl Limiter) {
        let limiter = Arc::new(limiter);
        let mut admitted = limiter.perform(0, self.before);
        let whole = limiter.available();
        let raced = race(&limiter, self.threads, |limiter, (shard, calls)| limiter.perform(shard, calls)).concat();
        let left = limiter.available();
        if !self.threads.iter().any(|(_, calls)| calls.iter().any(|call| matches!(call, Tick(_)))) {
            let spent: u64 = raced.iter().map(|admission| admission.cost).sum();
            assert_eq!(spent + left, whole + self.given_back(), "tokens lost or made");
        }
        if self.world.shards > 1 {
            let rest = limiter.perform(1, &[Acquire(1); 8]);
            let taken: u64 = rest.iter().map(|admission| admission.cost).sum();
            assert_eq!(taken, left, "tokens out of reach");
            admitted.extend(rest);
        }
        admitted.extend(raced);
        if self.given_back() == 0 {
            assert_bounded_within(&admitted, limiter.bound()); // else it holds for what was kept
        }
    }

    /// Tokens that the threads give back.
    fn given_back(&self) -> u64 {
        self.threads.iter().flat_map(|(_, calls)| *calls).filter(|call| matches!(call, Refund)).count() as u64
    }

    /// The library's type and the transcription pass.
    fn holds(self) -> Self {
        let world = self.world;
        explore(&format!("{}, library", self.name), Some(self.preemptions), move || self.play(Real::new(world)));
        explore(&format!("{}, transcription", self.name), Some(self.preemptions), move || {
            self.play(Transcription::new(world, Rules::ALL));
        });
        self
    }

    /// The transcription without some rule fails.
    fn fails(self, symptom: &str, what: &str, rules: Rules) -> Self {
        if cfg!(loom) {
            // Real threads would show it by luck only.
            let world = self.world;
            must_fail(&format!("{}, {what}", self.name), Some(self.preemptions), symptom, move || {
                self.play(Transcription::new(world, rules));
            });
        }
        self
    }
}

const OVER: &str = "over-admission";

/// What most models have in common.
const fn model<const N: usize>(name: &'static str, threads: [(usize, &'static [Call]); N]) -> Model<N> {
    Model { name, world: World::SMALL, before: &[], threads, preemptions: 3 }
}

/// Fills the slot, and gives the central word time to fill up again.
const FILL: &[Call] = &[Acquire(1), Tick(1)];

#[test]
fn two_refillers_of_one_slot() {
    model("two refillers", [(0, &[Acquire(1)]), (0, &[Acquire(1), Tick(1), Acquire(1), Acquire(1), AcquireAt(4)])])
        .holds()
        .fails(OVER, "no bit", Rules { bit: false, ..Rules::ALL })
        .fails(OVER, "a cap in place of the bit", Rules { bit: false, capped_deposit: true, ..Rules::ALL });
}

#[test]
fn two_refills_in_a_row() {
    model("two refills", [(0, &[Acquire(1), Acquire(1)]), (0, &[Tick(1), Acquire(1), Acquire(1), AcquireAt(4)])])
        .holds()
        .fails(OVER, "one reading for both", Rules { fresh_reading: false, ..Rules::ALL });
}

#[test]
fn spending_goes_on_beside_a_refill() {
    let world = World { central: 3, rate: 3, ..World::SMALL };
    let threads: [(_, &[_]); 2] = [(0, &[Acquire(2)]), (0, &[Tick(1), Acquire(1), Acquire(1), AcquireAt(3)])];
    Model { world, before: FILL, ..model("spending", threads) }
        .holds()
        .fails(OVER, "clock before bit", Rules { clock_after_bit: false, ..Rules::ALL })
        .fails(OVER, "credits reloaded", Rules { credits_seen_once: false, ..Rules::ALL })
        .fails(OVER, "no cap", Rules { room_only: false, ..Rules::ALL });
}

#[test]
fn two_want_the_last_credit() {
    let world = World { central: 2, rate: 2, ..World::SMALL };
    let threads: [(_, &[_]); 2] = [(0, &[Acquire(1)]), (0, &[Acquire(1), Acquire(1)])];
    Model { world, before: FILL, ..model("last credit", threads) }
        .holds()
        .fails("tokens lost or made", "undo", Rules { no_undo: false, ..Rules::ALL })
        .fails("tokens lost or made", "debts paid", Rules { negative_is_none: false, ..Rules::ALL });
}

#[test]
fn three_share_a_slot() {
    let threads: [(_, &[_]); 3] = [(0, &[Acquire(1)]), (0, &[Acquire(1)]), (0, &[Acquire(1)])];
    Model { before: FILL, preemptions: 2, ..model("three", threads) }.holds();
}

#[test]
fn the_central_word_leaves_room_for_credits() {
    let threads: [(_, &[_]); 2] = [(0, &[Acquire(1), Acquire(1)]), (0, &[AcquireAt(4), AcquireAt(1)])];
    Model { before: FILL, ..model("whole burst", threads) }.holds().fails(
        OVER,
        "no reserve",
        Rules { reserve: false, ..Rules::ALL },
    );
}

#[test]
fn a_cost_comes_from_one_place() {
    let threads: [(_, &[_]); 2] = [(0, &[Acquire(3), Tick(1), AcquireAt(4)]), (0, &[Acquire(1), Acquire(2)])];
    Model { before: &[Acquire(1), Tick(1), AcquireAt(2)], ..model("pieces", threads) }.holds().fails(
        OVER,
        "pieces put back",
        Rules { whole: false, ..Rules::ALL },
    );
}

#[test]
fn a_partial_take_spends_what_it_finds() {
    let world = World { shards: 2, ..World::SMALL };
    let threads: [(_, &[_]); 2] = [(0, &[UpTo(6)]), (1, &[Acquire(1), Acquire(1)])];
    Model { world, before: FILL, ..model("partial", threads) }.holds();
    let threads: [(_, &[_]); 2] = [(0, &[UpTo(6), Tick(1), AcquireAt(4)]), (0, &[Acquire(1), UpTo(5)])];
    Model { before: FILL, preemptions: 2, ..model("partial in time", threads) }.holds();
}

#[test]
fn what_was_drawn_is_not_put_back() {
    model("cancelled", [(0, &[Acquire(1), Acquire(2)]), (0, &[Tick(1), AcquireAt(4)])]).holds().fails(
        OVER,
        "put into the slot",
        Rules { cancel: Cancel::ToSlot, ..Rules::ALL },
    );
    model("cancelled at V", [(0, &[Acquire(3)]), (0, &[Tick(1), AcquireAt(4), AcquireAt(4)])]).holds().fails(
        OVER,
        "put back to V",
        Rules { cancel: Cancel::ToCentral, ..Rules::ALL },
    );
}

#[test]
fn denials_know_when_there_is_nothing() {
    let world = World { shards: 2, central: 2, rate: 2, ..World::SMALL };
    Model { world, ..model("denials", [(0, &[Acquire(1)]), (1, &[Acquire(1), Acquire(1)])]) }
        .holds()
        .fails("tokens out of reach", "counted first", Rules { counted_after: false, ..Rules::ALL })
        .fails("tokens out of reach", "count not acquired", Rules { acquired: false, ..Rules::ALL });
}

/// The slot that was quiet sees whatever comes, once it has come.
#[test]
fn nothing_is_missed_in_the_quiet() {
    const REACH: &str = "tokens out of reach";
    let world = World { shards: 2, central: 2, rate: 2, ..World::SMALL };
    let dry: &[Call] = &[Acquire(1), Acquire(1)];
    Model { world, before: dry, ..model("a refund in the quiet", [(0, &[Refund]), (1, &[Acquire(1)])]) }
        .holds()
        .fails(REACH, "told first", Rules { told_after: false, ..Rules::ALL })
        .fails(REACH, "news counted after the look", Rules { news_first: false, ..Rules::ALL })
        .fails(REACH, "news not acquired", Rules { news_acquired: false, ..Rules::ALL })
        .fails(REACH, "a quiet that survives a refund", Rules { news_heeded: false, ..Rules::ALL });
    Model { world, before: dry, ..model("a token in the quiet", [(0, &[Tick(1)]), (1, &[Acquire(1), Acquire(1)])]) }
        .holds()
        .fails(REACH, "never looked at again", Rules { ends: false, ..Rules::ALL });
    Model { world, ..model("a deposit in the quiet", [(0, &[Acquire(1)]), (1, &[Acquire(1)])]) }.holds().fails(
        REACH,
        "deposit not told",
        Rules { deposit_told: false, ..Rules::ALL },
    );
}

#[test]
fn a_thief_races_a_refiller() {
    let world = World { shards: 2, batch: 2, ..World::SMALL };
    let threads: [(_, &[_]); 2] = [(0, &[Acquire(1), Acquire(2)]), (1, &[Acquire(3), Acquire(1), Acquire(2)])];
    Model { world, ..model("thief", threads) }.holds();
    let threads: [(_, &[_]); 3] = [(0, &[Acquire(1)]), (0, &[Acquire(1)]), (1, &[Tick(1), Acquire(2)])];
    Model { world, preemptions: 1, ..model("thief and two refillers", threads) }.holds();
}

#[test]
fn handles_hold_and_give_back() {
    let world = World { handles: 1, ..World::SMALL };
    let before = &[Acquire(1), Claim, Acquire(1), Release, Tick(1)];
    let threads: [(_, &[_]); 2] =
        [(0, &[Claim, Release, Acquire(1), AcquireAt(4), Acquire(1)]), (0, &[Claim, Acquire(1), Tick(1), Acquire(1)])];
    Model { world, before, ..model("handles", threads) }.holds().fails(
        OVER,
        "slot freed first",
        Rules { given_back_first: false, ..Rules::ALL },
    );
    let threads: [(_, &[_]); 2] =
        [(0, &[Claim, Acquire(1), Acquire(1), Acquire(1), Acquire(1)]), (0, &[Tick(1), Acquire(1), AcquireAt(4)])];
    Model { world, before: FILL, ..model("a handle's batches", threads) }.holds().fails(
        OVER,
        "one reading for all",
        Rules { fresh_reading: false, ..Rules::ALL },
    );
}

#[test]
fn calls_on_a_reading_keep_to_it() {
    let threads: [(_, &[_]); 2] = [(0, &[AcquireAt(1)]), (0, &[AcquireAt(4), Acquire(1), Tick(1), Acquire(1)])];
    Model { before: FILL, ..model("calls on a reading", threads) }.holds().fails(
        OVER,
        "credits as of a reading",
        Rules { readings_from_central: false, ..Rules::ALL },
    );
}

#[test]
fn a_slow_clock_costs_what_it_is_behind() {
    let world = World { rate: 1, skew: 1, ..World::SMALL };
    let threads: [(_, &[_]); 2] =
        [(0, &[FallBehind, Acquire(1)]), (0, &[Acquire(1), Tick(4), Acquire(1), Acquire(1), AcquireAt(4)])];
    Model { world, preemptions: 2, ..model("skew", threads) }.holds();
}

const INFLATED: &str = "told of more than there was";

/// One thread adds up what there is, and another refills its slot meanwhile. Each has a slot; there are tokens in V and in the
/// first slot. What the one is told and what it took are together no more than there was when it began.
fn told_beside_a_refill(limiter: impl Limiter, shard: usize, sum: Sum) {
    let limiter = Arc::new(limiter);
    limiter.perform(0, &[Acquire(1)]);
    let whole = limiter.available();
    let [told, _] = race(&limiter, [true, false], move |limiter, adds_up| {
        if adds_up {
            return limiter.told(shard, sum);
        }
        limiter.perform(1, &[Acquire(1)]);
        [0; 2]
    });
    assert!(told[0] + told[1] <= whole, "{INFLATED}: {told:?} of {whole}");
    assert!(limiter.available() < whole, "the other took one");
}

#[test]
fn nobody_is_told_of_more_than_there_is() {
    const WORLD: World = World { shards: 2, central: 6, rate: 6, batch: 2, ..World::SMALL };
    for (shard, sum) in [
        (1, Sum::Available),
        (1, Sum::Snapshot),
        (1, Sum::Status(1)),
        (0, Sum::Status(1)),
        (1, Sum::Status(3)),
        (1, Sum::Status(4)),
    ] {
        let name = format!("sharded, {sum:?} of thread {shard}");
        explore(&format!("{name}, library"), Some(3), move || told_beside_a_refill(Real::new(WORLD), shard, sum));
        explore(&format!("{name}, transcription"), Some(3), move || {
            told_beside_a_refill(Transcription::new(WORLD, Rules::ALL), shard, sum);
        });
    }
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn without_rule_9_tokens_are_counted_twice() {
    const WORLD: World = World { shards: 2, central: 6, rate: 6, batch: 2, ..World::SMALL };
    for sum in [Sum::Available, Sum::Status(1)] {
        let fails = |what: &str, rules| {
            must_fail(&format!("sharded, {sum:?}, {what}"), Some(3), INFLATED, move || {
                told_beside_a_refill(Transcription::new(WORLD, rules), 1, sum);
            });
        };
        fails("V first", Rules { slots_first: false, ..Rules::ALL });
    }
    let fails = |what: &str, rules| {
        must_fail(&format!("sharded, sum, {what}"), Some(3), INFLATED, move || {
            told_beside_a_refill(Transcription::new(WORLD, rules), 1, Sum::Snapshot);
        });
    };
    fails("slots not acquired", Rules { slots_acquired: false, ..Rules::ALL });
    fails("deposit not released", Rules { deposit_released: false, ..Rules::ALL });
}
