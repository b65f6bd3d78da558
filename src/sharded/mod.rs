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
//! news       how often something came that no quiet slot must miss
//! quiet      beside each slot's credits: until when `V` is known to be short, and the value of `news` then
//!            (lease/quiet.rs); a handle has its own in plain memory
//! ```
//!
//! `V`, `deposits` and `dry` share one cache line, on which nothing else is; `news`, which is mostly read, has one of its
//! own, and so has each slot.
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
//!    takes no credit (unless it lost a race for the last tokens after it had seen them).
//! 6. **Sizes.** `S` and `q` follow from the burst: `S * q + u <= B / 8`. The `u` tokens, one or as many as a unit has if that is
//!    more, pay for the unit by which an idle `Gcra` may be early. Costs above `Bc` can never be admitted. A burst that is too small to share leaves no slot
//!    any room (`q = 0`): every call goes to `V` then, whose burst is `B`, less a unit where that is a token or more.
//! 7. **Handles.** A handle is a refill that lasts: it sets the REFILL bit of a slot of its own, takes what credits are
//!    there into plain memory, and keeps at most `q`. Each batch it draws is sized by a reading taken after the batch
//!    before was put away. When it is dropped, one CAS gives what is left to the slot and clears the bit, as in 2 (d).
//! 8. **Quiet.** A call of cost 1 that is denied by rule 5 leaves in its slot the value of `news` that it read (Acquire)
//!    *before* its clock, and an instant `until`. The next call that finds no credits is denied by that line and its own
//!    reading `now` alone, while `news` is the same, `now < until`, and no more than the longest pause is left until then.
//!    Whatever lowers `V` (a refund, a place given back, `forgive`) or leaves a dropped handle's credits adds one to `news`
//!    (Release) *after* it was done; a refill's deposit does where nothing settles.
//!
//!    `until = min(due, now + 10 us)`, where `due` is when the next token falls due. Where four tokens or more fall due in
//!    2 us, they *settle* instead: `until = now + p`, where `p` is 2 us, or what half a batch takes to fall due if
//!    that is less. What has fallen due by then is drawn at once, as credits. A denial's hint is the later of `due` and
//!    `until`.
//!
//! 9. **Add up.** Whoever tells how much there is, now or in a snapshot, looks at the slots first and at `V` after them. A deposit
//!    releases what it puts down, and who has looked at slots acquires it: so `V` is seen no older than the draws that the
//!    credits came by. A token in motion may be missed, and none is counted twice. Who draws from `V` and tells what that has
//!    left has looked at the slots before the draw.
//!
//! # Why quiet is right
//!
//! Quiet only ever denies: the bound is the same without it. Without settling it denies nothing that rule 5 would admit:
//! `V` grows by every draw, and what lowers it is told, so at every reading before `due` it is short, whoever's clock
//! that is; credits come by deposits, which are told. A pause set by a clock that was ahead, or read by one that has gone
//! back, looks longer than pauses are, and counts as none; one that was set late, by a thread that was suspended, is over.
//!
//! With settling, two things are denied for `p` at most, by the slot's clock: tokens that fall due meanwhile, at most half a batch in
//! all, which are still in `V` when the pause is over; and credits that another thread has put into its own slot. Each time
//! there are credits in this thread's slot there is no pause. What a pause costs is a delay of tokens, once, not a loss:
//! `V` is short of one token when it begins, and far from full when it ends.
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
//! are enough; those of rules 5, 8 and 9 are stronger, and they decide about denials, and about what is told, only. A reading that is older than it
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
mod take;
mod token_bucket;

pub use handle::Handle;
pub use token_bucket::ShardedTokenBucket;
