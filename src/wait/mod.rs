//! Waiting: places in line, exact to the nanosecond, that can be given back.
//!
//! # What there is
//!
//! * [`WaitingTokenBucket`]: a token bucket with a line. Calls that do not wait are those of
//!   [`TokenBucket`](crate::TokenBucket); [`reserve`](WaitingTokenBucket::reserve) and its forms take a place, and
//!   `acquire_blocking` and its forms wait for it.
//! * [`Place`]: tokens of one's own, and the instant from which they may be spent. Held by value: spent, or given back.
//! * [`ShardedTokenBucket::reserve`](crate::ShardedTokenBucket::reserve): places on its central word.
//! * [`KeyedLimiter::reserve`](crate::KeyedLimiter::reserve): places by key, on the word of the key's bucket.
//! * [`Turns`]: one caller's places, one after the other, at the full rate although each wake-up is late.
//! * [`LimitSet::reserve_n`](crate::LimitSet::reserve_n): [`Places`] in several lines at once.
//! * [`Line`]: what places are had of. A place is generic over what points to its limiter: `Place<&WaitingTokenBucket>`,
//!   or `Place<Arc<WaitingTokenBucket>>` that can be kept anywhere.
//!
//! # Tokens are positions
//!
//! Tokens are positions on the scale that stands at `E(now)`, and the word `V` is the position handed out up to; see
//! [`Gcra`](crate::algorithm::Gcra). `n` tokens from `a` on are due at the first instant `t` with `a + n <= E(t) + burst`,
//! and drop out of the bucket when `E(t)` has passed them. Whatever is spent at instants in `[s, t]` are therefore
//! disjoint stretches between `E(s)` and `E(t) + burst`: nothing else is needed for the bound, whoever handed them out and
//! in whatever order.
//!
//! # The protocol
//!
//! Beside `V` lies a *pool*: a few slots, each a length and a start, for stretches that were given back from the middle of
//! the line. A length of 0 is an empty slot, the largest number a busy one.
//!
//! 1. **Reserve.** One CAS moves `V` to `max(V, E(now)) + n`, if those tokens are due by `now + max_wait`, and by
//!    `now + longest`. Who does not wait at all asks with `max_wait = 0`, and is refused while `V` is ahead: nobody overtakes.
//! 2. **Nothing for a refusal.** It writes nothing.
//! 3. **Give back.** If `V` is the place's end, one CAS moves `V` to its start. It cannot be anybody else's end: whoever
//!    moved `V` beyond it and back has given back what lies beyond. Otherwise the stretch is put into the pool.
//! 4. **Put.** A slot that is empty, or whose stretch has dropped out of the bucket, is owned by a CAS of its length to
//!    BUSY. Then the start is stored, and then the length, with release. If no slot can be had, the tokens are lost.
//! 5. **Take.** Whoever would be refused by rule 1, or would have to wait, first looks for a stretch of which `n` tokens
//!    may be spent now, or by when the caller would wait; of several, the earliest. Length (acquire), start; if they
//!    will do, a CAS of the length to BUSY (acquire). **Then the start is loaded again, and all is decided again**: the slot may
//!    have been emptied and filled with the same length meanwhile. The rest is stored as by rule 4. What has dropped out of the
//!    bucket is never used, and what is not due yet is a place with an instant of its own.
//! 6. **Absorb.** A stretch that ends at `V` goes back to `V`: its slot is owned first, as by rule 5; then one CAS moves `V` from its
//!    end to its start; then the slot is emptied. If the CAS fails, the length is put back. Whoever has given something back does
//!    this, and so does whoever is about to use the pool.
//! 7. **Spend.** A place is spent at its instant or later, never before. It counts at its own instant, however late the
//!    holder wakes: the place, not the wake-up, is what keeps the rate.
//! 8. **Follow.** One who takes place after place may reserve the next as of the instant of the last, so many nanoseconds
//!    ago at most. An older reading only lowers `E`: it takes what was due meanwhile, and never what has been handed out.
//!
//! # Why it is exact
//!
//! *No position is handed out twice.* A position belongs to `V`'s future, to a place, or to a slot. From the first to the second it goes by
//! a CAS of `V` upward; back by one downward, from the very end of what the caller owns. In and out of a slot it goes by its owner, and a
//! CAS of the length makes one thread the owner.
//!
//! *Nobody is served later than told*: a place's positions never change, nor does its instant.
//!
//! *Nobody is blocked.* All is lock-free. A thread that stalls while it owns a slot keeps that slot's tokens from others, and nothing else.

#[cfg(feature = "std")]
mod blocking;
#[cfg(feature = "async")]
mod future;
mod keyed;
mod line;
#[cfg(feature = "std")]
mod pacer;
mod place;
mod pool;
#[cfg(feature = "std")]
mod retrying;
mod several;
mod sharded;
mod take;
#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests;
#[cfg(feature = "std")]
mod throttled;
mod token_bucket;
mod turns;
mod with_status;

#[cfg(feature = "async")]
pub use future::{Acquire, Turn};
pub use keyed::{KeyedLine, KeyedPlace, OwnedKeyedLine, OwnedKeyedPlace};
pub use line::Line;
#[cfg(all(feature = "std", feature = "async"))]
pub use pacer::Ticks;
#[cfg(feature = "std")]
pub use pacer::{Pacer, Tick};
pub use place::Place;
#[cfg(feature = "loom")]
pub use place::end_of;
#[cfg(all(feature = "std", feature = "async"))]
pub use retrying::Retry;
#[cfg(feature = "std")]
pub use retrying::Retrying;
#[cfg(feature = "async")]
pub use several::JointTurn;
pub use several::Places;
#[cfg(feature = "tokio")]
pub use throttled::AsyncThrottled;
#[cfg(feature = "std")]
pub use throttled::Throttled;
pub use token_bucket::WaitingTokenBucket;
pub use turns::Turns;
