//! A gRPC server behind a limit for each client: refused calls get `RESOURCE_EXHAUSTED`, and when to try again.
//!
//! ```text
//! cargo run -p tollgate-tower --features tonic --example grpc_service
//! ```
//!
//! It has one method, of the health service, written by hand: a generated service is added in the same way.

use core::convert::Infallible;
use core::net::SocketAddr;
use core::task::{Context, Poll};

use http::{Request, Response};
use tollgate::{KeyedLimiter, Quota};
use tollgate_tower::key::PeerAddress;
use tollgate_tower::{GrpcAnswer, Keyless, Policy, RateLimitLayer};
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::transport::Server;
use tower::Service;

/// What each client may do: five calls per second, and ten at once after a rest.
pub(crate) const QUOTA: Quota = Quota::per_second(5).with_burst(10);

/// Answers every call with an empty message.
#[derive(Clone)]
pub(crate) struct Health;

impl NamedService for Health {
    const NAME: &'static str = "grpc.health.v1.Health";
}

impl Service<Request<Body>> for Health {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = core::future::Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        let response = Response::builder().header("content-type", "application/grpc").header("grpc-status", "0");
        core::future::ready(Ok(response.body(Body::default()).expect("these are valid headers")))
    }
}

/// A limit for each client's address.
pub(crate) fn layer() -> RateLimitLayer<GrpcAnswer> {
    let clients = KeyedLimiter::new(QUOTA, 100_000);
    RateLimitLayer::of([Policy::per_key(clients, PeerAddress::new(), Keyless::Reject)]).answering(GrpcAnswer)
}

#[tokio::main]
async fn main() -> Result<(), tonic::transport::Error> {
    let address = SocketAddr::from(([127, 0, 0, 1], 50_051));
    println!("listening on {address}");
    Server::builder().layer(layer()).add_service(Health).serve(address).await
}
