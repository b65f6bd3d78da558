//! The server of `examples/grpc_service.rs`, over a real connection.
#![cfg(feature = "tonic")]

#[expect(dead_code, reason = "the example's `main` is not called here")]
#[path = "../examples/grpc_service.rs"]
mod grpc_service;

use axum::body::Body;
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

#[tokio::test]
async fn refused_calls_are_exhausted_and_say_when_to_try_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    let server = tonic::transport::Server::builder().layer(grpc_service::layer()).add_service(grpc_service::Health);
    tokio::spawn(server.serve_with_incoming(incoming));

    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http::<Body>();
    let mut refused = 0;
    for _ in 0..10_000 {
        let request = Request::post(format!("http://{address}/grpc.health.v1.Health/Check"))
            .header("content-type", "application/grpc")
            .body(Body::empty());
        let response = client.request(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        let header = |name| response.headers()[name].to_str().unwrap();
        if header("grpc-status") != "0" {
            assert_eq!(header("grpc-status"), "8");
            assert!((1..=200).contains(&header("grpc-retry-pushback-ms").parse::<i32>().unwrap()));
            refused += 1;
            if refused == 3 {
                return;
            }
        }
    }
    panic!("nothing was refused");
}
