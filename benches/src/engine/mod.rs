//! [`Engine`]: one face for everything that is measured, a file each.

use crate::load::{Load, accrued};
use core::time::Duration;
use tollgate::Quota;

pub mod baseline;
pub mod floor;
pub mod ours;
pub mod peer;
pub mod version;

/// Which part an engine plays in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// A limiter that can be measured.
///
/// The timed loop is compiled for each engine anew, so that a call costs what it costs its users: no dynamic dispatch.
pub trait Engine: Send + Sync + Sized + 'static {
    /// Its name in tables and csv files.
    const NAME: &'static str;
    /// The version of the crate it comes from.
    const VERSION: &'static str;
    /// The clock it reads: `quanta`, `std`, `coarse` or `none`.
    const CLOCK: &'static str;
    /// Its part in the comparison.
    const KIND: Kind;

    /// One thread's access to the engine.
    type Caller<'a>: Caller;

    /// The quota that makes a load for this engine: the same for all, unless the engine cannot represent it.
    fn quota(load: Load) -> Quota {
        load.quota()
    }

    /// An engine with this quota, full.
    fn build(quota: Quota) -> Self;

    /// Access for one more thread. Called on that thread, before the clock starts.
    fn caller(&self) -> Self::Caller<'_>;

    /// The most that may be admitted within `elapsed`, as the engine documents it.
    fn bound(quota: Quota, elapsed: Duration) -> u64 {
        quota.burst().saturating_add(accrued(quota, elapsed))
    }

    /// Calls that are sure to be admitted by a full engine: a measurement under an admit load makes no more.
    fn supply(quota: Quota) -> u64 {
        quota.burst()
    }
}

/// The call that is timed.
pub trait Caller {
    /// Asks for one token.
    fn try_acquire(&mut self) -> bool;
}

/// What nearly all engines are: all threads call the same object through a shared reference.
pub trait Shared {
    /// Asks for one token.
    fn try_acquire(&self) -> bool;
}

impl<S: Shared> Caller for &S {
    #[inline]
    fn try_acquire(&mut self) -> bool {
        Shared::try_acquire(*self)
    }
}
