//! [`Hosts`]: what is known of the other sides.

use super::course::Course;
use super::pace::{Adaptive, Pace};
use core::time::Duration;
use http::header::{HOST, RETRY_AFTER};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, StatusCode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tollgate::{Clock, Denied, Hint, Nanos, Place, Quota, WaitingTokenBucket};

/// Requests to one host stand in this line. It is counted on the host's own time.
pub(super) type Line<C> = WaitingTokenBucket<Arc<Course<Arc<C>>>>;

/// What is known of one host.
pub(super) struct Host<C> {
    course: Arc<Course<Arc<C>>>,
    line: Arc<Line<C>>,
    answers: Mutex<Answers>,
}

/// What answers have come to.
#[derive(Debug, Default)]
struct Answers {
    /// Those since the last change that were no refusals.
    served: u64,
    lowered: Option<Nanos>,
}

impl<C: Clock> Host<C> {
    fn new(pace: &Pace, clock: Arc<C>) -> Self {
        // The course needs no rate where that never changes.
        let (rate, quota) = pace.adaptive.map_or((1, pace.quota), |adaptive| {
            let rate = per_second(pace.quota).clamp(adaptive.least, adaptive.most);
            let quota = Quota::try_new(rate, Duration::from_secs(1), pace.quota.burst());
            (rate, quota.unwrap_or(pace.quota)) // without a limit, say
        });
        let course = Arc::new(Course::new(clock, rate));
        let line = Arc::new(WaitingTokenBucket::with_clock(quota, Duration::MAX, Arc::clone(&course)));
        Self { course, line, answers: Mutex::new(Answers::default()) }
    }

    /// A place in line at `now`, for a request that must go out by `deadline`.
    pub(super) fn reserve(&self, deadline: Nanos, now: Nanos) -> Result<Place<Arc<Line<C>>>, Denied> {
        let too_late = |due: Nanos| Denied::WouldExceedDeadline(Hint::after(due.saturating_since(now)));
        let wait = self.course.until(deadline, now).map_err(too_late)?;
        Arc::clone(&self.line).reserve_owned_within(1, wait).map_err(|denied| match denied {
            Denied::WouldExceedDeadline(hint) | Denied::LineFull(hint) => too_late(self.course.when(hint.due())),
            denied => denied,
        })
    }

    /// The instant at which a place may be used, as it looks now.
    pub(super) fn when(&self, place: &Place<Arc<Line<C>>>) -> Nanos {
        self.course.when(place.due())
    }

    /// Learns from an answer that came at `now`.
    pub(super) fn learn(&self, pace: &Pace, status: StatusCode, headers: &HeaderMap, now: Nanos) {
        let refused = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        if refused && let Some(quiet) = retry_after(headers, SystemTime::now()) {
            self.course.quiet(now.saturating_add(quiet), now);
        }
        if let Some(adaptive) = pace.adaptive {
            self.adapt(adaptive, refused, now);
        }
    }

    fn adapt(&self, adaptive: Adaptive, refused: bool, now: Nanos) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = self.course.rate();
        let target = if refused {
            answers.served = 0;
            // Requests that were under way together are refused together, and say one thing.
            if answers.lowered.is_some_and(|then| now.saturating_since(then) < Duration::from_secs(1)) {
                return;
            }
            answers.lowered = Some(now);
            (rate / 2).max(adaptive.least)
        } else {
            answers.served += 1;
            if answers.served < rate {
                return;
            }
            answers.served = 0;
            rate.saturating_add(adaptive.step).min(adaptive.most)
        };
        self.course.set_rate(target, now);
    }

    /// Whether nobody is in line, nobody owes anything, and the host wants no quiet.
    fn is_idle(&self, now: Nanos) -> bool {
        self.line.status().reset_after.is_zero() && self.course.until(now, now).is_ok()
    }
}

/// A quota's tokens per second, rounded down.
fn per_second(quota: Quota) -> u64 {
    match u64::try_from(quota.period().as_nanos()) {
        Ok(period @ 1..) => {
            let rate = u128::from(quota.tokens()) * 1_000_000_000 / u128::from(period);
            u64::try_from(rate).unwrap_or(u64::MAX)
        }
        _ => quota.tokens(),
    }
}

/// All hosts, within bounds.
pub(super) struct Hosts<C> {
    pub(super) pace: Pace,
    pub(super) clock: Arc<C>,
    known: Mutex<HashMap<String, Arc<Host<C>>>>,
}

impl<C: Clock> Hosts<C> {
    pub(super) fn new(pace: Pace, clock: C) -> Self {
        Self { pace, clock: Arc::new(clock), known: Mutex::new(HashMap::new()) }
    }

    /// The host of this name; `None` where there are too many.
    pub(super) fn of(&self, name: &str) -> Option<Arc<Host<C>>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = known.get(name) {
            return Some(Arc::clone(host));
        }
        if known.len() >= self.pace.hosts {
            let now = self.clock.now();
            known.retain(|_, host| Arc::strong_count(host) > 1 || !host.is_idle(now));
            if known.len() >= self.pace.hosts {
                return None;
            }
        }
        let host = Arc::new(Host::new(&self.pace, Arc::clone(&self.clock)));
        known.insert(name.to_owned(), Arc::clone(&host));
        Some(host)
    }
}

/// The host that a request goes to, in lower case, and its port; empty if it does not say. A name and a password are no part
/// of it: they are nobody's business, and would make many hosts of one.
pub(super) fn name<B>(request: &http::Request<B>) -> String {
    let header = || request.headers().get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let Some(authority) = request.uri().authority().cloned().or_else(header) else { return String::new() };
    let default = if request.uri().scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    format!("{}:{}", authority.host().to_ascii_lowercase(), authority.port_u16().unwrap_or(default))
}

/// What `Retry-After` asks for: seconds, or until a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    httpdate::parse_http_date(value).ok()?.duration_since(now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate::ManualClock;

    fn answer(host: &Host<ManualClock>, pace: &Pace, status: u16, after: Option<&'static str>, now: Nanos) {
        let mut headers = HeaderMap::new();
        if let Some(after) = after {
            headers.insert(RETRY_AFTER, http::HeaderValue::from_static(after));
        }
        host.learn(pace, StatusCode::from_u16(status).unwrap(), &headers, now);
    }

    #[test]
    fn the_rate_is_raised_by_steps_and_halved_by_a_refusal_within_limits() {
        let pace = Pace::new(Quota::per_second(8)).adapting(Adaptive::between(3, 10));
        let clock = ManualClock::new();
        let host = Host::new(&pace, Arc::new(clock));
        let mut now = Nanos::ZERO;
        for expected in [8, 8, 8, 8, 8, 8, 8, 9] {
            answer(&host, &pace, 200, None, now);
            assert_eq!(host.course.rate(), expected);
        }
        for _ in 0..100 {
            answer(&host, &pace, 200, None, now);
        }
        assert_eq!(host.course.rate(), 10, "the most");
        for (after, expected) in [(0, 5), (0, 5), (999, 5), (1, 3), (2_000, 3)] {
            now = now.saturating_add(Duration::from_millis(after));
            answer(&host, &pace, 429, None, now);
            assert_eq!(host.course.rate(), expected, "at {now:?}");
        }
    }

    #[test]
    fn a_host_that_asks_for_quiet_gets_it() {
        let pace = Pace::new(Quota::per_second(100));
        let clock = ManualClock::new();
        let host = Host::new(&pace, Arc::new(clock.clone()));
        let at = Nanos::from_secs;
        answer(&host, &pace, 503, Some("7"), at(1));
        answer(&host, &pace, 429, Some("2"), at(1)); // an earlier end does not count
        answer(&host, &pace, 200, Some("90"), at(1)); // nor does an answer that is no refusal
        clock.set(at(5));
        let late = host.reserve(at(7), at(5)).unwrap_err();
        assert_eq!(late.retry_after(), Some(Duration::from_secs(3)));
        assert_eq!(host.when(&host.reserve(at(8), at(5)).unwrap()), at(8));
    }

    #[test]
    fn dates_are_read_too() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 30);
        let read = |value: &'static str| {
            retry_after(&[(RETRY_AFTER, http::HeaderValue::from_static(value))].into_iter().collect(), now)
        };
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!((read("-1"), read("soon"), read("Sun, 06 Nov 1984 08:49:37 GMT")), (None, None, None));
    }

    #[test]
    fn hosts_are_bounded_and_idle_ones_make_room() {
        let clock = ManualClock::new();
        let hosts = Hosts::new(Pace::new(Quota::per_second(1)).for_hosts(2), clock.clone());
        for name in ["a", "b"] {
            assert!(hosts.of(name).unwrap().reserve(Nanos::ZERO, Nanos::ZERO).unwrap().spend().is_ok());
        }
        assert!(hosts.of("c").is_none(), "both are in debt");
        clock.advance(Duration::from_secs(1));
        assert!(hosts.of("c").is_some());
    }

    #[test]
    fn a_host_is_one_however_it_is_written_and_passwords_are_no_part_of_it() {
        let of = |uri: &str, host: Option<&str>| {
            let mut request = http::Request::builder().uri(uri);
            if let Some(host) = host {
                request = request.header(HOST, host);
            }
            name(&request.body(()).unwrap())
        };
        for uri in ["http://a.example/x", "http://A.Example:80/", "http://user:secret@a.example/"] {
            assert_eq!(of(uri, None), "a.example:80", "{uri}");
        }
        assert_eq!(of("https://a.example/", None), of("https://a.example:443/", None));
        assert_ne!(of("https://a.example/", None), of("http://a.example/", None));
        assert_ne!(of("http://a.example:8080/", None), of("http://a.example/", None));
        assert_eq!(of("http://[2001:DB8::1]/", None), "[2001:db8::1]:80");
        assert_eq!(
            (of("/x", Some("A.example")), of("/x", Some("a.example:80"))),
            ("a.example:80".into(), "a.example:80".into())
        );
        assert_eq!((of("/x", None), of("/x", Some("?"))), (String::new(), String::new()));
        assert_eq!(of("http://a.example/", Some("b.example")), "a.example:80", "where it goes, not what it says");
    }
}
