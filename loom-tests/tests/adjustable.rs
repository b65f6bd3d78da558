//! A limiter whose quota changes: every outcome has a sequential order, and no change mints a token.
//!
//! Each model runs over the library's types, over a transcription of its protocol, and over the transcription with one
//! rule left out, which must fail.

use tollgate_loom::adjustable::Call::{Refund, Set, Take, Tick};
use tollgate_loom::adjustable::{
    Call, Rules, Terms, Transcription, fixed_window, play_at_once, play_with_the_clock, sliding_window_counter,
    token_bucket,
};
use tollgate_loom::{explore, must_fail};

const PREEMPTIONS: Option<usize> = Some(2);

/// Two at once on a coarse scale, and on a fine one.
const COARSE: Terms = Terms { burst: 2, interval: 64 };
const FINE: Terms = Terms { burst: 2, interval: 4096 };

/// Four at once, where a token is a unit of the transcription, and where it is several.
const UNIT: Terms = Terms { burst: 4, interval: 1 };
const UNITS: Terms = Terms { burst: 4, interval: 4 };
/// One at once.
const LESS: Terms = Terms { burst: 1, interval: 4096 };
/// A token each 2 ns.
const QUICK: Terms = Terms { burst: 2, interval: 2 };

/// Calls at one instant.
#[derive(Clone, Copy)]
struct Model<const N: usize> {
    name: &'static str,
    first: Terms,
    before: &'static [Call],
    threads: [&'static [Call]; N],
}

impl<const N: usize> Model<N> {
    fn holds(self) -> Self {
        let Self { name, first, before, threads } = self;
        explore(&format!("adjustable, {name}, library"), PREEMPTIONS, move || {
            play_at_once(token_bucket(first), first.burst, before, threads);
        });
        explore(&format!("adjustable, {name}, library's fixed window"), PREEMPTIONS, move || {
            play_at_once(fixed_window(first), first.burst, before, threads);
        });
        explore(&format!("adjustable, {name}, library's sliding window counter"), PREEMPTIONS, move || {
            play_at_once(sliding_window_counter(first), first.burst, before, threads);
        });
        explore(&format!("adjustable, {name}, transcription"), PREEMPTIONS, move || {
            play_at_once(Transcription::new(first, Rules::ALL), first.burst, before, threads);
        });
        self
    }

    fn fails(self, what: &str, rules: Rules) -> Self {
        if cfg!(loom) {
            let Self { name, first, before, threads } = self;
            must_fail(&format!("adjustable, {name}, {what}"), PREEMPTIONS, "no sequential order", move || {
                play_at_once(Transcription::new(first, rules), first.burst, before, threads);
            });
        }
        self
    }
}

#[test]
fn a_decision_on_old_terms_does_not_land_after_a_change() {
    let threads: [&[Call]; 2] = [&[Set(FINE), Set(FINE)], &[Take(2)]];
    Model { name: "takes beside two changes", first: COARSE, before: &[], threads }
        .holds()
        .fails("positions may come back", Rules { onward: false, ..Rules::ALL });
}

#[test]
fn a_denial_is_decided_on_whole_terms() {
    let threads: [&[Call]; 2] = [&[Set(FINE), Set(FINE)], &[Take(1)]];
    Model { name: "one token beside two changes", first: COARSE, before: &[], threads }
        .holds()
        .fails("no second look", Rules { second_look: false, ..Rules::ALL })
        .fails("the bank in use is written", Rules { spare: false, ..Rules::ALL });
}

#[test]
fn a_position_that_was_given_back_does_not_return() {
    let threads: [&[Call]; 2] = [&[Refund(2), Set(FINE), Set(FINE)], &[Take(1)]];
    Model { name: "a refund and two changes", first: COARSE, before: &[Take(1)], threads }.holds();
    // In the transcription positions can be so small that two changes reach the old one again: a token is a unit at first.
    let (before, threads): (&[Call], [&[Call]; 2]) = (&[Take(2)], [&[Refund(2), Set(UNITS), Set(UNITS)], &[Take(2)]]);
    let whole = |rules| move || play_at_once(Transcription::new(UNIT, rules), UNIT.burst, before, threads);
    explore("adjustable, a refund in small units, transcription", PREEMPTIONS, whole(Rules::ALL));
    if cfg!(loom) {
        let rules = Rules { peak: false, ..Rules::ALL };
        let name = "adjustable, a refund in small units, refunds leave no trace";
        must_fail(name, PREEMPTIONS, "no sequential order", whole(rules));
    }
}

#[test]
fn two_changes_at_once_and_takes_between_them() {
    let threads: [&[Call]; 3] = [&[Set(FINE)], &[Set(LESS)], &[Take(1)]];
    Model { name: "two changes and a take", first: COARSE, before: &[Take(1)], threads }
        .holds()
        .fails("the old bank is given back first", Rules { hand_over_last: false, ..Rules::ALL });
}

#[test]
fn a_burst_that_comes_and_goes_mints_nothing() {
    let threads: [&[Call]; 2] = [&[Set(LESS), Set(COARSE), Take(1)], &[Take(1), Take(1)]];
    Model { name: "lowered and raised again", first: COARSE, before: &[], threads }.holds();
}

#[test]
fn a_change_counts_from_after_its_look() {
    // Two tokens fall due while the clock moves; all that is there is taken before the change and after it.
    let threads: [&[Call]; 2] = [&[Set(QUICK)], &[Tick(128), Take(2), Take(2)]];
    explore("adjustable, a change while time passes, library", PREEMPTIONS, move || {
        play_with_the_clock(token_bucket(COARSE), 2, threads);
    });
    explore("adjustable, a change while time passes, transcription", PREEMPTIONS, move || {
        play_with_the_clock(Transcription::new(COARSE, Rules::ALL), 2, threads);
    });
    if cfg!(loom) {
        let rules = Rules { look_first: false, ..Rules::ALL };
        must_fail("adjustable, the clock before the look", PREEMPTIONS, "over-admission", move || {
            play_with_the_clock(Transcription::new(COARSE, rules), 2, threads);
        });
    }
}

#[test]
fn a_window_that_ends_beside_a_change_gives_its_limit_once() {
    // The clock passes the end of a window: what the change finds there counts in the window that holds its instant.
    let threads: [&[Call]; 2] = [&[Set(QUICK)], &[Tick(128), Take(2), Take(2)]];
    explore("adjustable, a window that ends beside a change, library's fixed window", PREEMPTIONS, move || {
        play_with_the_clock(fixed_window(COARSE), 2, threads);
    });
    // Of a limit of two that are spent, one and two again leave nothing.
    let threads: [&[Call]; 2] = [&[Set(LESS), Set(COARSE), Take(1)], &[Take(1)]];
    Model { name: "spent, lowered and raised again", first: COARSE, before: &[Take(1)], threads }
        .holds()
        .fails("what is owed beyond the burst is forgotten", Rules { excess: false, ..Rules::ALL });
}
