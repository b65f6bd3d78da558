//! [`Store`]: a connection to Redis that comes back.

use crate::reply::{Reply, parse};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ErrorKind, Script, ServerErrorKind};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

static DRAW: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("draw.lua")));

const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A connection to Redis, shared by any number of limits. Cloning shares it.
///
/// It is made when it is first needed, so a store that is away is no error here. After a failure the next attempt comes
/// after a pause that doubles up to two seconds, with jitter; meanwhile requests fail at once. A server that has become a
/// replica (`READONLY`) counts as a failure, and so does a reply that answers another request.
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
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: redis::Client,
    timeout: Duration,
    link: Mutex<Link>,
}

#[derive(Debug)]
struct Link {
    connection: Option<MultiplexedConnection>,
    not_before: Instant,
    pause: Duration,
    generation: u64,
}

/// Why the store gave no answer. More variants may come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached, or did not answer in time.
    #[error("the store cannot be reached: {0}")]
    Away(String),
    /// The last attempt failed a moment ago; the next one may come after this time.
    #[error("the store could not be reached; the next attempt is due in {0:?}")]
    Pausing(Duration),
    /// The server has become a replica. The next request connects again.
    #[error("the server is a read-only replica")]
    ReadOnly,
    /// The store refused the request.
    #[error("the store refused: {0}")]
    Refused(String),
    /// A reply that is none of ours, or answers another request. The next request connects again.
    #[error("the store's reply does not belong to the request")]
    Unexpected,
    /// Other processes use this name with other terms: (tokens, microseconds, burst, lease).
    #[error("others use this name with other terms: {0:?}")]
    OtherTerms([u64; 4]),
}

/// What the store does when its memory is full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// It refuses to write: what the bound needs.
    Never,
    /// It forgets keys, by the policy of this name: a limit that is forgotten is as good as full.
    Forgets(String),
    /// It does not say.
    Unknown,
}

impl Store {
    /// A store reached by `client`, which has `timeout` for each answer: well under the length of a lease.
    pub fn new(client: redis::Client, timeout: Duration) -> Self {
        let link = Link { connection: None, not_before: Instant::now(), pause: SHORTEST_PAUSE, generation: 0 };
        Self(Arc::new(Inner { client, timeout, link: Mutex::new(link) }))
    }

    /// Whether the store might forget limits. To be asked at the start, and warned about.
    ///
    /// # Errors
    ///
    /// If the store cannot be reached.
    pub async fn eviction(&self) -> Result<Eviction, StoreError> {
        let (mut connection, generation) = self.connection().await?;
        let mut ask = redis::cmd("CONFIG");
        ask.arg("GET").arg("maxmemory-policy");
        match ask.query_async::<Vec<String>>(&mut connection).await {
            Ok(answer) => Ok(match answer.get(1).map(String::as_str) {
                Some("noeviction") => Eviction::Never,
                Some(policy) => Eviction::Forgets(policy.to_owned()),
                None => Eviction::Unknown,
            }),
            Err(error) => match self.failed(&error, generation).await {
                StoreError::Refused(_) => Ok(Eviction::Unknown),
                error => Err(error),
            },
        }
    }

    pub(crate) async fn draw(&self, keys: [&str; 4], numbers: &[u64]) -> Result<Reply, StoreError> {
        let (mut connection, generation) = self.connection().await?;
        let mut call = DRAW.prepare_invoke();
        for key in keys {
            call.key(key);
        }
        for number in numbers {
            call.arg(number);
        }
        match call.invoke_async::<String>(&mut connection).await {
            Ok(text) => match parse(&text) {
                Some(reply) => Ok(reply),
                None => Err(self.unexpected(generation).await),
            },
            Err(error) => Err(self.failed(&error, generation).await),
        }
    }

    /// The connection of now, or a new one.
    async fn connection(&self) -> Result<(MultiplexedConnection, u64), StoreError> {
        let mut link = self.0.link.lock().await;
        if let Some(connection) = &link.connection {
            return Ok((connection.clone(), link.generation));
        }
        let pause = link.not_before.saturating_duration_since(Instant::now());
        if !pause.is_zero() {
            return Err(StoreError::Pausing(pause));
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.0.timeout.max(Duration::from_millis(100))))
            .set_response_timeout(Some(self.0.timeout));
        match self.0.client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(connection) => {
                link.connection = Some(connection.clone());
                link.generation += 1;
                link.pause = SHORTEST_PAUSE;
                Ok((connection, link.generation))
            }
            Err(error) => {
                link.not_before = Instant::now() + link.pause.mul_f64(0.5 + fastrand::f64());
                link.pause = (link.pause * 2).min(LONGEST_PAUSE);
                Err(StoreError::Away(error.to_string()))
            }
        }
    }

    /// Gives up the connection of `generation`, unless it has been replaced.
    async fn give_up(&self, generation: u64) {
        let mut link = self.0.link.lock().await;
        if link.generation == generation {
            link.connection = None;
        }
    }

    async fn unexpected(&self, generation: u64) -> StoreError {
        self.give_up(generation).await;
        StoreError::Unexpected
    }

    /// The generation of the connection of now: an answer that does not belong to its request spoils it.
    pub(crate) async fn spoilt(&self) -> StoreError {
        let generation = self.0.link.lock().await.generation;
        self.unexpected(generation).await
    }

    async fn failed(&self, error: &redis::RedisError, generation: u64) -> StoreError {
        let error = match error.kind() {
            ErrorKind::Server(ServerErrorKind::ReadOnly) => StoreError::ReadOnly,
            ErrorKind::Server(_) | ErrorKind::Extension => return StoreError::Refused(error.to_string()),
            ErrorKind::UnexpectedReturnType | ErrorKind::Parse => StoreError::Unexpected,
            _ => StoreError::Away(error.to_string()),
        };
        self.give_up(generation).await;
        error
    }
}
