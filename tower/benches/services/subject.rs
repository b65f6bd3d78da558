//! [`Subject`]: a service to be measured, whatever its type.

use core::convert::Infallible;
use core::net::{Ipv6Addr, SocketAddr};
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use axum::ServiceExt as _;
use axum::{body::Body, extract::ConnectInfo};
use http::{Request, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::{Service, ServiceExt as _};

type Clients<'a> = &'a mut dyn Iterator<Item = u32>;

/// A service that answers each request at once. Its type is known within each of the two, so that nothing in front of it costs more
/// than it would in a program of its own.
pub(crate) struct Subject {
    answer: Box<dyn Fn(Clients<'_>)>,
    serve: Box<dyn Fn(TcpListener) -> JoinHandle<std::io::Result<()>>>,
}

impl Subject {
    pub(crate) fn of<S>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        let served = service.clone();
        Self {
            answer: Box::new(move |clients| clients.for_each(|client| request(&service, client))),
            serve: Box::new(move |listener| {
                let service = served.clone().into_make_service_with_connect_info::<SocketAddr>();
                tokio::spawn(async move { axum::serve(listener, service).await })
            }),
        }
    }

    /// Answers a request of each of these clients.
    pub(crate) fn answer(&self, clients: Clients<'_>) {
        (self.answer)(clients);
    }

    /// Answers whoever connects.
    pub(crate) fn serve(&self, listener: TcpListener) -> JoinHandle<std::io::Result<()>> {
        (self.serve)(listener)
    }
}

#[inline(never)]
fn request<S>(service: &S, client: u32)
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone,
{
    let answer = pin!(service.clone().oneshot(from_client(client)));
    match answer.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(response)) => assert_eq!(response.status(), 200),
        Poll::Ready(Err(never)) => match never {},
        Poll::Pending => panic!("nobody waits"),
    }
}

fn from_client(client: u32) -> Request<Body> {
    let mut request = Request::new(Body::empty());
    // Each client has a /64 of its own, so that it is one for either.
    let address = Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) | (u128::from(client) << 64));
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 1))));
    request
}
