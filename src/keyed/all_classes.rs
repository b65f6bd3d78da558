//! [`AllClasses`]: the terms of every class, and what they say of a word together.

use super::pace::Pace;
use super::terms::Terms;
use crate::nanos::Nanos;
use crate::sync::{AtomicU64, Ordering};
use alloc::boxed::Box;

/// The terms of every class.
///
/// A word has a meaning of its own in a class whose quota has changed a short while ago. What holds in all of them holds
/// whichever class a key is called in next.
#[derive(Debug)]
pub(super) struct AllClasses {
    /// That of calls which name none.
    pub(super) first: Terms,
    others: Box<[Terms]>,
    /// The instant from which on words mean the same in every class.
    settled: AtomicU64,
}

impl AllClasses {
    pub(super) fn new(first: Pace, others: impl IntoIterator<Item = Pace>) -> Self {
        let others = others.into_iter().map(Terms::new).collect();
        Self { first: Terms::new(first), others, settled: AtomicU64::new(0) }
    }

    /// The terms of the class of this number, if there is one.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&Terms> {
        match number.checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        }
    }

    /// In their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Terms> {
        core::iter::once(&self.first).chain(&self.others)
    }

    /// From now on, keys nobody knows yet start with `tokens` in every class, or full if that is less.
    pub(super) fn start_with(&mut self, tokens: u64) {
        core::iter::once(&mut self.first).chain(&mut self.others).for_each(|terms| terms.start_with(tokens));
    }

    /// Notes that a class is about to get a pace.
    pub(super) fn unsettle(&self, pace: &Pace) {
        // ORDERING: release, before the version that names the pace; pairs with `all_plain`.
        self.settled.fetch_max(pace.settled(), Ordering::Release);
    }

    /// Whether words from `instant` on are what they say in every class.
    fn all_plain(&self, instant: u64) -> bool {
        // ORDERING: acquire; pairs with `unsettle`. A call that takes words for plain when they no longer are may take a key's slot
        // before the key has recovered in every class; the horizon, which is a word, keeps what the key owes.
        self.settled.load(Ordering::Acquire) <= instant
    }

    /// The last instant that a word can have of a key that is full at `now` in every class.
    pub(super) fn idle(&self, now: Nanos) -> u64 {
        if self.all_plain(now.0) {
            return now.0;
        }
        self.iter().map(|terms| terms.with(|pace| pace.idle(now))).min().unwrap_or(now.0)
    }

    /// The instant from which a key with a word of this instant is full in every class.
    pub(super) fn recovered(&self, word: u64) -> u64 {
        if self.all_plain(word) {
            return word;
        }
        self.iter().map(|terms| terms.with(|pace| pace.recovered(word))).max().unwrap_or(word)
    }

    /// As [`recovered`](Self::recovered), where the classes are to be restored at the `paces` that they had: of a class that has another
    /// since, what the key owes at `now` is as many tokens there.
    pub(super) fn recovered_as_of(&self, paces: &[Pace], word: u64, now: Nanos) -> u64 {
        if self.all_plain(word) {
            return word;
        }
        let each = self.iter().zip(paces);
        each.map(|(terms, pace)| terms.with(|present| pace.recovered_beside(present, word, now))).max().unwrap_or(word)
    }

    /// The first instant that a word can have of a key that is full no earlier than `instant` in any class.
    pub(super) fn word(&self, instant: u64) -> u64 {
        if self.all_plain(instant) {
            return instant;
        }
        self.iter().map(|terms| terms.with(|pace| pace.word(instant))).max().unwrap_or(instant)
    }
}
