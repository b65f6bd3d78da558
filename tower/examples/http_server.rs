//! An HTTP server behind one limiter: ten requests at once, two more each second.
//!
//! ```text
//! cargo run -p tollgate-tower --example http_server
//! for i in $(seq 12); do curl -si http://127.0.0.1:8080/ | head -1; done
//! ```
//!
//! The first ten answers are `200 OK`. The rest are `429 Too Many Requests`, with a `Retry-After` header that says
//! in how many seconds it is worth coming back.

use core::net::Ipv4Addr;

use axum::{Router, routing::get};
use tollgate::{Quota, RateLimit, TokenBucket};
use tollgate_tower::RateLimitLayer;

/// What the server allows: 2 requests per second, and 10 at once after a rest.
pub(crate) const QUOTA: Quota = Quota::per_second(2).with_burst(10);

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 8080)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router(TokenBucket::new(QUOTA))).await
}

/// The whole service, with `limiter` in front of every route.
pub(crate) fn router(limiter: impl RateLimit + Send + Sync + 'static) -> Router {
    Router::new().route("/", get(async || "admitted\n")).layer(RateLimitLayer::new(limiter))
}
