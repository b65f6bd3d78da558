//! A baseline: the token bucket of the tutorials under the mutex of `parking_lot`.

use super::mutex_std::{Rate, State};
use crate::engine::{Engine, Kind, Shared, version};
use parking_lot::Mutex;
use tollgate::Quota;

/// As [`MutexStd`](super::mutex_std::MutexStd), with another mutex.
#[derive(Debug)]
pub struct MutexParkingLot {
    state: Mutex<State>,
    quota: Rate,
}

impl Engine for MutexParkingLot {
    const NAME: &'static str = "mutex-parking-lot";
    const VERSION: &'static str = version::PARKING_LOT;
    const CLOCK: &'static str = "std";
    const KIND: Kind = Kind::Baseline;
    type Caller<'a> = &'a Self;

    fn build(quota: Quota) -> Self {
        let quota = Rate::new(quota);
        Self { state: Mutex::new(State::full(quota)), quota }
    }

    fn caller(&self) -> &Self {
        self
    }
}

impl Shared for MutexParkingLot {
    #[inline]
    fn try_acquire(&self) -> bool {
        self.state.lock().take(self.quota)
    }
}
