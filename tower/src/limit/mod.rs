//! [`Limit`]: one limiter as a policy asks it, with its answers and their status.

mod held;
mod keyed;
mod keyless;
mod line;
mod whole;

pub(crate) use held::Held;
pub(crate) use keyed::Keyed;
pub use keyless::Keyless;
pub(crate) use line::Line;
pub(crate) use whole::Whole;

use http::request::Parts;
use http::{Extensions, HeaderMap};
use tollgate::{Denied, Quota, Status};

/// What a limiter says to a request.
#[derive(Debug)]
pub(crate) enum Said<T> {
    /// There are tokens.
    Admitted(T),
    /// There are none, or not in time.
    Denied(Denied),
    /// The request has no key, and must not pass without one.
    NoKey,
    /// The request is not limited: it has no key, and may pass without one.
    Unlimited,
}

impl<T> Said<T> {
    /// A decision.
    pub(crate) fn decided(decision: Result<T, Denied>) -> Self {
        match decision {
            Ok(tokens) => Self::Admitted(tokens),
            Err(denied) => Self::Denied(denied),
        }
    }

    /// The same, where nobody has asked to wait, if so: there is no deadline then that would be exceeded.
    pub(crate) fn without_waiting(self, so: bool) -> Self {
        match self {
            Self::Denied(Denied::WouldExceedDeadline(hint)) if so => Self::Denied(Denied::TryAfter(hint)),
            said => said,
        }
    }

    /// The same, with what `f` makes of the tokens.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Said<U> {
        match self {
            Self::Admitted(tokens) => Said::Admitted(f(tokens)),
            Self::Denied(denied) => Said::Denied(denied),
            Self::NoKey => Said::NoKey,
            Self::Unlimited => Said::Unlimited,
        }
    }
}

/// A request as limits see it: taken apart, or in one piece where none of them reads more than headers and extensions.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Apart(&'a Parts),
    Whole(&'a HeaderMap, &'a Extensions),
}

/// A request as it is put to a limiter.
pub(crate) struct Asked<'a> {
    pub(crate) request: Seen<'a>,
    /// What it costs, in tokens.
    pub(crate) cost: u64,
    /// Where to put how the limiter stands afterwards, if somebody wants to know. It costs divisions.
    pub(crate) status: Option<&'a mut Option<Status>>,
}

impl Asked<'_> {
    /// Decides by one of two calls: by the first if nobody wants to know the status.
    fn decide<T>(
        self,
        alone: impl FnOnce(u64) -> Result<T, Denied>,
        with_status: impl FnOnce(u64) -> (Result<T, Denied>, Status),
    ) -> Said<T> {
        Said::decided(match self.status {
            None => alone(self.cost),
            Some(wanted) => {
                let (decision, status) = with_status(self.cost);
                *wanted = Some(status);
                decision
            }
        })
    }
}

/// A limiter, and how a request is put to it.
pub(crate) trait Limit: Send + Sync {
    /// Takes the tokens now, or none.
    fn take(&self, asked: Asked<'_>) -> Said<()>;

    /// Takes tokens that are given back when they are dropped unspent, and may be due later if the limit waits.
    fn hold(&self, asked: Asked<'_>) -> Said<Held>;

    /// Whether what it holds may be due later.
    fn waits(&self) -> bool {
        false
    }

    /// Whether it reads more of a request than headers and extensions.
    fn reads_all(&self) -> bool {
        false
    }

    /// What it limits to.
    fn quota(&self) -> Quota;
}
