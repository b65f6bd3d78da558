//! [`Engine`]: a router of axum, and the limit that stands in it or around it.

use core::net::SocketAddr;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use axum::{Router, body::Body, extract::ConnectInfo, routing::get};
use clap::ValueEnum;
use http::Request;
use serde::Serialize;
use tollgate::{ClientKey, KeyedLimiter, Quota};
use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};
use tower::{Layer, Service, util::MapRequestLayer};
use tower_governor::governor::GovernorConfigBuilder;
use tower_governor::{GovernorLayer, key_extractor::PeerIpKeyExtractor};

use crate::subject::Subject;

/// How many clients there is room for, where that has to be said: as many as in the examples of this package.
pub(crate) const CLIENTS: u32 = 100_000;

/// A service with a layer, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Engine {
    /// None.
    NoLayer,
    /// One that hands each request on. axum puts the service in a box, and clones it, for each layer.
    Idle,
    /// The least that a limit can be: the address that the server has noted, one decision of a `KeyedLimiter`, and the request handed
    /// on, without a future, a policy or an answer of its own.
    Floor,
    /// `RateLimitLayer` of this crate.
    Tollgate,
    /// `GovernorLayer` of `tower_governor`.
    Governor,
    /// The floor put around the whole router, which axum then does not know of.
    FloorAround,
    /// `RateLimitLayer` around the router.
    TollgateAround,
    /// `GovernorLayer` around the router.
    GovernorAround,
}

impl Engine {
    pub(crate) const ALL: [Self; 8] = [
        Self::NoLayer,
        Self::Idle,
        Self::Floor,
        Self::Tollgate,
        Self::Governor,
        Self::FloorAround,
        Self::TollgateAround,
        Self::GovernorAround,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NoLayer => "no layer",
            Self::Idle => "a layer that does nothing",
            Self::Floor => "floor: a decision, no more",
            Self::Tollgate => "tollgate-tower",
            Self::Governor => "tower_governor",
            Self::FloorAround => "floor, around the router",
            Self::TollgateAround => "tollgate-tower, around the router",
            Self::GovernorAround => "tower_governor, around the router",
        }
    }

    /// The name on a command line.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().expect("none is skipped").get_name().to_owned()
    }

    pub(crate) fn service(self) -> Subject {
        let router = Router::new().route("/", get(async || "hello"));
        match self {
            Self::NoLayer => Subject::of(router),
            Self::Idle => Subject::of(router.layer(MapRequestLayer::new(|request: Request<Body>| request))),
            Self::Floor => Subject::of(router.layer(floor())),
            Self::Tollgate => Subject::of(router.layer(ours())),
            Self::Governor => Subject::of(router.layer(theirs())),
            Self::FloorAround => Subject::of(floor().layer(router)),
            Self::TollgateAround => Subject::of(ours().layer(router)),
            Self::GovernorAround => Subject::of(theirs().layer(router)),
        }
    }
}

fn floor() -> FloorLayer {
    FloorLayer(Arc::new(limiter()))
}

fn ours() -> RateLimitLayer {
    RateLimitLayer::per_key(limiter(), PeerAddress::new(), Keyless::Reject)
}

fn theirs() -> GovernorLayer<PeerIpKeyExtractor, governor::middleware::NoOpMiddleware, Body> {
    let config = GovernorConfigBuilder::default().per_nanosecond(1).burst_size(1_000_000_000).finish();
    GovernorLayer::new(config.expect("neither number is 0"))
}

/// What `tower_governor` is told, too.
fn limiter() -> KeyedLimiter<ClientKey> {
    KeyedLimiter::new(Quota::per(1, Duration::from_nanos(1)).with_burst(1_000_000_000), CLIENTS as usize)
}

#[derive(Clone)]
struct FloorLayer(Arc<KeyedLimiter<ClientKey>>);

#[derive(Clone)]
struct FloorService<S> {
    inner: S,
    limiter: Arc<KeyedLimiter<ClientKey>>,
}

impl<S> Layer<S> for FloorLayer {
    type Service = FloorService<S>;

    fn layer(&self, inner: S) -> FloorService<S> {
        FloorService { inner, limiter: Arc::clone(&self.0) }
    }
}

impl<S: Service<Request<Body>>> Service<Request<Body>> for FloorService<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> S::Future {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().expect("it is noted");
        self.limiter.try_acquire(&ClientKey::from(peer.0)).expect("there is no end of tokens");
        self.inner.call(request)
    }
}
