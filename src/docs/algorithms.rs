//! Which limiter to choose: what each guarantees, where it errs and in which direction, what it costs.
//!
//! Notation: a quota of `n` tokens each `period` has the rate `r = n / period`; `B` is its burst. All limits are on clock readings:
//! "within `[s, t]`" means that the call's reading of the clock lies in that span.
//!
//! | limiter | within any `[s, t]` admits at most | errs | memory | admission |
//! |---|---|---|---|---|
//! | [`TokenBucket`] | `B + r * (t - s)` | never | one word | one CAS |
//! | [`LeakyBucket`] | `B + r * (t - s)` | never | one word | one CAS |
//! | [`PackedTokenBucket`] | `B + r * (t - s)` | never | one word | one CAS |
//!
//! "Never" means: it admits exactly what the ideal algorithm on real numbers admits, with one exception that is under half a
//! nanosecond wide (see [the resolution of time](super::limitations#time)).
//!
//! Beside its word each limiter holds its quota and the constants that it computes with. These never change, and many threads read
//! them. A denial costs a load and a clock reading, and writes nothing.
//!
//! # Token bucket
//!
//! A bucket holds up to `B` tokens and gains `r` per second. A call takes its cost, or is refused and takes nothing.
//!
//! *Use it* unless you have a reason not to. It allows a burst after a rest, then a steady rate; two numbers that mean what they
//! say. The burst and the rate are independent: a large burst with a low rate suits people, who click a few times and then read; a burst of 1 spaces
//! calls evenly.
//!
//! *Do not use it* to promise "at most n in any minute". From a full bucket, `B` pass at once and `n` more within the period, so any
//! one period sees up to `B + n`. With the default burst, `B = n`, that is twice `n`. For a hard cap of `n` in a period, choose
//! a burst `B` and a rate such that `B + r * period <= n`.
//!
//! *How it is done.* The generic cell rate algorithm (GCRA; ITU-T I.371) stores the one number from which the level follows: the theoretical
//! arrival time, here as a position on a scale of tokens. An idle bucket needs no work, a refill needs no write, and a fresh bucket needs
//! no clock.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, Quota, TokenBucket};
//!
//! // Ten at once, two more per second. Twenty requests, one each 50 ms.
//! let clock = ManualClock::new();
//! let bucket = TokenBucket::with_clock(Quota::per_second(2).with_burst(10), clock.clone());
//! let admitted: Vec<u32> = (1..=20)
//!     .filter(|_| {
//!         clock.advance(Duration::from_millis(50));
//!         bucket.try_acquire().is_ok()
//!     })
//!     .collect();
//! // The first, at 50 ms, finds the bucket full and starts the refill: a token each 500 ms from there. It is there for the
//! // eleventh, at 550 ms. The next comes at 1050 ms, after the last request.
//! assert_eq!(admitted, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
//! ```
//!
//! # Leaky bucket, as a meter
//!
//! Each call pours its cost into a bucket that leaks at `r`; a call that would overflow `B` is refused. It is the token bucket
//! seen from the other side: the level is `B` less the tokens. It admits the same calls, by the same code. Use it where
//! "how full" is the natural question: `level()` and `capacity()` answer it.
//!
//! This is not the leaky bucket *as a queue*, which delays calls until they drip out. To delay, wait for as long as the denial says.
//!
//! # Packed token bucket
//!
//! The encoding that most tutorials describe: a count of tokens and the time of the last refill, here in separate bit fields of
//! one word. Time moves only by whole refills, so no remainder is lost. It guarantees the same. It exists so that
//! the two encodings can be compared; the fields limit how large a burst can be, and what does not fit is a construction error. Prefer
//! [`TokenBucket`].
//!
//! [`TokenBucket`]: crate::TokenBucket
//! [`LeakyBucket`]: crate::LeakyBucket
//! [`PackedTokenBucket`]: crate::PackedTokenBucket
