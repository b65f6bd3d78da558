//! What `tracing` gets.
#![cfg(feature = "tracing")]

use core::convert::Infallible;
use core::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use http::{Request, Response};
use tollgate::{KeyedLimiter, ManualClock, Quota, TokenBucket};
use tollgate_tower::key::HashedHeader;
use tollgate_tower::{Keyless, Policy, RateLimitLayer};
use tower::{Layer, ServiceExt, service_fn};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps each event as text.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Events {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        assert_eq!(*event.metadata().level(), Level::DEBUG);
        let mut text = Text(event.metadata().target().to_owned());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn a_refusal_is_an_event_that_names_the_policy_and_never_the_key() {
    let events = Events::default();
    let _guard = tracing::subscriber::set_default(events.clone());
    let clock = ManualClock::new();
    let keys = KeyedLimiter::with_clock(Quota::per_minute(60).with_burst(1), 100, clock.clone());
    let service = RateLimitLayer::of([
        Policy::new(TokenBucket::with_clock(Quota::per_hour(1), clock)).named("trial").observe_only(),
        Policy::per_key(keys, HashedHeader::new("x-api-key"), Keyless::Reject).named("client"),
    ])
    .layer(service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(String::new()))));
    let ask = |key: Option<&str>| {
        let mut request = Request::builder();
        if let Some(key) = key {
            request = request.header("x-api-key", key);
        }
        let answer = service.clone().oneshot(request.body(()).unwrap());
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(answer).unwrap().status().as_u16()
    };
    assert_eq!((ask(Some("s3cret")), ask(Some("s3cret")), ask(None)), (200, 429, 400));
    let denied = |policy: &str, observed: bool, seconds: u64| {
        let hint = format!("retry_after=Some({seconds}s)");
        vec!["over the limit".to_owned(), format!("policy=\"{policy}\""), format!("observed={observed}"), hint]
    };
    let expected = [
        denied("trial", true, 3_600),
        denied("client", false, 1),
        denied("trial", true, 3_600),
        vec!["no key".into(), "policy=\"client\"".into(), "observed=false".into()],
    ];
    let events = events.0.lock().unwrap();
    assert_eq!(events.len(), expected.len(), "{events:?}");
    for (event, parts) in events.iter().zip(expected) {
        assert!(parts.iter().all(|part| event.contains(part)), "{event}: {parts:?}");
        assert!(event.starts_with("tollgate_tower") && !event.contains("s3cret"), "{event}");
    }
}
