//! Which limiter to choose: what each guarantees, where it errs and in which direction, what it costs.
//!
//! A quota of `n` tokens each `period` has the rate `r = n / period`; `B` is its burst. Windows read `n` and `period`
//! only; burst has no meaning for them. All bounds are on clock readings: "in `[s, t]`" means that the call's reading
//! of the clock lies in that span.
//!
//! | limiter | admits in any span of length `T` at most | compared with "n in any period" |
//! |---|---|---|
//! | [`TokenBucket`], [`LeakyBucket`] | `B + r * T` | a burst on top of the rate: up to `B + n` in a period |
//! | [`ShardedTokenBucket`] | `B + r * T` | the same |
//! | [`KeyedLimiter`] | for each key `B + r * T` | the same |
//! | [`PackedTokenBucket`] | `B + r * T + 1` | the same |
//! | [`FixedWindow`], [`IntervalBucket`] | `n * (1 + ceil(T / period))` | admits up to `2 n` around a boundary |
//! | [`SlidingWindowCounter`] | `n` in each aligned window, below `2 n` in any period | errs both ways |
//! | [`SlidingWindowLog`] | `n * ceil(T / period)` | exactly that |
//!
//! | limiter | reading the state | limits of the encoding |
//! |---|---|---|
//! | [`TokenBucket`], [`LeakyBucket`] | tokens; level | takes every [`Quota`] |
//! | [`ShardedTokenBucket`] | tokens that are not in shards | takes every [`Quota`]; costs up to 7/8 of `B` |
//! | [`KeyedLimiter`] | tokens of a key | bursts that recover in 36 years |
//! | [`PackedTokenBucket`] | tokens | rate (per second) times burst up to 4.8e9; coarse units above 4e9 per second |
//! | [`FixedWindow`], [`IntervalBucket`] | what is left of the window | takes every [`Quota`] |
//! | [`SlidingWindowCounter`] | what is left of the estimate | `n` up to 65 535 per second, 524 287 per minute |
//! | [`SlidingWindowLog`] | what is free in the log | `n` up to 2^32 |
//!
//! What exceeds the encoding is a construction error that names the largest limit. A bucket's bound is meant to a unit of
//! its scale: a part of a token below 2e9 tokens per second, a token or more from there up, where costs are rounded up to
//! whole units (see [`Gcra`]); of a key's, what falls due in one to two nanoseconds. The bounds of windows are meant by the
//! window that a call is counted in: a reading that goes back over a boundary counts in the latest window seen.
//!
//! *Cost.* The single words hardly differ. Each is one atomic word beside constants that never change, a cache line in
//! all with a clock that has no state of its own, and can be a `static`. An admission is one clock reading, one load
//! and one compare-and-swap; a denial leaves out the compare-and-swap. The log takes 8 bytes for each unit of its
//! limit, allocated by its constructor; an admission of cost 1 is up to two compare-and-swaps, whatever the limit.
//! None of them divides on the way to an admission.
//!
//! # Token bucket
//!
//! A bucket holds up to `B` tokens and gains `r` per second. A call takes its cost, or is refused and takes nothing.
//!
//! *Use it* unless you have a reason not to. It allows a burst after a rest, then a steady rate. Burst and rate are
//! independent: a large burst with a low rate suits people, who click a few times and then read; a burst of 1 spaces
//! calls evenly.
//!
//! *Do not use it* to promise "at most `n` in any period". From a full bucket `B` pass at once and `n` more within the
//! period. With the default burst, `B = n`, that is twice `n`. For a hard cap of `n`, choose burst and rate such that
//! `B + r * period <= n`.
//!
//! *How exact.* It admits what the ideal bucket on real numbers admits, with one exception: a bucket that was full is
//! cut off at a whole unit, which is less than half a nanosecond. So the first token after that may come half a
//! nanosecond early. This does not add up. Where more than 4e9 tokens fall due per second, costs are rounded up to whole
//! units of several tokens.
//!
//! *How it is done.* The generic cell rate algorithm (GCRA; ITU-T I.371) stores the one number from which the level
//! follows, the theoretical arrival time, here as a position on a scale of tokens. A refill needs no write, and a
//! fresh bucket needs no clock. See [`Gcra`] for the formulas.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, Quota, TokenBucket};
//!
//! // Ten at once, two more per second. Twenty requests, one each 50 ms.
//! let clock = ManualClock::new();
//! let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
//! let admitted: Vec<u32> = (1..=20)
//!     .filter(|_| {
//!         clock.advance(Duration::from_millis(50));
//!         bucket.try_acquire().is_ok()
//!     })
//!     .collect();
//!
//! // The first, at 50 ms, finds the bucket full and starts the refill: a token each 500 ms from there. It is there for
//! // the eleventh, at 550 ms. The next comes at 1050 ms, after the last request.
//! assert_eq!(admitted, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
//! ```
//!
//! # Sharded token bucket
//!
//! The token bucket for many cores. Each thread spends from a word of its own, which is filled in batches from a
//! central word. What lies in the words of all threads together was taken from the burst beforehand, so the bound is
//! the token bucket's.
//!
//! *Use it* where more than a million calls per second are admitted, from several cores. See
//! [performance](super::performance#when-to-shard).
//!
//! *It errs* towards refusing, by at most an eighth of the burst, or twice that for costs above 1 and while there are
//! handles (where the burst is too small to be divided, by a unit of the scale if that is a token or more): that many tokens can lie where a call does not get at them. While there is demand this does not grow, and every
//! token is spent in the long run, be it by one thread alone. But it is there again after each idle period that fills the
//! bucket: bursts with pauses in between get seven eighths of what a token bucket admits, 119 of 136 each time.
//!
//! # Keyed limiter
//!
//! A token bucket for each key, in a table of fixed size. A key that owes nothing cannot be told from one that was
//! never seen, so it needs no room: the table's capacity is a number of keys *in debt* at the same time.
//!
//! *Use it* for a limit per client, address or API key, where keys come from outside and anybody can make up new ones.
//!
//! *It errs* towards refusing. If the places where a new key could go are all taken by keys in debt, it is refused
//! with [`Denied::TableFull`]. Two keys whose hashes agree in 30 bits and place share a bucket. No key in debt is ever
//! forgotten, and none is ever admitted more than its bound.
//!
//! *It costs* under 26 bytes for each key of its capacity, allocated by its constructor; a call on a known key is one
//! compare-and-swap, and beyond the cache one access to memory. `check_many` has the memory accesses of many keys
//! under way at once.
//!
//! # Leaky bucket, as a meter
//!
//! Each call pours its cost into a bucket that leaks at `r`; a call that would overflow `B` is refused. It is the
//! token bucket seen from the other side: the level is `B` less the tokens. It admits the same calls, by the same
//! code. Use it where "how full" is the natural question; `level()` and `capacity()` answer it.
//!
//! This is not the leaky bucket *as a queue*, which holds calls back until they drip out. To delay a call, wait for as
//! long as its denial says.
//!
//! # Packed token bucket
//!
//! The encoding of the textbooks: tokens left, and when they were last topped up, in two bit fields of one word. The
//! stamp moves by whole refills only, so no remainder of time is lost. But a full bucket is cut off at a whole
//! *token*, so the bound is one token wider. It is there so that encodings can be compared; prefer [`TokenBucket`].
//!
//! # Fixed window, and the interval bucket
//!
//! A count that starts again in each window. Windows are aligned to the clock's origin, not to the first call. The
//! interval bucket is the same type seen from the other side: filled to capacity at every tick, and asked for partial
//! takes.
//!
//! A refund goes to the present window, or with `refund_at` to the one in which the tokens were taken, if that is the
//! present one; else it is lost.
//!
//! *Use it* for quotas that people read as "per calendar period" and that reset at a known instant, or for budgets
//! that a batch job draws from.
//!
//! *It errs* towards admitting, around a boundary: `n` at the end of one window and `n` at the start of the next pass
//! within moments of each other. A reading that goes back over a boundary counts in the latest window seen, so by the
//! readings alone an earlier window can have more than `n`.
//!
//! # Sliding window counter
//!
//! Two counts, of this window and the one before. The previous one counts by the share of it that the sliding period
//! still covers, as if its calls had come evenly spread.
//!
//! *Use it* for "about `n` in any period" at the price of one word, where the sliding window's memory of every call is
//! too much.
//!
//! *It errs* both ways. If the calls of the previous window came late in it, they are forgotten too early, and up to
//! nearly `2 n` pass in one period. If they came early, they are remembered too long, and calls are refused that an
//! exact log would admit.
//!
//! ```
//! use tollgate::{FixedWindow, ManualClock, Nanos, Quota, SlidingWindowCounter};
//!
//! let quota = Quota::per_minute(100);
//! let clock = ManualClock::new();
//! let fixed = FixedWindow::with_clock(quota, clock.clone());
//! let counter = SlidingWindowCounter::with_clock(quota, clock.clone());
//!
//! // The end of one minute.
//! clock.set(Nanos::from_millis(59_999));
//! assert_eq!(fixed.try_acquire_up_to(100), 100);
//! assert_eq!(counter.try_acquire_up_to(100), 100);
//!
//! // 1 % into the next.
//! clock.set(Nanos::from_millis(60_600));
//! assert_eq!(fixed.try_acquire_up_to(100), 100); // 200 within 601 ms
//! assert_eq!(counter.try_acquire_up_to(100), 1); // 99 of the 100 still count
//! ```
//!
//! # Sliding window log
//!
//! When each of the last `n` units was admitted, in a ring. A call is admitted if the unit admitted `n` units ago is a
//! period old.
//!
//! *Use it* for a hard "at most `n` in any period": what a contract says, or what a service behind this one refuses to
//! exceed.
//!
//! *It errs* never: no half-open span of a period holds more than `n`, and nothing is refused that has room.
//!
//! *It costs* memory in proportion to its limit, and it gives no refunds. A call of a cost above 1 takes as many
//! compare-and-swaps as it costs.
//!
//! ```
//! use tollgate::{ManualClock, Nanos, Quota, SlidingWindowLog};
//!
//! // Five per thirty seconds. So many arrive, at these seconds, and so many are admitted.
//! let clock = ManualClock::new();
//! let log = SlidingWindowLog::with_clock(Quota::per(5, std::time::Duration::from_secs(30)), clock.clone());
//! for (second, arrive, admitted) in [(0, 1, 1), (5, 2, 2), (15, 2, 2), (25, 1, 0), (35, 1, 1), (40, 3, 2)] {
//!     clock.set(Nanos::from_secs(second));
//!     assert_eq!(log.try_acquire_up_to(arrive), admitted, "at {second} s");
//! }
//! ```
//!
//! # Two limits, side by side
//!
//! A window's doubled limit is a nuisance because it can be spent at once. A second limit, on a shorter time, takes
//! that away: whoever plays at the boundary is held to the short limit's burst and rate. Ask the short limit first,
//! since it refuses most, and give its token back if the long one refuses. Then a refused call has cost nothing on
//! either.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{Denied, FixedWindow, ManualClock, Nanos, Quota, TokenBucket};
//!
//! let clock = ManualClock::new();
//! let per_second = TokenBucket::with_clock(Quota::per_second(5), clock.clone());
//! let per_minute = FixedWindow::with_clock(Quota::per_minute(100), clock.clone());
//! let both = || -> Result<(), Denied> {
//!     per_second.try_acquire()?;
//!     per_minute.try_acquire().inspect_err(|_| per_second.refund(1))
//! };
//!
//! // Someone tries each millisecond, from a second before a boundary to a second after it.
//! let attack = |admit: &dyn Fn() -> Result<(), Denied>| {
//!     clock.set(Nanos::from_secs(59));
//!     (0..2_000)
//!         .filter(|_| {
//!             clock.advance(Duration::from_millis(1));
//!             admit().is_ok()
//!         })
//!         .count()
//! };
//! assert_eq!(attack(&both), 14); // 5 at once, and 5 per second
//!
//! let alone = FixedWindow::with_clock(Quota::per_minute(100), clock.clone());
//! assert_eq!(attack(&|| alone.try_acquire()), 200);
//! ```
//!
//! The pair still admits up to 200 in a minute that lies across a boundary, but only to someone who spreads them over
//! at least 39 seconds. If that is too many, take a log in the window's place. Between its charge and its refund the
//! short limit may refuse another thread that it need not have refused; it never admits too much.
//!
//! [`Denied::TableFull`]: crate::Denied::TableFull
//! [`FixedWindow`]: crate::FixedWindow
//! [`Gcra`]: crate::algorithm::Gcra
//! [`IntervalBucket`]: crate::IntervalBucket
//! [`KeyedLimiter`]: crate::KeyedLimiter
//! [`LeakyBucket`]: crate::LeakyBucket
//! [`PackedTokenBucket`]: crate::PackedTokenBucket
//! [`Quota`]: crate::Quota
//! [`ShardedTokenBucket`]: crate::ShardedTokenBucket
//! [`SlidingWindowCounter`]: crate::SlidingWindowCounter
//! [`SlidingWindowLog`]: crate::SlidingWindowLog
//! [`TokenBucket`]: crate::TokenBucket
