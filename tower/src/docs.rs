//! Coming from another crate.
//!
//! # From `tower_governor`
//!
//! | `tower_governor` | here |
//! |---|---|
//! | `GovernorConfigBuilder::default().per_second(4).burst_size(2)`: one each 4 *seconds* | `Quota::per(1, Duration::from_secs(4)).with_burst(2)` |
//! | `per_millisecond(100)`: one each 100 ms | `Quota::per_second(10)` |
//! | `.key_extractor(PeerIpKeyExtractor)` | [`PeerAddress::new()`](crate::key::PeerAddress); of IPv6 by /64, not by address |
//! | `.key_extractor(SmartIpKeyExtractor)`: the leftmost address, which the client chooses | [`ForwardedAddress::new(header, trusted)`](crate::key::ForwardedAddress): from the right, through proxies that you name |
//! | `.key_extractor(GlobalKeyExtractor)` | no key: [`RateLimitLayer::new`](crate::RateLimitLayer::new) |
//! | `impl KeyExtractor` | a closure, `Fn(&Parts) -> Option<K>` |
//! | no key: status 500 | say what: [`Keyless`](crate::Keyless) |
//! | `.methods(vec![Method::POST])` | [`.only(...)`](crate::Policy::only) of a policy |
//! | `.use_headers()` | [`.telling(Dialect::XRateLimit).telling_the_admitted()`](crate::Dialect) |
//! | `.error_handler(...)` | [`.answering(...)`](crate::RateLimitLayer::answering) |
//! | `Retry-After: 0` where less than a second is left | 1: rounded up |
//! | a thread that calls `retain_recent` | nothing: a table has a fixed size, and a key that owes nothing takes no room |
//! | `GovernorLayer::new(config)` | [`RateLimitLayer::per_key`](crate::RateLimitLayer::per_key) |
//!
//! ```
//! use axum::{Router, routing::get};
//! use tollgate::{KeyedLimiter, Quota};
//! use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};
//!
//! let limiter = KeyedLimiter::new(Quota::per_second(10).with_burst(20), 100_000);
//! let app: Router = Router::new()
//!     .route("/", get(async || "hello"))
//!     .layer(RateLimitLayer::per_key(limiter, PeerAddress::new(), Keyless::Reject));
//! ```
//!
//! # From `governor`
//!
//! | `governor` | `tollgate` |
//! |---|---|
//! | `Quota::per_second(nonzero!(50u32)).allow_burst(nonzero!(10u32))` | `Quota::per_second(50).with_burst(10)` |
//! | `RateLimiter::direct(quota)` | `TokenBucket::new(quota)`, which can be a `static` |
//! | `RateLimiter::keyed(quota)` | `KeyedLimiter::new(quota, capacity)` |
//! | `limiter.check()` | `limiter.try_acquire()` |
//! | `limiter.check_n(n)`, an error in an error where `n` is too large | `limiter.try_acquire_n(n)`, with `Denied::ExceedsBurst` |
//! | `limiter.check_key(&key)` | `limiter.try_acquire(&key)` |
//! | `negative.wait_time_from(clock.now())` | `denied.retry_after()` |
//! | `limiter.until_ready().await` | `WaitingTokenBucket`: `acquire(1).await`, in order, and given back when dropped |
//! | `limiter.retain_recent()` | nothing |
//! | `FakeRelativeClock` | `ManualClock` |
//! | `StateInformationMiddleware` | `limiter.status()` |
