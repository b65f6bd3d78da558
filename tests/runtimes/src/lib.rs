//! What the tests share: an executor whose time is a [`ManualClock`].

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use tollgate::ManualClock;

/// Tasks on this thread. Nothing runs but in [`run`](Self::run), in the order in which tasks were woken.
#[derive(Default)]
pub struct Tasks<'a> {
    /// `None` once it is done or was dropped.
    tasks: Vec<Option<Pin<Box<dyn Future<Output = ()> + 'a>>>>,
    woken: Arc<Mutex<VecDeque<usize>>>,
}

struct Task {
    number: usize,
    woken: Arc<Mutex<VecDeque<usize>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.woken.lock().unwrap().push_back(self.number);
    }
}

impl<'a> Tasks<'a> {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task, which is polled with the next [`run`](Self::run); returns its number.
    pub fn start(&mut self, task: impl Future<Output = ()> + 'a) -> usize {
        let number = self.tasks.len();
        self.tasks.push(Some(Box::pin(task)));
        Arc::new(Task { number, woken: self.woken.clone() }).wake();
        number
    }

    /// Drops a task.
    pub fn drop_task(&mut self, number: usize) {
        self.tasks[number] = None;
    }

    /// Polls tasks until none is awake; returns how many polls that took.
    ///
    /// # Panics
    ///
    /// After a million polls.
    pub fn run(&mut self) -> usize {
        for polls in 0..1_000_000 {
            let next = self.woken.lock().unwrap().pop_front();
            let Some(number) = next else { return polls };
            let Some(task) = &mut self.tasks[number] else { continue };
            let waker = Waker::from(Arc::new(Task { number, woken: self.woken.clone() }));
            if let Poll::Ready(()) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
                self.tasks[number] = None;
            }
        }
        panic!("tasks keep waking themselves");
    }

    /// Runs, moves the clock to the next instant at which a task is due, and so on until nobody sleeps.
    pub fn run_to_the_end(&mut self, clock: &ManualClock) {
        self.run();
        while let Some(due) = clock.next_alarm() {
            clock.set(due);
            self.run();
        }
    }

    /// How many tasks are not done.
    pub fn left(&self) -> usize {
        self.tasks.iter().flatten().count()
    }
}

impl fmt::Debug for Tasks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("left", &self.left()).finish_non_exhaustive()
    }
}
