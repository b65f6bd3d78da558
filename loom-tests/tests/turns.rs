//! Turns: one who takes place after place, each as of the last one's instant, beside others (rule 8 of the module `wait`).
//!
//! Each body runs over a transcription ([`Line::follow`]), over the transcription with one rule taken out, and over [`Turns`]
//! itself. What must hold is what [`audit`] checks, and that by readings of the clock nobody is further ahead than the slack.

use core::time::Duration;
use std::sync::Arc;
use tollgate::{Nanos, Place, Turns, WaitingTokenBucket};
use tollgate_loom::cell::OwnReading;
use tollgate_loom::waiting::{Line, Rules, Span, audit, quota};
use tollgate_loom::{assert_bounded, explore, must_fail, race};

const SLACK: u64 = 2;

/// A line, and one caller's turns in it.
trait Subject: Sized {
    type Place;

    /// The next of one's turns.
    fn follow(&mut self, wait: u64, now: u64) -> Option<Self::Place>;
    /// A place apart from any turns.
    fn reserve(&mut self, wait: u64, now: u64) -> Option<Self::Place>;
    fn span(place: &Self::Place) -> Span;
    fn spend(place: Self::Place, now: u64);
    fn give_back(&mut self, place: Self::Place, now: u64);
}

/// Makes turns for each of the callers, in one line.
type Make<T> = fn(u64) -> [T; 3];

struct Transcribed {
    line: Arc<Line<2>>,
    last: Option<u64>,
}

fn transcribed(burst: u64, rules: Rules) -> [Transcribed; 3] {
    let line = Arc::new(Line::new(burst, rules));
    [(); 3].map(|()| Transcribed { line: Arc::clone(&line), last: None })
}

fn protocol(burst: u64) -> [Transcribed; 3] {
    transcribed(burst, Rules::ALL)
}

impl Subject for Transcribed {
    type Place = Span;

    fn follow(&mut self, wait: u64, now: u64) -> Option<Span> {
        let place = self.line.follow(self.last, SLACK, wait, now)?;
        self.last = Some(place.due);
        Some(place)
    }

    fn reserve(&mut self, wait: u64, now: u64) -> Option<Span> {
        self.line.reserve(1, wait, now)
    }

    fn span(place: &Span) -> Span {
        *place
    }

    fn spend(place: Span, now: u64) {
        assert!(place.due <= now);
    }

    fn give_back(&mut self, place: Span, now: u64) {
        assert!(self.line.give_back(place, now), "there is room in the pool");
    }
}

type Bucket = Arc<WaitingTokenBucket<OwnReading>>;

struct Real {
    bucket: Bucket,
    turns: Turns<Bucket>,
}

fn real(burst: u64) -> [Real; 3] {
    let bucket = Arc::new(WaitingTokenBucket::with_clock(quota(burst), Duration::MAX, OwnReading));
    let turns = || Turns::new(Arc::clone(&bucket), Duration::from_nanos(SLACK));
    [(); 3].map(|()| Real { bucket: Arc::clone(&bucket), turns: turns() })
}

impl Subject for Real {
    type Place = Place<Bucket>;

    fn follow(&mut self, wait: u64, now: u64) -> Option<Place<Bucket>> {
        OwnReading::set(Nanos(now));
        self.turns.reserve_within(1, Duration::from_nanos(wait)).ok()
    }

    fn reserve(&mut self, wait: u64, now: u64) -> Option<Place<Bucket>> {
        OwnReading::set(Nanos(now));
        Arc::clone(&self.bucket).reserve_owned_within(1, Duration::from_nanos(wait)).ok()
    }

    fn span(place: &Place<Bucket>) -> Span {
        Span::of(place)
    }

    fn spend(place: Place<Bucket>, now: u64) {
        assert!(place.spend_at(Nanos(now)).is_ok());
    }

    fn give_back(&mut self, place: Place<Bucket>, now: u64) {
        assert_eq!(place.cancel_at(Nanos(now)), 1, "there is room in the pool");
    }
}

/// A caller, and what it has spent: when by the clock, and which position.
struct Caller<T> {
    subject: T,
    spent: Vec<(u64, Span)>,
}

impl<T: Subject> Caller<T> {
    fn spend(&mut self, place: Option<T::Place>, now: u64) -> bool {
        let Some(place) = place else { return false };
        let span = T::span(&place);
        let now = now.max(span.due);
        T::spend(place, now);
        self.spent.push((now, span));
        true
    }

    fn follow(&mut self, now: u64) -> bool {
        let place = self.subject.follow(0, now);
        self.spend(place, now)
    }

    fn take(&mut self, now: u64) -> bool {
        let place = self.subject.reserve(0, now);
        self.spend(place, now)
    }
}

/// Lets two callers act at once, spends what is left at `end`, and checks what is said at the top.
fn play<T: Subject + Send + 'static>(make: Make<T>, burst: u64, end: u64, acts: [fn(&mut Caller<T>); 2]) {
    let [a, b, mut rest] = make(burst).map(|subject| Caller { subject, spent: Vec::new() });
    let callers = [(a, acts[0]), (b, acts[1])];
    let spent = race(&Arc::new(()), callers, |(), (mut caller, act)| {
        act(&mut caller);
        caller.spent
    });
    while rest.take(end) {}
    let spent: Vec<_> = spent.into_iter().flatten().chain(rest.spent).collect();
    let ahead: Vec<_> = spent.iter().map(|&(now, span)| (Nanos(now), span.end - span.start)).collect();
    assert_bounded(&ahead, quota(burst + SLACK));
    audit(spent.into_iter().map(|(_, span)| span).collect(), &[], burst, end);
}

/// One comes back late from its work, and takes what fell due within its slack, while another takes what is due.
fn late_beside_another<T: Subject + Send + 'static>(make: Make<T>) {
    let late: fn(&mut Caller<T>) = |caller| {
        caller.follow(0);
        while caller.follow(5) {}
    };
    play(
        make,
        1,
        5,
        [late, |caller| {
            caller.take(1);
            caller.take(5);
        }],
    );
}

/// Both come back late, one later than the other.
fn two_are_late<T: Subject + Send + 'static>(make: Make<T>) {
    let acts: [fn(&mut Caller<T>); 2] = [
        |caller| {
            caller.follow(0);
            caller.follow(4);
            caller.follow(4);
        },
        |caller| {
            caller.follow(1);
            caller.follow(3);
        },
    ];
    play(make, 1, 4, acts);
}

/// One who gives its last places back asks again before they would have been due, while another wants one of them.
fn given_back_and_asked_for_again<T: Subject + Send + 'static>(make: Make<T>) {
    let acts: [fn(&mut Caller<T>); 2] = [
        |caller| {
            let places = [(); 3].map(|()| caller.subject.follow(9, 0).expect("the line is long"));
            let [first, second, third] = places;
            caller.subject.give_back(third, 0);
            caller.subject.give_back(second, 0);
            caller.spend(Some(first), 0);
            let next = caller.subject.follow(9, 0);
            caller.spend(next, 0);
        },
        |caller| {
            caller.take(1);
        },
    ];
    play(make, 1, 1, acts);
}

macro_rules! passes {
    ($which:literal, $make:expr; $($name:ident($bound:expr);)*) => {$(
        #[test]
        fn $name() {
            explore(concat!("turns, ", $which, stringify!($name)), $bound, || super::$name($make));
        }
    )*};
}

mod transcription {
    use super::*;

    passes! {
        "transcription, ", protocol;
        late_beside_another(Some(3));
        two_are_late(Some(3));
        given_back_and_asked_for_again(Some(3));
    }
}

mod real_type {
    use super::*;

    passes! {
        "", real;
        late_beside_another(Some(3));
        two_are_late(Some(3));
        given_back_and_asked_for_again(Some(3));
    }
}

mod broken_twins {
    use super::*;

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn followed_for_ever() {
        let twin = |burst| transcribed(burst, Rules { followed_within_slack: false, ..Rules::ALL });
        must_fail("turns, followed for ever", Some(3), "over-admission", move || late_beside_another(twin));
    }

    #[test]
    #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
    fn followed_as_of_an_instant_to_come() {
        let twin = |burst| transcribed(burst, Rules { followed_by_now: false, ..Rules::ALL });
        must_fail("turns, followed as of an instant to come", Some(3), "tokens are lost", move || {
            given_back_and_asked_for_again(twin);
        });
    }
}
