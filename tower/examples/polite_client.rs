//! A client that asks no more of a host than it bears: ten requests a second at most, and silence for as long as the host says.
//!
//! ```text
//! cargo run -p tollgate-tower --example http_server &
//! cargo run -p tollgate-tower --example polite_client http://127.0.0.1:8080/
//! ```

use core::time::Duration;
use std::time::Instant;

use axum::body::Body;
use http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tollgate::Quota;
use tollgate_tower::client::{Adaptive, Pace, PaceLayer};
use tower::{Layer, ServiceExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn core::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "http://127.0.0.1:8080/".to_owned());
    let pace = Pace::new(Quota::per_second(10).with_burst(1))
        .adapting(Adaptive::between(1, 20))
        .patient_for(Duration::from_secs(10));
    let client = PaceLayer::new(pace).layer(Client::builder(TokioExecutor::new()).build_http::<Body>());
    let start = Instant::now();
    for _ in 0..30 {
        let response = client.clone().oneshot(Request::get(&url).body(Body::empty())?).await?;
        println!("{:7.3} s: {}", start.elapsed().as_secs_f64(), response.status());
    }
    Ok(())
}
