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
    pub(super) fn ring(&self, clock: &ManualClock) {
        let mut asleep = self.lock();
        let due = (clock.now(), u64::MAX);
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
        let waker = context.waker().clone();
        let mut asleep = alarm.clock.0.alarms.lock();
        if alarm.clock.now() >= alarm.due {
            return Poll::Ready(()); // if it is set, for a clock that moves just now, it goes off for nothing
        }
        let came = *alarm.came.get_or_insert_with(|| {
            asleep.came += 1;
            asleep.came
        });
        let before = asleep.wakers.insert((alarm.due, came), waker);
        drop(asleep);
        drop(before); // without the lock: it may drop a task, and with it other alarms
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(came) = self.came {
            let waker = self.clock.0.alarms.lock().wakers.remove(&(self.due, came));
            drop(waker); // without the lock, as above
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use alloc::task::Wake;
    use alloc::vec;
    use core::pin::pin;
    use core::time::Duration;

    /// Notes its number when it is woken.
    struct Noted(u64, Arc<Mutex<Vec<u64>>>);

    impl Wake for Noted {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn who_is_due_is_woken_in_the_order_of_instants_and_then_of_arrival() {
        let (clock, log) = (ManualClock::new(), Arc::new(Mutex::new(Vec::new())));
        let dues = [30, 10, 20, 10, 31];
        let mut alarms: Vec<_> =
            dues.iter().map(|due| alloc::boxed::Box::pin(clock.sleep_until(Nanos(*due)))).collect();
        for (alarm, number) in alarms.iter_mut().zip(0..) {
            let waker = Waker::from(Arc::new(Noted(number, log.clone())));
            let mut context = Context::from_waker(&waker);
            assert!(alarm.as_mut().poll(&mut context).is_pending());
            assert!(alarm.as_mut().poll(&mut context).is_pending(), "polled twice, it is set once");
        }
        assert_eq!(clock.next_alarm(), Some(Nanos(10)));
        clock.advance(Duration::from_nanos(9));
        assert!(log.lock().unwrap().is_empty());
        drop(alarms.remove(2)); // was due at 20
        clock.advance(Duration::from_nanos(21));
        assert_eq!(*log.lock().unwrap(), vec![1, 3, 0]);
        assert_eq!(clock.next_alarm(), Some(Nanos(31)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(alarms.pop().unwrap().as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.next_alarm(), None, "its alarm is gone with it");
        for alarm in &mut alarms {
            assert!(alarm.as_mut().poll(&mut context).is_ready());
        }
        assert!(pin!(clock.sleep_until(Nanos(30))).poll(&mut context).is_ready());
        assert_eq!(clock.next_alarm(), None);
    }

    #[test]
    fn a_task_that_is_dropped_by_its_waker_takes_its_alarms_along() {
        struct Task {
            _asleep: Mutex<Pin<alloc::boxed::Box<Alarm>>>,
        }
        impl Wake for Task {
            fn wake(self: Arc<Self>) {} // the last that holds the task
        }
        let clock = ManualClock::new();
        let mut first = alloc::boxed::Box::pin(clock.sleep_until(Nanos(1)));
        let mut second = alloc::boxed::Box::pin(clock.sleep_until(Nanos(2)));
        assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let waker = Waker::from(Arc::new(Task { _asleep: Mutex::new(second) }));
        assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        clock.set(Nanos(1));
        assert_eq!(clock.next_alarm(), None);
        drop(first);
    }
}
