//! What a call costs, and when sharding pays.
//!
//! Figures belong to a machine and a date; those are in the folders under `results/` in the repository, each beside
//! the machine it was measured on. This page is about what does not change from machine to machine: how often a call
//! reads the clock, and how often it writes to memory that other threads use.
//!
//! # The cost model
//!
//! Two things dominate. *A reading of the clock* takes several times as long as all of a limiter's arithmetic. *A
//! write to a cache line that another core has written last* has to fetch the line from that core, and takes tens of
//! times as long as a write to a line that nobody else uses. A read of a line that nobody writes costs next to
//! nothing, on any number of cores.
//!
//! | limiter | admitted: clock | admitted: shared writes | denied: clock | denied: writes |
//! |---|---|---|---|---|
//! | mutex around a bucket | 1 | 2 or more | 1 | 2 or more |
//! | [`TokenBucket`] and the other single words | 1 | 1 | 1 | 0 |
//! | [`SlidingWindowLog`], cost 1 | 1 | 2 or fewer | 1 | 0 |
//! | [`ShardedTokenBucket`] | 2 / q | 2 / q | 1 | 0 |
//! | [`Handle`] | 1 / q | 1 / q | 1 | 0 |
//! | [`KeyedLimiter`], known key | 1 | 1, on the key's line | 1 | 0 |
//!
//! `q` is the batch: how many tokens are fetched from the central word at a time, up to 4096. Beside what the table
//! counts, a sharded admission writes its own shard's line, which stays in its core's cache; a handle writes plain
//! memory. A denial by a sharded bucket or a handle costs a reading of the clock and an instant to compare it with, in the
//! thread's own line; once in 10 us, or when a token falls due, it looks at the central word too, and through all shards
//! if something has been put into one.
//!
//! So the single word's throughput *falls* from one thread to several, as everything does that writes one line from
//! several cores; denials, being reads, scale. The sharded bucket's admissions scale too, because its writes stay at
//! home.
//!
//! # When to shard
//!
//! *When many calls are admitted, from several cores:* above about a million per second in all. Then the single line
//! is what the cores queue for.
//!
//! *Not when most calls are denied.* A denial by the single word writes nothing. If the limit is a thousand per
//! second, a thousand writes per second go to the line, however many calls there are.
//!
//! *At the limit* when it is high: where two million tokens or more fall due in a second, a thread that was denied lets them
//! fall due for 2 us, or for half a batch, and draws them together. At lower rates, while the central word has few
//! tokens to spare (less than half a batch, and less than 512), each admission takes its own from there, at the price of the
//! single word.
//!
//! *Not when bursts are small.* Credits in shards are tokens that other threads do not get at: up to an eighth of the
//! burst, or twice that for costs above 1 and while there are handles. A burst below 136 is not divided at all, and the
//! bucket is then a single word with a detour.
//!
//! *Not for an order among calls.* A denial by the sharded bucket may happen while a suspended thread has tokens in
//! hand.
//!
//! What sharding never costs is the limit: the sharded bucket is as strict as the single word. That is what
//! distinguishes it from a bucket per core with a share of the rate each, which denies one core while another is idle,
//! and from local counters that are added up now and then, which admit too much in between.
//!
//! # Figures
//!
//! They are in the folders under `results/`, each beside its machine, its commit and the program that measured them. Two
//! machines, both with two cores and shared with other work, differ in two things. (The Xeon here is that of the folders up
//! to 2026-12-01; a later one lies between the two.)
//!
//! *The price of a read-modify-write*, when nobody else wants the line, is 2 ns on the EPYC and 6 to 8 on the Xeon. A
//! shard needs one for each admission, and so gains less on the Xeon: twice the throughput of a single word with one
//! thread, eight times with two, where it is four and thirteen times on the EPYC. A handle needs none.
//!
//! *What disappears behind a reading of the clock.* On the EPYC all of a limiter's arithmetic does, so that every denial
//! costs one reading. On the Xeon the reading waits until everything before it is done, and holds up everything after it:
//! a denial costs the reading and 1 to 3 ns more. So what can be known before the reading is: when a window ends, or how much
//! later than the reading the log's slot is free.
//!
//! Threads that contend for one word take turns by waiting, which is good for the throughput of all and bad for the one
//! that waits: a lost race is followed by one wait of 32 processor pauses (256 in a [`SlidingWindowLog`]), and then by none.
//! On the Xeon of 2026-12-03, of two threads on one [`TokenBucket`] that time every call, one call in a thousand took 0.8 us and
//! one in ten thousand 2 to 4 us: medians of 25 runs. Limiters that try again at once took 0.45 to 1.0 us and 2 to 4 us, and got
//! two thirds of the calls through. With 16 pauses one in a thousand took 0.75 us, and a fifth fewer calls got through; with 8,
//! 0.6 us and a third fewer. Waits that double took 2.5 and 4.5 us (on a log 11 and 24 us, where it is 4 and 9 now) for some 5 % more
//! calls on a quiet machine, and 13 % more on a busy one. To wait longer after one race in four or in eight made the tail twice as
//! long and nothing faster. In
//! a sharded bucket it was about 0.1 us.
//!
//! # Many keys
//!
//! A call on a known key of a [`KeyedLimiter`] costs its hash, a reading of the clock, and a compare-and-swap on the line
//! where the key lives; its refusal does without the last. Nine keys in ten live in the first of their three lines. While
//! the table fits in a core's cache, hash and clock are most of it. Beyond, it is the wait for the line, and what counts is
//! how many such waits are under way at once:
//!
//! * Where reading the clock holds up what comes after it, as on the Xeon, two calls never wait at once, and a loop of
//!   calls is a chain of waits; `floor-timed` in the harness shows it.
//! * [`check_many`](crate::KeyedLimiter::check_many) asks for sixteen lines, reads the clock once, and decides: on a table
//!   of a million keys that is four times as fast.
//! * The default hasher takes 20 to 30 ns, which a fast one does not; but whoever can predict it can have keys share a
//!   bucket.
//!
//! *In saturation* the same holds as for one limiter: a refusal writes nothing. Threads that are refused for one hot key
//! share its line without taking it from each other, where maps under locks write to a lock for every look. On a busy Xeon
//! with two cores, in one run, refusals for one hot key were 1.1 to 2.1 times as fast as governor's with one thread, and 2.1 to 2.9
//! times with two; 2 to 3 times as fast as rate-net's with either. Calls for a million keys, of which a tenth had spent their
//! limits, were 1.1 to 2.1 times as fast as governor's; one thread on a sharded map was faster there. The harness measures both: `keyed`, loads `deny` and `deny-tenth`; and a hot key with more calls than its
//! million per second, `mixed-1e6`.
//!
//! # How to be fast
//!
//! * Call `QuantaClock::calibrate()` at start-up.
//! * If you have read the clock anyway, pass the instant on: `try_acquire_n_at`. For a batch of decisions one reading
//!   will do.
//! * If a coarse instant is exact enough, use [`CoarseClock`]: a reading is one load.
//! * Where one call stands for much work, charge its cost in one call; do not call in a loop.
//! * Keep a limiter behind a reference or in a `static`. It fills a cache line of its own; do not put what is written
//!   often beside it.
//!
//! # How to measure
//!
//! ```text
//! cargo run --release -p tollgate-bench                    which limiter to choose, under 30 s
//! cargo run --release -p tollgate-bench -- contention      every engine under contention
//! cargo run --release -p tollgate-bench -- latency         median, tail and worst of single calls
//! cargo run --release -p tollgate-bench -- clock           what a reading of each clock costs
//! cargo run --release -p tollgate-bench -- record          all of it, kept under results/
//! cargo bench -p tollgate-bench                            single calls, by criterion
//! ```
//!
//! Every run checks how many calls were admitted, so that nothing that is fast because it is wrong gets into a table.
//! Each comparison runs beside a floor from the same run: one uncontended read-modify-write, and one reading of the
//! clock.
//!
//! [`CoarseClock`]: crate::CoarseClock
//! [`Handle`]: crate::Handle
//! [`KeyedLimiter`]: crate::KeyedLimiter
//! [`ShardedTokenBucket`]: crate::ShardedTokenBucket
//! [`SlidingWindowLog`]: crate::SlidingWindowLog
//! [`TokenBucket`]: crate::TokenBucket
