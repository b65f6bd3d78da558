use super::{Inner, Sizes, Subject};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{Arc, AtomicU64};
use tollgate::Clock;

/// The rules of [`Steady`](tollgate::Steady) that can be left out.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // a switch for each rule
pub struct Rules {
    /// Rule 2; without it, an output is a step back if it is behind the latest of *after* the reading.
    pub before: bool,
    /// Rule 3; without it, an output is a step forward if it is ahead of the latest of *before* the reading.
    pub now: bool,
    /// Rule 4; without it, a step stores its offset, whatever others have done meanwhile.
    pub once: bool,
    /// Rule 4; without it, a step forward goes on from the very edge of what is plausible.
    pub slack: bool,
}

impl Rules {
    /// The protocol as it is.
    pub const ALL: Self = Self { before: true, now: true, once: true, slack: true };
}

/// The protocol, with rules.
#[derive(Debug)]
pub struct Transcription {
    inner: Arc<Inner>,
    slack: u64,
    forward: u64,
    rules: Rules,
    offset: AtomicU64,
    latest: AtomicU64,
    steps: AtomicU64,
}

impl Transcription {
    /// One that keeps only some rules.
    pub fn with_rules(inner: Arc<Inner>, Sizes { back, forward }: Sizes, rules: Rules) -> Self {
        let [offset, latest, steps] = [0; 3].map(AtomicU64::new);
        Self { inner, slack: back / 2, forward, rules, offset, latest, steps }
    }

    fn try_now(&self) -> Option<u64> {
        let offset = self.offset.load(Acquire);
        let mut before = self.latest.load(Acquire);
        let reading = self.inner.now().0;
        let output = reading.wrapping_add(offset);
        if before == 0 {
            self.latest.fetch_max(output, Release);
            return Some(output);
        }
        if !self.rules.before {
            before = self.latest.fetch_max(0, Relaxed);
        }
        let ahead = output.wrapping_sub(before).cast_signed();
        let is_back = ahead < -self.slack.cast_signed();
        if !is_back && ahead <= self.forward.cast_signed() {
            return Some(self.publish(output, ahead));
        }
        let latest = self.latest.fetch_max(0, Relaxed);
        let ahead = output.wrapping_sub(if self.rules.now { latest } else { before }).cast_signed();
        let to = if is_back {
            latest
        } else if ahead > self.forward.cast_signed() {
            latest + self.forward - if self.rules.slack { self.slack } else { 0 }
        } else {
            return Some(self.publish(output, ahead));
        };
        let next = to.wrapping_sub(reading);
        if self.rules.once {
            self.offset.compare_exchange(offset, next, Release, Relaxed).ok()?;
        } else {
            self.offset.store(next, Release);
        }
        self.latest.fetch_max(to, Release);
        self.steps.fetch_add(1, Relaxed);
        Some(to)
    }

    fn publish(&self, output: u64, ahead: i64) -> u64 {
        if ahead > self.slack.cast_signed() {
            self.latest.fetch_max(output, Release);
        }
        output
    }
}

impl Subject for Transcription {
    fn over(inner: Arc<Inner>, sizes: Sizes) -> Self {
        Self::with_rules(inner, sizes, Rules::ALL)
    }

    fn now(&self) -> u64 {
        loop {
            if let Some(now) = self.try_now() {
                return now;
            }
        }
    }

    fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }
}
