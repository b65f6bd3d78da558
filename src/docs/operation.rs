//! In operation: what a service asks of limiters between deploy and incident.
//!
//! # Saving and restoring
//!
//! A deploy should not hand every client a new burst. What a limiter has admitted can be saved, and a limiter in another
//! process takes it up:
//!
//! | limiter | save | restore |
//! |---|---|---|
//! | [`TokenBucket`], [`LeakyBucket`], [`PackedTokenBucket`], [`FixedWindow`], [`IntervalBucket`], [`SlidingWindowCounter`], [`WaitingTokenBucket`], [`AdjustableLimiter`], [`ShardedTokenBucket`] | `snapshot()` | `restore(&snapshot)`, in place, by one compare-and-swap: for a `static`, too |
//! | [`SlidingWindowLog`] | `snapshot()` | `restored(&snapshot)`, which takes the log and returns it |
//! | [`KeyedLimiter`] | [`save`](crate::KeyedLimiter::save)`(stream)` | [`restored`](crate::KeyedLimiter::restored)`(stream)`, likewise |
//!
//! A [`Snapshot`] goes to and from bytes, streams and `serde`. Each method has a form that is told the [`Moment`] and reads no
//! clock; without `std`, these are the only ones, and closures stand for streams.
//!
//! ## What is promised
//!
//! 1. **Never fuller.** At every instant from then on, the restored limiter has at most what the old one would have had, had it gone on
//!    with nobody calling it.
//! 2. **Exact to a unit.** A bucket has at most a unit of its scale less, and none where the two clocks' units begin at the same
//!    instant. A unit is under a nanosecond's worth; where a burst is so large that it needs the bits, a burst's 2^59th part; and of a
//!    packed bucket what it counts in, a token or at the highest rates several. A log is exact. A key owes for as many nanoseconds as
//!    it would, or two more where tokens are no whole number of nanoseconds apart. (If clocks have disagreed, one that owes nothing
//!    may be taken for a newcomer, and held up as such.)
//! 3. **Windows keep what they counted**, until the first of the new clock's windows ends that does so no earlier than the old
//!    one would have. Windows begin where their clock says; so on a clock that starts with its process, a window may last up to
//!    twice as long, once. On a [`WallClock`], whose origin all processes share, each ends exactly when it would have. Those of an
//!    [`AdjustableSlidingWindowCounter`] may begin anywhere: it goes on to the nanosecond, on any clock.
//! 4. **All or nothing.** What is cut off, damaged, of another version, kind, quota, hasher or capacity is a
//!    [`SnapshotError`]. A limiter that is restored in place is then as it was; one that was handed over is gone. Only a limiter that has
//!    admitted nothing yet can be restored, for what it had admitted would be forgotten.
//!
//! ## Time between processes
//!
//! A snapshot holds an instant of the limiter's clock and the same one of the wall's. When it is restored, the time that has
//! passed is the difference of the two wall readings. If the wall clock is *behind* where it was, the snapshot seems to come from the future:
//! then no time has passed, and the limiter is as full as it was. A wall clock that was set *forward* in between cannot be told
//! from an outage of that length. Where there is a better source, hand in a [`Moment`] of your own.
//!
//! ## Another quota
//!
//! A snapshot of another quota is refused, since a debt means something under its own quota alone; the error names the
//! saved one. To restart with a limit that has changed, build an [`AdjustableLimiter`] with the quota that is in the snapshot,
//! restore it, and [set](crate::AdjustableLimiter::set_quota) the new one: what was spent stays spent. A sharded bucket may have
//! another number of shards, of another machine, than the one that was saved.
//!
//! ## Saving while threads call
//!
//! A limiter of one word is saved as it was at one instant. A sharded one counts the credits in its shards, and not those in handles,
//! and never comes out fuller than it was when the call began. A log is saved with all that was admitted before the call and none of
//! what comes after it; in between, unit by unit. Places in line go with those who stood in them: their tokens stay spent.
//!
//! A table is saved key by key: each as it was at one instant of the call. The rules of the scan, and why they suffice, are in `keyed/saved.rs`;
//! a model check goes through their interleavings. Keys that owe nothing are not saved, nor is the level at which newcomers start, which
//! is the new limiter's affair.
//!
//! ## Hashers
//!
//! A table does not have its keys, only what is left of their hashes. So the hasher of the new process must make the same hashes:
//! the same algorithm and the same seed. `RandomState` has another seed each time. [`SeededState`] is the same algorithm with a seed
//! that you keep. What the hasher makes of a few known keys is in the snapshot, so that another hasher, another seed, another order of bytes
//! or another width of `usize` is refused. What your own keys feed to the hasher cannot be told: a type of keys that hashes otherwise
//! than it did, for it has got a field more, finds none of its keys again.
//!
//! ## The format
//!
//! All numbers are little-endian.
//!
//! ```text
//! offset  bytes  what
//!      0      8  "tollgate"
//!      8      2  version: 1
//!     10      1  kind: 1 TokenBucket, 2 PackedTokenBucket, 3 FixedWindow, 4 SlidingWindowCounter, 5 SlidingWindowLog,
//!                6 ShardedTokenBucket, 7 AdjustableTokenBucket, 8 KeyedLimiter, 9 AdjustableFixedWindow,
//!                10 AdjustableSlidingWindowCounter
//!     11      1  1 if the last quota is what newcomers without a slot share, else 0
//!     12      4  q, the number of quotas: 1, or one for each class
//!     16      8  reading of the limiter's clock, in nanoseconds
//!     24      8  the same instant since 1970 (UTC), in nanoseconds
//!     32      8  what the hasher makes of known keys; 0 if there are no keys
//!     40      8  s: lines of the table, or words of state
//!     48    24q  quotas: tokens, period in nanoseconds, burst
//!
//!                of a limiter without keys
//!            8s  its words: of a log, instants, in order; of an adjustable window, when it began and what it has counted; of an
//!                adjustable counter, what the window before has counted, and the present one, when that begins by a clock which
//!                reads as above, and the length of a window (where nothing is admitted, how far it has come and its length)
//!
//!                of a table: blocks, the last of which is empty
//!             4  r, the number of records, 256 at most
//!           16r  records: 4 bytes line, 4 bytes tag, 8 bytes the instant from which the key is full, by the limiter's clock;
//!                tag 0 stands for a horizon, and the line is then its number
//!                and then, if byte 11 is 1,
//!             8  the word of the bucket that newcomers share
//!
//!             8  CRC-64/XZ of all bytes before
//! ```
//!
//! Streams are read to the last of these bytes and no further, so that snapshots can follow one another in a file. They are read and
//! written a few bytes at a time, a table's blocks apart: put a `BufReader` or a `BufWriter` around a file with a long log. The reader allocates
//! nothing for a table, and for a log no more than it has read.
//!
//! The checksum finds damage, not forgery: whoever can write the file can write any state. What such a state cannot do is to
//! make a limiter panic or overflow.
//!
//! # A decision and what it has left
//!
//! A response wants both: the answer, and headers that say what is left. To decide and then to ask is to look twice, and another
//! caller may come in between: a response that says "refused" and "3 left" at once. `try_acquire_with_status` and its forms return
//! the decision and a [`Status`] of the very state that was decided on, admitted or denied, on one reading of the clock. Every
//! limiter has them, and so have the traits, where the default decides and then asks.
//!
//! | limiter | the state that the status is of |
//! |---|---|
//! | one word, [`AdjustableLimiter`] | the word that was written, or refused |
//! | [`SlidingWindowLog`] | the log as it was when the call took its place in it, or was refused |
//! | [`KeyedLimiter`] | the key's word; where there is no slot for the key, that of the bucket which newcomers share, or nothing |
//! | [`WaitingTokenBucket`] | the word, and what had been given back of places just then |
//! | [`ShardedTokenBucket`] | the word that decided, and each other one when the call looked at it; no token is counted twice |
//!
//! `remaining` of a sharded bucket is what can be spent next in calls of one token; a larger cost may find it in pieces. Its
//! status has to look at every shard, so ask for it only where it is told to somebody.
//!
//! A status divides, twice or three times; a plain decision never does. Where only the answer matters, take `try_acquire`.
//!
//! # Several limits at once
//!
//! Ten a second, and a thousand an hour, and five million bytes an hour: all of them, or nothing. To ask one limiter after the other is to
//! charge the first for what the second refuses, or to refund it, which is no exact inverse: what was refunded late may have fallen due
//! again meanwhile. A [`LimitSet`] looks at all limits first and writes nothing; then it takes of each in turn.
//!
//! * A refusal is [`DeniedBy`] *all* who refuse, by number or by name, and its hint is the longest of theirs: at that instant, not a
//!   nanosecond sooner, the same call is admitted, if nobody else is served first.
//! * Each limit has its own cost; one that costs 0 takes no part.
//! * Any mix will do: `[&dyn RateLimitAt; N]`. A limit by key takes part as the [line](crate::KeyedLimiter::line) of that key. What
//!   stands behind a reference or an `Arc` can be in many sets: one parent of many.
//! * Put first what refuses most often, and what takes nothing back, a [`SlidingWindowLog`], last. Where sets share several limits, give
//!   them the same order.
//!
//! If a limit that had enough a moment ago has not when its turn comes, what was taken of those before it is given back, from a receipt of
//! the limiter's state: nothing is ever minted. Until then, for some ten nanoseconds for each limit that remains, or for as long as
//! the thread is stopped there, others may be refused for want of those tokens. After it each limit is as if the call had never come, with
//! one exception: a bucket in one word that somebody else has taken of in between keeps the tokens spent, and [`DeniedBy::spent`] says
//! so. A window takes back in any case, and a [`WaitingTokenBucket`] while its pool has room: take that for what stands before
//! a limit that is hotly contended.
//!
//! Where one can stand in line for each of the limits, one can for all: [`LimitSet::reserve_n`](crate::LimitSet::reserve_n) takes a place
//! in each line or in none, `acquire_blocking` and `acquire` wait for the latest of them and spend all together, and whoever gives up gives
//! all of them back. Each place counts at its own instant, so that what is *done* can be late in the faster limits by what was waited for
//! the slowest: bound it by the caller's patience.
//!
//! # Changing a quota
//!
//! [`AdjustableLimiter::set_quota`](crate::AdjustableLimiter::set_quota) changes the quota of a token bucket, a fixed window or a sliding
//! window counter while any number of threads call. It is strict through the change:
//!
//! | limiter | what counts after a change | bound over any stretch of time, however often the quota changes |
//! |---|---|---|
//! | [`AdjustableTokenBucket`](crate::AdjustableTokenBucket) | the debt in tokens | the larger burst, and what each rate brings in its own part |
//! | [`AdjustableFixedWindow`](crate::AdjustableFixedWindow) | what the running window has counted, in the window of the new quota that holds the instant | between two ends of windows, the largest limit in force between them |
//! | [`AdjustableSlidingWindowCounter`] | both windows, which go on from the same point | in each window the largest limit in force in it, and none ends early |
//!
//! Windows begin by the calendar before a change and after it: a day that is changed at noon ends at midnight. One that is told the
//! quota it has writes nothing.
//!
//! What was spent stays spent, counted in tokens, to the fraction. So ten reloads of a file in one instant admit nothing extra, where a
//! limiter that is replaced by a new one admits a burst each time; and a reload each 900 ms takes nothing from a limit of one per second,
//! where a new limiter that starts empty would never admit. [`CarryOver`](crate::CarryOver) has the alternatives, each with what it
//! admits.
//!
//! [`KeyedLimiter::set_quota`](crate::KeyedLimiter::set_quota), and that of each [`Class`](crate::keyed::Class::set_quota), do the same for every
//! key at once, of which none is touched: a word says until when its key is in debt, and the class reads words from before the change
//! at the rate at which they were written.
//!
//! Quotas are read from text, such as `600/min burst 20`, and an error points at the place: see [`Quota`](crate::Quota). With the
//! feature `serde` they stand in any file of settings. In TOML, with a name for each:
//!
//! ```toml
//! [limits]
//! login = "10/min burst 3"
//! api = "100/s"
//! upload = "10MiB/s"
//! report = "1 per 30d"
//! ```
//!
//! All other limiters keep the quota that they were built with. A [`SlidingWindowLog`] has a slot for each unit of its limit, and so has
//! no room for another.
//!
//! # Windows by the calendar
//!
//! Windows begin where their clock's count does. On a [`WallClock`] that is the time of day, in UTC or at an offset: a
//! [`FixedWindow`] of a day begins at midnight there, and a refusal's hint is the time until then. The time of day can be set. Set
//! *back*, it gives no second window's worth: an older reading counts as the latest window that was used, until the clock is back where
//! it was. Set *forward*, it gives at most what the windows stepped over would have: a fixed window its limit once. Where a clock
//! was far ahead and is put right, [`forgive`](crate::RateLimiter::forgive) the limiter.
//!
//! # Looking inside
//!
//! A limiter counts nothing by itself, for a count is a write, and a refusal is to be none.
//!
//! * **How were calls decided?** [`Counted`] wraps any limiter, keyed or not, and adds one to a word that the calling thread usually
//!   has to itself. [`Counts::by_outcome`] has a name for each count: admitted, denied, too large, table full. Counts only grow,
//!   as Prometheus expects of a counter.
//! * **How full is a table?** [`fill`](crate::KeyedLimiter::fill) is an estimate from 64 lines, for every scrape; [`live`](crate::KeyedLimiter::live)
//!   and [`occupancy`](crate::KeyedLimiter::occupancy) look at every slot. Raise the capacity when half the slots are live.
//! * **Who owes most now?** [`heaviest`](crate::KeyedLimiter::heaviest) looks at every slot and names the longest debts by
//!   [fingerprint](crate::KeyedLimiter::fingerprint), since a table has no keys.
//! * **Which keys come most?** [`HeavyKeys`] remembers the keys themselves, in memory for `k` of them. Record what is refused, and the
//!   admitted pay nothing.
//!
//! [`AdjustableLimiter`]: crate::AdjustableLimiter
//! [`AdjustableSlidingWindowCounter`]: crate::AdjustableSlidingWindowCounter
//! [`FixedWindow`]: crate::FixedWindow
//! [`IntervalBucket`]: crate::IntervalBucket
//! [`KeyedLimiter`]: crate::KeyedLimiter
//! [`LeakyBucket`]: crate::LeakyBucket
//! [`Moment`]: crate::Moment
//! [`PackedTokenBucket`]: crate::PackedTokenBucket
//! [`SeededState`]: crate::SeededState
//! [`ShardedTokenBucket`]: crate::ShardedTokenBucket
//! [`SlidingWindowCounter`]: crate::SlidingWindowCounter
//! [`SlidingWindowLog`]: crate::SlidingWindowLog
//! [`Snapshot`]: crate::Snapshot
//! [`SnapshotError`]: crate::SnapshotError
//! [`Status`]: crate::Status
//! [`TokenBucket`]: crate::TokenBucket
//! [`WaitingTokenBucket`]: crate::WaitingTokenBucket
//! [`WallClock`]: crate::WallClock
//! [`Counted`]: crate::Counted
//! [`Counts::by_outcome`]: crate::Counts::by_outcome
//! [`DeniedBy`]: crate::DeniedBy
//! [`DeniedBy::spent`]: crate::DeniedBy::spent
//! [`HeavyKeys`]: crate::HeavyKeys
//! [`LimitSet`]: crate::LimitSet
