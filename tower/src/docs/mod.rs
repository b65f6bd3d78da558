//! Coming from another crate: [`tower_governor`](from_tower_governor), [`governor`](from_governor).
//!
//! All of a limit for each client:
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

pub mod from_governor;
pub mod from_tower_governor;
