//! [`Waiting`]: one face for limiters that let tasks wait, on tokio.
//!
//! All of them read `Instant`, on which lateness and bounds are measured too.

use super::label::Label;
use super::load::accrued;
use super::peer::governor::governor_quota;
use super::version;
use ::governor::clock::MonotonicClock;
use ::governor::middleware::NoOpMiddleware;
use ::governor::state::{InMemoryState, NotKeyed};
use ::leaky_bucket::RateLimiter as LeakyBucket;
use core::time::Duration;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval};
use tollgate::{Quota, TokioClock, Turns, WaitingTokenBucket};

/// Longer than anybody waits here.
const LONGEST: Duration = Duration::from_hours(1);

/// A limiter that tasks wait for.
pub trait Waiting: Send + Sync + 'static {
    /// What it is called, and which part it plays.
    const LABEL: Label;

    /// A limiter with this quota, full. It is built within a runtime.
    fn build(quota: Quota) -> Self;

    /// Is done when one token is taken. Dropped before, it takes none.
    fn wait(&self) -> impl Future<Output = ()> + Send;

    /// One task that waits for this limiter again and again.
    fn caller(limiter: Arc<Self>) -> impl Caller
    where
        Self: Sized,
    {
        limiter
    }

    /// The most that may be admitted within `elapsed` since it was built, as the limiter documents it.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst().saturating_add(accrued(quota, elapsed))
    }
}

/// A task that waits again and again.
pub trait Caller: Send + 'static {
    /// Is done when one token is taken. Dropped before, it takes none.
    fn wait(&mut self) -> impl Future<Output = ()> + Send;
}

impl<W: Waiting> Caller for Arc<W> {
    async fn wait(&mut self) {
        W::wait(self).await;
    }
}

impl Waiting for WaitingTokenBucket<TokioClock> {
    const LABEL: Label = Label::ours("waiting-token-bucket", "std");

    fn build(quota: Quota) -> Self {
        Self::with_clock(quota, LONGEST, TokioClock)
    }

    async fn wait(&self) {
        self.acquire(1).await.expect("the line is longer than all who wait");
    }
}

/// The same, where each task takes its turns: late by so much, it still gets what fell due meanwhile.
#[derive(Debug)]
pub struct InTurn(Arc<WaitingTokenBucket<TokioClock>>);

/// What tokio's timers are late by, and then some.
const SLACK: Duration = Duration::from_millis(5);

impl Waiting for InTurn {
    const LABEL: Label = Label::ours("waiting-turns", "std");

    fn build(quota: Quota) -> Self {
        Self(Arc::new(WaitingTokenBucket::build(quota)))
    }

    async fn wait(&self) {
        Waiting::wait(&*self.0).await;
    }

    fn caller(limiter: Arc<Self>) -> impl Caller {
        Turns::new(Arc::clone(&limiter.0), SLACK)
    }
}

impl Caller for Turns<Arc<WaitingTokenBucket<TokioClock>>> {
    async fn wait(&mut self) {
        self.acquire(1).await.expect("the line is longer than all who wait");
    }
}

/// `governor`'s direct limiter with `until_ready`: whoever is denied sleeps as long as told and tries again.
pub type Governor =
    ::governor::RateLimiter<NotKeyed, InMemoryState, MonotonicClock, NoOpMiddleware<std::time::Instant>>;

impl Waiting for Governor {
    const LABEL: Label = Label::peer("governor", version::GOVERNOR, "std");

    fn build(quota: Quota) -> Self {
        Self::direct_with_clock(governor_quota(quota), MonotonicClock)
    }

    async fn wait(&self) {
        self.until_ready().await;
    }
}

impl Waiting for LeakyBucket {
    const LABEL: Label = Label::peer("leaky-bucket-crate", version::LEAKY_BUCKET, "std");

    fn build(quota: Quota) -> Self {
        let [tokens, burst] = [quota.tokens(), quota.burst()].map(|count| usize::try_from(count).expect("64 bits"));
        Self::builder().max(burst).initial(burst).refill(tokens).interval(quota.period()).build()
    }

    async fn wait(&self) {
        self.acquire_one().await;
    }

    /// It refills all of a period's tokens at the end of each period; see the engine that does not wait.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst() + 2 * quota.tokens() + accrued(quota, elapsed)
    }
}

/// Tokio's semaphore and a task that adds a permit now and then, as in tokio's own documentation.
#[derive(Debug)]
pub struct Refilled(Arc<Semaphore>);

impl Waiting for Refilled {
    const LABEL: Label = Label::baseline("semaphore-refilled", version::TOKIO, "std");

    fn build(quota: Quota) -> Self {
        let burst = usize::try_from(quota.burst()).expect("64 bits");
        let each = quota.period() / u32::try_from(quota.tokens()).expect("tokens fit 32 bits");
        let semaphore = Arc::new(Semaphore::new(burst));
        let refilled = Arc::clone(&semaphore);
        let mut interval = interval(each);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        // It ends with its runtime.
        tokio::spawn(async move {
            loop {
                interval.tick().await;
                if refilled.available_permits() < burst {
                    refilled.add_permits(1);
                }
            }
        });
        Self(semaphore)
    }

    async fn wait(&self) {
        self.0.acquire().await.expect("it is never closed").forget();
    }

    /// The first tick is at once.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst() + 1 + accrued(quota, elapsed)
    }
}
