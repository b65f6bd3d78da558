//! The servers of `examples/`, driven over real sockets by a real HTTP client.
//!
//! Only the limiters' clocks are manual, so that the outcome is the same on a fast machine and on a slow one.

#[expect(dead_code, reason = "the example's `main` is not called here")]
#[path = "../examples/http_server.rs"]
mod http_server;

#[cfg(feature = "axum")]
#[expect(dead_code, reason = "the example's `main` is not called here")]
#[path = "../examples/http_per_client.rs"]
mod http_per_client;

use core::{convert::Infallible, net::SocketAddr, time::Duration};
use std::thread;

use axum::{ServiceExt, extract::Request, response::Response};
use tollgate::{ManualClock, TokenBucket};
use tower::Service;

/// What the client saw: the status, and `Retry-After` where there is one.
type Answer = (u16, Option<String>);

#[test]
fn ten_of_twelve_requests_pass_and_one_more_half_a_second_later() {
    let clock = ManualClock::new();
    let address = serve(TokenBucket::with_clock(http_server::QUOTA, clock.clone()));
    let client = client();

    let answers: Vec<Answer> = (0..12).map(|_| get(&client, address)).collect();
    assert_eq!(answers[..10], vec![passed(); 10]);
    assert_eq!(answers[10..], vec![refused("1"); 2], "half a second away, rounded up to one");

    clock.advance(Duration::from_millis(500));
    assert_eq!(get(&client, address), passed());
    assert_eq!(get(&client, address), refused("1"));
}

#[test]
fn concurrent_clients_share_the_limit() {
    let address = serve(TokenBucket::with_clock(http_server::QUOTA, ManualClock::new()));

    let clients: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                let client = client();
                (0..6).filter(|_| get(&client, address) == passed()).count()
            })
        })
        .collect();
    let passed: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert_eq!(passed, 10, "24 requests from 4 connections, and the clock stands still");
}

#[cfg(feature = "axum")]
#[test]
fn each_client_address_has_a_limit_of_its_own() {
    let clock = ManualClock::new();
    let limiter = tollgate::KeyedLimiter::with_clock(http_per_client::QUOTA, http_per_client::CLIENTS, clock.clone());
    let port = serve_router("[::]:0", http_per_client::router(limiter)).port();
    // One socket listens for both protocols. The first client's address reaches it mapped into IPv6.
    let addresses = [format!("127.0.0.1:{port}"), format!("[::1]:{port}")].map(|address| address.parse().unwrap());
    let client = client();

    for address in addresses {
        let answers: Vec<Answer> = (0..4).map(|_| get(&client, address)).collect();
        assert_eq!(answers, [passed(), passed(), passed(), refused("1")], "{address} has its own three");
    }
    clock.advance(Duration::from_secs(1));
    for address in addresses {
        assert_eq!([get(&client, address), get(&client, address)], [passed(), refused("1")]);
    }
}

#[cfg(feature = "axum")]
#[test]
fn a_layer_around_the_router_limits_as_one_within_it() {
    use axum::{Router, routing};
    use tollgate_tower::{Keyless, RateLimitLayer, key::PeerAddress};
    use tower::Layer;

    let layer = || {
        let limiter = tollgate::KeyedLimiter::with_clock(http_per_client::QUOTA, 100, ManualClock::new());
        RateLimitLayer::per_key(limiter, PeerAddress::new(), Keyless::Reject)
    };
    let router = || Router::new().route("/", routing::get(async || "hello"));
    let client = client();
    for address in
        [serve_router("127.0.0.1:0", router().layer(layer())), serve_router("127.0.0.1:0", layer().layer(router()))]
    {
        let statuses = ["/", "/nowhere", "/", "/", "/nowhere"].map(|path| get_path(&client, address, path).0);
        assert_eq!(statuses, [200, 404, 200, 429, 429], "what has no route is counted as well");
    }
}

fn passed() -> Answer {
    (200, None)
}

fn refused(retry_after: &str) -> Answer {
    (429, Some(retry_after.to_owned()))
}

/// Serves on a free port of the loopback interface until the test process ends.
fn serve(limiter: TokenBucket<ManualClock>) -> SocketAddr {
    serve_router("127.0.0.1:0", http_server::router(limiter))
}

fn serve_router<S>(address: &str, service: S) -> SocketAddr
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static,
{
    let listener = std::net::TcpListener::bind(address).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, service.into_make_service_with_connect_info::<SocketAddr>()).await
        })
    });
    address
}

/// A client that hands a 429 over as an answer, not as an error, and never waits for ever.
fn client() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(30)))
        .proxy(None)
        .build()
        .new_agent()
}

fn get(client: &ureq::Agent, address: SocketAddr) -> Answer {
    get_path(client, address, "/")
}

fn get_path(client: &ureq::Agent, address: SocketAddr, path: &str) -> Answer {
    let mut response = client.get(format!("http://{address}{path}")).call().unwrap();
    let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    response.body_mut().read_to_string().unwrap(); // frees the connection for the next request
    (status, retry_after)
}
