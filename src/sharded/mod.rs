//! [`ShardedTokenBucket`]: strict, and faster with more cores. [`Handle`]: a thread's own share of it.
//!
//! One central word admits what a [`TokenBucket`](crate::TokenBucket) admits, with a burst that is smaller by a reserve.
//! From it, tokens go in batches into *slots*: padded words of at most `q` *credits* each, one per thread where
//! possible. A credit is a token that has been taken from the central word already, so spending one needs no clock and no
//! shared cache line, and all credits together are never more than the reserve. Hence the sum keeps the burst.
//!
//! # State
//!
//! ```text
//! V          the central word: a position of the Gcra with burst Bc = B - S * q - u; u is 1, or the tokens in a unit
//! slots      S words of a count of credits and a REFILL bit (lease/word.rs): first the shards, which threads share
//!            by their index, then the slots for handles
//! deposits   how many deposits have been made
//! dry        the value of `deposits` at which a scan last found every slot without credits
//! ```
//!
//! `V`, `deposits` and `dry` share one cache line, on which nothing else is; each slot has one of its own.
//!
//! # Rules
//!
//! 1. **Spend.** Whoever sees `n` credits in its own slot takes them with one read-modify-write, and reads no clock. One
//!    credit: load, test, `fetch_sub`; there is no undo, and a negative count reads as none. More: a CAS.
//! 2. **Refill**, in this order. (a) One CAS sets the slot's REFILL bit and sees its credits `c`. (b) *Only then* is the
//!    clock read. (c) One CAS on `V` draws `g = min(available, n + q - c)`, if that is at least `n`. (d) One CAS adds
//!    `g - n` credits, counting a negative number as none, and clears the bit. A batch is never sized by a reading taken
//!    before (a), nor by a `c` seen after (b).
//! 3. **One refiller.** While the bit is set, nobody else adds credits to that slot; spending and stealing go on.
//!    Another thread that needs tokens takes exactly `n` from `V`, and so does one that sees too few there for a refill
//!    to be worth its cost. A cap on the deposit is no substitute for the bit.
//! 4. **Steal whole.** When `V` is short, `n` credits come from one slot or not at all. Nobody gathers pieces for one
//!    cost, and nobody puts tokens back that no bit has reserved room for, neither to `V` nor to a slot.
//! 5. **Deny last.** A call is denied only after `V` and then every slot were seen short. `deposits` grows by one after
//!    each deposit (Release). A scan that began with `deposits = d` (Acquire) and found no credits sets `dry = d`;
//!    while `dry = deposits`, a short `V` alone denies. A call looks at `V` before it sets any bit, so a denial
//!    writes no slot (unless it lost a race for the last tokens after it had seen them).
//! 6. **Sizes.** `S` and `q` follow from the burst: `S * q + u <= B / 8`. The `u` tokens, one or as many as a unit has if that is
//!    more, pay for the unit by which an idle `Gcra` may be early. Costs above `Bc` can never be admitted. A burst that is too small to share leaves no slot
//!    any room (`q = 0`): every call goes to `V` then, whose burst is `B`, less a unit where that is a token or more.
//! 7. **Handles.** A handle is a refill that lasts: it sets the REFILL bit of a slot of its own, takes what credits are
//!    there into plain memory, and keeps at most `q`. Each batch it draws is sized by a reading taken after the batch
//!    before was put away. When it is dropped, one CAS gives what is left to the slot and clears the bit, as in 2 (d).
//!
//! # Why it is strict
//!
//! Take any two instants `s <= t` of the clock. What is admitted in between was paid for in one of two ways.
//!
//! * *By draws whose reading lies in `[s, t]`.* They take disjoint stretches of `V` within `[E(s), E(t) + Bc]`, as for
//!   the single word: together at most `Bc + rate * (t - s)` and a unit.
//! * *By draws with an earlier reading*, whose tokens were credits, or on their way to become credits, at `s`. For each
//!   slot these are at most `q`: whoever holds the bit at `s` saw the credits before it read the clock, they have only
//!   become fewer since (rule 3), and it adds no more than `q` less what it saw; whoever sets the bit after `s` reads
//!   the clock after `s` (rule 2).
//!
//! So at most `Bc + S * q + u + rate * (t - s) = B + rate * (t - s)`. Nothing here depends on the order in which
//! accesses to different words become visible: each argument is about one word's modification order. Relaxed accesses
//! are enough; those of rule 5 are stronger, and they decide about denials only. A reading that is older than it
//! should be by `e` (a skewed clock, a reading that the processor took early) draws less, not more, and shifts the first
//! argument by `rate * e`.
//!
//! # What sharding costs
//!
//! Under-admission. `V` can hold `S * q + u` tokens fewer than the burst: so many may a call of cost 1 be short of, which
//! finds whatever credits there are. A larger cost, which is not put together from pieces, and anybody but its owner where
//! a handle holds credits, may be short of as many again. While there is demand that is all,
//! for every token drawn is spent or still there.
//!
//! An idle period fills `V` up to `Bc` and no slot, so after each one that is long enough the shortfall is there again.
//! That slots are empty now is no reason to draw more than `Bc`: spending a credit reads no clock and writes no shared
//! word, so their credits may have been spent in this very instant, and count in it beside what is drawn. Only a scan that
//! was made before the idle period, with no draw since, would tell.
//!
//! A denial is not linearizable: tokens in the hand of a thread that was suspended between (c) and the end of its refill
//! are seen nowhere.

mod central;
mod construction;
mod handle;
mod token_bucket;

pub use handle::Handle;
pub use token_bucket::ShardedTokenBucket;
