//! [`Hosts`]: what is known of the other sides.

use super::pace::{Adaptive, Pace};
use core::time::Duration;
use http::header::{HOST, RETRY_AFTER};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, StatusCode};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use tollgate::{AdjustError, AdjustableTokenBucket, Clock, Denied, Hint, Nanos, Quota};

/// What is known of one host.
pub(super) struct Host<C> {
    bucket: AdjustableTokenBucket<Arc<C>>,
    /// It has asked for quiet until then, in nanoseconds of the clock.
    quiet_until: AtomicU64,
    rate: Mutex<Rate>,
}

/// An adaptive rate, per second.
struct Rate {
    now: u64,
    /// Answers since the last change that were no refusals.
    served: u64,
    lowered: Option<Nanos>,
}

impl<C: Clock> Host<C> {
    fn new(pace: &Pace, clock: Arc<C>) -> Result<Self, AdjustError> {
        let quota = pace.quota;
        let per_second = match u64::try_from(quota.period().as_nanos()) {
            Ok(period @ 1..) => {
                let rate = u128::from(quota.tokens()) * 1_000_000_000 / u128::from(period);
                u64::try_from(rate).unwrap_or(u64::MAX)
            }
            _ => quota.tokens(),
        };
        let now = pace.adaptive.map_or(per_second, |adaptive| per_second.clamp(adaptive.least, adaptive.most));
        let quota = if pace.adaptive.is_some() { at_rate(now, quota) } else { quota };
        Ok(Self {
            bucket: AdjustableTokenBucket::try_with_clock(quota, clock)?,
            quiet_until: AtomicU64::new(0),
            rate: Mutex::new(Rate { now, served: 0, lowered: None }),
        })
    }

    /// Lets one request out at `now`, or says when to ask again.
    pub(super) fn admit(&self, now: Nanos) -> Result<(), Denied> {
        // An older instant lets a request out that would have been let out a moment ago.
        // ORDERING: Relaxed: the instant stands for itself, and publishes nothing else; the same below.
        let quiet = Nanos(self.quiet_until.load(Relaxed)).saturating_since(now);
        if quiet.is_zero() { self.bucket.try_acquire_n_at(1, now) } else { Err(Denied::TryAfter(Hint::after(quiet))) }
    }

    /// Learns from an answer that came at `now`.
    pub(super) fn learn(&self, pace: &Pace, status: StatusCode, headers: &HeaderMap, now: Nanos) {
        let refused = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
        if refused && let Some(quiet) = retry_after(headers, SystemTime::now()) {
            // ORDERING: Relaxed, as in `admit`: of several answers the latest end stays, whatever their order.
            self.quiet_until.fetch_max(now.saturating_add(quiet).0, Relaxed);
        }
        if let Some(adaptive) = pace.adaptive {
            self.adapt(adaptive, pace.quota, refused, now);
        }
    }

    fn adapt(&self, adaptive: Adaptive, quota: Quota, refused: bool, now: Nanos) {
        let mut rate = self.rate.lock().unwrap_or_else(PoisonError::into_inner);
        let target = if refused {
            rate.served = 0;
            // Requests that were under way together are refused together, and say one thing.
            if rate.lowered.is_some_and(|then| now.saturating_since(then) < Duration::from_secs(1)) {
                return;
            }
            rate.lowered = Some(now);
            (rate.now / 2).max(adaptive.least)
        } else {
            rate.served += 1;
            if rate.served < rate.now {
                return;
            }
            rate.served = 0;
            rate.now.saturating_add(adaptive.step).min(adaptive.most)
        };
        if target != rate.now && self.bucket.set_quota(at_rate(target, quota)).is_ok() {
            rate.now = target;
        }
    }

    fn is_idle(&self, now: Nanos) -> bool {
        // ORDERING: Relaxed, as in `admit`.
        self.bucket.status().reset_after.is_zero() && self.quiet_until.load(Relaxed) <= now.0
    }

    /// The rate in force, per second.
    #[cfg(test)]
    fn rate(&self) -> u64 {
        self.rate.lock().unwrap().now
    }
}

/// `rate` per second, with the burst of `quota`.
fn at_rate(rate: u64, quota: Quota) -> Quota {
    Quota::try_new(rate, Duration::from_secs(1), quota.burst()).unwrap_or(quota)
}

/// All hosts, within bounds.
pub(super) struct Hosts<C> {
    pub(super) pace: Pace,
    pub(super) clock: Arc<C>,
    known: Mutex<HashMap<String, Arc<Host<C>>>>,
}

impl<C: Clock> Hosts<C> {
    pub(super) fn new(pace: Pace, clock: C) -> Result<Self, AdjustError> {
        let clock = Arc::new(clock);
        Host::new(&pace, Arc::clone(&clock))?; // what does not fit is told now
        Ok(Self { pace, clock, known: Mutex::new(HashMap::new()) })
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
        let host = Arc::new(Host::new(&self.pace, Arc::clone(&self.clock)).ok()?);
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
        let host = Host::new(&pace, Arc::new(clock)).unwrap();
        let mut now = Nanos::ZERO;
        for expected in [8, 8, 8, 8, 8, 8, 8, 9] {
            answer(&host, &pace, 200, None, now);
            assert_eq!(host.rate(), expected);
        }
        for _ in 0..100 {
            answer(&host, &pace, 200, None, now);
        }
        assert_eq!((host.rate(), host.bucket.quota().tokens()), (10, 10), "the most");
        for (after, expected) in [(0, 5), (0, 5), (999, 5), (1, 3), (2_000, 3)] {
            now = now.saturating_add(Duration::from_millis(after));
            answer(&host, &pace, 429, None, now);
            assert_eq!(host.rate(), expected, "at {now:?}");
        }
    }

    #[test]
    fn a_host_that_asks_for_quiet_gets_it() {
        let pace = Pace::new(Quota::per_second(100));
        let host = Host::new(&pace, Arc::new(ManualClock::new())).unwrap();
        let at = Nanos::from_secs;
        answer(&host, &pace, 503, Some("7"), at(1));
        answer(&host, &pace, 429, Some("2"), at(1)); // an earlier end does not count
        answer(&host, &pace, 200, Some("90"), at(1)); // nor does an answer that is no refusal
        assert_eq!(host.admit(at(5)).unwrap_err().retry_after(), Some(Duration::from_secs(3)));
        assert!(host.admit(at(8)).is_ok());
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
        let hosts = Hosts::new(Pace::new(Quota::per_second(1)).for_hosts(2), clock.clone()).unwrap();
        for name in ["a", "b"] {
            assert!(hosts.of(name).unwrap().admit(Nanos::ZERO).is_ok());
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
