//! [`Store`]: a connection to Redis that comes back.

use crate::backoff::Backoff;
use crate::reply::{Reply, parse};
use crate::servers::{Connection, Servers};
use redis::{ErrorKind, Script, ServerErrorKind};
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

const DRAW: &str = include_str!("draw.lua");
static DRAW_HASH: LazyLock<String> = LazyLock::new(|| Script::new(DRAW).get_hash().to_owned());

/// Asked by a script, so that in a cluster the server of the limit answers, and not any.
const MEMORY: &str = "local info = redis.pcall('INFO', 'memory') return type(info) == 'string' and info or ''";

/// A connection to Redis, shared by any number of limits. Cloning shares it.
///
/// It is made when it is first needed, so a store that is away is no error here. After a failure the next attempt comes
/// after a pause that doubles from 20 ms to two seconds, with jitter, until there is an answer; meanwhile requests fail at
/// once. A server that has become a replica (`READONLY`) counts as a failure, and so does a reply that answers another request.
///
/// Each new connection first asks what the server does when its memory is full. If it forgets keys, requests are refused
/// with [`StoreError::Forgets`], unless [`with_eviction_allowed`](Self::with_eviction_allowed) says that this is known.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate_redis::Store;
///
/// let client = redis::Client::open("redis://127.0.0.1/")?;
/// let store = Store::new(client, Duration::from_millis(100));
/// # Ok::<(), redis::RedisError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
    may_forget: bool,
}

#[derive(Debug)]
struct Shared {
    timeout: Duration,
    link: Mutex<Link>,
}

#[derive(Debug)]
struct Link {
    servers: Servers,
    open: Option<Open>,
    backoff: Backoff,
    generation: u64,
}

#[derive(Clone)]
struct Open {
    connection: Connection,
    generation: u64,
    eviction: Eviction,
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open")
            .field("generation", &self.generation)
            .field("eviction", &self.eviction)
            .finish_non_exhaustive()
    }
}

/// Why the store gave no answer. More variants may come.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate_redis::StoreError;
///
/// let error = StoreError::Pausing(Duration::from_millis(20));
/// assert_eq!(error.to_string(), "the store could not be reached; the next attempt is due in 20ms");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached, or did not answer in time.
    #[error("the store cannot be reached: {0}")]
    Away(String),
    /// The last attempt failed a moment ago; the next one may come after this time.
    #[error("the store could not be reached; the next attempt is due in {0:?}")]
    Pausing(Duration),
    /// The server has become a replica. The next attempt connects again.
    #[error("the server is a read-only replica")]
    ReadOnly,
    /// The store refused the request.
    #[error("the store refused: {0}")]
    Refused(String),
    /// A reply that is none of ours, or answers another request. The next attempt connects again.
    #[error("the store's reply does not belong to the request")]
    Unexpected,
    /// Other processes use this name with other terms: (tokens, microseconds, burst, lease).
    #[error("others use this name with other terms: {0:?}")]
    OtherTerms([u64; 4]),
    /// The store forgets keys when its memory is full, by the policy of this name, and a limit that is forgotten is as good as
    /// full. Set `maxmemory-policy noeviction`, or say [`Store::with_eviction_allowed`].
    #[error("the store forgets keys when its memory is full: maxmemory-policy is {0}, not noeviction")]
    Forgets(String),
}

/// What the store does when its memory is full.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tollgate_redis::{Eviction, Store, StoreError};
///
/// # async fn example(store: Store) -> Result<(), StoreError> {
/// if store.eviction().await? == Eviction::Unknown {
///     eprintln!("make sure that the store's maxmemory-policy is noeviction");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// It refuses to write: what the bound needs.
    Never,
    /// It forgets keys, by the policy of this name: a limit that is forgotten is as good as full.
    Forgets(String),
    /// It does not say.
    Unknown,
}

impl Eviction {
    fn read(info: &str) -> Self {
        match info.lines().find_map(|line| line.strip_prefix("maxmemory_policy:")).map(str::trim) {
            Some("noeviction") => Self::Never,
            Some(policy) if !policy.is_empty() => Self::Forgets(policy.to_owned()),
            _ => Self::Unknown,
        }
    }
}

impl Store {
    /// A store reached by a client, which has `timeout` for each answer: well under the length of a lease.
    ///
    /// The client is a [`redis::Client`], or with the features `cluster` and `sentinel` a `ClusterClient` or a `SentinelClient`.
    pub fn new(servers: impl Into<Servers>, timeout: Duration) -> Self {
        let servers = servers.into();
        let link = Link { servers, open: None, backoff: Backoff::new(Instant::now()), generation: 0 };
        Self { shared: Arc::new(Shared { timeout, link: Mutex::new(link) }), may_forget: false }
    }

    /// Goes on where the store forgets keys when its memory is full. If it comes to that, the bound is lost: a limit that
    /// was forgotten is as good as full.
    #[must_use]
    pub fn with_eviction_allowed(mut self) -> Self {
        self.may_forget = true;
        self
    }

    /// Whether the store might forget limits. To be asked at the start, and warned about if it is [`Unknown`](Eviction::Unknown).
    ///
    /// # Errors
    ///
    /// If the store cannot be reached.
    pub async fn eviction(&self) -> Result<Eviction, StoreError> {
        self.open("tollgate").await.map(|open| open.eviction)
    }

    /// Draws from the limit that is kept in `keys`.
    pub(crate) async fn draw(&self, keys: [&str; 4], numbers: &[u64]) -> Result<Reply, StoreError> {
        let Open { mut connection, generation, eviction } = self.open(keys[0]).await?;
        if let Eviction::Forgets(policy) = eviction
            && !self.may_forget
        {
            return Err(StoreError::Forgets(policy));
        }
        let call = |name: &str, script: &str| {
            let mut call = redis::cmd(name);
            call.arg(script).arg(keys.len()).arg(&keys).arg(numbers);
            call
        };
        let mut answer = call("EVALSHA", &DRAW_HASH).query_async::<String>(&mut connection).await;
        // Its text instead, which the server then knows. (`Script` would load it, and panic at a reply that is not its hash.)
        if matches!(&answer, Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)) {
            answer = call("EVAL", DRAW).query_async(&mut connection).await;
        }
        let reply = match answer {
            Ok(text) => parse(&text).ok_or(StoreError::Unexpected),
            Err(error) => Err(translate(&error)),
        };
        self.note(generation, reply.as_ref().err()).await;
        reply
    }

    /// Says that the last answer does not belong to its request, so that its connection is given up.
    pub(crate) async fn spoilt(&self) -> StoreError {
        let generation = self.shared.link.lock().await.generation;
        self.note(generation, Some(&StoreError::Unexpected)).await;
        StoreError::Unexpected
    }

    /// The connection of now, or a new one to the server of `key`.
    async fn open(&self, key: &str) -> Result<Open, StoreError> {
        let mut link = self.shared.link.lock().await;
        if let Some(open) = &link.open {
            return Ok(open.clone());
        }
        let pause = link.backoff.left(Instant::now());
        if !pause.is_zero() {
            return Err(StoreError::Pausing(pause));
        }
        match connect(&mut link.servers, self.shared.timeout, key).await {
            Ok((connection, eviction)) => {
                link.generation += 1;
                let open = Open { connection, generation: link.generation, eviction };
                link.open = Some(open.clone());
                Ok(open)
            }
            Err(error) => {
                link.backoff.failed(Instant::now(), fastrand::f64());
                Err(translate(&error))
            }
        }
    }

    /// Notes what came of a request on the connection of `generation`, and gives it up if it is of no more use.
    async fn note(&self, generation: u64, error: Option<&StoreError>) {
        let mut link = self.shared.link.lock().await;
        if link.generation != generation || link.open.is_none() {
            return; // noted already
        }
        match error {
            Some(StoreError::Away(_) | StoreError::ReadOnly | StoreError::Unexpected) => {
                link.open = None;
                link.backoff.failed(Instant::now(), fastrand::f64());
            }
            _ => link.backoff.succeeded(),
        }
    }
}

async fn connect(servers: &mut Servers, timeout: Duration, key: &str) -> redis::RedisResult<(Connection, Eviction)> {
    let mut connection = servers.connect(timeout).await?;
    let eviction = match redis::cmd("EVAL").arg(MEMORY).arg(1).arg(key).query_async::<String>(&mut connection).await {
        Ok(info) => Eviction::read(&info),
        Err(error) if matches!(translate(&error), StoreError::Refused(_) | StoreError::ReadOnly) => Eviction::Unknown,
        Err(error) => return Err(error),
    };
    Ok((connection, eviction))
}

fn translate(error: &redis::RedisError) -> StoreError {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::ReadOnly) => StoreError::ReadOnly,
        // It starts, or its cluster does.
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain,
        ) => StoreError::Away(error.to_string()),
        ErrorKind::Server(_) | ErrorKind::Extension => StoreError::Refused(error.to_string()),
        ErrorKind::UnexpectedReturnType | ErrorKind::Parse => StoreError::Unexpected,
        _ => StoreError::Away(error.to_string()),
    }
}
