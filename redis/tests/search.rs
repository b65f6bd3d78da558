//! Every state that one or two clients, a server, messages and time can reach, within small bounds; and the same with one
//! rule broken, which must exceed the bound.
//!
//! Bounds: one or two requests from each client, of two tokens at most, within one to four instants. The centre is the step that
//! the script is tested against; clients are modelled here. Clocks of unlike rates are left out.

use std::collections::{HashSet, VecDeque};
use tollgate_redis::Terms;
use tollgate_redis::centre::{Answer, Centre, Request, Seen};

/// A token each instant, a burst of 2 in the centre and leases of 1 instant: so a burst of 3 over all.
const TERMS: Terms = Terms { tokens: 1, micros: 1, burst: 2, lease: 1 };
const BURST: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Nothing,
    /// Rule 8: the clock is read after the reply.
    ClockAfterReply,
    /// Rule 8: the lease is judged from the reply alone: it never ends for its holder.
    LeaseFromReply,
    /// Rule 1: a store that lost its keys starts full.
    MissingKeyFull,
    /// Rule 9: an answer is taken whatever its number, and as often as it comes.
    NoSequence,
    /// Rule 5: no answer is kept, and a request that comes again is executed again.
    NoAnswers,
    /// Rule 10: what is given back is kept, too.
    BackAndKept,
    /// Rule 7: clients show nothing, and a server that fell back goes on from there.
    NoMaximum,
}

/// Faults that a run may have, beside messages that are late, lost or repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct World {
    clients: usize,
    until: u64,
    /// The fewest tokens that are of use to a client.
    least: u64,
    /// The first client may give back what it has not spent; the others ask once each.
    gives_back: bool,
    /// Another server, without any key.
    lost: bool,
    /// The same server, with an older state.
    fallen_back: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Client {
    sequence: u64,
    pending: Option<(Request, u64)>,
    seen: Seen,
    tokens: u64,
    end: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    now: u64,
    centre: Centre,
    server: u8,
    older: Option<Centre>,
    clients: Vec<Client>,
    requests: Vec<Request>,
    replies: Vec<Answer>,
    /// The most by which an interval that ends now holds more spends than its length: above `BURST` is above the bound.
    level: u64,
}

impl State {
    fn next(&self, world: World, broken: Broken) -> Vec<Self> {
        let mut all = Vec::new();
        let mut with = |change: &dyn Fn(&mut Self)| {
            let mut next = self.clone();
            change(&mut next);
            next.requests.sort_unstable();
            next.replies.sort_unstable();
            all.push(next);
        };
        if self.now < world.until {
            with(&|s| {
                s.now += 1;
                s.level = s.level.saturating_sub(1);
            });
        }
        for (index, client) in self.clients.iter().enumerate() {
            if client.holds(self.now) || broken == Broken::LeaseFromReply && client.tokens > 0 {
                with(&|s| {
                    s.clients[index].tokens -= 1;
                    s.level += 1;
                });
            }
            // A new request; or, if the answer to the last is still due, one after it was given up.
            let most = if world.gives_back && index > 0 { 1 } else { 2 };
            if client.tokens == 0 && client.sequence < most {
                with(&|s| {
                    let client = &mut s.clients[index];
                    client.sequence += 1;
                    let seen = if broken == Broken::NoMaximum { Seen::default() } else { client.seen };
                    let request = Request {
                        instance: index as u64 + 1,
                        sequence: client.sequence,
                        least: 1,
                        most: 2,
                        back: 0,
                        seen,
                    };
                    client.pending = Some((request, s.now));
                    s.requests.push(request);
                });
            }
        }
        if world.gives_back && self.clients[0].sequence < 2 && self.clients[0].holds(self.now) {
            with(&|s| s.give_back(broken));
        }
        // Messages stay in the network: one that is never taken is lost, one that is taken again was repeated.
        for &request in &self.requests {
            with(&|s| {
                if broken == Broken::NoAnswers {
                    s.centre.forget_answers();
                }
                if let Some(answer) = s.centre.draw(TERMS, &s.server.to_string(), s.now, request)
                    && !s.replies.contains(&answer)
                {
                    s.replies.push(answer);
                }
            });
        }
        for &answer in &self.replies {
            with(&|s| {
                let client = &mut s.clients[usize::try_from(answer.instance - 1).unwrap()];
                let expected = client.pending.filter(|(request, _)| request.sequence == answer.sequence);
                let noted = match (expected, broken) {
                    (Some((_, noted)), _) => noted,
                    (None, Broken::NoSequence) => s.now,
                    (None, _) => return,
                };
                client.pending = None;
                client.tokens += answer.granted;
                client.seen = client.seen.max(answer.seen);
                client.end = if broken == Broken::ClockAfterReply { s.now } else { noted } + TERMS.lease;
            });
        }
        if world.lost && self.server == 0 {
            with(&|s| {
                s.server = 1;
                s.centre = Centre::default();
                if broken == Broken::MissingKeyFull {
                    // Full: as if its epoch had begun long ago.
                    let seen = Seen::default();
                    let first = Request { instance: 9, sequence: 1, least: 0, most: 0, back: 0, seen };
                    s.centre.draw(TERMS, "1", s.now.saturating_sub(TERMS.lease + TERMS.burst), first);
                }
            });
        }
        if world.fallen_back {
            match &self.older {
                None => with(&|s| s.older = Some(s.centre.clone())),
                Some(older) => with(&|s| s.centre = older.clone()),
            }
        }
        all
    }
}

impl State {
    /// The first client gives back what it has.
    fn give_back(&mut self, broken: Broken) {
        let client = &mut self.clients[0];
        client.sequence += 1;
        let back = std::mem::take(&mut client.tokens);
        let Client { sequence, seen, .. } = *client;
        if broken == Broken::BackAndKept {
            client.tokens = back;
        }
        let request = Request { instance: 1, sequence, least: 0, most: 0, back, seen };
        client.pending = Some((request, self.now));
        self.requests.push(request);
    }
}

impl Client {
    fn holds(&self, now: u64) -> bool {
        self.tokens > 0 && now < self.end
    }
}

/// Looks for a state above the bound; says how many there are if there is none.
fn search(world: World, broken: Broken) -> Result<usize, Box<State>> {
    // The namespace began long enough ago that the centre is full.
    let start = 10;
    let mut centre = Centre::default();
    centre.draw(TERMS, "0", 0, Request { instance: 9, sequence: 1, least: 0, most: 0, back: 0, seen: Seen::default() });
    let clients = vec![Client::default(); world.clients];
    let first = State { now: start, centre, clients, ..State::default() };
    let world = World { until: start + world.until, ..world };
    let mut known = HashSet::from([first.clone()]);
    // Breadth first: without sequence numbers there are infinitely many states, but one above the bound is near.
    let mut open = VecDeque::from([first]);
    while let Some(state) = open.pop_front() {
        if state.level > BURST {
            return Err(Box::new(state));
        }
        open.extend(state.next(world, broken).into_iter().filter(|next| known.insert(next.clone())));
    }
    Ok(known.len())
}

const QUIET: World = World { clients: 2, until: 2, least: 1, gives_back: false, lost: false, fallen_back: false };
const BACK: World = World { clients: 3, until: 0, least: 2, gives_back: true, ..QUIET };
const LOST: World = World { clients: 1, until: 3, lost: true, ..QUIET };
const FALLEN_BACK: World = World { clients: 1, until: 1, fallen_back: true, ..QUIET };

#[test]
fn no_state_exceeds_the_bound() {
    for world in [QUIET, BACK, LOST, FALLEN_BACK] {
        let states = search(world, Broken::Nothing).unwrap_or_else(|state| panic!("{world:?}: {state:?}"));
        println!("{world:?}: {states} states");
        assert!(states > 500);
    }
}

#[test]
fn each_rule_is_needed() {
    for (world, broken) in [
        (QUIET, Broken::ClockAfterReply),
        (QUIET, Broken::LeaseFromReply),
        (LOST, Broken::MissingKeyFull),
        (QUIET, Broken::NoSequence),
        (BACK, Broken::NoAnswers),
        (BACK, Broken::BackAndKept),
        (FALLEN_BACK, Broken::NoMaximum),
    ] {
        assert!(search(world, broken).is_err(), "{broken:?} was not seen");
    }
}
