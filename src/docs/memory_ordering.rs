//! Why relaxed atomics are enough, and what a limiter does not synchronise.
//!
//! # One word, one order
//!
//! The whole state of a single-word limiter is one 64-bit atomic. All writes to one atomic form a single total order,
//! its *modification order*, on which all threads agree. This holds for every memory ordering, relaxed too (C++20,
//! section [intro.races]; Rust has the same model). And a read-modify-write reads the value that stands immediately
//! before its own write in that order.
//!
//! Every change to the word is a compare-and-swap from the value that the pure step was computed from. So the
//! modification order *is* a sequential run of the step: each word is the step applied to the word before. Whatever is
//! true of the step when it runs alone is true of the word under any number of threads. An admission takes effect at
//! its compare-and-swap.
//!
//! Stronger orderings order *other* memory around an access. There is no other memory here: the quota never changes,
//! and the clock is an argument of the step. Relaxed is not an optimisation that needs an excuse; it is all that there
//! is to say.
//!
//! # Why stale values do no harm
//!
//! * **An admission from a stale value cannot happen.** The compare-and-swap fails if the word has moved on, and the
//!   step is computed anew from the value that won.
//! * **A denial from a stale value is still right.** Without refunds, each change of a bucket's word leaves less for any
//!   given reading: if there were too few tokens by an older word, there are too few by a later one. A window gives a
//!   late reading what the stored window has left, and a word that has gone on to the next window may have more. Then,
//!   and where a refund came between, the denial was right a moment earlier.
//! * **A refund that you know of is seen.** If a refund happens before a call, in the sense of the memory model (the
//!   same thread, or another thread that has been joined or has sent a message), the call's load sees it, or something
//!   later. This is coherence, which relaxed accesses have as well.
//! * **The same value again is the same state.** The word is the whole state, so a compare-and-swap that succeeds
//!   because the word has changed and changed back (ABA) continues from exactly the state it was computed for.
//! * **A compare-and-swap may fail for no reason** on some processors. The loop tries again; nothing has been counted.
//!
//! # Why the bound holds whichever thread reads the clock
//!
//! A thread may read the clock, be suspended, and commit long after others with later readings. The proof must not
//! depend on the order of the readings, and does not.
//!
//! For the token bucket, let `E(now)` be the units due since the clock's origin and `B` the burst in units. The word
//! `V` is the position up to which units are spent. An admission of `c` units at the reading `now` sets
//!
//! ```text
//! V' = max(V, E(now)) + c        and happens only if V' <= E(now) + B
//! ```
//!
//! So it spends the stretch from `V' - c` to `V'` of the scale. The upper end is at most `E(now) + B`; the lower end
//! is at least `E(now)`. And since `V' - c >= V`, the stretches of successive admissions do not overlap, in whatever
//! order the readings came. Now take all admissions whose readings lie in `[s, t]`. `E` is monotone, so their
//! stretches all lie between `E(s)` and `E(t) + B`. They are disjoint, so together they are no longer than
//!
//! ```text
//! B + E(t) - E(s)
//! ```
//!
//! which is the burst and what the rate brings in between: the bound that the crate promises, up to the one unit by
//! which `E(t) - E(s)` may exceed the real numbers. A reading that is too old only lowers `E(now)`. It can cause a
//! denial, never a token. The leaky bucket is the same word, and the same proof. Where tokens are given back, stretches
//! are spent twice, and the bound holds for what was admitted less what was given back meanwhile.
//!
//! A window's argument is shorter: its index never goes back, and within one index the count only grows to the limit. A
//! reading that falls in an earlier window counts in the stored one. So from any reading on, at most the limit is
//! admitted for each window begun up to the latest reading.
//!
//! # More than one word
//!
//! The sliding window log has a word for each unit of its limit, and their agreement is part of its promise. There,
//! relaxed is not enough. Its bound needs no ordering still: a slot passes from one unit to the next only by a
//! compare-and-swap, on a reading that is a period later, so each slot admits at most once in any period. But that a
//! call decides on the *right* slot, and that helpers find a group's record written, rests on pairs of release and
//! acquire. Each is named in the source, above the access; the rules that they serve are in the header of
//! `src/window_log/mod.rs`.
//!
//! The sharded token bucket has a central word and a word for each shard. Its bound is an argument about one word's
//! modification order at a time, so relaxed is enough for it; one order matters that is not between two words but
//! within one thread: the clock is read after the shard's refill bit is set. Where a denial must know that all shards
//! are empty, a counter of deposits is published by release and read by acquire. A deposit is released as well, for
//! whoever adds up shards and the central word: seeing credits, one sees that they were drawn. Rules and proof are in the
//! header of `src/sharded/mod.rs`.
//!
//! The keyed limiter must agree with itself on which slot is a key's. A slot's word and its tag are two words, and two
//! callers may insert one key in two slots. There, a tag is published by release and read by acquire; and a
//! sequentially consistent fence stands between making one's own slot visible and looking for another's, since no
//! weaker order forbids both callers to overlook each other. Rules and proof are in the header of `src/keyed/mod.rs`.
//!
//! # A limiter is not a lock
//!
//! A limiter gives its callers **no happens-before edge**. An admission says that there was a token. It does not make
//! the writes of one caller visible to the next, not even with a burst of 1, when admissions look as if they were
//! mutually exclusive. Data that threads share needs its own synchronisation:
//!
//! ```
//! use std::sync::Mutex;
//! use tollgate::{Quota, TokenBucket};
//!
//! static GATE: TokenBucket = TokenBucket::new(Quota::per_hour(1));
//! static REPORT: Mutex<Vec<&str>> = Mutex::new(Vec::new()); // the gate alone would not protect this
//!
//! std::thread::scope(|scope| {
//!     for name in ["a", "b", "c"] {
//!         scope.spawn(move || {
//!             if GATE.try_acquire().is_ok() {
//!                 REPORT.lock().unwrap().push(name);
//!             }
//!         });
//!     }
//! });
//! assert_eq!(REPORT.lock().unwrap().len(), 1);
//! ```
//!
//! The other way round it is simple: whatever already orders two calls, orders their effect on the limiter.
//!
//! # Progress
//!
//! The loop of the single-word limiters is *lock-free*: a compare-and-swap that fails because the word has changed
//! fails because another thread's call has succeeded, so the system as a whole always moves on. A thread that is
//! stopped anywhere, for however long, blocks nobody. The loop is not *wait-free*: one thread can lose to others again
//! and again. A lost race is followed by a short pause, longer each time up to a limit; there is never a system call.
//!
//! A denial does not write at all, so denials do not contend with each other.
//!
//! [intro.races]: https://eel.is/c++draft/intro.races
