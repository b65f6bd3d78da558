//! An HTTP server with a limit for each client: by address, in fixed memory, however many clients come.
//!
//! ```text
//! cargo run -p tollgate-tower --features axum --example http_per_client
//! for i in $(seq 4); do curl -si http://127.0.0.1:8080/ | head -1; done
//! ```
//!
//! Each client gets three requests at once and one more each second. Clients are known by their IPv4 address, or by
//! the first 64 bits of their IPv6 address. Behind a proxy that is the proxy's address: take a `ForwardedAddress` instead of the
//! `PeerAddress`.

use core::net::{Ipv6Addr, SocketAddr};

use axum::{Router, routing::get};
use tollgate::{ClientKey, Clock, KeyedLimiter, Quota};
use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};

/// What each client may do: one request per second, and three at once after a rest.
pub(crate) const QUOTA: Quota = Quota::per_second(1).with_burst(3);

/// How many clients can be in debt at the same time: 2.5 MiB. A client that is not in debt takes no room.
pub(crate) const CLIENTS: usize = 100_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind((Ipv6Addr::UNSPECIFIED, 8080)).await?;
    println!("listening on port {}", listener.local_addr()?.port());
    let router = router(KeyedLimiter::new(QUOTA, CLIENTS));
    axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
}

/// The whole service, with `limiter` in front of every route.
pub(crate) fn router<S, C>(limiter: KeyedLimiter<ClientKey, S, C>) -> Router
where
    S: core::hash::BuildHasher + Send + Sync + 'static,
    C: Clock + Send + Sync + 'static,
{
    let layer = RateLimitLayer::per_key(limiter, PeerAddress::new(), Keyless::Reject);
    Router::new().route("/", get(async || "admitted\n")).layer(layer)
}
