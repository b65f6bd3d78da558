//! [`Throttled`]: readers and writers with a limited bandwidth.

use super::{Line, Place};
use crate::decision::Denied;
use crate::rate_limit::RateLimit;
use core::time::Duration;
use std::io::{self, IoSlice, Read, Write};
use std::thread;

#[cfg(feature = "tokio")]
mod tokio;
#[cfg(feature = "tokio")]
pub use self::tokio::AsyncThrottled;

/// A reader or a writer that takes a token for each byte.
///
/// Many can share one limiter, a [`WaitingTokenBucket`](crate::WaitingTokenBucket) by reference or in an `Arc`, and are served in
/// the order in which they ask.
///
/// * A call moves at most as many bytes as the limiter's burst, and says so, as readers and writers do; who wants more calls again,
///   as `read_exact`, `write_all` and `io::copy` do, and stands in line again. So no cost is too large, and large ones
///   leave room for others.
/// * Tokens are taken before bytes move. Those for bytes that did not move, because there were fewer or because of an error,
///   are given back. While the inner reader blocks, they are held: at most a buffer's, and at most a burst's.
/// * That a reader is at its end is found out by a read, which waits as any other and costs nothing in the end.
/// * A call with an empty buffer costs nothing and waits for nothing; nor does a flush.
/// * What the line refuses, by [`Denied::LineFull`], is an error with that inside, and no byte has moved.
///
/// The thread is parked while it waits. For tasks there is `AsyncThrottled`, with the feature `tokio`.
///
/// # Examples
///
/// ```
/// use std::io::{self, Read};
/// use std::time::{Duration, Instant};
/// use tollgate::{Quota, Throttled, WaitingTokenBucket};
///
/// // 100 kB each second, in portions of at most 1 kB.
/// static BANDWIDTH: WaitingTokenBucket =
///     WaitingTokenBucket::new(Quota::per_second(100_000).with_burst(1_000), Duration::from_secs(60));
///
/// let start = Instant::now();
/// let page = [7; 3_000];
/// let mut copy = Vec::new();
/// io::copy(&mut Throttled::new(&page[..], &BANDWIDTH), &mut copy)?;
/// assert_eq!(copy, page);
/// assert!(start.elapsed() >= Duration::from_millis(20));
/// # Ok::<_, io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Throttled<T, L> {
    inner: T,
    limiter: L,
}

impl<T, L> Throttled<T, L> {
    /// `inner`, at what `limiter` allows.
    pub const fn new(inner: T, limiter: L) -> Self {
        Self { inner, limiter }
    }

    /// What is limited.
    pub const fn get_ref(&self) -> &T {
        &self.inner
    }

    /// What is limited. What is read or written to it directly is not.
    pub const fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// What was limited, without the limit.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T, L: Line + RateLimit + Clone> Throttled<T, L> {
    /// Waits for as many tokens as one call can have of `bytes`, which are not 0; has `transfer` move as many.
    fn call(&mut self, bytes: usize, transfer: impl FnOnce(&mut T, usize) -> io::Result<usize>) -> io::Result<usize> {
        let place = reserve(&self.limiter, bytes)?;
        // PROGRESS: blocking, by intent; ends at the first look at the clock after the place is due.
        while !place.delay().is_zero() {
            thread::park_timeout(place.delay());
        }
        let moved = transfer(&mut self.inner, portion(&place, bytes))?;
        place.keep(moved as u64);
        Ok(moved)
    }
}

impl<T: Read, L: Line + RateLimit + Clone> Read for Throttled<T, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return self.inner.read(buffer);
        }
        self.call(buffer.len(), |inner, most| inner.read(&mut buffer[..most]))
    }
}

impl<T: Write, L: Line + RateLimit + Clone> Write for Throttled<T, L> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return self.inner.write(buffer);
        }
        self.call(buffer.len(), |inner, most| inner.write(&buffer[..most]))
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        match bytes(buffers) {
            0 => self.inner.write_vectored(buffers),
            bytes => self.call(bytes, |inner, most| match prefix(buffers, most) {
                Prefix::Of(buffers) => inner.write_vectored(buffers),
                Prefix::Part(buffer) => inner.write(buffer),
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A place for as many tokens as there are `bytes`, or as one call can have; at least 1, of a limiter that gives none.
fn reserve<L: Line + RateLimit + Clone>(limiter: &L, bytes: usize) -> io::Result<Place<L>> {
    let n = (bytes as u64).min(limiter.max_cost()).max(1);
    Place::reserve(limiter.clone(), n, Duration::MAX, limiter.now()).map_err(refused)
}

fn refused(denied: Denied) -> io::Error {
    io::Error::other(denied)
}

/// How many of `bytes` a place is for.
fn portion<L: Line>(place: &Place<L>, bytes: usize) -> usize {
    usize::try_from(place.cost()).unwrap_or(usize::MAX).min(bytes)
}

fn bytes(buffers: &[IoSlice<'_>]) -> usize {
    buffers.iter().fold(0, |bytes, buffer| bytes.saturating_add(buffer.len()))
}

/// The first of some buffers.
enum Prefix<'a, 'b> {
    /// Whole buffers.
    Of(&'a [IoSlice<'b>]),
    /// A part of one.
    Part(&'a [u8]),
}

/// Whole buffers of at most so many bytes, or, if the first that is not empty is longer than that, a part of it.
fn prefix<'a, 'b>(buffers: &'a [IoSlice<'b>], most: usize) -> Prefix<'a, 'b> {
    let mut left = most;
    for (index, buffer) in buffers.iter().enumerate() {
        if buffer.len() <= left {
            left -= buffer.len();
        } else if left < most {
            return Prefix::Of(&buffers[..index]);
        } else {
            return Prefix::Part(&buffer[..most]);
        }
    }
    Prefix::Of(buffers)
}
