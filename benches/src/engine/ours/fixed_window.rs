//! `fixed-window`: a count for each window of the clock.

use crate::engine::{Engine, Kind, Shared, version};
use tollgate::Quota;

/// The fixed window counter.
#[derive(Debug)]
pub struct FixedWindow(tollgate::FixedWindow);

impl Engine for FixedWindow {
    const NAME: &'static str = "fixed-window";
    const VERSION: &'static str = version::TOLLGATE;
    const CLOCK: &'static str = "quanta";
    const KIND: Kind = Kind::Ours;
    const WINDOWED: bool = true;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        Self(tollgate::FixedWindow::new(quota))
    }

    fn caller(&self) -> &Self {
        self
    }

    /// Each window brings the whole limit anew, faster than one word can be changed.
    fn supply(_: Quota) -> u64 {
        u64::MAX
    }
}

impl Shared for FixedWindow {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().is_ok()
    }
}
