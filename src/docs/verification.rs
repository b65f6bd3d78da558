//! What each kind of test proves, what it cannot see, and how to run it.
//!
//! `.ci/run` runs everything on this page; `.ci/run --list` names the steps, and `.ci/run STEP` runs one.
//!
//! # Two properties
//!
//! Everything here serves two sentences.
//!
//! 1. *Never too much.* In no window of clock readings does a limiter admit more than its bound.
//! 2. *Never too little.* A limiter admits whatever its exact model admits.
//!
//! The first alone would be met by a limiter that always refuses; the second alone by one that never does.
//!
//! # Models and traces
//!
//! ```text
//! cargo test --workspace
//! ```
//!
//! The package `tollgate-testing` has two judges. `reference` holds a model of each algorithm in exact fractions of
//! 128-bit integers: slow, short, and sharing no arithmetic with the limiters. `trace` takes a recorded run, a list of
//! clock readings and costs, and looks for a window that breaks the bound; it considers all windows, not samples.
//! Property tests drive limiter and model side by side with random
//! quotas over the whole range, random costs, and clocks that jump back, and compare every answer.
//!
//! *What they cannot see:* anything that takes two threads.
//!
//! # Model checking
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p tollgate-loom --release
//! ```
//!
//! [loom] runs a small concurrent program, two or three threads with a handful of calls each, in every
//! interleaving, with every stale value that a load may return. It replaces the atomics in `src/sync/mod.rs`, the one file
//! that names any, so it runs the code that ships. Each model asserts that no window of its log of admissions breaks the
//! bound, and most that the outcome can be explained by some sequential order of the calls. The readings of the
//! clock are part of the model, an old one beside a new one, with refill in between.
//!
//! *Broken twins.* For each protocol there are variants with one rule removed, such as a load and a store in place of
//! the compare-and-swap. The same model must fail on them, with the symptom that the rule is there to prevent. A model
//! that passes a broken twin is too weak, and the test says so.
//!
//! *What it cannot see:*
//!
//! * More threads, or longer programs, than the model has.
//! * A compare-and-swap that fails for no reason. Loom never makes one.
//! * Sequentially consistent accesses: loom takes them for acquire and release. No proof here rests on one; fences are
//!   modelled.
//! * Load buffering: a load that returns what another thread stores only because of this thread's later store. The
//!   memory model allows it to relaxed accesses; loom does not make it.
//! * Some interleavings of plain loads that loom takes for redundant. So every model runs twice, the second time with
//!   each load as a `fetch_add(0)`.
//!
//! Models are bounded by their size, and some by a number of preemptions that they state; never by time, since loom
//! lets a model that is cut short pass.
//!
//! Each twin fails in at least one of the two ways. The library's own single-word code was broken on purpose in several
//! places, and the models failed each time. They found faults that were no purpose: a packed bucket let a late reading
//! spend tokens that fell due after it; and a sharded bucket could tell, or save, a token twice that was on its way from the
//! central word to a shard. The twins of the log, of the sharded bucket and of the keyed limiter are
//! transcriptions with a rule taken away; the same scenes, or some much like them, run on the code that ships. How many
//! models and twins each protocol has, and how many executions they come to, is in `results/verification.md` in the
//! repository, with the date.
//!
//! # Real threads
//!
//! The same model bodies run a few thousand times on real threads in a plain `cargo test`. So do longer runs, whose
//! threads together must be admitted exactly as much as one thread would be, and whose recorded traces must keep the
//! bound in every window. The clock in them is moved by hand, so that no outcome depends on the machine's speed. The
//! machine reorders as it pleases, with none of loom's simplifications, but rarely where it hurts: as a search for
//! rare interleavings this is blind, and the broken twins mostly pass it.
//!
//! One of these runs is not blind: tokens that go from hand to hand through the pool of a
//! [`WaitingTokenBucket`](crate::WaitingTokenBucket) show within a second when a slot is owned without a compare-and-swap, or its
//! start is not looked at again.
//!
//! # A hammer, for any limiter
//!
//! `tollgate_testing::hammer` takes any `RateLimit`, of this crate or an adapter to another, beats on it from many threads, and
//! returns the first window in which it admitted more than a bound that you name. Now and then it holds a thread up
//! between its reading of the clock and what the thread does with it, as any scheduler may; that is where limiters
//! that trust the time between two readings mint tokens. `benches/tests/strictness.rs` runs it on this crate and on
//! others. What it finds is a fault; what it does not find proves nothing.
//!
//! # Searching the states of a protocol
//!
//! `loom-tests/tests/sharded_search/` is a transcription of the sharded bucket's protocol, one step for each access to memory. An
//! ordinary test visits every state that three threads can bring it to, with each load allowed to return any value
//! that a relaxed load may return, and looks at the fullest window of each. It is independent of loom and of the real
//! code: it judges the rules, those by which a slot is quiet among them. Rules left out must be found out here as well.
//!
//! # Injected failures
//!
//! A weak compare-and-swap may fail although nobody has interfered. Neither loom nor an x86 processor ever does that.
//! In unit tests the atomic is one that fails when told to, and counts its writes. So two more properties are tested:
//! a failure without cause changes no outcome, and a denial writes nothing.
//!
//! # Fuzzing
//!
//! ```text
//! cargo fuzz run --sanitizer none TARGET fuzz/corpus/TARGET fuzz/seeds/TARGET
//! ```
//!
//! libFuzzer searches for inputs that reach new code; the stable compiler will do, and `cargo fuzz list` names the
//! targets. An input is a quota and a sequence of time steps, costs and operations; the judge is the reference model,
//! after each step. The inputs worth keeping are committed as seeds, and whatever once broke something as a
//! regression. `cargo test` replays both, without the fuzzer.
//!
//! Each target has been seen to find a fault that was planted for it, from nothing but an empty corpus (the parser's from
//! its seeds). One fault was found that was not planted: a refund to a full packed bucket hid tokens from older readings.
//!
//! The keyed target has stopped twice, on its own judgement: it held a key that was
//! born on a late reading, or in a slot that newcomers had given back on one, to what other keys have. Those inputs are
//! regressions now, and what they showed is said in the [limitations](super::limitations#the-keyed-limiter). How long each
//! target has run is in `results/verification.md` in the repository.
//!
//! *What it cannot see:* threads, again; and faults that only an unlikely coincidence of values would reach.
//!
//! # Mutants
//!
//! ```text
//! cargo mutants --file src/timeline/mod.rs --file 'src/algorithm/*.rs' --file src/cell.rs
//! ```
//!
//! `cargo mutants` changes one operator or return value at a time and expects a test to fail. Most of the mutants of the core
//! that compile are killed by the unit tests, the properties and the fuzz targets' seeds; `results/verification.md` in the
//! repository has the counts. Those that live change nothing that can be observed:
//!
//! | mutant | why it is no fault |
//! |---|---|
//! | `Timeline::scaled`, the last remainder: `/` or `+` for `%` | an exact reciprocal is rounded up too; the proof allows for one too many in the last place |
//! | `most_tokens`, `largest_burst`: `<=` for `<` `u64::MAX` | both branches give the same at equality |
//! | `Hint::due`: `>=` for `>` `u64::MAX` | `Nanos::MAX` is that instant |
//! | `Fields::position`: `<=` for `<` | the lesser of two equals is either |
//! | `Fields::join`: `^` for a bitwise or | the fields share no bits |
//!
//! # Coverage
//!
//! ```text
//! cargo llvm-cov --package tollgate --tests
//! ```
//!
//! The tests of the package execute nearly all lines in `src`, unit tests among them; `results/verification.md` has the
//! share. Lines that are not: conversions and defaults that only documentation uses, whose examples are run but
//! not counted; what happens when the system has no memory or no thread to give; the hammer's and the models' own
//! complaints. Branches that are not are mostly the second outcome of assertions, and of tests on constants, which
//! differ from one instance of a generic function to the next.
//!
//! Coverage says what no test looks at, and nothing about what the tests look for: the mutants do.
//!
//! # Footprint
//!
//! `tests/footprint.rs` counts allocations and measures sizes: a limiter is one cache line, and no call allocates.
//! `tollgate-bench instructions` counts machine instructions on the hot paths with valgrind, and fails if one has
//! grown by more than 5 %.
//!
//! # The documentation
//!
//! Every example on these pages and in README.md is compiled and run by `cargo test`.
//!
//! [loom]: https://docs.rs/loom
