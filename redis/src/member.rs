//! [`Member`]: the part that this process has in a limit: its leases, and its way to the centre.

use crate::asking::Asking;
use crate::centre::{Request, Seen};
use crate::clock;
use crate::keys::Keys;
use crate::lease::{Leases, MOST, Spent};
use crate::quiet::Quiet;
use crate::refused::{Degraded, Refused};
use crate::reply::Reply;
use crate::store::{Store, StoreError};
use crate::terms::Terms;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tollgate::{Quota, Status, TokenBucket};

#[derive(Debug)]
pub(crate) struct Member {
    store: Store,
    pub(crate) quota: Quota,
    pub(crate) terms: Terms,
    keys: Keys,
    pub(crate) batch: u64,
    leases: Leases,
    quiet: Quiet,
    asking: Mutex<Asking>,
    /// What was seen last, and this clock then.
    learned: std::sync::Mutex<(Seen, u64)>,
    pub(crate) low: Notify,
    local: Option<TokenBucket>,
}

/// A lease as it was deposited, and the request that brought it.
pub(crate) struct Untouched {
    tokens: u64,
    end: u64,
    sequence: u64,
}

/// How the next lease stands.
pub(crate) enum Ahead {
    /// It is here, or nobody needs it: look again when the leases are low, or in a part of a lease.
    Here,
    /// There is none before so many microseconds are over.
    Later(u64),
}

impl Member {
    pub(crate) fn new(store: Store, keys: Keys, quota: Quota, terms: Terms) -> Self {
        Self {
            store,
            quota,
            terms,
            keys,
            batch: terms.due(terms.lease).min(terms.burst).clamp(1, MOST),
            leases: Leases::default(),
            quiet: Quiet::default(),
            asking: Mutex::new(Asking::new(terms)),
            learned: std::sync::Mutex::default(),
            low: Notify::new(),
            local: None,
        }
    }

    pub(crate) fn set_degraded(&mut self, degraded: Degraded) {
        self.local = match degraded {
            Degraded::Deny => None,
            Degraded::Share(quota) => Some(TokenBucket::new(quota)),
        };
    }

    pub(crate) fn max_cost(&self) -> u64 {
        self.terms.largest_batch()
    }

    /// Takes `n` tokens from a lease, or says from what was seen last that there are none; `None` if only the centre knows.
    #[inline]
    pub(crate) fn decide(&self, n: u64) -> Option<Result<(), Refused>> {
        match self.spend(n) {
            Ok(()) => Some(Ok(())),
            Err(now) => {
                let left = self.quiet.left(n, now)?;
                Some(Err(Refused::TryAfter(Duration::from_micros(left))))
            }
        }
    }

    /// Takes `n` tokens from a lease, or none, as of the instant returned. Whoever leaves little wakes the task.
    #[inline]
    pub(crate) fn spend(&self, n: u64) -> Result<(), u64> {
        if n == 0 {
            return Ok(());
        }
        match self.leases.spend(n, clock::now) {
            Spent::Low => self.low.notify_one(),
            Spent::Enough => {}
            Spent::Nothing(now) => return Err(now),
        }
        Ok(())
    }

    pub(crate) fn held(&self) -> u64 {
        self.leases.held(clock::now())
    }

    /// Takes `n` tokens from the centre, or what another call has fetched meanwhile.
    pub(crate) async fn fetch(&self, n: u64) -> Result<(), Refused> {
        let mut asking = self.asking.lock().await;
        if let Some(decision) = self.decide(n) {
            return decision;
        }
        match self.fetch_alone(&mut asking, n).await {
            Ok(decision) => decision,
            Err(error) => self.degraded(n, error),
        }
    }

    async fn fetch_alone(&self, asking: &mut Asking, n: u64) -> Result<Result<(), Refused>, StoreError> {
        let unspent = self.settle(asking).await?;
        if unspent == 0
            && let Some(decision) = self.decide(n)
        {
            return Ok(decision);
        }
        let exact = self.terms.lease == 0;
        let most = if exact { n } else { self.batch.max(n) };
        let request = asking.request(n, most, unspent, clock::now());
        let Some((tokens, end)) = self.ask(asking, request).await? else {
            return Ok(Err(Refused::TryAfter(Duration::from_micros(
                asking.wait(n.max(asking.quantum(self.batch))).max(1),
            ))));
        };
        let now = clock::now();
        if exact {
            return Ok(Ok(())); // counts at the store's instant
        }
        if now >= end {
            return Ok(Err(Refused::TryAfter(Duration::from_micros(1))));
        }
        if tokens > n {
            self.leases.deposit(tokens - n, end, now);
        }
        Ok(Ok(()))
    }

    /// Whether nothing of what it may admit without the store is spent.
    pub(crate) fn has_whole_share(&self) -> bool {
        self.local.as_ref().is_none_or(|local| local.available() == local.quota().burst())
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

    /// Learns what became of a request whose answer has not come, and of a fork. What it brought is deposited; in exact mode its
    /// instant is past, so it is returned, to be given back.
    async fn settle(&self, asking: &mut Asking) -> Result<u64, StoreError> {
        if asking.is_forked() {
            self.leases.take_all(clock::now);
        }
        let Some(request) = asking.again(clock::now()) else { return Ok(0) };
        let Some((tokens, end)) = self.ask(asking, request).await? else { return Ok(0) };
        if self.terms.lease == 0 {
            return Ok(tokens);
        }
        let now = clock::now();
        if now < end {
            self.leases.deposit(tokens, end, now);
        }
        Ok(0)
    }

    /// Sends a request; says how many tokens came and when they are void, if any came, and notes until when no more will.
    async fn ask(&self, asking: &mut Asking, request: Request) -> Result<Option<(u64, u64)>, StoreError> {
        let Terms { tokens, micros, burst, lease } = self.terms;
        let Request { instance, sequence, least, most, back, seen } = request;
        let numbers = [
            tokens,
            micros,
            burst,
            lease,
            instance,
            sequence,
            least,
            most,
            back,
            seen.epoch,
            seen.instant,
            seen.position,
        ];
        let keys = [&self.keys.marker, &self.keys.limit, &self.keys.answer(instance), &self.keys.seen];
        let answer = match self.store.draw(keys.map(String::as_str), &numbers).await? {
            Reply::Answer(answer) => answer,
            Reply::Old => return Err(self.store.spoilt().await),
            Reply::Terms(terms) => {
                asking.forget();
                return Err(StoreError::OtherTerms(terms));
            }
        };
        let Some(grant) = asking.take(answer) else { return Err(self.store.spoilt().await) };
        let now = clock::now();
        *self.learned.lock().unwrap_or_else(PoisonError::into_inner) = (asking.seen, now);
        match asking.quiet(least, grant.tokens, self.batch) {
            Some((cost, wait)) => self.quiet.set(cost, now.saturating_add(wait)),
            None => self.quiet.set(1, 0),
        }
        Ok((grant.tokens > 0).then_some((grant.tokens, grant.end)))
    }

    /// Fetches the next lease, if those there are low; not again if nobody has touched the `last` one that came by this, and
    /// nobody has asked since.
    pub(crate) async fn top_up(&self, last: &mut Option<Untouched>) -> Ahead {
        let mut asking = self.asking.lock().await;
        let now = clock::now();
        let unused = last
            .as_ref()
            .is_some_and(|last| last.sequence == asking.sequence && self.leases.is_untouched(last.tokens, last.end));
        if self.terms.lease == 0 || unused || !self.leases.is_low(now, now + self.terms.lease / 2) {
            return Ahead::Here;
        }
        if let Some(left) = self.quiet.left(1, now) {
            return Ahead::Later(left);
        }
        match self.top_up_alone(&mut asking).await {
            Ok(lease) => {
                *last = lease.map(|(tokens, end)| Untouched { tokens, end, sequence: asking.sequence });
                self.quiet.left(1, clock::now()).map_or(Ahead::Here, Ahead::Later)
            }
            Err(StoreError::Pausing(wait)) => Ahead::Later(u64::try_from(wait.as_micros()).unwrap_or(u64::MAX)),
            Err(_) => Ahead::Later(10_000 + fastrand::u64(0..10_000)),
        }
    }

    async fn top_up_alone(&self, asking: &mut Asking) -> Result<Option<(u64, u64)>, StoreError> {
        self.settle(asking).await?;
        let now = clock::now();
        if !self.leases.is_low(now, now + self.terms.lease / 2) {
            return Ok(None);
        }
        let request = asking.request(0, self.batch, 0, now);
        let lease = self.ask(asking, request).await?;
        let now = clock::now();
        if let Some((tokens, end)) = lease.filter(|&(_, end)| now < end) {
            self.leases.deposit(tokens, end, now);
        }
        Ok(lease)
    }

    /// Gives back what is unspent, as far as nobody has drawn since; says how many tokens went back.
    pub(crate) async fn give_back(&self) -> u64 {
        let mut asking = self.asking.lock().await;
        if self.settle(&mut asking).await.is_err() {
            return 0;
        }
        let unspent = self.leases.take_all(clock::now);
        let request = asking.request(0, 0, unspent, clock::now());
        if request.back == 0 {
            asking.forget();
            return 0;
        }
        match self.ask(&mut asking, request).await {
            Ok(_) => request.seen.position.saturating_sub(asking.seen.position),
            Err(_) => 0,
        }
    }

    /// What is left, by the state last seen and the leases held, if nobody else has drawn since.
    pub(crate) fn status(&self) -> Status {
        let (seen, learned) = *self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::now();
        let held = self.leases.held(now);
        let status = |remaining: u64, retry, reset| {
            let retry = if remaining > 0 { Duration::ZERO } else { retry };
            Status::new(self.quota.burst(), remaining.min(self.quota.burst()), Some(retry), reset)
        };
        if seen.epoch == 0 {
            return status(held, Duration::ZERO, Duration::ZERO); // nobody has asked
        }
        let (instant, start) =
            (seen.instant.saturating_add(now.saturating_sub(learned)), seen.epoch + self.terms.lease);
        let due = self.terms.due(instant.saturating_sub(start));
        let position = seen.position.max(due.saturating_sub(self.terms.burst));
        let until = |position: u64| {
            Duration::from_micros(start.saturating_add(self.terms.until(position)).saturating_sub(instant))
        };
        let reset = until(position + self.terms.burst);
        match self.quiet.left(1, now) {
            Some(left) => status(held, Duration::from_micros(left), reset), // what the centre has is not asked for yet
            None => status(held + due.saturating_sub(position), until(position + 1), reset),
        }
    }
}
