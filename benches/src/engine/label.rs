//! [`Label`]: what an engine is called, and which part it plays.

use super::version;
use crate::figures::error::{Error, Result};

/// Which part an engine plays in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A limiter of this crate.
    Ours,
    /// The work that nobody can avoid: one atomic read-modify-write, one clock read.
    Floor,
    /// A limiter behind a mutex, as one would write it oneself.
    Baseline,
    /// Another crate.
    Peer,
}

/// What an engine is called in tables and csv files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// The version of the crate it comes from.
    pub version: &'static str,
    /// The clock it reads: `quanta`, `std`, `coarse` or `none`.
    pub clock: &'static str,
    /// What it hashes keys with, if it has any: `siphash`, `foldhash` or its own.
    pub hasher: Option<&'static str>,
    /// Its part in the comparison.
    pub kind: Kind,
}

impl Label {
    /// A limiter of this crate.
    pub const fn ours(name: &'static str, clock: &'static str) -> Self {
        Self { name, version: version::TOLLGATE, clock, hasher: None, kind: Kind::Ours }
    }

    /// A limiter of another crate.
    pub const fn peer(name: &'static str, version: &'static str, clock: &'static str) -> Self {
        Self { name, version, clock, hasher: None, kind: Kind::Peer }
    }

    /// A limiter behind a mutex.
    pub const fn baseline(name: &'static str, version: &'static str, clock: &'static str) -> Self {
        Self { name, version, clock, hasher: None, kind: Kind::Baseline }
    }

    /// What cannot be avoided.
    pub const fn floor(name: &'static str, version: &'static str, clock: &'static str) -> Self {
        Self { name, version, clock, hasher: None, kind: Kind::Floor }
    }

    /// As it is, but under this name.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// As it is, and with this hasher.
    #[must_use]
    pub const fn hashed_by(self, hasher: &'static str) -> Self {
        Self { hasher: Some(hasher), ..self }
    }
}

/// A clock or a hasher that an engine accepts, with its name in our tables.
pub trait Named: Default + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
}

/// An engine as one of a list: its label, and what is done with it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<W> {
    /// What it is called.
    pub label: Label,
    /// What is done with it: a function compiled for it.
    pub work: W,
}

/// The `entries` whose name is among `names` (all of them if there are none) and whose clock is among `clocks`
/// (likewise).
///
/// # Errors
///
/// If a name or a clock is not known, or nothing is left; the message lists what there is.
pub fn select<W>(entries: Vec<Entry<W>>, names: &[String], clocks: &[String]) -> Result<Vec<Entry<W>>> {
    let known = |what, given: &[String], of: fn(&Label) -> &'static str| {
        let mut all: Vec<_> = entries.iter().map(|entry| of(&entry.label)).collect();
        all.dedup();
        match given.iter().find(|name| !all.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(Error::Request(format!("no {what} is called {name}; there are: {}", all.join(" ")))),
        }
    };
    known("engine", names, |label| label.name)?;
    known("clock", clocks, |label| label.clock)?;
    let wanted = |given: &[String], name: &str| given.is_empty() || given.iter().any(|wanted| wanted == name);
    let is_chosen = |Entry { label, .. }: &Entry<W>| wanted(names, label.name) && wanted(clocks, label.clock);
    let chosen: Vec<_> = entries.into_iter().filter(is_chosen).collect();
    if chosen.is_empty() { Err(Error::Request("none of these engines reads that clock".into())) } else { Ok(chosen) }
}
