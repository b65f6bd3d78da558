//! The hot paths, a function each that callgrind can find by its name.

use core::hint::black_box;
use tollgate::{FixedWindow, Nanos, PackedTokenBucket, Quota, SlidingWindowCounter, TokenBucket};

/// Calls that a probe makes.
pub const CALLS: u64 = 10_000;

/// A hot path.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Its name.
    pub name: &'static str,
    run: fn(),
}

/// All of them.
pub const PROBES: &[Probe] = &[
    Probe { name: "token-bucket-admit", run: || token_bucket_admit(&TokenBucket::new(WIDE)) },
    Probe { name: "token-bucket-deny", run: || token_bucket_deny(&drained(TokenBucket::new(NARROW))) },
    Probe { name: "packed-admit", run: || packed_admit(&PackedTokenBucket::new(COUNTED)) },
    Probe { name: "fixed-window-admit", run: || fixed_window_admit(&FixedWindow::new(COUNTED)) },
    Probe { name: "sliding-counter-admit", run: || sliding_counter_admit(&SlidingWindowCounter::new(COUNTED)) },
];

/// Never used up by a probe.
const WIDE: Quota = Quota::per_second(1_000_000_000);
/// The same, where counts share the word with time.
const COUNTED: Quota = Quota::per_hour(100_000);
/// One token, which is gone when a probe begins.
const NARROW: Quota = Quota::per_hour(1);
/// The instant of every call. No clock is read: its cost would depend on the machine.
const NOW: Nanos = Nanos::from_secs(1);

/// Runs the probe of that name.
///
/// # Errors
///
/// If there is none.
pub fn run(name: &str) -> Result<(), String> {
    let probe = PROBES.iter().find(|probe| probe.name == name).ok_or_else(|| format!("no probe is called {name}"))?;
    (probe.run)();
    Ok(())
}

fn drained(bucket: TokenBucket) -> TokenBucket {
    assert!(bucket.try_acquire_n_at(1, NOW).is_ok());
    bucket
}

/// A function with a name of its own that makes [`CALLS`] calls and checks every answer.
macro_rules! probe {
    ($name:ident, $limiter:ty, $answer:ident) => {
        #[inline(never)]
        fn $name(limiter: &$limiter) {
            for _ in 0..CALLS {
                assert!(limiter.try_acquire_n_at(black_box(1), black_box(NOW)).$answer());
            }
        }
    };
}

probe!(token_bucket_admit, TokenBucket, is_ok);
probe!(token_bucket_deny, TokenBucket, is_err);
probe!(packed_admit, PackedTokenBucket, is_ok);
probe!(fixed_window_admit, FixedWindow, is_ok);
probe!(sliding_counter_admit, SlidingWindowCounter, is_ok);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_gets_the_answers_it_wants() {
        for probe in PROBES {
            run(probe.name).unwrap();
        }
        assert!(run("nothing").is_err());
    }
}
