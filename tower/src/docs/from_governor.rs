//! From `governor` 0.10, line by line.
//!
//! What stood there, and what stands here, on clocks that are moved by hand:
//!
//! ```
//! use governor::{Quota, RateLimiter, clock::{Clock, FakeRelativeClock}};
//! use std::{num::NonZeroU32, time::Duration};
//!
//! let clock = FakeRelativeClock::default();
//! let quota = Quota::per_second(NonZeroU32::new(50).unwrap()).allow_burst(NonZeroU32::new(2).unwrap());
//! let limiter = RateLimiter::direct_with_clock(quota, clock.clone());
//! assert!(limiter.check().is_ok() && limiter.check().is_ok());
//! let wait = limiter.check().unwrap_err().wait_time_from(clock.now());
//! assert_eq!(wait, Duration::from_millis(20));
//! clock.advance(wait);
//! assert!(limiter.check().is_ok());
//! ```
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, Quota, TokenBucket};
//!
//! let clock = ManualClock::new();
//! let limiter = TokenBucket::with_clock(Quota::per_second(50).with_burst(2), clock.clone());
//! assert!(limiter.try_acquire().is_ok() && limiter.try_acquire().is_ok());
//! let wait = limiter.try_acquire().unwrap_err().retry_after().unwrap();
//! assert_eq!(wait, Duration::from_millis(20));
//! clock.advance(wait);
//! assert!(limiter.try_acquire().is_ok());
//! ```
//!
//! # `Quota`
//!
//! | `governor` | `tollgate` |
//! |---|---|
//! | `Quota::per_second(nonzero!(50u32))`, `per_minute`, `per_hour` | [`Quota::per_second(50)`](tollgate::Quota::per_second), `per_minute`, `per_hour`: of `u64`; 0 is an error when the constant is compiled |
//! | `.allow_burst(nonzero!(10u32))` | [`.with_burst(10)`](tollgate::Quota::with_burst) |
//! | `Quota::with_period(d)`, `None` for zero | [`Quota::per(1, d)`](tollgate::Quota::per), [`Quota::try_new`](tollgate::Quota::try_new) |
//! | `Quota::new(n, d)` | `Quota::per(n, d)` |
//! | an interval between tokens that is cut to whole nanoseconds: 7 a second are one each 142,857,142 ns | the rate as it is said, with no drift |
//! | `burst_size()` | [`burst()`](tollgate::Quota::burst) |
//! | `replenish_interval()` | [`period()`](tollgate::Quota::period) over [`tokens()`](tollgate::Quota::tokens) |
//! | `burst_size_replenished_in()` | `period() * burst() / tokens()`; of a limiter as it stands, [`status().reset_after`](tollgate::Status) |
//! | no such thing | [`Quota::UNLIMITED`](tollgate::Quota::UNLIMITED), [`Quota::DENY_ALL`](tollgate::Quota::DENY_ALL), `"600/min burst 20".parse()` |
//!
//! # `RateLimiter`
//!
//! | `governor` | `tollgate` |
//! |---|---|
//! | `RateLimiter::direct(quota)`, `DefaultDirectRateLimiter` | [`TokenBucket::new(quota)`](tollgate::TokenBucket), which can be a `static` |
//! | `RateLimiter::direct_with_clock(quota, clock)` | `TokenBucket::with_clock(quota, clock)` |
//! | `RateLimiter::keyed(quota)`, `dashmap(quota)`, `hashmap(quota)`, `DefaultKeyedRateLimiter<K>` | [`KeyedLimiter::new(quota, capacity)`](tollgate::KeyedLimiter), whose capacity is in keys that are in debt at once |
//! | `dashmap_with_hasher`, `hashmap_with_hasher`, `DefaultHasher` | [`KeyedLimiter::with_hasher`](tollgate::KeyedLimiter::with_hasher) |
//! | `dashmap_with_clock`, `hashmap_with_clock`, `dashmap_with_clock_and_hasher`, `hashmap_with_clock_and_hasher` | [`with_clock`](tollgate::KeyedLimiter::with_clock), [`with_hasher_and_clock`](tollgate::KeyedLimiter::with_hasher_and_clock) |
//! | `RateLimiter::new(quota, state, clock)`, `StateStore` with `measure_and_replace`, `DirectStateStore`, `KeyedStateStore`, `InMemoryState`, `DashMapStateStore`, `HashMapStateStore`, `DefaultKeyedStateStore`, `NotKeyed` | none: a limiter is one word, a table is its own; for a store outside the process, the package `tollgate-redis` |
//! | `into_state_store()` | [`snapshot()`](tollgate::TokenBucket::snapshot), [`KeyedLimiter::save`](tollgate::KeyedLimiter::save) |
//! | `clock()` | keep the clock: a reference to one is one |
//! | `check()` | [`try_acquire()`](tollgate::TokenBucket::try_acquire) |
//! | `check_n(n)`, a result in a result | [`try_acquire_n(n)`](tollgate::TokenBucket::try_acquire_n); [`try_acquire_up_to(n)`](tollgate::TokenBucket::try_acquire_up_to) takes what there is |
//! | `InsufficientCapacity(max)` | [`Denied::ExceedsBurst { cost, max_cost }`](tollgate::Denied::ExceedsBurst) |
//! | `check_key(&key)`, `check_key_n(&key, n)` | [`try_acquire(&key)`](tollgate::KeyedLimiter::try_acquire), [`try_acquire_n(&key, n)`](tollgate::KeyedLimiter::try_acquire_n), and many keys at once: [`check_many`](tollgate::KeyedLimiter::check_many) |
//! | `NotUntil::wait_time_from(clock.now())` | [`denied.retry_after()`](tollgate::Denied::retry_after), from the instant of the decision |
//! | `NotUntil::earliest_possible()` | the instant you passed to [`try_acquire_n_at`](tollgate::TokenBucket::try_acquire_n_at) and the hint; of a place in line, [`place.due()`](tollgate::Place::due) |
//! | `NotUntil::quota()` | [`limiter.quota()`](tollgate::TokenBucket::quota) |
//! | `ShrinkableKeyedStateStore`: `retain_recent()`, `shrink_to_fit()` | nothing to call: the table does not grow, and a key that owes nothing takes no room |
//! | `len()`, `is_empty()` | [`live()`](tollgate::KeyedLimiter::live) |
//! | a map with no bound | [`Denied::TableFull`](tollgate::Denied::TableFull) to a new key while the table is full of others in debt |
//!
//! # Waiting
//!
//! | `governor` | `tollgate` |
//! |---|---|
//! | `until_ready().await` | [`WaitingTokenBucket`](tollgate::WaitingTokenBucket)`::until_ready().await`: in order, given back when dropped, on your runtime's timer |
//! | `until_n_ready(n).await` | [`acquire(n).await`](tollgate::WaitingTokenBucket::acquire), or with a bound to the wait, [`acquire_within`](tollgate::WaitingTokenBucket::acquire_within) |
//! | `until_key_ready(&key)`, `until_key_n_ready(&key, n)` | [`KeyedLimiter::until_ready(&key)`](tollgate::KeyedLimiter::until_ready), [`acquire(&key, n)`](tollgate::KeyedLimiter::acquire), on a clock such as [`TokioClock`](tollgate::TokioClock) |
//! | `until_ready_with_jitter(jitter)`, `until_n_ready_with_jitter`, `until_key_ready_with_jitter`, `until_key_n_ready_with_jitter`, `Jitter::new`, `Jitter::up_to`: so that all do not wake up for one token | none: each has a place, and wakes up once, when it is due. For limiters without places, [`Retrying`](tollgate::Retrying) |
//! | `StreamRateLimitExt`: `stream.ratelimit_stream(&limiter)`, `ratelimit_stream_with_jitter`, `RatelimitedStream` | a [`Pacer`](tollgate::Pacer)'s ticks are a stream to zip with, by the feature `futures-core`; or `acquire(1).await` for each item |
//! | `SinkRateLimitExt`: `sink.ratelimit_sink(&limiter)`, `ratelimit_sink_with_jitter`, `RatelimitedSink` | `acquire(1).await` before each item; for readers and writers of bytes, [`Throttled`](tollgate::Throttled) |
//! | `get_ref()`, `get_mut()`, `into_inner()` of those | the stream or the sink stays your own |
//!
//! # What a decision tells: middleware
//!
//! | `governor` | `tollgate` |
//! |---|---|
//! | `with_middleware::<StateInformationMiddleware>()`, `StateSnapshot` | [`try_acquire_with_status()`](tollgate::TokenBucket::try_acquire_with_status): the decision, and the [`Status`](tollgate::Status) it left |
//! | `remaining_burst_capacity()` | [`available()`](tollgate::TokenBucket::available), `status.remaining` |
//! | `StateSnapshot::quota()` | `limiter.quota()` |
//! | `NoOpMiddleware` | the default |
//! | `impl RateLimitingMiddleware`: `allow`, `disallow`, `PositiveOutcome`, `NegativeOutcome` | a function around the call; to count decisions, [`Counted`](tollgate::Counted) |
//!
//! # Clocks
//!
//! | `governor` | `tollgate` |
//! |---|---|
//! | `DefaultClock`, `QuantaClock`, `QuantaInstant` | [`DefaultClock`](tollgate::DefaultClock), [`QuantaClock`](tollgate::QuantaClock) |
//! | `QuantaUpkeepClock::from_interval`, `from_builder` | [`CoarseClock`](tollgate::CoarseClock), which updates itself |
//! | `MonotonicClock` | [`MonotonicClock`](tollgate::MonotonicClock) |
//! | `SystemClock` | [`WallClock`](tollgate::WallClock) |
//! | `FakeRelativeClock`, `advance(d)` | [`ManualClock`](tollgate::ManualClock), `advance(d)`, which wakes who waits on it |
//! | `Clock`, `Reference` with `duration_since` and `saturating_sub`, `Nanos` with `new` and `as_u64` | [`Clock`](tollgate::Clock), [`Nanos`](tollgate::Nanos) |
//! | `ReasonablyRealtime`, `reference_point()` | [`Timer`](tollgate::Timer): a clock that can wake a task |
