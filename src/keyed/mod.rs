//! [`KeyedLimiter`]: a token bucket for each key, in fixed memory.
//!
//! # The table
//!
//! A key whose debt has drained is full, and so is a key that was never seen: the two are indistinguishable. A slot whose
//! key has recovered is therefore free *by definition*; nothing has to be swept, and no key in debt is ever forgotten.
//!
//! A slot is a word and a tag. The tag tells which key the slot belongs to, or that it is nobody's. The word is an instant
//! `p` above a state:
//!
//! | state | `p` | may be changed by |
//! |---|---|---|
//! | `Open(p)` | the instant at which the tag's key is full again; without a key, no meaning but as a version | the key's callers; and anybody, once it is free |
//! | `Lowered(p)` | the same, of a key that was given tokens back | the same |
//! | `Tentative(p)` | a version | anybody who comes for the tag's key |
//! | `Claimed(p)` | a version | its owner alone |
//!
//! Memory that is all zero is an empty table. A key may live in any slot of three lines of memory, its *candidates*; they
//! are numbered in an order that depends on the key alone.
//!
//! # The protocol
//!
//! 1. **Words grow.** Every write to a word makes it larger, but for rule 9; a claimed word does not count. So a word is
//!    also the version of its slot: a compare-and-swap (CAS) that succeeds proves that the slot has not changed hands since
//!    the word was loaded, and that its bucket is what it was.
//! 2. **Find.** A slot is the key's if the word is loaded (acquire) and the tag, loaded *after* it, is the key's. The tag
//!    is that of the word's version or of a later one; after a later one a CAS from this word fails.
//! 3. **Charge.** `Open(p)` becomes `Open(q)`, `q > p`, by a CAS from the very word of rule 2; `Lowered(p)`
//!    likewise. A refusal loads the word once more, and counts if it has not changed; it writes nothing.
//! 4. **Claim.** A slot is free at `now`, and becomes `Claimed`, if it is `Open(p)` with a key and `p <= now`; if it is
//!    `Lowered(p)` and `p + hold <= now`, which is then its version; or if it is nobody's. Before it is taken from a key,
//!    the *horizon* `H` of that key, which the tag tells, is raised to at least `p` (release). The claim releases that, and
//!    acquires the slot's past.
//! 5. **Tag.** The owner of a claimed slot, nobody else and in no other state, stores its key's tag (release); then the
//!    word becomes `Tentative(p)` (release).
//! 6. **Settle.** Whoever wants a tentative slot opened, its owner or another caller for the same key, first makes a
//!    sequentially consistent fence and then looks at the key's other candidates. One that is open for the key: leave
//!    this slot and use that one. One that is tentative for the key: the one of the higher number is left. A caller that is
//!    refused because of the horizon alone does not come so far: it has loaded `H` *before* it looked at all candidates and
//!    found none of the key's.
//! 7. **Commit.** After that, and only then, `H` is loaded (acquire). The key starts full at `max(now, H)`; less the first charge,
//!    that is `q`. `Tentative(p)` becomes `Open(max(p + 1, q))`, or the slot is left and the call refused.
//! 8. **Leave.** A slot that is tentative, or whose key is forgotten, becomes `Claimed(p)`; its owner stores the tag of
//!    nobody (release), and the word becomes `Open(p + 1)` (release). A key is forgotten under the conditions of a claim:
//!    once its slot is free, `H` first.
//! 9. **Lower.** A key that is given tokens back goes from `Open(p)` or `Lowered(p)` to `Lowered(q)`, `q < p` (release), if
//!    `q >= M - hold`. The line's *mark* `M` is raised to at least `p` before. `hold` is as long as the longest debt, and what a mark is rounded by.
//!
//! # Why it is strict
//!
//! *A charge lands on its own key.* By rules 1 to 3: had the slot changed hands, its word would be larger. Where a word was
//! lowered, it may come again, but only while the key keeps the slot, and then it is the same bucket. For no word of
//! that life up to its last lowering is above `M`, and none is above `q + hold`. Charges only add after that, so none is
//! above `p + hold` when the slot is claimed from `Lowered(p)`; and that is what rule 4 makes the next life's version.
//!
//! *A key has one open slot at most.* Suppose that two slots, lower `a` and higher `b`, are tentative for one key at once,
//! and X is about to commit `a`, Y to commit `b`. Both have seen their slot tentative before their fence, so one of the
//! two fences is later in the single order of all such fences, and whoever made that one sees the other's slot
//! tentative, or what became of it. If X sees `b`, it leaves `b`, or finds it open and leaves `a`. If Y sees `a`, it
//! leaves `b`. A CAS that comes too late fails by rule 1, and starts over. The same holds for a slot that turns tentative
//! when the key is long open elsewhere: the fence of the one who committed that came first, so this one sees it.
//!
//! *A key that is born again has no more than it would have had.* Its last life ended at an instant `p` with a claim or
//! a `forget`, which raised the key's `H` to `p` before. Whoever commits the next life has, by rule 6, seen the key's former
//! slot in its later state, and loads `H` after that: the new life starts full no earlier than the old one would have been,
//! however much the clocks of the two callers disagree. (A key that is forgiven may be left without that: its debt is
//! lifted.)
//!
//! So the charges of one key take disjoint stretches of time, each ending no later than `burst` after the reading that
//! paid for it: the bound is the token bucket's.
//!
//! # When a quota changes
//!
//! The instants of words, and so everything above, stay what they are; but for a while the class reads them otherwise. Then `now` is the
//! last instant that a word of a full key can have, in every class. The rules are in `terms`.
//!
//! # What a clock far ahead can do
//!
//! There is a horizon for every ten lines, and there are at least 32; a key's fingerprint tells which is its own. A reading far
//! ahead raises one horizon for each slot that it takes from a key, and no farther than that key was in debt. So it holds up
//! that key, as it must, and few newcomers; a thousand such readings hold up a thousand horizons.
//!
//! # Progress
//!
//! Lock-free. A thread that stalls between rules 4 and 5, or within rule 8, keeps one slot from others, who use another; a
//! tentative slot of the same key is settled by whoever needs it.

mod acquire;
mod address;
mod all_classes;
mod batch;
mod class;
mod classes;
mod construction;
mod course;
mod error;
mod horizon;
mod identity;
mod inspect;
mod limiter;
mod line;
mod newcomers;
mod occupancy;
mod pace;
mod rate_limit;
mod saved;
mod seeded;
mod settle;
mod store;
mod table;
mod terms;
mod usual;
#[cfg_attr(not(feature = "loom"), allow(unreachable_pub))] // models of the protocol take the same steps
pub(crate) mod word;

pub use address::ClientKey;
pub use class::Class;
pub use classes::Classes;
pub use error::KeyedError;
pub(crate) use error::Unchanged;
pub(crate) use identity::Identity;
pub use inspect::{Debtor, Fingerprint, Occupancy};
pub use limiter::KeyedLimiter;
pub(crate) use saved::{Debt, NoRoom};
pub use seeded::{SeededHasher, SeededState};

/// The lines of a key of this hash, for model checks that need keys to meet.
#[cfg(all(loom, feature = "loom"))]
pub(crate) fn lines_of_key(hash: u64, lines: u32) -> [usize; identity::CANDIDATES] {
    let key = identity::Identity::new(hash);
    core::array::from_fn(|candidate| key.line(candidate, lines))
}
