//! A clock that passes no step on: no thread takes time that has passed for a step, and each step is taken once.
//!
//! Each model runs over the library's type, over a transcription of its protocol, and over the transcription with one
//! rule left out, which must fail.

use tollgate::Steady;
use tollgate_loom::steady::Act::{Read, Set, Tick};
use tollgate_loom::steady::{Act, Inner, Rules, START, Sizes, Subject, Transcription, play};
use tollgate_loom::sync::Arc;
use tollgate_loom::{explore, must_fail};

const PREEMPTIONS: Option<usize> = Some(3);

/// What must hold afterwards: so many steps noticed, and outputs between these.
struct Outcome {
    steps: core::ops::RangeInclusive<u64>,
    outputs: core::ops::RangeInclusive<u64>,
}

struct Model {
    name: &'static str,
    sizes: Sizes,
    before: &'static [Act],
    threads: [&'static [Act]; 2],
    outcome: fn() -> Outcome,
}

impl Model {
    fn body<S: Subject>(
        &self,
        make: fn(Arc<Inner>, Sizes, Rules) -> S,
        rules: Rules,
    ) -> impl Fn() + Send + Sync + 'static {
        let Self { sizes, before, threads, outcome, .. } = *self;
        move || {
            let (shared, read) = play(|inner| make(inner, sizes, rules), before, threads);
            let Outcome { steps, outputs } = outcome();
            let last = shared.0.now();
            assert!(steps.contains(&shared.0.steps()), "wrong number of steps: {}", shared.0.steps());
            for &output in read.iter().flatten().chain([&last]) {
                assert!(outputs.contains(&output), "an output of {output}");
            }
            for thread in &read {
                assert!(thread.iter().all(|&output| output <= last + sizes.back), "the end is behind: {last}");
            }
        }
    }

    fn holds(&self) -> &Self {
        let library = self.body(|inner, sizes, _| Steady::over(inner, sizes), Rules::ALL);
        explore(&format!("steady, {}, library", self.name), PREEMPTIONS, library);
        let transcription = self.body(Transcription::with_rules, Rules::ALL);
        explore(&format!("steady, {}, transcription", self.name), PREEMPTIONS, transcription);
        self
    }

    fn fails(&self, what: &str, rules: Rules) {
        if cfg!(loom) {
            let twin = self.body(Transcription::with_rules, rules);
            must_fail(&format!("steady, {}, {what}", self.name), PREEMPTIONS, "wrong number of steps", twin);
        }
    }
}

/// Each thread can be behind the other's output by more than the slack, if it is held up.
#[test]
fn a_thread_that_is_held_up_after_its_reading_takes_no_step_back() {
    let model = Model {
        name: "held up",
        sizes: Sizes { back: 40, forward: 1_000 },
        before: &[],
        threads: [&[Tick(30), Read], &[Tick(30), Read]],
        outcome: || Outcome { steps: 0..=0, outputs: START + 30..=START + 60 },
    };
    model.holds().fails("judged by what came later", Rules { before: false, ..Rules::ALL });
}

/// One thread can be ahead of what it saw by three ticks, though never of what there is by more than two.
#[test]
fn a_thread_that_is_held_up_before_its_reading_takes_no_step_forward() {
    let model = Model {
        name: "held up before",
        sizes: Sizes { back: 40, forward: 70 },
        before: &[],
        threads: [&[Tick(30), Read, Tick(30), Read], &[Tick(30), Read]],
        outcome: || Outcome { steps: 0..=0, outputs: START + 30..=START + 90 },
    };
    model.holds().fails("judged by what came before", Rules { now: false, ..Rules::ALL });
}

#[test]
fn a_step_back_is_taken_once() {
    let model = Model {
        name: "back",
        sizes: Sizes { back: 40, forward: 1_000 },
        before: &[Set(5)],
        threads: [&[Read, Tick(5), Read], &[Read]],
        outcome: || Outcome { steps: 1..=1, outputs: START..=START + 5 },
    };
    model.holds().fails("stored", Rules { once: false, ..Rules::ALL });
}

#[test]
fn a_step_forward_is_taken_once() {
    let model = Model {
        name: "forward",
        sizes: Sizes { back: 40, forward: 100 },
        before: &[Set(5_000)],
        threads: [&[Read], &[Tick(5), Read]],
        outcome: || Outcome { steps: 1..=1, outputs: START + 80..=START + 105 },
    };
    model.holds().fails("from the edge", Rules { slack: false, ..Rules::ALL });
}

#[test]
fn a_step_while_others_read_is_bounded_by_the_stated_size() {
    let model = Model {
        name: "beside readers",
        sizes: Sizes { back: 40, forward: 100 },
        before: &[],
        threads: [&[Set(5_000), Read, Set(1_000), Read], &[Read, Read]],
        outcome: || Outcome { steps: 0..=3, outputs: START - 40..=START + 160 },
    };
    model.holds();
}
