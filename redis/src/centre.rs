//! The centre of a limit as a pure step: what the script does in the store, once more in Rust.
//!
//! # Rules
//!
//! Instants are microseconds of the store's clock. `E(t)` is what has fallen due by then: `floor(rate * (t - epoch - L))`, 0
//! before; `L` is the length of a lease, `Bc` the centre's burst. A *position* counts tokens drawn; what is drawn at `T` is a
//! stretch `[a, b)` of positions.
//!
//! 1. **A marker per namespace** names its epoch, an instant, and the server that wrote it, by its replication id, which is
//!    another after each start and each promotion. None, or one that another server wrote: the epoch begins now. What a key held
//!    in another epoch is void. So a lost store starts empty, and begins to fill when the longest lease has ended; a missing
//!    key holds what fell due since the epoch, and is not a full bucket.
//! 2. **Time never goes back**: now is the greatest of the clock, of the last instant stored, and of the last one shown.
//! 3. **Draw**: `a = max(position, position shown, E(now) - Bc)`; `[a, a + g)` is granted if `a + g <= E(now)`.
//! 4. **Share**: `g` is what there is divided by the instances seen within the last lease; at least the cost, at most what
//!    was asked for.
//! 5. **Once**: the last answer to each instance is kept with its sequence number, for [`Terms::memory`]. The same request
//!    again gets the same answer; an older one gets nothing.
//! 6. **Give back**: a request may give back the last tokens below the position that it shows, if that is the position still,
//!    and was shown within [`Terms::memory`], so that rule 5 knows the request again. Elsewhere they are lost, not minted.
//! 7. **Show**: every answer carries (epoch, instant, position); every request shows the greatest that its sender has seen.
//!
//! A holder, for its part:
//!
//! 8. notes its own clock **before** it sends, and spends while its clock reads less than that plus `L` less a margin;
//! 9. takes an answer only if it carries the instance and the number of the request, and each at most once;
//! 10. gives back no more than it has unspent, within leases that have not ended, nor more than it drew last without a gap.
//!
//! # The bound
//!
//! *Whatever the number of processes, at most `B + rate * (t - s)` tokens are spent at instants in `[s, t]`.* A token spent at
//! `u` lies in a stretch drawn at some `T` with `u - L < T <= u`: the request was noted before it was executed, so by rule 8 the
//! lease has ended for its holder when it has ended for the centre, if their clocks' rates differ by less than the margin. So
//! `T` is in `[s - L, t]`. By rule 3 its stretch lies within `[E(T) - Bc, E(T)]`, so within `[E(s - L) - Bc, E(t)]`. The
//! stretches are disjoint: a position that was granted is below the stored one ever after (rules 2, 3), unless it was given
//! back (rule 6), and is deposited once (rules 5, 9). What goes back by rule 10 is as good as unspent: as many tokens are, in
//! leases that have not ended, and for the others in its place any position of those leases serves. Their total is at most
//! `Bc + E(t) - E(s - L) <= Bc + rate * (t - s + L) + 1`, the 1 for rounding. [`Terms::new`] sets `Bc = B - rate * L - 1`.
//!
//! Over two epochs: let the second begin at `e`. Stretches of the first were drawn before `e`, all spent before `e + L`;
//! the second grants nothing before `e + L`, then at most `rate * (t - e - L)`. The sum is at most
//! `Bc + 1 + rate * (e - s + L) + rate * (t - e - L)`, which is less than `B + rate * (t - s)`.
//!
//! What this needs: one server at a time that executes (a primary cut off from its replicas and its successor both grant:
//! `rate` twice, for as long as both are reached); a store that evicts nothing (`noeviction`); a clock of the store that is
//! not set forward (each second adds `rate`). Where a store does not say which server it is, one that has lost a suffix is
//! known by rule 7 alone: over-admission then is at most what was lost, until the first to show it speaks.

use crate::terms::Terms;
use std::collections::BTreeMap;

/// How far a limit has come, as far as somebody has seen (rule 7). The later of two is the greater.
///
/// # Examples
///
/// ```
/// use tollgate_redis::centre::Seen;
///
/// let seen = Seen { epoch: 1_000, instant: 5_000, position: 70 };
/// assert!(seen > Seen { epoch: 1_000, instant: 4_000, position: 80 }); // since then, ten have gone back
/// assert_eq!(Seen::default(), Seen { epoch: 0, instant: 0, position: 0 }); // whoever has seen nothing
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seen {
    /// The instant at which the namespace's epoch began.
    pub epoch: u64,
    /// The store's instant.
    pub instant: u64,
    /// Tokens drawn in this epoch.
    pub position: u64,
}

/// A request for tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    /// Who asks: a number drawn at random by each process and limit.
    pub instance: u64,
    /// Counts the requests of an instance, from 1.
    pub sequence: u64,
    /// The fewest tokens that are of use.
    pub least: u64,
    /// The most tokens that are wanted.
    pub most: u64,
    /// Tokens given back: the last ones below `seen.position` (rule 6).
    pub back: u64,
    /// The greatest state that the sender has seen.
    pub seen: Seen,
}

/// The answer to a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Answer {
    /// Who asked.
    pub instance: u64,
    /// Which request this answers.
    pub sequence: u64,
    /// Tokens granted: the positions below `seen.position`.
    pub granted: u64,
    /// The state after that.
    pub seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Marker {
    epoch: u64,
    server: String,
}

/// The state of one limit in a store.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::Quota;
/// use tollgate_redis::Terms;
/// use tollgate_redis::centre::{Centre, Request, Seen};
///
/// // 1000 per second, and leases of 100 ms: the centre saves up 899.
/// let terms = Terms::new(Quota::per_second(1_000), Duration::from_millis(100)).unwrap();
/// let mut centre = Centre::default();
/// let first = Request { instance: 7, sequence: 1, least: 1, most: 100, back: 0, seen: Seen::default() };
/// let (server, start) = ("a", 1_000_000_000);
///
/// // The namespace begins now, empty, and begins to fill after a lease.
/// let answer = centre.draw(terms, server, start, first).unwrap();
/// assert_eq!((answer.granted, answer.seen.epoch), (0, start));
///
/// // 150 ms later, 50 have fallen due.
/// let second = Request { sequence: 2, seen: answer.seen, ..first };
/// let answer = centre.draw(terms, server, start + 150_000, second).unwrap();
/// assert_eq!(answer.granted, 50);
///
/// // The same request again is answered again, and an older one is not.
/// assert_eq!(centre.draw(terms, server, start + 160_000, second), Some(answer));
/// assert_eq!(centre.draw(terms, server, start + 160_000, first), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Centre {
    marker: Option<Marker>,
    state: Seen,
    answers: BTreeMap<u64, Answer>,
}

impl Centre {
    /// The epoch of the namespace (rule 1), and the instant and position that go on from (rules 1, 2, 3, 6, 7).
    fn resume(&mut self, terms: Terms, server: &str, time: u64, request: Request) -> Seen {
        let marker = match self.marker.take() {
            Some(marker) if marker.server == server => marker,
            _ => Marker { epoch: time, server: server.to_owned() },
        };
        let mut seen = Seen { epoch: marker.epoch, instant: time.max(marker.epoch), position: 0 };
        self.marker = Some(marker);
        let shown = request.seen;
        for known in [self.state, shown] {
            if known.epoch == seen.epoch {
                seen.instant = seen.instant.max(known.instant);
                seen.position = seen.position.max(known.position);
            }
        }
        let last = (shown.epoch, shown.position) == (seen.epoch, seen.position);
        if last && shown.instant + terms.memory() > seen.instant {
            seen.position = seen.position.saturating_sub(request.back);
        }
        let due = Self::due(terms, seen);
        seen.position = seen.position.max(due.saturating_sub(terms.burst));
        seen
    }

    /// `E(now)`.
    fn due(terms: Terms, seen: Seen) -> u64 {
        terms.due((seen.instant - seen.epoch).saturating_sub(terms.lease))
    }

    /// Executes a request at an instant of the server's clock; `None` if it is older than one already answered.
    pub fn draw(&mut self, terms: Terms, server: &str, time: u64, request: Request) -> Option<Answer> {
        let mut seen = self.resume(terms, server, time, request);
        let (epoch, instant) = (seen.epoch, seen.instant);
        let is_within = |answer: &Answer, micros| answer.seen.epoch == epoch && answer.seen.instant + micros > instant;
        if let Some(answer) = self.answers.get(&request.instance).filter(|answer| is_within(answer, terms.memory()))
            && answer.sequence >= request.sequence
        {
            return (answer.sequence == request.sequence).then_some(*answer); // rule 5
        }
        self.answers.retain(|_, answer| is_within(answer, terms.memory()));
        let is_other = |answer: &&Answer| answer.instance != request.instance && is_within(answer, 2 * terms.lease);
        let others = self.answers.values().filter(is_other).count() as u64;
        let available = Self::due(terms, seen).saturating_sub(seen.position);
        let granted =
            if available < request.least { 0 } else { (available / (others + 1)).max(request.least).min(request.most) };
        seen.position += granted;
        self.state = seen;
        let answer = Answer { instance: request.instance, sequence: request.sequence, granted, seen };
        self.answers.insert(request.instance, answer);
        Some(answer)
    }

    /// Forgets whom it has answered what. A store never does while it matters; searches show by this what rule 5 is for.
    pub fn forget_answers(&mut self) {
        self.answers.clear();
    }
}
