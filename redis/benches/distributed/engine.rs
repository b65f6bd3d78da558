//! [`Engine`]: what is compared, and [`Limit`], one of them at work.

use crate::load::{BATCH, LEASE};
use redis::Script;
use redis::aio::MultiplexedConnection;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tollgate::{Quota, TokenBucket};
use tollgate_redis::{DistributedTokenBucket, Refused, Store};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Engine {
    /// Ours, with leases and the task that asks ahead.
    Leases,
    /// Ours, a round trip for each decision.
    Exact,
    /// GCRA as a script, a round trip for each decision.
    GcraScript,
    /// INCR of a key for each second, which EXPIRE ends: a round trip for each decision.
    FixedWindow,
    /// An equal part of the limit in each process, and no server: what a decision from memory takes under the same load.
    Divided,
}

impl Engine {
    pub(crate) const ALL: [Self; 5] = [Self::Leases, Self::Exact, Self::GcraScript, Self::FixedWindow, Self::Divided];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Leases => "leases",
            Self::Exact => "exact",
            Self::GcraScript => "gcra-script",
            Self::FixedWindow => "fixed-window",
            Self::Divided => "divided",
        }
    }

    /// Whether a caller is answered from memory, as a rule.
    pub(crate) fn is_in_memory(self) -> bool {
        matches!(self, Self::Leases | Self::Divided)
    }

    /// The commands of which each is a round trip: a script's own calls are counted by the server too, and are none.
    pub(crate) fn commands(self) -> &'static [&'static str] {
        match self {
            Self::FixedWindow => &["incr", "pexpire"],
            Self::Divided => &[],
            Self::Leases | Self::Exact | Self::GcraScript => &["eval", "evalsha", "script|load"],
        }
    }
}

/// A limit as a process of its users has it.
pub(crate) enum Limit {
    Ours(DistributedTokenBucket),
    Gcra { link: MultiplexedConnection, script: Script, key: String, each: f64, burst: u64 },
    Window { link: MultiplexedConnection, key: String, limit: u64 },
    Divided(TokenBucket),
}

impl Limit {
    pub(crate) async fn open(engine: Engine, url: &str, name: &str, quota: Quota, processes: u32) -> Self {
        if engine == Engine::Divided {
            let part = |tokens: u64| tokens / u64::from(processes);
            let quota = Quota::per(part(quota.tokens()), quota.period()).with_burst(part(quota.burst()));
            return Self::Divided(TokenBucket::new(quota));
        }
        let client = redis::Client::open(url).expect("an address of this machine");
        let ours = |lease| {
            let store = Store::new(client.clone(), Duration::from_millis(500));
            DistributedTokenBucket::new(store, name, "limit", quota, lease).expect("terms that a store can keep")
        };
        if engine == Engine::Leases {
            let bucket = ours(LEASE).with_batch(BATCH).expect("a batch that a lease can hold");
            tokio::spawn(bucket.keep_ahead());
            return Self::Ours(bucket);
        }
        if engine == Engine::Exact {
            return Self::Ours(ours(Duration::ZERO));
        }
        let link = client.get_multiplexed_async_connection().await.expect("the server is there");
        if engine == Engine::FixedWindow {
            return Self::Window { link, key: name.into(), limit: quota.tokens() };
        }
        #[allow(clippy::cast_precision_loss)] // millions
        let each = quota.period().as_secs_f64() * 1e6 / quota.tokens() as f64;
        let script = Script::new(include_str!("gcra.lua"));
        Self::Gcra { link, script, key: name.into(), each, burst: quota.burst() }
    }

    /// Whether one more may go ahead; an error says that there was no decision.
    #[inline]
    pub(crate) async fn decide(&self) -> Result<bool, String> {
        match self {
            Self::Ours(bucket) => match bucket.try_acquire().await {
                Ok(()) => Ok(true),
                Err(Refused::TryAfter(_)) => Ok(false),
                Err(error) => Err(error.to_string()),
            },
            Self::Gcra { link, script, key, each, burst } => {
                let mut call = script.key(key);
                let answer = call.arg(each).arg(burst).invoke_async::<u64>(&mut link.clone()).await;
                answer.map(|admitted| admitted == 1).map_err(|error| error.to_string())
            }
            Self::Window { link, key, limit } => {
                let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
                let (key, mut link) = (format!("{key}:{second}"), link.clone());
                let count = redis::cmd("INCR").arg(&key).query_async::<u64>(&mut link).await;
                if matches!(count, Ok(1)) {
                    let expire = redis::cmd("PEXPIRE").arg(&key).arg(2_000).exec_async(&mut link).await;
                    expire.map_err(|error| error.to_string())?;
                }
                count.map(|count| count <= *limit).map_err(|error| error.to_string())
            }
            Self::Divided(bucket) => Ok(bucket.try_acquire().is_ok()),
        }
    }
}
