//! From `tower_governor` 0.8, line by line.
//!
//! What stood there:
//!
//! ```no_run
//! use axum::{Router, routing::get};
//! use std::{thread, time::Duration};
//! use tower_governor::{GovernorLayer, governor::GovernorConfigBuilder, key_extractor::PeerIpKeyExtractor};
//!
//! let config = GovernorConfigBuilder::default()
//!     .per_second(4) // one each four seconds
//!     .burst_size(2)
//!     .key_extractor(PeerIpKeyExtractor)
//!     .use_headers()
//!     .finish()
//!     .unwrap();
//! let limiter = config.limiter().clone();
//! thread::spawn(move || {
//!     loop {
//!         thread::sleep(Duration::from_secs(60));
//!         limiter.retain_recent();
//!     }
//! });
//! let app: Router = Router::new().route("/", get(async || "hello")).layer(GovernorLayer::new(config));
//! ```
//!
//! What stands here, with no thread that sweeps:
//!
//! ```
//! use axum::{Router, routing::get};
//! use std::time::Duration;
//! use tollgate::{KeyedLimiter, Quota};
//! use tollgate_tower::{Dialect, Keyless, RateLimitLayer, key::PeerAddress};
//!
//! let limiter = KeyedLimiter::new(Quota::per(1, Duration::from_secs(4)).with_burst(2), 100_000);
//! let layer = RateLimitLayer::per_key(limiter, PeerAddress::new(), Keyless::Reject)
//!     .telling(Dialect::XRateLimit)
//!     .telling_the_admitted();
//! let app: Router = Router::new().route("/", get(async || "hello")).layer(layer);
//! ```
//!
//! Both are served with `into_make_service_with_connect_info::<SocketAddr>()`, and need the feature `axum` to find the address.
//! [Around the router](crate::RateLimitLayer#examples) instead of within it, it executes less than half as much.
//!
//! # The quota: `GovernorConfigBuilder`
//!
//! | `tower_governor` | here |
//! |---|---|
//! | `GovernorConfigBuilder::default()`, `const_default()`, `GovernorConfig::default()`: eight at once, one each 500 ms (`DEFAULT_BURST_SIZE`, `DEFAULT_PERIOD`) | no default: `Quota::per_second(2).with_burst(8)` |
//! | `GovernorConfig::secure()`: two at once, one each four seconds | `Quota::per(1, Duration::from_secs(4)).with_burst(2)` |
//! | `per_second(4)`, `const_per_second(4)`: one each *four seconds* | `Quota::per(1, Duration::from_secs(4))`; [`Quota::per_second(4)`](tollgate::Quota::per_second) is four a second |
//! | `per_millisecond(100)`, `const_per_millisecond(100)`: one each 100 ms | `Quota::per_second(10)` |
//! | `per_nanosecond(n)`, `const_per_nanosecond(n)`, `period(d)`, `const_period(d)`: one each `d` | `Quota::per(1, d)`, for any `d` |
//! | `burst_size(n)`, `const_burst_size(n)` | [`with_burst(n)`](tollgate::Quota::with_burst); without it, the burst is the number of tokens per period |
//! | `finish()`, which is `None` where a number is zero | the short forms panic, in a constant at compile time; [`Quota::try_new`](tollgate::Quota::try_new) says what is wrong |
//! | `methods(vec![Method::POST])` | [`.only(\|request\| request.method == Method::POST)`](crate::Policy::only), and any other rule |
//! | `key_extractor(k)` | the key is an argument of [`RateLimitLayer::per_key`](crate::RateLimitLayer::per_key), or of each [`Policy`](crate::Policy::per_key) |
//! | `use_headers()` | [`.telling(Dialect::XRateLimit).telling_the_admitted()`](crate::Dialect) |
//! | `config.limiter()`, `SharedRateLimiter` | give the layer an `Arc` of the limiter, and keep a share |
//! | several layers for several limits, of which each charges whether the others refuse or not | [`RateLimitLayer::of`](crate::RateLimitLayer::of): all or none |
//!
//! # Keys: `KeyExtractor`
//!
//! | `tower_governor` | here |
//! |---|---|
//! | `PeerIpKeyExtractor` | [`PeerAddress::new()`](crate::key::PeerAddress): of IPv6 by /64, not by address |
//! | `SmartIpKeyExtractor`: the leftmost address of `X-Forwarded-For`, which the client chooses; else `X-Real-Ip`, `Forwarded`, the peer | [`ForwardedAddress::new(header, trusted)`](crate::key::ForwardedAddress): one header, from the right, through proxies that you name |
//! | `X-Real-Ip` | a closure that reads it, where every request comes through a proxy that sets it: the example below |
//! | `GlobalKeyExtractor` | no key: [`RateLimitLayer::new`](crate::RateLimitLayer::new) |
//! | `impl KeyExtractor`, with `Key` and `extract` | a closure, `Fn(&Parts) -> Option<K>`, or [`impl RequestKey`](crate::key::RequestKey) |
//! | `name`, `key_name`: the key in a log line at level info | a policy's [name](crate::Policy::named); keys are not logged |
//! | `GovernorError::UnableToExtractKey`: status 500 | say what: [`Keyless`](crate::Keyless) |
//! | an API key as a `String`, kept in the table | [`HashedHeader`](crate::key::HashedHeader) |
//!
//! ```
//! use core::net::IpAddr;
//! use http::{Request, request::Parts};
//! use tollgate::ClientKey;
//! use tollgate_tower::key::RequestKey;
//!
//! let real_ip = |request: &Parts| {
//!     let address: IpAddr = request.headers.get("x-real-ip")?.to_str().ok()?.parse().ok()?;
//!     Some(ClientKey::new(address))
//! };
//! let (request, ()) = Request::builder().header("x-real-ip", "192.0.2.1").body(()).unwrap().into_parts();
//! assert_eq!(real_ip.key(&request), Some(ClientKey::new("192.0.2.1".parse().unwrap())));
//! ```
//!
//! # Answers: `GovernorLayer`, `Governor`, `GovernorError`
//!
//! | `tower_governor` | here |
//! |---|---|
//! | `GovernorLayer::new(config)` | [`RateLimitLayer::per_key`](crate::RateLimitLayer::per_key), [`new`](crate::RateLimitLayer::new), [`of`](crate::RateLimitLayer::of) |
//! | `Governor::new(inner, &config)`, `Governor`, `ResponseFuture` | [`layer.layer(inner)`](tower_layer::Layer::layer), [`RateLimitService`](crate::RateLimitService), [`ResponseFuture`](crate::ResponseFuture) |
//! | `error_handler(f)`, of the layer or the service | [`.answering(f)`](crate::RateLimitLayer::answering), where `f` sees the [`Refusal`](crate::Refusal) and the request |
//! | `S::Response: From<GovernorError>`, so features for each framework | any body that is `Default` or `From<String>`, or your own [`Answer`](crate::Answer) |
//! | `GovernorError::TooManyRequests { wait_time, headers }` | [`Reason::Denied`](crate::Reason::Denied), with [`retry_after()`](crate::Reason::retry_after) to the nanosecond |
//! | `GovernorError::Other { code, msg, headers }` | an [`Answer`](crate::Answer) says what it likes; a key is found or not |
//! | `GovernorError::into_response()`: a line of text | [`EmptyAnswer`](crate::EmptyAnswer), [`ProblemAnswer`](crate::ProblemAnswer) |
//! | the feature `tonic`: `Code::ResourceExhausted`, or `Internal` for a missing key | [`GrpcAnswer`](crate::GrpcAnswer): the same, with `grpc-retry-pushback-ms`, or `INVALID_ARGUMENT` |
//! | `Retry-After: 0` where less than a second is left | 1: rounded up |
//! | `x-ratelimit-after` | `Retry-After` alone, which says the same |
//! | `x-ratelimit-limit`, `x-ratelimit-remaining` | the same with [`Dialect::XRateLimit`](crate::Dialect::XRateLimit), and `x-ratelimit-reset`; or [`Dialect::Draft8To11`](crate::Dialect::Draft8To11) |
//! | `x-ratelimit-whitelisted` | a request that no policy concerns has no fields |
//! | the feature `tracing`: an event at level info | an event at level debug; and [metrics](crate#features) |
//!
//! # The table
//!
//! | `tower_governor` | here |
//! |---|---|
//! | a map that grows with each new key, until somebody calls `limiter.retain_recent()` and `shrink_to_fit()` | a table of fixed size, 2.5 MiB for 100,000 keys in debt at once: a key that owes nothing takes no room |
//! | `limiter.len()` | [`live()`](tollgate::KeyedLimiter::live), [`occupancy()`](tollgate::KeyedLimiter::occupancy) |
//! | no bound, so never full | [`503`](crate::status) to who is new while the table is full of others in debt |
