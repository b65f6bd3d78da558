//! Bytes of bodies: what is said of them beforehand, and what passes.
#![cfg(feature = "axum")]

use core::convert::Infallible;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use axum::body::{Body, Bytes, HttpBody};
use axum::{Router, extract::Request, routing::post};
use http::{HeaderMap, Version};
use http_body::{Frame, SizeHint};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tollgate::{Denied, KeyedLimiter, ManualClock, Nanos, Quota, WaitingTokenBucket};
use tollgate_tower::{ThrottledBody, ThrottledBodyError, body_bytes};
use tower::util::MapRequestLayer;

#[test]
fn a_length_is_believed_no_body_costs_nothing_and_one_of_unknown_length_what_is_said() {
    let cost = |version, headers: &[(&'static str, &'static str)]| {
        let mut request = http::Request::new(());
        *request.version_mut() = version;
        for &(name, value) in headers {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        body_bytes(9)(&request.into_parts().0)
    };
    for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2, Version::HTTP_3] {
        assert_eq!(cost(version, &[("content-length", "500")]), 500);
        assert_eq!(cost(version, &[("content-length", "0")]), 0);
        assert_eq!(cost(version, &[("content-length", "many")]), 9);
    }
    assert_eq!(cost(Version::HTTP_11, &[]), 0, "there is none");
    assert_eq!(cost(Version::HTTP_11, &[("transfer-encoding", "chunked")]), 9);
    assert_eq!(cost(Version::HTTP_11, &[("transfer-encoding", "chunked"), ("content-length", "1")]), 9);
    assert_eq!(cost(Version::HTTP_2, &[]), 9, "there may be one");
}

/// A body of these frames.
struct Frames(VecDeque<Frame<Bytes>>);

impl Frames {
    fn of(sizes: &[usize]) -> Self {
        let trailers = Frame::trailers(HeaderMap::new());
        Self(sizes.iter().map(|&size| Frame::data(vec![0; size].into())).chain([trailers]).collect())
    }
}

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().filter_map(Frame::data_ref).map(|data| data.len() as u64).sum())
    }
}

/// The same, without a word on how much there is.
struct Unsized(Frames);

impl HttpBody for Unsized {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.0).poll_frame(c)
    }
}

/// The sizes of the frames that pass now, 0 for trailers; and why no more do, if it is not that they wait.
fn passing<B: HttpBody<Data = Bytes> + Unpin>(body: &mut B) -> (Vec<usize>, Poll<Option<B::Error>>) {
    let mut sizes = Vec::new();
    loop {
        match Pin::new(&mut *body).poll_frame(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(Ok(frame))) => sizes.push(frame.data_ref().map_or(0, Bytes::len)),
            Poll::Ready(Some(Err(error))) => return (sizes, Poll::Ready(Some(error))),
            Poll::Ready(None) => return (sizes, Poll::Ready(None)),
            Poll::Pending => return (sizes, Poll::Pending),
        }
    }
}

fn bucket(longest: Duration, clock: &ManualClock) -> Arc<WaitingTokenBucket<ManualClock>> {
    Arc::new(WaitingTokenBucket::with_clock(Quota::per_second(1_000), longest, clock.clone()))
}

#[test]
fn frames_pass_when_their_bytes_are_due_large_ones_too_and_nothing_is_charged_twice() {
    let clock = ManualClock::new();
    let bucket = bucket(Duration::MAX, &clock);
    let mut body = Box::pin(ThrottledBody::new(Frames::of(&[400, 600, 0, 2_500]), Arc::clone(&bucket)));
    assert_eq!(passing(&mut body), (vec![400, 600, 0], Poll::Pending));
    // What has been read and not been passed on is still to come.
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(2_500), false));
    for millis in [1_000, 2_000, 2_499] {
        clock.set(Nanos::from_millis(millis)); // a bucket full after the other
        assert_eq!(passing(&mut body), (vec![], Poll::Pending));
    }
    clock.set(Nanos::from_millis(2_500));
    assert_eq!(passing(&mut body), (vec![2_500, 0], Poll::Ready(None)));
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
    clock.advance(Duration::from_millis(250));
    assert_eq!(bucket.available(), 250, "3,500 bytes in 2.5 seconds, and the first 1,000 at once");
}

#[test]
fn a_body_that_is_dropped_gives_its_place_back_and_one_for_which_there_is_none_fails() {
    let clock = ManualClock::new();
    let bucket = bucket(Duration::from_secs(1), &clock);
    let mut waits = Box::pin(ThrottledBody::new(Frames::of(&[1_000, 1_000]), Arc::clone(&bucket)));
    assert_eq!(passing(&mut waits), (vec![1_000], Poll::Pending));
    let mut late = Box::pin(ThrottledBody::new(Frames::of(&[1_000]), Arc::clone(&bucket)));
    let (_, Poll::Ready(Some(error))) = passing(&mut late) else { panic!("the line is full") };
    assert!(matches!(error, ThrottledBodyError::Denied(Denied::LineFull(_))), "{error}");
    drop(waits);
    clock.advance(Duration::from_secs(1));
    assert_eq!(bucket.available(), 1_000);

    let limiter = Arc::new(KeyedLimiter::<u8, _, _>::with_clock(Quota::per_second(1_000), 100, clock.clone()));
    let body = |key| Box::pin(ThrottledBody::per_key(Frames::of(&[1_000, 500]), Arc::clone(&limiter), key));
    let mut bodies = [body(1), body(2)];
    for body in &mut bodies {
        assert_eq!(passing(body), (vec![1_000], Poll::Pending));
    }
    clock.advance(Duration::from_millis(500));
    assert_eq!(passing(&mut bodies[1]), (vec![500, 0], Poll::Ready(None)));
}

#[tokio::test]
async fn an_upload_in_chunks_is_held_back_over_a_connection() {
    let clock = ManualClock::new();
    let (bucket, received) = (bucket(Duration::MAX, &clock), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&received);
    let handler = async move |request: Request| {
        assert!(request.headers().get("content-length").is_none());
        let mut body = request.into_body();
        while let Some(frame) = core::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            counted.fetch_add(frame.unwrap().data_ref().map_or(0, Bytes::len), SeqCst);
        }
    };
    let throttle = MapRequestLayer::new({
        let bucket = Arc::clone(&bucket);
        move |request: Request| request.map(|body| Body::new(ThrottledBody::new(body, Arc::clone(&bucket))))
    });
    let app = Router::new().route("/", post(handler)).layer(throttle);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, app).await });

    let body = Body::new(Unsized(Frames::of(&[1_000, 1_000, 1_000])));
    let upload = tokio::spawn(async move {
        let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
        client.request(http::Request::post(url).body(body).unwrap()).await.unwrap().status().as_u16()
    });
    // A bucket full at once, and then what falls due: a frame may be cut on the way, but no byte passes before its time.
    for second in 0..3_usize {
        while received.load(SeqCst) + 1_000 <= second * 1_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(received.load(SeqCst) <= (second + 1) * 1_000, "{} bytes after {second} s", received.load(SeqCst));
        assert!(!upload.is_finished() || second == 2);
        clock.set(Nanos::from_secs(second as u64 + 1));
    }
    assert_eq!((upload.await.unwrap(), received.load(SeqCst)), (200, 3_000));
}
