//! [`DistributedTokenBucket`]: a limit that any number of processes keep together.

use crate::keys::Namespace;
use crate::member::{Ahead, Member};
use crate::refused::{Degraded, Refused};
use crate::store::{Store, StoreError};
use crate::terms::{Terms, TermsError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate::{Quota, Status};

/// A token bucket that lives in Redis, of which each process holds leases.
///
/// Bound: all processes with this name together admit at most `burst + rate * (t - s)` in any `[s, t]`; see
/// [`centre`](crate::centre) for what that takes. The first start, a store that lost its data, that was started again or
/// replaced by its replica, begin empty, and begin to fill after one lease.
///
/// A call that finds a token in a lease is lock-free: a reading of the clock and one compare-and-swap. Others ask the
/// store, one at a time in each process. Unspent tokens are void at the lease's end: at most two batches per process and lease.
///
/// Make it after a fork, not before: a child has a copy of its parent's leases, and of a connection that is not its own. If
/// it asks the store all the same, it does so under a number of its own, and the copied leases are void from then on.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use tollgate::Quota;
/// use tollgate_redis::{DistributedTokenBucket, Store};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::new(redis::Client::open("redis://127.0.0.1/")?, Duration::from_millis(50));
/// let quota = Quota::per_second(10_000);
/// let bucket = DistributedTokenBucket::new(store, "shop", "orders", quota, Duration::from_millis(100))?;
/// match bucket.try_acquire().await {
///     Ok(()) => {} // go ahead
///     Err(refused) => println!("{refused}"),
/// }
/// bucket.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DistributedTokenBucket(Arc<Member>);

impl DistributedTokenBucket {
    /// The limit `name` of `namespace`, with `quota` over all processes. A `lease` of zero is the exact mode: each decision
    /// is a round trip, and counts at the store's instant.
    ///
    /// The centre has the quota's burst less what falls due in a lease, so a lease is at most half of the burst's time; an
    /// eighth is a good choice. All keys of a namespace share a slot of a cluster.
    ///
    /// # Errors
    ///
    /// A [`TermsError`] that names the limit broken.
    pub fn new(store: Store, namespace: &str, name: &str, quota: Quota, lease: Duration) -> Result<Self, TermsError> {
        let (namespace, terms) = (Namespace::new(namespace)?, Terms::new(quota, lease)?);
        Ok(Self::of(Member::new(store, namespace.keys(name), quota, terms)))
    }

    pub(crate) fn of(member: Member) -> Self {
        Self(Arc::new(member))
    }

    /// As [`new`](Self::new) said, with other batches: at most `tokens` in each lease. The default is what falls due in a lease.
    ///
    /// # Errors
    ///
    /// [`TermsError::Batch`] if `tokens` is none, or more than [`max_cost`](Self::max_cost).
    ///
    /// # Panics
    ///
    /// As all settings: if a task of this bucket runs.
    pub fn with_batch(mut self, tokens: u64) -> Result<Self, TermsError> {
        self.0.terms.check_batch(tokens)?;
        self.settings().batch = tokens;
        Ok(self)
    }

    /// What happens while the store is away.
    ///
    /// # Panics
    ///
    /// As all settings: if a task of this bucket runs.
    #[must_use]
    pub fn with_degraded(mut self, degraded: Degraded) -> Self {
        self.settings().set_degraded(degraded);
        self
    }

    fn settings(&mut self) -> &mut Member {
        Arc::get_mut(&mut self.0).expect("settings come before the task")
    }

    /// Takes a token. See [`try_acquire_n`](Self::try_acquire_n).
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn try_acquire(&self) -> Result<(), Refused> {
        self.try_acquire_n(1).await
    }

    /// Takes `n` tokens, from a lease if it has them, else from the store: one round trip at most, one more if the answer
    /// to an earlier request is still due.
    ///
    /// Dropping the future loses nothing: the request is sent again by the next call within a lease, and answered as before. In
    /// exact mode, where its instant is past, what it drew is given back then, if nobody has drawn since.
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn try_acquire_n(&self, n: u64) -> Result<(), Refused> {
        let max_cost = self.max_cost();
        if n > max_cost {
            return Err(Refused::ExceedsBurst { cost: n, max_cost });
        }
        match self.0.decide(n) {
            Some(decision) => decision,
            None => self.0.fetch(n).await,
        }
    }

    /// Takes `n` tokens from a lease, if one has them; asks nobody. Lock-free, and never waits.
    pub fn try_acquire_local(&self, n: u64) -> bool {
        self.0.spend(n).is_ok()
    }

    /// As [`try_acquire_n`](Self::try_acquire_n), and the [`status`](Self::status) after it: an estimate, not the state that
    /// was decided on, since other processes draw.
    pub async fn try_acquire_n_with_status(&self, n: u64) -> (Result<(), Refused>, Status) {
        (self.try_acquire_n(n).await, self.status())
    }

    /// As [`try_acquire_n_with_status`](Self::try_acquire_n_with_status), for one token.
    pub async fn try_acquire_with_status(&self) -> (Result<(), Refused>, Status) {
        self.try_acquire_n_with_status(1).await
    }

    /// Takes `n` tokens when they fall due, however long that takes, and goes on asking while the store is away.
    ///
    /// Not in the order of arrival: all who wait race for what falls due, in this process and in others. Dropping the
    /// future gives up, and takes nothing.
    ///
    /// # Errors
    ///
    /// A [`Refused`] that waiting does not mend; nothing was taken.
    pub async fn acquire(&self, n: u64) -> Result<(), Refused> {
        self.acquire_until(n, None).await
    }

    /// As [`acquire`](Self::acquire), but refuses at once what would be due after `deadline`, by what is known.
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn acquire_by(&self, n: u64, deadline: Instant) -> Result<(), Refused> {
        self.acquire_until(n, Some(deadline)).await
    }

    /// As [`acquire_by`](Self::acquire_by), in `longest` from now.
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn acquire_within(&self, n: u64, longest: Duration) -> Result<(), Refused> {
        self.acquire_until(n, Instant::now().checked_add(longest)).await
    }

    async fn acquire_until(&self, n: u64, deadline: Option<Instant>) -> Result<(), Refused> {
        loop {
            let Err(refused) = self.try_acquire_n(n).await else { return Ok(()) };
            let wait = match refused {
                Refused::TryAfter(wait) | Refused::Store(StoreError::Pausing(wait)) => wait,
                Refused::Store(StoreError::Away(_) | StoreError::ReadOnly | StoreError::Unexpected) => {
                    Duration::from_millis(10)
                }
                _ => return Err(refused),
            };
            if deadline.is_some_and(|deadline| Instant::now() + wait > deadline) {
                return Err(refused);
            }
            // So that not all who wait come at one instant.
            tokio::time::sleep(wait + Duration::from_micros(fastrand::u64(0..1_000))).await;
        }
    }

    /// What is left: the leases held here, and what the centre has by its last answer, if nobody else has drawn since. Asks
    /// nobody; all zero before the first answer.
    ///
    /// While the centre has less than a quarter of a batch, nobody asks for that, and it is not counted.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// The quota over all processes.
    pub fn quota(&self) -> Quota {
        self.0.quota
    }

    /// The most tokens of one call: the centre's burst, or what a lease can hold.
    pub fn max_cost(&self) -> u64 {
        self.0.max_cost()
    }

    /// The task that asks before the leases run dry, to be spawned; it ends when the bucket is dropped.
    ///
    /// It asks for the next lease when half of the last one is spent, or half of its time is over, so there is one as long
    /// as demand lasts and the limit allows: each half of a lease has a call, and half a batch is spent in no less than a
    /// round trip. Once nobody has touched the lease that it fetched last, it asks for no more until somebody has asked.
    pub fn keep_ahead(&self) -> impl Future<Output = ()> + Send + 'static {
        let weak = Arc::downgrade(&self.0);
        async move {
            let mut last = None;
            while let Some(member) = weak.upgrade() {
                let lease = Duration::from_micros(member.terms.lease.max(4_000));
                match member.top_up(&mut last).await {
                    Ahead::Here => {
                        let _ = tokio::time::timeout(lease / 4, member.low.notified()).await;
                    }
                    Ahead::Later(micros) => {
                        drop(member); // no hold on the bucket while asleep: it may be dropped
                        tokio::time::sleep(Duration::from_micros(micros).min(lease)).await;
                    }
                }
            }
        }
    }

    /// Gives back to the store what is unspent, as far as nobody has drawn since; the rest is void at its end.
    /// Returns how many tokens went back.
    pub async fn shutdown(self) -> u64 {
        self.give_back().await
    }

    pub(crate) async fn give_back(&self) -> u64 {
        self.0.give_back().await
    }

    /// Whether another in its place would be no different: no lease has tokens that can be spent, and the share is whole.
    pub(crate) fn is_as_new(&self) -> bool {
        self.0.held() == 0 && self.0.has_whole_share()
    }
}

/// Gives back as [`shutdown`](DistributedTokenBucket::shutdown) does, if a runtime of tokio is there to do it.
impl Drop for DistributedTokenBucket {
    fn drop(&mut self) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && self.0.held() > 0
        {
            let member = Arc::clone(&self.0);
            runtime.spawn(async move { member.give_back().await });
        }
    }
}
