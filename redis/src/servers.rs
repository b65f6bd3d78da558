//! [`Servers`]: where the store is, and connections to it.

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisFuture, RedisResult, Value};
use std::fmt;
use std::time::Duration;

/// One server, or with the features `cluster` and `sentinel` a cluster, or whom the sentinels name: made from the client
/// of each kind.
///
/// # Examples
///
/// ```
/// use tollgate_redis::Servers;
///
/// let servers = Servers::from(redis::Client::open("redis://127.0.0.1/")?);
/// # Ok::<(), redis::RedisError>(())
/// ```
pub struct Servers(Kind);

enum Kind {
    One(Box<redis::Client>),
    #[cfg(feature = "cluster")]
    Cluster(Box<redis::cluster::ClusterClient>),
    #[cfg(feature = "sentinel")]
    Sentinel(Box<redis::sentinel::SentinelClient>),
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::One(_) => "one server", // without its address, in which there may be a password
            #[cfg(feature = "cluster")]
            Kind::Cluster(_) => "a cluster",
            #[cfg(feature = "sentinel")]
            Kind::Sentinel(_) => "whom the sentinels name",
        })
    }
}

impl From<redis::Client> for Servers {
    fn from(client: redis::Client) -> Self {
        Self(Kind::One(Box::new(client)))
    }
}

#[cfg(feature = "cluster")]
impl From<redis::cluster::ClusterClient> for Servers {
    fn from(client: redis::cluster::ClusterClient) -> Self {
        Self(Kind::Cluster(Box::new(client)))
    }
}

#[cfg(feature = "sentinel")]
impl From<redis::sentinel::SentinelClient> for Servers {
    fn from(client: redis::sentinel::SentinelClient) -> Self {
        Self(Kind::Sentinel(Box::new(client)))
    }
}

impl Servers {
    /// A connection on which each answer has `timeout`.
    #[cfg_attr(not(feature = "sentinel"), allow(clippy::needless_pass_by_ref_mut))] // whom sentinels name is remembered
    pub(crate) async fn connect(&mut self, timeout: Duration) -> RedisResult<Connection> {
        let patience = timeout.max(Duration::from_millis(100));
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(Some(patience)).set_response_timeout(Some(timeout));
        match &mut self.0 {
            Kind::One(client) => {
                client.get_multiplexed_async_connection_with_config(&config).await.map(Connection::One)
            }
            #[cfg(feature = "cluster")]
            Kind::Cluster(client) => {
                let config =
                    redis::cluster::ClusterConfig::new().set_connection_timeout(patience).set_response_timeout(timeout);
                client.get_async_connection_with_config(config).await.map(Connection::Cluster)
            }
            #[cfg(feature = "sentinel")]
            Kind::Sentinel(client) => client.get_async_connection_with_config(&config).await.map(Connection::One),
        }
    }
}

/// A connection; clones share it.
#[derive(Clone)]
pub(crate) enum Connection {
    One(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(connection) => connection.req_packed_command(cmd),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(connection) => connection.req_packed_commands(pipeline, offset, count),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(connection) => connection.get_db(),
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}
