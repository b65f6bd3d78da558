//! A class whose quota changes: no key gets more than a burst at once, whatever was read when.
//!
//! Each model runs over the library's type, over a transcription of its protocol, and over the transcription with one
//! rule left out, which must fail.

use tollgate_loom::keyed_quota::Call::{Set, Take, Tick};
use tollgate_loom::keyed_quota::{Call, Real, Rules, Transcription, play};
use tollgate_loom::{explore, must_fail};

const PREEMPTIONS: Option<usize> = Some(2);

/// A token each nanosecond, each two, and each eight.
const FAST: u64 = 1;
const SLOW: u64 = 2;
const SLOWER: u64 = 8;

/// Longer than words at two rates can last.
const LATER: u64 = 40;

/// When every word is what it says again.
const LONG_AFTER: u64 = 200;

#[derive(Clone, Copy)]
struct Model<const N: usize> {
    name: &'static str,
    before: &'static [Call],
    threads: [&'static [Call]; N],
}

impl<const N: usize> Model<N> {
    fn holds(self) -> Self {
        let Self { name, before, threads } = self;
        explore(&format!("keyed quota, {name}, library"), PREEMPTIONS, move || play(Real::new(FAST), before, threads));
        explore(&format!("keyed quota, {name}, transcription"), PREEMPTIONS, move || {
            play(Transcription::new(FAST, Rules::ALL), before, threads);
        });
        self
    }

    fn fails(self, what: &str, rules: Rules) -> Self {
        if cfg!(loom) {
            let Self { name, before, threads } = self;
            must_fail(&format!("keyed quota, {name}, {what}"), PREEMPTIONS, "over-admission", move || {
                play(Transcription::new(FAST, rules), before, threads);
            });
        }
        self
    }
}

#[test]
fn what_was_spent_stays_spent() {
    let threads: [&[Call]; 2] = [&[Set(SLOW)], &[Take(4), Take(2)]];
    Model { name: "a step down", before: &[], threads }
        .holds()
        .fails("words are instants at every rate", Rules { keep: false, ..Rules::ALL })
        .fails("as usual at once", Rules { settled: false, ..Rules::ALL });
}

/// All that the old rate has brought is taken after a reading that the change has not seen.
#[test]
fn a_call_under_the_old_quota_was_read_before_the_change() {
    let threads: [&[Call]; 2] = [&[Set(SLOW)], &[Tick(LATER), Take(4), Take(2)]];
    Model { name: "a step down while time passes", before: &[], threads }
        .holds()
        .fails("the version is not frozen", Rules { freeze: false, ..Rules::ALL })
        .fails("a frozen version is passed by", Rules { unfreeze: false, ..Rules::ALL });
}

#[test]
fn a_reading_after_the_change_finds_the_new_quota() {
    let threads: [&[Call]; 2] = [&[Set(SLOW), Tick(LATER)], &[Take(4), Take(2)]];
    Model { name: "a step down before time passes", before: &[], threads }
        .holds()
        .fails("the clock is read last", Rules { clock_first: false, ..Rules::ALL });
}

/// A mixture of two quotas has a burst that neither has.
#[test]
fn a_call_is_decided_on_one_quota() {
    let threads: [&[Call]; 2] = [&[Set(SLOW), Set(SLOWER)], &[Take(5)]];
    Model { name: "two changes", before: &[], threads }
        .holds()
        .fails("no second look", Rules { second_look: false, ..Rules::ALL });
    let threads: [&[Call]; 2] = [&[Set(SLOWER)], &[Take(5)]];
    Model { name: "a change", before: &[], threads }
        .holds()
        .fails("the bank in force is written", Rules { spare: false, ..Rules::ALL });
}

/// Long after a change a call reads but a few of its quota's words, while others are changing it.
#[test]
fn a_usual_call_is_decided_on_one_quota() {
    let (before, threads): (&[Call], [&[Call]; 2]) =
        (&[Set(SLOW), Tick(LONG_AFTER)], [&[Set(FAST), Set(SLOWER)], &[Take(5)]]);
    Model { name: "two changes, long after another", before, threads }
        .holds()
        .fails("no second look", Rules { usual_second_look: false, ..Rules::ALL });
    let (before, threads): (&[Call], [&[Call]; 2]) =
        (&[Set(SLOW), Tick(LONG_AFTER), Take(4)], [&[Set(FAST)], &[Take(2)]]);
    Model { name: "a step up, long after another", before, threads }.holds();
}

#[test]
fn two_changes_at_once_and_takes_between_them() {
    let threads: [&[Call]; 3] = [&[Set(SLOW)], &[Set(SLOWER)], &[Take(3), Take(2)]];
    Model { name: "two changes at once", before: &[], threads }.holds();
}
