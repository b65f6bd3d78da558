//! [`Pace`]: how fast requests may go out.

use core::time::Duration;
use tollgate::Quota;

/// How fast requests go to one host, and how long one may be held back.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate::Quota;
/// use tollgate_tower::client::{Adaptive, Pace};
///
/// // Ten a second, evenly; between one and fifty as the host's refusals show what it bears.
/// let pace = Pace::new(Quota::per_second(10).with_burst(1))
///     .patient_for(Duration::from_secs(5))
///     .adapting(Adaptive::between(1, 50));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    pub(super) quota: Quota,
    pub(super) patience: Duration,
    pub(super) hosts: usize,
    pub(super) adaptive: Option<Adaptive>,
}

impl Pace {
    /// This quota for each host. A request is held back for up to 30 seconds, and 1,000 hosts are known at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::Quota;
    /// use tollgate_tower::client::Pace;
    ///
    /// let pace = Pace::new(Quota::per_second(10));
    /// assert_eq!(pace, pace.patient_for(Duration::from_secs(30)).for_hosts(1_000)); // unless something else is said
    /// ```
    pub const fn new(quota: Quota) -> Self {
        Self { quota, patience: Duration::from_secs(30), hosts: 1_000, adaptive: None }
    }

    /// A request that cannot go out within `patience` fails at once instead.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{convert::Infallible, time::Duration};
    /// use http::{Request, Response};
    /// use tollgate::Quota;
    /// use tollgate_tower::client::{Pace, PaceError, PaceLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let pace = Pace::new(Quota::per_hour(1)).patient_for(Duration::from_secs(1));
    /// let mut client = ServiceBuilder::new()
    ///     .layer(PaceLayer::new(pace))
    ///     .service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(())));
    /// let request = || Request::get("http://example.com/").body(()).unwrap();
    /// assert!(client.call(request()).await.is_ok());
    /// assert!(matches!(client.call(request()).await, Err(PaceError::Denied(_)))); // not an hour later, but now
    /// # }
    /// ```
    #[must_use]
    pub const fn patient_for(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// At most this many hosts at once. One whose bucket is full and that nobody waits for is forgotten for another.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{convert::Infallible, time::Duration};
    /// use http::{Request, Response};
    /// use tollgate::Quota;
    /// use tollgate_tower::client::{Pace, PaceError, PaceLayer};
    /// use tower::{Service, ServiceBuilder};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let pace = Pace::new(Quota::per_hour(1)).for_hosts(1);
    /// let mut client = ServiceBuilder::new()
    ///     .layer(PaceLayer::new(pace))
    ///     .service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::new(())));
    /// assert!(client.call(Request::get("http://a.example/").body(()).unwrap()).await.is_ok());
    /// let other = client.call(Request::get("http://b.example/").body(()).unwrap()).await;
    /// assert_eq!(other.unwrap_err(), PaceError::TooManyHosts);
    /// # }
    /// ```
    #[must_use]
    pub const fn for_hosts(self, hosts: usize) -> Self {
        Self { hosts, ..self }
    }

    /// The rate follows what each host bears. The quota says where it starts.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate::Quota;
    /// use tollgate_tower::client::{Adaptive, Pace};
    ///
    /// let fixed = Pace::new(Quota::per_second(10).with_burst(1));
    /// let adaptive = fixed.adapting(Adaptive::between(1, 50));
    /// assert_ne!(fixed, adaptive);
    /// ```
    #[must_use]
    pub const fn adapting(self, adaptive: Adaptive) -> Self {
        Self { adaptive: Some(adaptive), ..self }
    }
}

/// A rate that is raised by a step when as many answers as go out in a second were no refusals, and halved by a refusal
/// (429 or 503), but no more than once a second: additive increase, multiplicative decrease.
///
/// # Examples
///
/// ```
/// use tollgate_tower::client::Adaptive;
///
/// let adaptive = Adaptive::between(5, 500).by_steps_of(10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) step: u64,
}

impl Adaptive {
    /// Between `least` and `most` requests per second, by steps of one.
    ///
    /// # Panics
    ///
    /// If `least` is 0 or above `most`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_tower::client::Adaptive;
    ///
    /// const ADAPTIVE: Adaptive = Adaptive::between(5, 500); // what is wrong here is not compiled
    /// assert_eq!(ADAPTIVE, ADAPTIVE.by_steps_of(1));
    /// ```
    pub const fn between(least: u64, most: u64) -> Self {
        assert!(0 < least && least <= most, "an adaptive rate lies between 1 and a number that is no smaller");
        Self { least, most, step: 1 }
    }

    /// By steps of `step` requests per second.
    ///
    /// # Examples
    ///
    /// ```
    /// use tollgate_tower::client::Adaptive;
    ///
    /// // From 5 a second to 500 in fifty seconds, or sooner by larger steps.
    /// let quicker = Adaptive::between(5, 500).by_steps_of(50);
    /// assert_ne!(quicker, Adaptive::between(5, 500));
    /// ```
    #[must_use]
    pub const fn by_steps_of(self, step: u64) -> Self {
        Self { step, ..self }
    }
}
