//! Waiting: places are reserved, spent, given back, put into the pool, taken out of it and absorbed, under clocks that
//! disagree or move.
//!
//! Each body runs over a transcription of the protocol ([`Line`]), over the transcription with one rule taken out, and
//! over [`WaitingTokenBucket`] itself. What must hold in all of them: no position is spent twice, none outside its time,
//! and what was neither spent nor reported as lost is still there.

use core::hash::BuildHasherDefault;
use core::time::Duration;
use std::hash::DefaultHasher;
use std::io::Read as _;
use std::sync::Arc;
use tollgate::{Clock, KeyedLimiter, ManualClock, Nanos, Place, Throttled, WaitingTokenBucket};
use tollgate_loom::cell::OwnReading;
use tollgate_loom::waiting::{Line, Rules, Span, audit, quota};
use tollgate_loom::{explore, must_fail, race};

/// What a body needs of a line.
trait Subject: Send + Sync + Sized + 'static {
    type Place: Send + 'static;

    fn reserve(self: &Arc<Self>, n: u64, wait: u64, now: u64) -> Option<Self::Place>;
    fn span(&self, place: &Self::Place) -> Span;
    /// Whether it was due.
    fn spend(&self, place: Self::Place, now: u64) -> bool;
    /// Whether the tokens can be had again.
    fn give_back(&self, place: Self::Place, now: u64) -> bool;
}

/// Makes a subject with this burst.
type Make<T> = fn(u64) -> T;

impl<const SLOTS: usize> Subject for Line<SLOTS> {
    type Place = Span;

    fn reserve(self: &Arc<Self>, n: u64, wait: u64, now: u64) -> Option<Span> {
        Line::reserve(self, n, wait, now)
    }

    fn span(&self, place: &Span) -> Span {
        *place
    }

    fn spend(&self, place: Span, now: u64) -> bool {
        place.due <= now
    }

    fn give_back(&self, place: Span, now: u64) -> bool {
        Line::give_back(self, place, now)
    }
}

/// A clock that can be told what the next call of this thread is to read.
trait Told: Clock + Send + Sync + 'static {
    fn tell(&self, now: u64);
}

impl Told for OwnReading {
    fn tell(&self, now: u64) {
        Self::set(Nanos(now));
    }
}

struct Real<C: Clock>(Arc<WaitingTokenBucket<C>>, C);

fn real(burst: u64) -> Real<OwnReading> {
    Real(Arc::new(WaitingTokenBucket::with_clock(quota(burst), Duration::MAX, OwnReading)), OwnReading)
}

impl<C: Told> Subject for Real<C> {
    type Place = Place<Arc<WaitingTokenBucket<C>>>;

    fn reserve(self: &Arc<Self>, n: u64, wait: u64, now: u64) -> Option<Self::Place> {
        self.1.tell(now);
        Arc::clone(&self.0).reserve_owned_within(n, Duration::from_nanos(wait)).ok()
    }

    fn span(&self, place: &Self::Place) -> Span {
        Span::of(place)
    }

    fn spend(&self, place: Self::Place, now: u64) -> bool {
        place.spend_at(Nanos(now)).is_ok()
    }

    fn give_back(&self, place: Self::Place, now: u64) -> bool {
        place.cancel_at(Nanos(now)) > 0
    }
}

fn protocol<const SLOTS: usize>(burst: u64) -> Line<SLOTS> {
    Line::new(burst, Rules::ALL)
}

/// A caller, what it has spent, and what it has heard that is lost.
struct Caller<T: Subject> {
    subject: Arc<T>,
    held: Vec<Option<T::Place>>,
    spent: Vec<Span>,
    lost: Vec<Span>,
}

impl<T: Subject> Caller<T> {
    fn new(subject: &Arc<T>, held: Vec<Option<T::Place>>) -> Self {
        Self { subject: Arc::clone(subject), held, spent: Vec::new(), lost: Vec::new() }
    }

    /// Reserves and spends when it is due; says whether it was to be had.
    fn take(&mut self, n: u64, wait: u64, now: u64) -> bool {
        let Some(place) = self.subject.reserve(n, wait, now) else { return false };
        self.spend(place, now);
        true
    }

    fn spend(&mut self, place: T::Place, now: u64) {
        let span = self.subject.span(&place);
        assert!(self.subject.spend(place, now.max(span.due)), "a place that is not due at its instant: {span:?}");
        self.spent.push(span);
    }

    fn give_back(&mut self, which: usize, now: u64) {
        let place = self.held[which].take().expect("it is held");
        let span = self.subject.span(&place);
        if !self.subject.give_back(place, now) {
            self.lost.push(span);
        }
    }
}

type Act<T> = fn(&mut Caller<T>);

/// Instead of a caller's number: the place is given back before the callers start.
const POOLED: usize = usize::MAX;

/// Reserves places of these costs at 0, and deals them out by the number of the caller who is to hold each. Then lets the callers
/// act at once, spends what they still hold and what is left at `end`, and checks what is said at the top.
fn play<T: Subject, const N: usize>(make: Make<T>, burst: u64, costs: &[(u64, usize)], end: u64, acts: [Act<T>; N]) {
    let subject = Arc::new(make(burst));
    let mut held: [Vec<Option<T::Place>>; N] = core::array::from_fn(|_| Vec::new());
    let mut pooled = Vec::new();
    for &(cost, caller) in costs {
        let place = subject.reserve(cost, 1_000, 0).expect("the line is long");
        match held.get_mut(caller) {
            Some(held) => held.push(Some(place)),
            None => pooled.push(place),
        }
    }
    for place in pooled {
        assert!(subject.give_back(place, 0), "the pool is empty");
    }

    let mut held = held.into_iter();
    let callers = acts.map(|act| (Caller::new(&subject, held.next().expect("one for each")), act));
    let callers = race(&Arc::new(()), callers, |(), (mut caller, act)| {
        act(&mut caller);
        caller
    });

    finish(&subject, callers, burst, end);
}

/// Spends what the callers hold and what is left, and checks what is said at the top.
fn finish<T: Subject, const N: usize>(subject: &Arc<T>, callers: [Caller<T>; N], burst: u64, end: u64) {
    let mut rest = Caller::new(subject, Vec::new());
    for caller in callers {
        rest.spent.extend(&caller.spent);
        rest.lost.extend(&caller.lost);
        for place in caller.held.into_iter().flatten() {
            rest.spend(place, 0);
        }
    }
    while rest.take(1, 0, end) {}
    audit(rest.spent, &rest.lost, burst, end);
}

/// The last place is given back while another reserves.
fn last_place_against_reserving<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| caller.give_back(0, 0),
        |caller| {
            caller.take(1, 9, 0);
            caller.take(1, 9, 0);
        },
    ];
    play(make, 3, &[(2, 0)], 0, acts);
}

/// Three places are given back at once.
fn all_given_back<T: Subject>(make: Make<T>) {
    play(make, 3, &[(1, 0), (1, 1), (1, 2)], 0, [|caller| caller.give_back(0, 0); 3]);
}

/// Two neighbours go back at once; then both can be had in one piece.
fn neighbours_given_back<T: Subject>(make: Make<T>) {
    let subject = Arc::new(make(2));
    let places = [(); 2].map(|()| subject.reserve(1, 0, 0).expect("there are two"));
    let kept = race(&Arc::new(Arc::clone(&subject)), places, |subject, place| subject.give_back(place, 0));
    assert_eq!(kept, [true; 2], "tokens are lost");
    let both = subject.reserve(2, 0, 0).expect("tokens are lost in pieces");
    assert_eq!((subject.span(&both).start, subject.span(&both).end), (0, 2));
    assert!(subject.spend(both, 0));
}

/// Two want what one gives back from the middle.
fn two_takers_of_one_stretch<T: Subject>(make: Make<T>) {
    let take: Act<T> = |caller| {
        caller.take(1, 0, 0);
    };
    play(make, 2, &[(1, 0), (1, 1)], 0, [|caller| caller.give_back(0, 0), take, take]);
}

/// A slot is emptied, and filled with another stretch of the same length, while somebody is about to own it.
fn slot_emptied_and_filled_again<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.take(1, 0, 0);
            caller.give_back(0, 0);
        },
        |caller| {
            caller.take(1, 0, 0);
        },
    ];
    play(make, 3, &[(1, POOLED), (1, 0), (1, 1)], 0, acts);
}

/// The same, and what is in the slot then is not due yet by the reading of the one who is about to own it.
fn slot_filled_with_what_is_not_due<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.take(1, 0, 0);
            caller.give_back(0, 0);
        },
        |caller| {
            caller.take(1, 0, 0);
        },
    ];
    play(make, 2, &[(1, POOLED), (1, 1), (1, 0), (1, 1)], 4, acts);
}

/// A slot is emptied by one on a slow clock and filled again, while one on a fast clock is about to fill it, since what was
/// in it has dropped out of the bucket by then.
fn expired_slot_filled_again<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.take(1, 0, 0);
            caller.give_back(0, 0);
        },
        |caller| caller.give_back(0, 1),
    ];
    play(make, 4, &[(1, POOLED), (1, 0), (1, 1), (1, 1)], 1, acts);
}

/// The last place is given back, and with it what is in the pool below it, while another takes that.
fn absorbed_against_a_taker<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| caller.give_back(0, 0),
        |caller| {
            caller.take(1, 0, 0);
            caller.take(1, 0, 0);
        },
    ];
    play(make, 3, &[(1, 1), (1, POOLED), (1, 0)], 0, acts);
}

/// The pool is filled from three sides; what has no room is reported.
fn more_given_back_than_there_is_room_for<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 3] =
        [|caller| caller.give_back(0, 0), |caller| caller.give_back(0, 0), |caller| caller.give_back(0, 0)];
    play(make, 6, &[(1, 0), (1, 2), (1, 1), (1, 1), (1, 2), (1, 0)], 0, acts);
}

/// What was given back drops out of the bucket on one clock, and is still good on another.
fn expired_on_one_clock<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 3] = [
        |caller| caller.give_back(0, 0),
        |caller| {
            caller.take(1, 0, 1);
        },
        |caller| {
            caller.take(1, 0, 2);
        },
    ];
    play(make, 1, &[(1, 1), (1, 0), (1, 1), (1, 2)], 4, acts);
}

/// Who waits gets the stretch that was given back, at its instant; and who reads a later clock gets it only while it is good.
fn given_back_to_one_who_waits<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 3] = [
        |caller| caller.give_back(0, 0),
        |caller| {
            caller.take(1, 9, 0);
        },
        |caller| {
            caller.take(1, 0, 3);
        },
    ];
    play(make, 2, &[(1, 1), (1, 2), (2, 0), (1, 1)], 4, acts);
}

/// What is left of a stretch is as good as the whole was.
fn a_stretch_taken_in_pieces<T: Subject>(make: Make<T>) {
    let acts: [Act<T>; 2] = [
        |caller| {
            caller.take(1, 0, 0);
            caller.take(1, 0, 0);
        },
        |caller| {
            caller.take(2, 0, 0);
        },
    ];
    play(make, 4, &[(3, POOLED), (1, 0)], 0, acts);
}

macro_rules! passes {
    ($which:literal, $make:expr; $($name:ident($bound:expr);)*) => {$(
        #[test]
        fn $name() {
            explore(concat!("waiting, ", $which, stringify!($name)), $bound, || super::$name($make));
        }
    )*};
}

mod transcription {
    use super::*;

    passes! {
        "transcription, ", protocol::<2>;
        last_place_against_reserving(Some(4));
        all_given_back(Some(2));
        neighbours_given_back(Some(4));
        two_takers_of_one_stretch(Some(2));
        slot_emptied_and_filled_again(Some(3));
        slot_filled_with_what_is_not_due(Some(3));
        expired_slot_filled_again(Some(3));
        absorbed_against_a_taker(Some(3));
        expired_on_one_clock(Some(2));
        given_back_to_one_who_waits(Some(2));
        a_stretch_taken_in_pieces(Some(3));
    }
}

mod real_type {
    use super::*;

    passes! {
        "", real;
        last_place_against_reserving(Some(4));
        all_given_back(Some(2));
        neighbours_given_back(Some(4));
        two_takers_of_one_stretch(Some(3));
        slot_emptied_and_filled_again(Some(4));
        slot_filled_with_what_is_not_due(Some(4));
        expired_slot_filled_again(Some(4));
        absorbed_against_a_taker(Some(4));
        more_given_back_than_there_is_room_for(Some(1));
        expired_on_one_clock(Some(3));
        given_back_to_one_who_waits(Some(3));
        a_stretch_taken_in_pieces(Some(4));
    }

    /// Two take places in the line of one key, and one gives its place back: from the end, if it is still the last.
    #[test]
    fn by_key() {
        explore("waiting, by key", Some(3), || {
            const BURST: u64 = 3;
            let hasher = BuildHasherDefault::<DefaultHasher>::default();
            let limiter = KeyedLimiter::<u32, _, _>::with_hasher_and_clock(quota(BURST), 1, hasher, OwnReading);
            limiter.try_acquire_n_at(&7, 1, Nanos(0)).expect("it is full");
            let limiter = Arc::new(limiter);
            let gone = race(&limiter, [true, false], |limiter, keeps| {
                OwnReading.tell(0);
                let Ok(place) = limiter.reserve_within(&7, 1, Duration::ZERO) else { panic!("there are three") };
                if keeps { place.spend().map_or(0, |()| 1) } else { 1 - place.cancel() }
            });
            let left = limiter.status_at(&7, Nanos(0)).remaining;
            assert_eq!(1 + gone.iter().sum::<u64>() + left, BURST, "{gone:?} and {left} left");
        });
    }

    /// One uses the first token of a place for two, and gives the other back, while another takes one. Every position but that
    /// first one can be had, once.
    #[test]
    fn a_part_is_kept() {
        explore("waiting, a part is kept", Some(4), || {
            const BURST: u64 = 3;
            OwnReading.tell(0);
            let bucket = Arc::new(WaitingTokenBucket::with_clock(quota(BURST), Duration::MAX, OwnReading));
            let take = |bucket: &WaitingTokenBucket<OwnReading>| {
                let place = bucket.reserve_within(1, Duration::ZERO).ok()?;
                let position = Span::of(&place).start;
                place.spend().is_ok().then_some(position)
            };
            let had = race(&bucket, [true, false], move |bucket, reads| {
                OwnReading.tell(0);
                if !reads {
                    return take(bucket);
                }
                // The reader has a byte for a buffer of two.
                let read = Throttled::new(&[7][..], bucket).read(&mut [0; 2]);
                assert!(matches!(read, Ok(1)), "{read:?}");
                None
            });
            OwnReading.tell(0);
            let first = had[1].expect("two are not three");
            let kept = u64::from(first == 0); // the one who was first begins at 0
            let mut all = vec![first];
            all.extend(core::iter::from_fn(|| take(&bucket)));
            all.sort_unstable();
            let others: Vec<u64> = (0..BURST).filter(|&position| position != kept).collect();
            assert_eq!(all, others);
        });
    }

    impl Told for ManualClock {
        fn tell(&self, _now: u64) {} // it is what it is
    }

    /// Places are given back, taken and reserved while the clock moves on.
    #[test]
    fn on_a_moving_clock() {
        explore("waiting, on a moving clock", Some(3), || {
            let clock = ManualClock::new();
            let bucket = WaitingTokenBucket::with_clock(quota(1), Duration::MAX, clock.clone());
            let subject = Arc::new(Real(Arc::new(bucket), clock));
            let mut callers = [(); 3].map(|()| Caller::new(&subject, Vec::new()));
            for caller in &mut callers {
                caller.held.push(subject.reserve(1, 9, 0));
            }
            let acts: [Act<Real<ManualClock>>; 3] = [
                |caller| {
                    caller.subject.1.advance(Duration::from_nanos(1));
                    caller.subject.1.advance(Duration::from_nanos(1));
                },
                |caller| drop(caller.held[0].take()),
                |caller| {
                    caller.take(1, 1, 0);
                },
            ];
            let mut acts = acts.into_iter();
            let callers = callers.map(|caller| (caller, acts.next().expect("one for each")));
            let callers = race(&Arc::new(()), callers, |(), (mut caller, act)| {
                act(&mut caller);
                caller
            });
            finish(&subject, callers, 1, 2);
        });
    }
}

mod broken_twins {
    use super::*;

    macro_rules! fails {
        ($symptom:literal; $($name:ident: $rule:ident = $($body:ident)|*;)*) => {$(
            #[test]
            #[cfg_attr(not(loom), ignore = "only a model checker is sure to catch it")]
            fn $name() {
                fn twin(burst: u64) -> Line<2> {
                    Line::new(burst, Rules { $rule: false, ..Rules::ALL })
                }
                $(must_fail(
                    concat!("waiting, ", stringify!($name), ", ", stringify!($body)),
                    Some(3),
                    $symptom,
                    || $body(twin),
                );)*
            }
        )*};
    }

    fails! {
        "spent twice";
        word_lowered_blindly: lowered_by_cas = last_place_against_reserving;
        no_second_look_at_the_start: second_look = slot_emptied_and_filled_again;
        absorbed_before_it_is_owned: owned_before_absorbed = absorbed_against_a_taker;
        length_not_released: length_released = slot_emptied_and_filled_again;
        not_owned_with_acquire: owned_with_acquire = slot_emptied_and_filled_again;
    }

    fails! {
        "spent outside its time";
        expired_stretch_used: expired_dropped = expired_on_one_clock;
        spent_before_its_instant: own_instant = given_back_to_one_who_waits;
    }

    fails! {
        "tokens are lost";
        no_second_look_before_a_put: second_look_before_put = expired_slot_filled_again;
        not_put_back: put_back = absorbed_against_a_taker;
    }
}
