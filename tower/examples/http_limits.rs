//! An HTTP server with three limits from a file: for all, for each client, and for one route.
//!
//! ```text
//! cargo run -p tollgate-tower --features axum --example http_limits [limits.toml [state.bin]]
//! for i in $(seq 12); do curl -si http://127.0.0.1:8080/search | grep -i ratelimit; done
//! kill -HUP  <pid>    # reads the file again; what was spent stays spent
//! kill -TERM <pid>    # saves what was spent, for the next start
//! ```
//!
//! `LIMITS_ADDRESS` is where it listens, `127.0.0.1:8080` if it is not set.
//!
//! All three change while the server runs, that of every client at once.

use core::error::Error;
use core::net::SocketAddr;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::{Router, routing::get};
use tokio::signal::unix::{SignalKind, signal};
use tollgate::{AdjustableTokenBucket, ClientKey, DefaultClock, KeyedLimiter, Quota, SeededState, Snapshot};
use tollgate_tower::key::PeerAddress;
use tollgate_tower::{Dialect, Keyless, Policy, RateLimitLayer};

/// Used when no file is named.
const DEFAULTS: &str = r#"
all    = "1000/s"
client = "600/min burst 20"
search = "5/s burst 10"
"#;

type Failure = Box<dyn Error + Send + Sync>;

/// What the file says.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    all: Quota,
    client: Quota,
    search: Quota,
}

impl Settings {
    fn read(file: Option<&Path>) -> Result<Self, Failure> {
        let text = file.map_or_else(|| Ok(DEFAULTS.to_owned()), fs::read_to_string)?;
        Ok(toml::from_str(&text)?)
    }
}

/// The limiters, which the layer has a share in.
#[derive(Clone)]
struct Limits {
    all: Arc<AdjustableTokenBucket>,
    client: Arc<KeyedLimiter<ClientKey, SeededState>>,
    search: Arc<AdjustableTokenBucket>,
}

impl Limits {
    /// Room for 100,000 clients in debt at once: 2.5 MiB. The seed is a secret of this service's, and the same at each start.
    fn client(quota: Quota) -> Result<KeyedLimiter<ClientKey, SeededState>, Failure> {
        let seed = std::env::var("LIMITS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5EED);
        Ok(KeyedLimiter::try_with_hasher_and_clock(quota, 100_000, SeededState::new(seed), DefaultClock)?)
    }

    fn new(settings: &Settings) -> Result<Self, Failure> {
        Ok(Self {
            all: Arc::new(AdjustableTokenBucket::try_new(settings.all)?),
            client: Arc::new(Self::client(settings.client)?),
            search: Arc::new(AdjustableTokenBucket::try_new(settings.search)?),
        })
    }

    /// What was saved, as it would be by now.
    fn restored(settings: &Settings, state: &Path) -> Result<Self, Failure> {
        let mut state = BufReader::new(File::open(state)?);
        let all = Self::bucket(settings.all, &Snapshot::read_from(&mut state)?)?;
        let search = Self::bucket(settings.search, &Snapshot::read_from(&mut state)?)?;
        let client = Self::client(settings.client)?.restored(&mut state)?;
        Ok(Self { all: Arc::new(all), client: Arc::new(client), search: Arc::new(search) })
    }

    /// A bucket as it was saved, which then gets the file's quota.
    fn bucket(quota: Quota, snapshot: &Snapshot) -> Result<AdjustableTokenBucket, Failure> {
        let bucket = AdjustableTokenBucket::try_new(snapshot.quota())?;
        bucket.restore(snapshot)?;
        bucket.set_quota(quota)?;
        Ok(bucket)
    }

    /// Whole, or not at all: what was saved before stays until this is complete.
    fn save(&self, state: &Path) -> Result<(), Failure> {
        let mut unfinished = state.as_os_str().to_owned();
        unfinished.push(".new");
        let mut file = BufWriter::new(File::create(&unfinished)?);
        self.all.snapshot().write_to(&mut file)?;
        self.search.snapshot().write_to(&mut file)?;
        self.client.save(&mut file)?;
        file.into_inner()?.sync_all()?;
        Ok(std::fs::rename(unfinished, state)?)
    }

    /// The quotas of the file, from now on. What was spent stays spent.
    fn change(&self, settings: &Settings) -> Result<(), Failure> {
        self.all.set_quota(settings.all)?;
        self.search.set_quota(settings.search)?;
        self.client.set_quota(settings.client)?;
        Ok(())
    }

    fn layer(&self) -> RateLimitLayer {
        RateLimitLayer::of([
            Policy::per_key(Arc::clone(&self.client), PeerAddress::new(), Keyless::Reject).named("client"),
            Policy::new(Arc::clone(&self.search)).named("search").only(|request| request.uri.path() == "/search"),
            Policy::new(Arc::clone(&self.all)).named("all"),
        ])
        .telling(Dialect::Draft8To11)
        .telling_the_admitted()
    }
}

fn router(limits: &Limits) -> Router {
    Router::new().route("/", get(async || "hello\n")).route("/search", get(async || "found\n")).layer(limits.layer())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (file, state) = (arguments.next(), arguments.next());
    let settings = Settings::read(file.as_deref())?;
    let limits = match state.as_deref().map(|state| Limits::restored(&settings, state)) {
        Some(Ok(limits)) => limits,
        Some(Err(error)) if error.downcast_ref::<std::io::Error>().is_none_or(|e| e.kind() != ErrorKind::NotFound) => {
            eprintln!("starting without what was saved: {error}");
            Limits::new(&settings)?
        }
        _ => Limits::new(&settings)?,
    };

    let reloading = limits.clone();
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match Settings::read(file.as_deref()).and_then(|settings| reloading.change(&settings)) {
                Ok(()) => println!("limits were read again"),
                Err(error) => eprintln!("the old limits stay: {error}"),
            }
        }
    });

    let mut terminate = signal(SignalKind::terminate())?;
    let address = std::env::var("LIMITS_ADDRESS").unwrap_or_else(|_| String::from("127.0.0.1:8080"));
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("process {}, listening on http://{}", std::process::id(), listener.local_addr()?);
    axum::serve(listener, router(&limits).into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(async move {
            terminate.recv().await;
        })
        .await?;
    if let Some(state) = state {
        limits.save(&state)?;
    }
    Ok(())
}
