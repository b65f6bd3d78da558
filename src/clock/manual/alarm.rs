//! [`Alarm`]: a task asleep on a [`ManualClock`].

use super::ManualClock;
use crate::clock::{Clock, Timer};
use crate::nanos::Nanos;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who sleeps on a clock, by when to wake them and by when they came.
#[derive(Debug, Default)]
pub(super) struct Alarms(Mutex<Asleep>);

#[derive(Debug, Default)]
struct Asleep {
    /// How many have come so far.
    came: u64,
    wakers: BTreeMap<(Nanos, u64), Waker>,
}

impl Alarms {
    /// Wakes who is due by what the clock reads. Whoever goes to sleep meanwhile has seen that reading: both look at the clock
    /// under the lock.
    pub(super) fn ring(&self, now: impl FnOnce() -> Nanos) {
        let mut asleep = self.lock();
        let due = (now(), u64::MAX);
        let mut ringing = Vec::new();
        // PROGRESS: as many steps as there are wakers.
        while let Some(first) = asleep.wakers.first_entry().filter(|first| *first.key() <= due) {
            ringing.push(first.remove());
        }
        drop(asleep);
        // Without the lock: a task may be run by its waker, and look at the clock.
        for waker in ringing {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Asleep> {
        // Nothing panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ManualClock {
    /// The instant at which the next sleeping task is due, if there is one.
    ///
    /// # Examples
    ///
    /// To run through all that happens, an instant at a time:
    ///
    /// ```
    /// use tollgate::ManualClock;
    ///
    /// /// `run` lets every task that was woken go on until it sleeps again.
    /// fn simulate(clock: &ManualClock, mut run: impl FnMut()) {
    ///     run();
    ///     while let Some(due) = clock.next_alarm() {
    ///         clock.set(due);
    ///         run();
    ///     }
    /// }
    /// # simulate(&ManualClock::new(), || {});
    /// ```
    pub fn next_alarm(&self) -> Option<Nanos> {
        self.0.alarms.lock().wakers.first_key_value().map(|((due, _), _)| *due)
    }
}

impl Timer for ManualClock {
    type Sleep = Alarm;

    fn sleep_until(&self, due: Nanos) -> Alarm {
        Alarm { clock: self.clone(), due, came: None }
    }
}

/// Ready once a [`ManualClock`] has been moved to an instant or beyond it: its [`Timer::Sleep`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Alarm {
    clock: ManualClock,
    due: Nanos,
    /// When it was set, among all; `None` while it is not.
    came: Option<u64>,
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let alarm = &mut *self;
        let mut asleep = alarm.clock.0.alarms.lock();
        if alarm.clock.now() >= alarm.due {
            return Poll::Ready(()); // if it is set, for a clock that moves just now, it goes off for nothing
        }
        let came = *alarm.came.get_or_insert_with(|| {
            asleep.came += 1;
            asleep.came
        });
        asleep.wakers.insert((alarm.due, came), context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(came) = self.came {
            let waker = self.clock.0.alarms.lock().wakers.remove(&(self.due, came));
            drop(waker); // without the lock: it may drop a task, and with it other alarms
        }
    }
}
