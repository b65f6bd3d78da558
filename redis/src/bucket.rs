//! [`DistributedTokenBucket`]: a limit that any number of processes keep together.

use crate::centre::{Request, Seen};
use crate::clock;
use crate::lease::{Leases, MOST};
use crate::reply::Reply;
use crate::store::{Store, StoreError};
use crate::terms::{Terms, TermsError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tollgate::{Quota, Status, TokenBucket};

/// The part of a lease that is given up for clocks whose rates differ, and for the rounding of its end: one in this many.
const MARGIN: u64 = 100;

/// What happens while the store cannot be reached and no lease is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Degraded {
    /// Nothing is admitted.
    #[default]
    Deny,
    /// This process admits by a quota of its own. Each process that does so adds to the bound what that quota admits:
    /// its burst, and its rate for as long as the store is away.
    Share(Quota),
}

/// Why a call was not admitted.
#[must_use = "a refused call must not go ahead"]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Not now. The tokens fall due after this time, by the state of the store that was last seen.
    #[error("rate limited: try again after {0:?}")]
    TryAfter(Duration),
    /// Never: one call can cost no more than `max_cost`.
    #[error("a cost of {cost} can never be admitted: at most {max_cost} at once")]
    ExceedsBurst {
        /// What was asked for, in tokens.
        cost: u64,
        /// The most that one call can cost.
        max_cost: u64,
    },
    /// No lease is left, and the store gave no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A token bucket that lives in Redis, of which each process holds leases.
///
/// Bound: all processes with this name together admit at most `burst + rate * (t - s)` in any `[s, t]`; see
/// [`centre`](crate::centre) for what that takes. The first start, a store that lost its data, that was started again or
/// replaced by its replica, begin empty, and begin to fill after one lease.
///
/// A call that finds a token in a lease is lock-free: a reading of the clock and one compare-and-swap. Others ask the
/// store, one at a time in each process. Unspent tokens are void at the lease's end: at most two batches per process and lease.
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
pub struct DistributedTokenBucket(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    quota: Quota,
    terms: Terms,
    keys: [String; 4],
    instance: u64,
    batch: u64,
    leases: Leases,
    asking: Mutex<Asking>,
    low: Notify,
    local: Option<TokenBucket>,
}

/// What only the one who asks the store may see.
#[derive(Debug, Default)]
struct Asking {
    sequence: u64,
    seen: Seen,
    /// A request whose answer has not come, and when it was noted.
    pending: Option<(Request, u64)>,
    /// The last stretch granted, the end of its lease here, and how many of its tokens were deposited.
    last: Option<(Seen, u64, u64)>,
    /// What the task deposited last: tokens and the end of their lease. If nobody has touched it, it asks for no more.
    ahead: Option<(u64, u64)>,
    /// At least this cost was refused, and will be until then.
    dry: Option<(u64, u64)>,
}

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
        let terms = Terms::new(quota, lease)?;
        let instance = fastrand::u64(1..1 << 53);
        let keys = [
            format!("{{{namespace}}}:marker"),
            format!("{{{namespace}}}:{name}"),
            format!("{{{namespace}}}:{name}:answer:{instance}"),
            format!("{{{namespace}}}:{name}:seen"),
        ];
        let batch = terms.due(terms.lease).min(terms.burst).clamp(1, MOST);
        let (leases, asking, low) = (Leases::default(), Mutex::default(), Notify::new());
        Ok(Self(Arc::new(Shared { store, quota, terms, keys, instance, batch, leases, asking, low, local: None })))
    }

    /// As [`new`](Self::new) said, with other batches: at most `tokens` in each lease (1 to 1 048 575; not more than the centre's
    /// burst). The default is what falls due in a lease.
    ///
    /// # Panics
    ///
    /// If `tokens` is out of that range.
    #[must_use]
    pub fn with_batch(mut self, tokens: u64) -> Self {
        assert!((1..=MOST.min(self.0.terms.burst)).contains(&tokens), "a batch that no lease can hold");
        self.settings().batch = tokens;
        self
    }

    /// What happens while the store is away.
    #[must_use]
    pub fn with_degraded(mut self, degraded: Degraded) -> Self {
        self.settings().local = match degraded {
            Degraded::Deny => None,
            Degraded::Share(quota) => Some(TokenBucket::new(quota)),
        };
        self
    }

    fn settings(&mut self) -> &mut Shared {
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
    /// Dropping the future loses nothing: the request is sent again by the next call, and answered as before.
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn try_acquire_n(&self, n: u64) -> Result<(), Refused> {
        let max_cost = self.max_cost();
        if n > max_cost {
            return Err(Refused::ExceedsBurst { cost: n, max_cost });
        }
        if self.try_acquire_local(n) {
            return Ok(());
        }
        self.0.fetch(n).await
    }

    /// Takes `n` tokens from a lease, if one has them; asks nobody. Lock-free, and never waits.
    pub fn try_acquire_local(&self, n: u64) -> bool {
        self.0.spend(n)
    }

    /// Takes `n` tokens when they fall due; waits at most `longest`, and refuses at once what would take longer.
    ///
    /// Not in the order of arrival: all who wait race for what falls due, in this process and in others.
    ///
    /// # Errors
    ///
    /// A [`Refused`]; nothing was taken.
    pub async fn acquire_within(&self, n: u64, longest: Duration) -> Result<(), Refused> {
        let deadline = tokio::time::Instant::now() + longest;
        loop {
            let Err(refused) = self.try_acquire_n(n).await else { return Ok(()) };
            let wait = match refused {
                Refused::TryAfter(wait) | Refused::Store(StoreError::Pausing(wait)) => wait,
                Refused::Store(StoreError::Away(_) | StoreError::ReadOnly | StoreError::Unexpected) => {
                    Duration::from_millis(10)
                }
                _ => return Err(refused),
            };
            if tokio::time::Instant::now() + wait > deadline {
                return Err(refused);
            }
            tokio::time::sleep(wait + Duration::from_micros(fastrand::u64(0..1_000))).await;
        }
    }

    /// What is left, by the store's state that was last seen and the leases of this process. Asks nobody. In exact mode what others
    /// have drawn since is not seen.
    pub async fn status(&self) -> Status {
        let shared = &self.0;
        let seen = shared.asking.lock().await.seen;
        let held = shared.leases.held(clock::now());
        let start = seen.epoch + shared.terms.lease;
        let central = shared.terms.due(seen.instant.saturating_sub(start)).saturating_sub(seen.position);
        let remaining = (held + central).min(shared.quota.burst());
        let until =
            |position: u64| Duration::from_micros((start + shared.terms.until(position)).saturating_sub(seen.instant));
        let retry = if remaining > 0 { Duration::ZERO } else { until(seen.position + 1) };
        Status::new(shared.quota.burst(), remaining, Some(retry), until(seen.position + shared.terms.burst))
    }

    /// The quota over all processes.
    pub fn quota(&self) -> Quota {
        self.0.quota
    }

    /// The most tokens of one call: the centre's burst, or what a lease can hold.
    pub fn max_cost(&self) -> u64 {
        self.0.terms.burst.min(MOST)
    }

    /// The task that asks before the leases run dry, to be spawned; it ends when the bucket is dropped.
    ///
    /// It asks for the second lease when the first is spent, and again when the last one is about to end, if it was used.
    pub fn keep_ahead(&self) -> impl Future<Output = ()> + Send + 'static {
        let weak = Arc::downgrade(&self.0);
        async move {
            while let Some(shared) = weak.upgrade() {
                let pause = shared.top_up().await;
                // No hold on the bucket while asleep: it may be dropped.
                let lease = Duration::from_micros(shared.terms.lease.max(4_000));
                if pause.is_zero() {
                    let _ = tokio::time::timeout(lease / 4, shared.low.notified()).await;
                } else {
                    drop(shared);
                    tokio::time::sleep(pause.min(lease)).await;
                }
            }
        }
    }

    /// Gives back to the store what is unspent of the last lease, if nobody has drawn since; the rest is void at its end.
    /// Returns how many tokens went back.
    pub async fn shutdown(self) -> u64 {
        self.0.give_back().await
    }
}

/// Gives back as [`shutdown`](DistributedTokenBucket::shutdown) does, if a runtime of tokio is there to do it.
impl Drop for DistributedTokenBucket {
    fn drop(&mut self) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && self.0.leases.held(clock::now()) > 0
        {
            let shared = Arc::clone(&self.0);
            runtime.spawn(async move { shared.give_back().await });
        }
    }
}

impl Shared {
    /// Takes `n` tokens from a lease. Whoever empties one wakes the task.
    #[inline]
    fn spend(&self, n: u64) -> bool {
        if n == 0 {
            return true;
        }
        match self.leases.spend(n, clock::now) {
            Some(left) => {
                if left == 0 {
                    self.low.notify_one();
                }
                true
            }
            None => false,
        }
    }

    /// Takes `n` tokens from the store, or what another call has fetched meanwhile.
    async fn fetch(&self, n: u64) -> Result<(), Refused> {
        let mut asking = self.asking.lock().await;
        if self.spend(n) {
            return Ok(());
        }
        let now = clock::now();
        if let Some((cost, until)) = asking.dry
            && n >= cost
            && now < until
        {
            return Err(Refused::TryAfter(Duration::from_micros(until - now)));
        }
        if asking.pending.is_some() {
            self.ask(&mut asking, 0, 0).await.or_else(|error| self.degraded(n, error).map(|()| None))?;
            if self.spend(n) {
                return Ok(());
            }
        }
        match self.ask(&mut asking, n, self.batch.max(n)).await {
            Ok(Some(spent)) if spent => Ok(()),
            Ok(_) => Err(Refused::TryAfter(self.wait(&mut asking, n))),
            Err(error) => self.degraded(n, error),
        }
    }

    fn degraded(&self, n: u64, error: StoreError) -> Result<(), Refused> {
        match (&self.local, &error) {
            (Some(local), StoreError::Away(_) | StoreError::Pausing(_) | StoreError::ReadOnly) => {
                local.try_acquire_n(n).map_err(|denied| match denied.retry_after() {
                    Some(wait) => Refused::TryAfter(wait),
                    None => Refused::ExceedsBurst { cost: n, max_cost: local.max_cost() },
                })
            }
            _ => Err(error.into()),
        }
    }

    /// When `n` tokens are there, by the state last seen, if nobody else draws.
    fn wait(&self, asking: &mut Asking, n: u64) -> Duration {
        let seen = asking.seen;
        let due = seen.epoch + self.terms.lease + self.terms.until(seen.position + n);
        let wait = due.saturating_sub(seen.instant).max(1);
        asking.dry = Some((n, clock::now() + wait));
        Duration::from_micros(wait)
    }

    /// Sends a request, or the pending one again. Spends `least` of what is granted at once, if the lease has not ended, and
    /// deposits the rest; says whether it did.
    async fn ask(&self, asking: &mut Asking, least: u64, most: u64) -> Result<Option<bool>, StoreError> {
        let now = clock::now();
        let again = asking.pending.take().filter(|(_, noted)| now < noted + self.terms.lease);
        let resent = again.is_some();
        if !resent && most == 0 {
            return Ok(None);
        }
        // Rule 8: noted before it is sent, and not noted again when it is sent again.
        let (request, noted) = again.unwrap_or_else(|| {
            asking.sequence += 1;
            (Request { instance: self.instance, sequence: asking.sequence, least, most, seen: asking.seen }, now)
        });
        asking.pending = Some((request, noted));
        let Terms { tokens, micros, burst, lease } = self.terms;
        let Request { instance, sequence, seen, .. } = request;
        let numbers = [
            tokens,
            micros,
            burst,
            lease,
            instance,
            sequence,
            request.least,
            request.most,
            seen.epoch,
            seen.instant,
            seen.position,
        ];
        let answer = match self.store.draw(&self.keys, &numbers).await? {
            Reply::Answer(answer) => answer,
            Reply::Old => return Err(self.store.spoilt().await),
            Reply::Terms(terms) => {
                asking.pending = None;
                return Err(StoreError::OtherTerms(terms));
            }
        };
        // Rule 9.
        if (answer.instance, answer.sequence) != (instance, sequence) || answer.granted > request.most {
            return Err(self.store.spoilt().await);
        }
        asking.pending = None;
        asking.dry = None;
        asking.seen = if asking.seen.epoch == answer.seen.epoch { asking.seen.max(answer.seen) } else { answer.seen };
        if answer.granted == 0 {
            return Ok(Some(false));
        }
        let now = clock::now();
        if lease == 0 {
            return Ok(Some(true)); // counts at the store's instant
        }
        let end = noted + lease - lease / MARGIN;
        if now >= end {
            return Ok(Some(false));
        }
        // What was asked for by a call that is gone is deposited whole.
        let spent = if resent { 0 } else { least };
        if answer.granted > spent {
            self.leases.deposit(answer.granted - spent, end, now);
        }
        asking.last = Some((answer.seen, end, answer.granted - spent));
        Ok(Some(!resent))
    }

    /// Fetches a lease if there is room for one; says how long to leave it then.
    async fn top_up(&self) -> Duration {
        let mut asking = self.asking.lock().await;
        let unused = asking.ahead.is_some_and(|(tokens, end)| self.leases.is_untouched(tokens, end));
        if self.terms.lease == 0 || unused || !self.leases.has_room(clock::now()) {
            return Duration::ZERO;
        }
        // `least` is what is spent at once: nothing here.
        let answer = self.ask(&mut asking, 0, self.batch).await;
        asking.ahead = asking.last.filter(|_| matches!(answer, Ok(Some(true)))).map(|(_, end, tokens)| (tokens, end));
        match answer {
            Ok(Some(false)) => self.wait(&mut asking, 1),
            Ok(_) => Duration::ZERO,
            Err(_) => Duration::from_millis(10 + fastrand::u64(0..10)),
        }
    }

    async fn give_back(&self) -> u64 {
        let mut asking = self.asking.lock().await;
        let Some((seen, end, _)) = asking.last.take() else { return 0 };
        let unspent = self.leases.take_all(end, clock::now());
        if unspent == 0 {
            return 0;
        }
        let start = seen.position - unspent;
        match self.store.give_back(&self.keys[..2], &[seen.epoch, start, seen.position]).await {
            Ok(true) => {
                asking.seen.position = start;
                unspent
            }
            _ => 0,
        }
    }
}
