//! [`Limit`]: one limiter as a policy asks it, with its answers and their status.

mod held;
mod keyed;
mod line;
mod whole;

pub(crate) use held::Held;
pub(crate) use keyed::Keyed;
pub(crate) use line::Line;
pub(crate) use whole::Whole;

use http::request::Parts;
use tollgate::{Denied, Quota, Status};

/// What a limiter says to a request.
#[derive(Debug)]
pub(crate) enum Said<T> {
    /// There are tokens, and what is left.
    Admitted(T, Status),
    /// There are none, or not in time.
    Denied(Denied, Status),
    /// The request has no key, and must not pass without one.
    NoKey,
    /// The request is not limited: it has no key, and may pass without one.
    Unlimited,
}

/// A limiter, and how a request is put to it.
pub(crate) trait Limit: Send + Sync {
    /// Takes `cost` tokens now, or none.
    fn take(&self, request: &Parts, cost: u64) -> Said<()>;

    /// Takes `cost` tokens that are given back when they are dropped unspent, and may be due later if the limit waits.
    fn hold(&self, request: &Parts, cost: u64) -> Said<Box<dyn Held>>;

    /// Whether what it holds may be due later.
    fn waits(&self) -> bool {
        false
    }

    /// What it limits to.
    fn quota(&self) -> Quota;
}
