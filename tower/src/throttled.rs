//! [`ThrottledBody`]: a body whose bytes stand in line as they pass.

use bytes::Buf;
use core::error::Error;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::sync::Arc;
use tollgate::{Denied, KeyedLimiter, Line, OwnedKeyedLine, Place, Timer, Turn, WaitingTokenBucket};

/// Takes a place for so many bytes.
type Reserve<L> = Box<dyn FnMut(u64) -> Result<Place<L>, Denied> + Send + Sync>;

pin_project! {
    /// A body whose bytes stand in line as they pass: for bodies of which nobody says beforehand how long they are, and for
    /// whatever is to go no faster than a bandwidth.
    ///
    /// Each frame is passed on when the tokens for its bytes are due; one that is larger than the bucket is paid for in parts.
    /// While it waits the body within is not read, so that the sender is held back by the connection itself. Trailers are
    /// free. A body that is dropped gives the place back that it waits for.
    ///
    /// # Examples
    ///
    /// Uploads to a service of axum, at 10 MB per second for all of them together:
    ///
    /// ```
    /// use std::{sync::Arc, time::Duration};
    /// use axum::{Router, body::Body, extract::Request, routing::post};
    /// use tollgate::{TokioClock, WaitingTokenBucket};
    /// use tollgate_tower::ThrottledBody;
    /// use tower::util::MapRequestLayer;
    ///
    /// let bandwidth = Arc::new(WaitingTokenBucket::with_clock("10MB/s".parse()?, Duration::MAX, TokioClock));
    /// let app: Router = Router::new()
    ///     .route("/", post(async |body: axum::body::Bytes| body.len().to_string()))
    ///     .layer(MapRequestLayer::new(move |request: Request| {
    ///         request.map(|body| Body::new(ThrottledBody::new(body, Arc::clone(&bandwidth))))
    ///     }));
    /// # Ok::<_, tollgate::ParseQuotaError>(())
    /// ```
    #[must_use = "a body does nothing unless it is read"]
    pub struct ThrottledBody<B, L>
    where
        B: Body,
        L: Line,
        L::Clock: Timer,
    {
        #[pin]
        body: B,
        reserve: Reserve<L>,
        // The most that one place can be for.
        most: u64,
        // What has been read and not been passed on, and how many of its bytes have no place yet.
        frame: Option<Frame<B::Data>>,
        unpaid: u64,
        #[pin]
        turn: Option<Turn<L>>,
    }
}

impl<B, C> ThrottledBody<B, Arc<WaitingTokenBucket<C>>>
where
    B: Body,
    C: Timer + Send + Sync + 'static,
{
    /// `body`, in the line of `bucket`, of which a token is a byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{sync::Arc, time::Duration};
    /// use axum::body::Body;
    /// use tollgate::{TokioClock, WaitingTokenBucket};
    /// use tollgate_tower::ThrottledBody;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let quota = "1kB/s".parse().unwrap();
    /// let bucket = Arc::new(WaitingTokenBucket::with_clock(quota, Duration::MAX, TokioClock));
    /// let body = Body::new(ThrottledBody::new(Body::from(vec![0; 3_000]), bucket));
    /// let start = tokio::time::Instant::now();
    /// assert_eq!(axum::body::to_bytes(body, usize::MAX).await.unwrap().len(), 3_000);
    /// assert_eq!(start.elapsed().as_secs(), 2); // of the runtime's time, which is paused here
    /// # }
    /// ```
    pub fn new(body: B, bucket: Arc<WaitingTokenBucket<C>>) -> Self {
        let most = bucket.max_cost();
        Self::of(body, most, Box::new(move |n| Arc::clone(&bucket).reserve_owned(n)))
    }
}

impl<B, K, S, C> ThrottledBody<B, OwnedKeyedLine<K, S, C>>
where
    B: Body,
    K: Hash + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
    C: Timer + Send + Sync + 'static,
{
    /// `body`, in the line of `key`, of which a token is a byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use axum::{body::Body, extract::Request};
    /// use tollgate::{ClientKey, KeyedLimiter, TokioClock};
    /// use tollgate_tower::{ThrottledBody, key::{PeerAddress, RequestKey}};
    ///
    /// fn throttled(request: Request, limiter: &Arc<KeyedLimiter<ClientKey, std::hash::RandomState, TokioClock>>) -> Request {
    ///     let (parts, body) = request.into_parts();
    ///     let body = match PeerAddress::new().key(&parts) {
    ///         Some(client) => Body::new(ThrottledBody::per_key(body, Arc::clone(limiter), client)),
    ///         None => body,
    ///     };
    ///     Request::from_parts(parts, body)
    /// }
    /// ```
    pub fn per_key(body: B, limiter: Arc<KeyedLimiter<K, S, C>>, key: K) -> Self {
        let most = limiter.max_cost();
        Self::of(body, most, Box::new(move |n| Arc::clone(&limiter).reserve_owned(&key, n)))
    }
}

impl<B, L> ThrottledBody<B, L>
where
    B: Body,
    L: Line,
    L::Clock: Timer,
{
    fn of(body: B, most: u64, reserve: Reserve<L>) -> Self {
        Self { body, reserve, most: most.max(1), frame: None, unpaid: 0, turn: None }
    }
}

impl<B, L> Body for ThrottledBody<B, L>
where
    B: Body,
    L: Line,
    L::Clock: Timer,
{
    type Data = B::Data;
    type Error = ThrottledBodyError<B::Error>;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, Self::Error>>> {
        let mut this = self.project();
        // PROGRESS: each turn of the loop pays for a part of a frame, or passes it on, or waits.
        loop {
            if let Some(turn) = this.turn.as_mut().as_pin_mut() {
                ready!(turn.poll(context));
                this.turn.set(None);
            }
            if *this.unpaid > 0 {
                let part = (*this.unpaid).min(*this.most);
                match (this.reserve)(part) {
                    Ok(place) => this.turn.set(Some(place.into_future())),
                    Err(denied) => return Poll::Ready(Some(Err(ThrottledBodyError::Denied(denied)))),
                }
                *this.unpaid -= part;
                continue;
            }
            if let Some(frame) = this.frame.take() {
                return Poll::Ready(Some(Ok(frame)));
            }
            match ready!(this.body.as_mut().poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(ThrottledBodyError::Inner(error)))),
                Some(Ok(frame)) => {
                    *this.unpaid = frame.data_ref().map_or(0, |data| data.remaining() as u64);
                    *this.frame = Some(frame);
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.frame.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let read = self.frame.as_ref().and_then(Frame::data_ref).map_or(0, |data| data.remaining() as u64);
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(read));
        }
        hint.set_lower(hint.lower().saturating_add(read));
        hint
    }
}

impl<B, L> fmt::Debug for ThrottledBody<B, L>
where
    B: Body,
    L: Line,
    L::Clock: Timer,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrottledBody").field("unpaid", &self.unpaid).finish_non_exhaustive()
    }
}

/// Why a [`ThrottledBody`] could not be read to its end.
///
/// # Examples
///
/// ```
/// use tollgate_tower::ThrottledBodyError;
///
/// fn is_for_want_of_tokens<E>(error: &ThrottledBodyError<E>) -> bool {
///     matches!(error, ThrottledBodyError::Denied(_))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThrottledBodyError<E> {
    /// There was no place in line for its bytes: the line is as long as it may be, or nothing ever passes.
    Denied(Denied),
    /// The body within failed.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for ThrottledBodyError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for ThrottledBodyError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Denied(_) => None,
            Self::Inner(error) => error.source(),
        }
    }
}
