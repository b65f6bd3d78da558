//! What clients are told: fields, as a parser of structured fields sees them, and bodies.

mod counting;

use core::time::Duration;

use counting::{Counting, ask, bucket};
use http::{Request, Response, request::Parts};
use tollgate::{Denied, FixedWindow, KeyedLimiter, ManualClock, Quota, TokenBucket};
use tollgate_tower::{Answer, Dialect, GrpcAnswer, Keyless, Policy, ProblemAnswer, RateLimitLayer, Unit};
use tower::Layer;

/// A list of strings with integers as parameters, as a parser of structured fields sees it.
fn parsed(response: &Response<String>, name: &str) -> Vec<(String, Vec<(String, i64)>)> {
    let list: sfv::List = sfv::Parser::new(response.headers()[name].as_bytes()).parse().unwrap();
    let item = |entry: &sfv::ListEntry| {
        let sfv::ListEntry::Item(item) = entry else { panic!("an inner list") };
        let number = |value: &sfv::BareItem| value.as_integer().map_or(-1, i64::from);
        let parameters = item.params.iter().map(|(key, value)| (key.to_string(), number(value)));
        (item.bare_item.as_string().unwrap().to_string(), parameters.collect())
    };
    list.iter().map(item).collect()
}

fn item(name: &str, parameters: &[(&str, i64)]) -> (String, Vec<(String, i64)>) {
    (name.to_owned(), parameters.iter().map(|&(key, value)| (key.to_owned(), value)).collect())
}

#[test]
fn the_drafts_fields_are_structured_tightest_first_and_agree_with_retry_after() {
    let clock = ManualClock::new();
    let daily = bucket(Quota::per(1_000, Duration::from_secs(86_400)), &clock);
    let burst = bucket(Quota::per_second(2).with_burst(3), &clock);
    let bytes = bucket(Quota::per_second(50).with_burst(500), &clock);
    let layer = RateLimitLayer::of([
        Policy::new(daily).named("daily"),
        Policy::new(bytes).named("a \"b\\c").counting(Unit::ContentBytes).costing(|_| 10),
        Policy::new(burst).named("burst"),
        Policy::new(TokenBucket::new(Quota::UNLIMITED)).named("none"),
    ]);
    let service = layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(Counting::default());
    let admitted = ask(&service, Request::new(()));
    let policies = [
        item("burst", &[("q", 3), ("w", 2)]),
        item("a \"b\\c", &[("q", 500), ("qu", -1), ("w", 10)]),
        item("daily", &[("q", 1_000), ("w", 86_400)]),
    ];
    assert_eq!(parsed(&admitted, "ratelimit-policy"), policies);
    let limits = [
        item("burst", &[("r", 2), ("t", 1)]),
        item("a \"b\\c", &[("r", 490), ("t", 1)]),
        item("daily", &[("r", 999), ("t", 87)]),
    ];
    assert_eq!(parsed(&admitted, "ratelimit"), limits);
    for _ in 0..2 {
        ask(&service, Request::new(()));
    }
    let refused = ask(&service, Request::new(()));
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    let limits = [item("burst", &[("r", 0), ("t", 1)]), item("a \"b\\c", &[("r", 470)]), item("daily", &[("r", 997)])];
    assert_eq!(parsed(&refused, "ratelimit"), limits);
}

#[test]
fn an_observed_denial_takes_no_time_from_the_others_and_tells_none_beside_a_refusal() {
    let clock = ManualClock::new();
    let layer = RateLimitLayer::of([
        Policy::new(bucket(Quota::per_hour(1), &clock)).observe_only(),
        Policy::new(bucket(Quota::per_second(1).with_burst(2), &clock)),
    ]);
    let service = layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(Counting::default());
    ask(&service, Request::new(()));
    let admitted = ask(&service, Request::new(()));
    let limits = [item("default", &[("r", 0), ("t", 3_600)]), item("default", &[("r", 0), ("t", 2)])];
    assert_eq!((admitted.status().as_u16(), parsed(&admitted, "ratelimit")), (200, limits.to_vec()));
    // The one that refuses comes first, and the other, whose time is later than `Retry-After`, tells none.
    let refused = ask(&service, Request::new(()));
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    assert_eq!(parsed(&refused, "ratelimit"), [item("default", &[("r", 0), ("t", 1)]), item("default", &[("r", 0)])]);
}

#[test]
fn the_tightest_policy_admits_the_fewest_requests_like_this_one() {
    let clock = ManualClock::new();
    let layer = RateLimitLayer::of([
        Policy::new(bucket(Quota::per_minute(60), &clock)).named("requests"),
        Policy::new(bucket(Quota::per_minute(6_000), &clock)).named("bytes").costing(|_| 1_000),
    ]);
    let service = layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(Counting::default());
    let admitted = ask(&service, Request::new(()));
    // 5,000 bytes are five such requests more; of the other limit there are 59.
    assert_eq!(
        parsed(&admitted, "ratelimit"),
        [item("bytes", &[("r", 5_000), ("t", 10)]), item("requests", &[("r", 59), ("t", 1)])]
    );
}

#[test]
fn the_usual_fields_are_those_of_the_tightest_policy() {
    let clock = ManualClock::new();
    let policies =
        [Policy::new(bucket(Quota::per_minute(60), &clock)), Policy::new(bucket(Quota::per_minute(2), &clock))];
    let service =
        RateLimitLayer::of(policies).telling(Dialect::XRateLimit).telling_the_admitted().layer(Counting::default());
    let fields = |response: Response<String>| {
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
            .map(|name| response.headers()[name].to_str().unwrap().parse::<u64>().unwrap())
    };
    assert_eq!(fields(ask(&service, Request::new(()))), [2, 1, 30]);
    assert_eq!(fields(ask(&service, Request::new(()))), [2, 0, 60]);
    assert_eq!(fields(ask(&service, Request::new(()))), [2, 0, 60]);
}

#[test]
fn no_field_is_told_unless_asked_for() {
    let bucket = bucket(Quota::per_minute(1), &ManualClock::new());
    let service = RateLimitLayer::new(bucket).layer(Counting::default());
    assert_eq!(ask(&service, Request::new(())).headers().len(), 0);
    let refused = ask(&service, Request::new(()));
    assert_eq!((refused.headers().len(), refused.headers()["retry-after"].to_str().unwrap()), (1, "60"));
}

#[test]
fn quotas_of_every_kind_make_fields_that_parse() {
    let clock = ManualClock::new();
    let all_of_it = Quota::per_second(1).with_burst(u64::MAX / 2);
    let window = FixedWindow::with_clock(Quota::per(7, Duration::from_millis(2_500)), clock.clone());
    let slow = Quota::per(1, Duration::from_nanos(1_000_000_001)).with_burst(3);
    for (policy, of_policy, of_limit) in [
        (Policy::new(TokenBucket::new(Quota::DENY_ALL)), vec![("q", 0)], vec![("r", 0)]),
        (Policy::new(window), vec![("q", 7), ("w", 3)], vec![("r", 6), ("t", 3)]),
        (Policy::new(bucket(slow, &clock)), vec![("q", 3), ("w", 4)], vec![("r", 2), ("t", 2)]),
        (
            Policy::new(bucket(Quota::per_second(1_000), &clock)),
            vec![("q", 1_000), ("w", 1)],
            vec![("r", 999), ("t", 1)],
        ),
        (
            Policy::new(bucket(all_of_it, &clock)),
            vec![("q", 999_999_999_999_999), ("w", 999_999_999_999_999)],
            vec![("r", 999_999_999_999_999), ("t", 1)],
        ),
    ] {
        let layer = RateLimitLayer::of([policy]).telling(Dialect::Draft8To11).telling_the_admitted();
        let answer = ask(&layer.layer(Counting::default()), Request::new(()));
        assert_eq!(parsed(&answer, "ratelimit-policy"), [item("default", &of_policy)]);
        assert_eq!(parsed(&answer, "ratelimit"), [item("default", &of_limit)]);
    }
    let unlimited = RateLimitLayer::new(TokenBucket::new(Quota::UNLIMITED)).telling(Dialect::Draft8To11);
    let answer = ask(&unlimited.telling_the_admitted().layer(Counting::default()), Request::new(()));
    assert!(answer.headers().is_empty(), "no limit, no fields");
}

#[test]
fn what_the_service_says_itself_stays() {
    let own = tower::service_fn(async |_: Request<()>| {
        Ok::<_, core::convert::Infallible>(Response::builder().header("ratelimit", "own").body(String::new()).unwrap())
    });
    let layer = RateLimitLayer::new(bucket(Quota::per_hour(9), &ManualClock::new()));
    let answer = ask(&layer.telling(Dialect::Draft8To11).telling_the_admitted().layer(own), Request::new(()));
    assert_eq!(answer.headers().get_all("ratelimit").iter().collect::<Vec<_>>(), ["own"]);
}

/// Refusals for each reason there is, as `answer` tells them: over the limit, no room, no key, never.
fn refusals<A: Answer<String> + Clone>(answer: &A) -> [Response<String>; 4] {
    let clock = ManualClock::new();
    let key = |request: &Parts| request.extensions.get::<u64>().copied();
    let with_key = |key: u64| {
        let mut request = Request::new(());
        request.extensions_mut().insert(key);
        request
    };
    let limiter = |capacity| KeyedLimiter::with_clock(Quota::per_second(50).with_burst(1), capacity, clock.clone());
    let layer = |policy: Policy| RateLimitLayer::of([policy.named("a\"b\\")]).answering(answer.clone());
    let small = limiter(1);
    let homeless = (0..1_000).find(|key| matches!(small.try_acquire(key), Err(Denied::TableFull(_)))).unwrap();
    let small = layer(Policy::per_key(small, key, Keyless::Reject)).layer(Counting::default());
    let large = layer(Policy::per_key(limiter(9), key, Keyless::Reject)).layer(Counting::default());
    ask(&large, with_key(7));
    let costly = layer(Policy::new(bucket(Quota::per_second(1), &clock)).costing(|_| 2)).layer(Counting::default());
    [
        ask(&large, with_key(7)),
        ask(&small, with_key(homeless)),
        ask(&large, Request::new(())),
        ask(&costly, Request::new(())),
    ]
}

#[test]
fn problem_details_name_each_reason_and_the_policy() {
    let types = "https://iana.org/assignments/http-problem-types";
    let expected = [
        (429, Some("1"), format!("{types}#quota-exceeded"), "Over the limit", true), // not the 0 that 20 ms are when cut off
        (503, Some("1"), format!("{types}#temporary-reduced-capacity"), "Too many clients at once", true),
        (400, None, String::from("about:blank"), "Bad Request", false), // the status's own name: RFC 9457, section 4.2.1
        (429, None, format!("{types}#quota-exceeded"), "Over the limit", true),
    ];
    for (answer, (status, after, kind, title, names)) in refusals(&ProblemAnswer).iter().zip(expected) {
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        assert_eq!(answer.headers().get("retry-after").map(|after| after.to_str().unwrap()), after);
        let body: serde_json::Value = serde_json::from_str(answer.body()).unwrap();
        assert_eq!((&body["type"], &body["title"], &body["status"]), (&kind.into(), &title.into(), &status.into()));
        let policies = body.get("violated-policies").map(|policies| policies[0].as_str().unwrap());
        assert_eq!(policies, names.then_some("a\"b\\"));
        assert_eq!(body.get("detail").is_some(), !names);
    }
}

#[test]
fn grpc_has_a_status_and_a_pushback_for_each_reason() {
    let expected = [("8", "20"), ("8", "20"), ("3", "-1"), ("8", "-1")];
    for (answer, (status, pushback)) in refusals(&GrpcAnswer).iter().zip(expected) {
        let header = |name| answer.headers()[name].to_str().unwrap();
        assert_eq!((answer.status().as_u16(), header("content-type")), (200, "application/grpc"));
        assert_eq!((header("grpc-status"), header("grpc-retry-pushback-ms")), (status, pushback));
    }
}

#[test]
fn a_part_of_a_millisecond_is_pushed_back_as_a_whole_one() {
    let clock = ManualClock::new();
    let layer = RateLimitLayer::new(bucket(Quota::per_second(50).with_burst(1), &clock)).answering(GrpcAnswer);
    let service = layer.layer(Counting::default());
    ask(&service, Request::new(()));
    clock.advance(Duration::from_nanos(1)); // 19.999999 ms are left
    assert_eq!(ask(&service, Request::new(())).headers()["grpc-retry-pushback-ms"], "20");
}
