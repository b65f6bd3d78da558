//! [`AsyncThrottled`]: tokio's readers and writers with a limited bandwidth.

use super::{Prefix, bytes, portion, prefix, reserve};
use crate::clock::Timer;
use crate::rate_limit::RateLimit;
use crate::wait::{Line, Place, Turn};
use alloc::boxed::Box;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;
use std::io::{self, IoSlice};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// [`Throttled`](crate::Throttled) for tokio's readers and writers.
    ///
    /// As there: a call moves at most a burst's bytes, tokens are taken first, and those for bytes that did not move are given back.
    /// They are given back too while the inner reader has nothing to read or the inner writer no room: who is idle holds
    /// nothing, and asks again when it is woken.
    ///
    /// A read or a write that is dropped while it waits leaves its place with the reader or writer, and the next call has it. Dropped itself,
    /// that gives it back. Reading and writing wait apart.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use tokio::io::AsyncRead;
    /// use tollgate::{AsyncThrottled, Quota, TokioClock, WaitingTokenBucket};
    ///
    /// type Bandwidth = Arc<WaitingTokenBucket<TokioClock>>;
    ///
    /// /// Every connection through here has its share of a megabyte each second.
    /// fn limited<T: AsyncRead>(connection: T, bandwidth: &Bandwidth) -> AsyncThrottled<T, Bandwidth> {
    ///     AsyncThrottled::new(connection, bandwidth.clone())
    /// }
    ///
    /// let quota = Quota::per_second(1_000_000).with_burst(64 * 1024);
    /// let bandwidth = Arc::new(WaitingTokenBucket::with_clock(quota, Duration::from_secs(60), TokioClock));
    /// let _ = limited(&b"hello"[..], &bandwidth);
    /// ```
    pub struct AsyncThrottled<T, L>
    where
        L: Line,
        L::Clock: Timer,
    {
        #[pin]
        inner: T,
        limiter: L,
        // In boxes, which are made once, so that whoever reads or writes need not pin this.
        read: Pin<Box<Turn<L>>>,
        write: Pin<Box<Turn<L>>>,
    }
}

impl<T, L: Line> AsyncThrottled<T, L>
where
    L::Clock: Timer,
{
    /// `inner`, at what `limiter` allows. Allocates twice, and waits allocate nothing.
    pub fn new(inner: T, limiter: L) -> Self {
        Self { inner, limiter, read: Box::pin(Turn::of(None)), write: Box::pin(Turn::of(None)) }
    }

    /// What is limited.
    pub const fn get_ref(&self) -> &T {
        &self.inner
    }

    /// What was limited, without the limit.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// A place that is due, for some of `bytes`, which are not 0: the one that was waited for before, or another.
fn poll_place<L: Line + RateLimit + Clone>(
    turn: &mut Pin<Box<Turn<L>>>,
    limiter: &L,
    bytes: usize,
    context: &mut Context<'_>,
) -> Poll<io::Result<Place<L>>>
where
    L::Clock: Timer,
{
    if turn.is_over() {
        turn.set(Turn::of(Some(reserve(limiter, bytes)?)));
    }
    turn.as_mut().poll_due(context).map(Ok)
}

impl<T: AsyncRead, L: Line + RateLimit + Clone> AsyncRead for AsyncThrottled<T, L>
where
    L::Clock: Timer,
{
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let throttled = self.project();
        if buffer.remaining() == 0 {
            return throttled.inner.poll_read(context, buffer);
        }
        let place = ready!(poll_place(throttled.read, throttled.limiter, buffer.remaining(), context))?;
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(portion(&place, buffer.remaining())));
        ready!(throttled.inner.poll_read(context, &mut part))?;
        let moved = part.filled().len();
        buffer.advance(moved);
        place.keep(moved as u64);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite, L: Line + RateLimit + Clone> AsyncWrite for AsyncThrottled<T, L>
where
    L::Clock: Timer,
{
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let throttled = self.project();
        if buffer.is_empty() {
            return throttled.inner.poll_write(context, buffer);
        }
        let place = ready!(poll_place(throttled.write, throttled.limiter, buffer.len(), context))?;
        let moved = ready!(throttled.inner.poll_write(context, &buffer[..portion(&place, buffer.len())]))?;
        place.keep(moved as u64);
        Poll::Ready(Ok(moved))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let throttled = self.project();
        let bytes = bytes(buffers);
        if bytes == 0 {
            return throttled.inner.poll_write_vectored(context, buffers);
        }
        let place = ready!(poll_place(throttled.write, throttled.limiter, bytes, context))?;
        let moved = ready!(match prefix(buffers, portion(&place, bytes)) {
            Prefix::Of(buffers) => throttled.inner.poll_write_vectored(context, buffers),
            Prefix::Part(buffer) => throttled.inner.poll_write(context, buffer),
        })?;
        place.keep(moved as u64);
        Poll::Ready(Ok(moved))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(context)
    }
}

impl<T: fmt::Debug, L: Line> fmt::Debug for AsyncThrottled<T, L>
where
    L::Clock: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncThrottled").field("inner", &self.inner).finish_non_exhaustive()
    }
}
