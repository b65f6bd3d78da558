//! The harness itself: it finds a lost update, and says so; it takes no sound protocol for a broken one.

use tollgate_loom::sync::{Arc, AtomicU64, Ordering::Relaxed};
use tollgate_loom::{explore, must_fail, race};

fn split_add(word: &AtomicU64, n: u64) {
    let before = word.load(Relaxed);
    word.store(before + n, Relaxed);
}

fn sum_of_two(add: fn(&AtomicU64, u64)) {
    let word = Arc::new(AtomicU64::new(0));
    race(&word, [1, 2], add);
    assert_eq!(word.load(Relaxed), 3, "lost update");
}

#[test]
fn atomic_additions_add_up() {
    explore("atomic additions", None, || {
        sum_of_two(|word, n| {
            word.fetch_add(n, Relaxed);
        });
    });
}

#[test]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn a_split_addition_is_caught() {
    must_fail("split addition", None, "lost update", || sum_of_two(split_add));
}

#[test]
#[should_panic(expected = "no execution shows it")]
fn a_sound_protocol_is_no_broken_twin() {
    must_fail("sound twin", None, "lost update", || {
        sum_of_two(|word, n| {
            word.fetch_add(n, Relaxed);
        });
    });
}

#[test]
#[should_panic(expected = "but not with")]
#[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
fn another_symptom_does_not_count() {
    must_fail("other symptom", None, "over-admission", || sum_of_two(split_add));
}

#[test]
#[cfg(loom)]
#[should_panic(expected = "nothing races")]
fn a_model_without_a_race_is_refused() {
    explore("no race", None, || {});
}
