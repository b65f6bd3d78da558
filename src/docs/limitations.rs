//! What the crate does not do, and where its promises end.
//!
//! # Scope
//!
//! * **One process.** The state is a word in memory. Several processes, or several machines, have a limit each. A
//!   limit over all of them needs a shared store, or a division of the limit among them; the package `tollgate-redis` has one.
//! * **Nothing is kept.** After a restart a limiter is full again, or has the initial level that it was given. If that
//!   matters, start it low: `with_initial(0)`.
//! * **No order among those who come back.** A denial says how long to wait, and reserves nothing: whoever asks first after
//!   a token has come gets it. Who wants a place in line takes a [`WaitingTokenBucket`](crate::WaitingTokenBucket); windows and
//!   logs have none.
//! * **No fairness among threads.** Under contention one thread may be served more often than another.
//! * **Quotas that can change.** Those of an [`AdjustableLimiter`](crate::AdjustableLimiter), which is a token bucket, a fixed window
//!   or a sliding window counter, and of the classes of a [`KeyedLimiter`](crate::KeyedLimiter). Any other limiter keeps the quota that
//!   it was made with, a log among them, whose ring is as long as its limit: a new quota means a new limiter, which starts full unless
//!   told otherwise.
//!
//! # What a hint means
//!
//! A hint is a statement about the state at the moment of the denial: *if nobody else is served first*, the same call
//! is admitted at that instant and refused one nanosecond earlier. It reserves nothing. Many callers that are refused
//! together get much the same hint, and when they come back together most are refused again; spread such retries.
//!
//! In the same way `available()` and `status()` are true at the instant when they are read. They never say more than
//! the burst. Do not use them to decide whether to proceed; that is what `try_acquire` is for.
//!
//! # Time
//!
//! * **Horizon.** A limiter serves for 146 years (2^62 ns) from the origin of its clock, 120 years if its word is packed,
//!   as those of windows are, and 110 in a keyed limiter: on Unix time into the 2080s. What cannot last that long is a
//!   construction error. Beyond the horizon time stands still: no more tokens come, nothing is over-admitted, and where a
//!   wait would end there, the hint is `None`.
//! * **Resolution.** The scale counts in units of less than half a nanosecond. A bucket that has been full is cut off
//!   at a whole unit, so one token may come up to one unit early, once; it never adds up. Only a burst that takes
//!   decades to refill makes the unit larger. (The packed token bucket counts in whole tokens, a keyed limiter in 1 to
//!   2 ns.)
//! * **High rates.** From 2e9 tokens per second up a unit is a whole token, and above 4e9 it is `2^k` tokens: 4 at 12.5e9
//!   per second, 4096 at 1e13. Then a call costs a whole number of units, rounded up, and a bucket may be early by a unit,
//!   once. A sharded bucket keeps that unit back where its burst has more. A packed bucket and a fixed window have larger
//!   units there, for want of bits; a counter, a log and a keyed limiter do not take such rates.
//! * **First use.** The default clock calibrates the time stamp counter at its first reading in the process, which
//!   takes up to 200 ms. Call `QuantaClock::calibrate()` at start-up to have it behind you. Against the system's clock
//!   the counter can drift by some parts in ten million.
//! * **Clocks that go back or differ.** A reading older than one already seen can cause a denial that a later reading
//!   would not have caused. It never mints a token; a window counts it in the latest window
//!   seen, so that by the readings alone an earlier window can have more. If the clocks of two cores disagree by `e`, at most `2 * rate * e`
//!   more is admitted in real time.
//! * **Clocks that are set.** A reading that is far ahead, put right afterwards, shuts a limiter for as long as the clock was
//!   ahead: a bucket until the clock is back where it was, less what the burst brings; a window and a counter for that time
//!   and up to a period; a log for that time and a period. A counter that starts again at 0 shuts it for as long as it had
//!   run. That is the price of strictness: an older reading can not be told from a late one. The way out is a clock wrapper,
//!   [`Steady`](crate::Steady), which notices such steps and bounds the time by your choice;
//!   [`forgive`](crate::RateLimiter::forgive) opens a limiter by hand.
//! * **Sleep.** The operating system's monotonic clock may stand still while a machine sleeps or a virtual machine is
//!   paused. No tokens come in that time.
//! * **Coarse clocks.** With a clock that is updated every few milliseconds, a limiter is exact in terms of that
//!   clock, and as late as the clock is. Hints count from the last update.
//! * **Mixed clocks.** A limiter's word only has a meaning on its own clock. The `_at` methods must be given readings
//!   of one clock.
//!
//! # The sliding window log
//!
//! Calls of a cost above 1 each hold one of 64 records for a moment. If 64 threads are stopped in just that moment,
//! the next such call waits until one of them goes on. Calls of cost 1 wait for nobody. There is no `refund`.
//!
//! # The sharded token bucket
//!
//! A call of cost 1, while there is no handle, is short of at most `burst - max_cost()`, an eighth of the burst (of one
//! too small to be divided, a unit of the scale if that is a token or more). A larger cost, or any call while handles hold tokens, may be short of twice that. Under steady demand that happens once; after
//! each idle period that fills the bucket it happens again. Calls on a reading (`try_acquire_n_at`) see the central word
//! alone, not credits. A call can be denied while another thread,
//! suspended in the middle of a refill, has tokens in hand. A handle that is leaked keeps its tokens for ever. The bucket
//! allocates when it is made, so a `static` needs a `LazyLock`; and a thread's first call to any sharded bucket may
//! allocate, to have its shard given back when the thread ends. Without `std` one thread cannot
//! be told from another, and there is one shard.
//!
//! # The keyed limiter
//!
//! When more keys are in debt than the table was sized for, new keys are refused with `Denied::TableFull` until one of
//! the old ones recovers; or they share a bucket, by `sharing_when_full`. Two keys whose hashes agree share a bucket; with the
//! default hasher nobody can choose such keys. Any hasher will do otherwise whose 64 bits differ where keys do.
//!
//! A key that has recovered may be forgotten: it is full in any case, but after `with_initial` it starts at the initial
//! level again. The initial level is that of the class in which a key first calls. From then on its debt is a time, the
//! same in every class: a key that has been full in a class of small bursts has a large class's whole burst. There, a refused
//! newcomer takes a slot, so that its bucket fills, unless its cost is above the burst; and `TableFull` says when
//! there is room, not when the call will be admitted.
//!
//! When a recovered key loses its slot, to a new key or by `forget`, the limiter remembers when it was full again, but not
//! which key it was. So a newcomer counts as full only from the latest such instant on: a caller whose reading is older
//! than that finds a new key short of the tokens that fall due in between, and may have to wait for them. Such instants
//! are kept apart by groups of keys, the *horizons*, of which there is one for every 25 keys of the capacity and at least
//! 32; a newcomer looks at that of its own group alone.
//!
//! A slot that several callers fight over at one instant may cost whoever gets it a nanosecond for each of them, and 66 us
//! at most: a slot that is nobody's and is farther ahead than that is left alone.
//! `TableFull` is no decision on one instant: slots may have become free while others were looked at.
//!
//! A key that was given tokens back, or was forgiven, keeps its slot after its bucket is full again: for as long as the
//! longest debt of any class, and about two seconds. Where a clock was far ahead when such a key was charged, its
//! four neighbours in a line of memory may get less back than they give; `forgive` works for them all the same.
//!
//! # Processes that fork
//!
//! After `fork` parent and child have a copy of the state each: from then on either has the whole limit. Threads do
//! not survive in the child. A clock that relies on a background thread to be updated must be made anew there.
//!
//! # Targets
//!
//! The crate is lock-free where the target has a 64-bit compare-and-swap: on the usual 64-bit targets, and on 32-bit x86
//! and ARMv7. On a target that has none the build stops with a message that names the way out: make `portable-atomic`
//! with its feature `fallback` a dependency of yours. Then a global lock takes the atomic's place, and the crate is no
//! longer lock-free. Another crate in the build may have turned that feature on already (`quanta` does, so this
//! crate's default features do): to find out, build without default features and see whether the message comes.
//!
//! # Costs
//!
//! A cost is a whole number of tokens. For fractions, scale both the quota and the costs: 1000 tokens for each unit of
//! work gives thousandths. A cost above the burst can never be admitted, and the denial says so; it is not split up.
