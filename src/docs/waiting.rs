//! Waiting: what a place in line promises, why it can be given back, and what a timer has to do with it.
//!
//! # A token is a position
//!
//! Tokens fall due along a scale: at instant `t` it stands at `E(t)`. A token is a stretch of that scale. It may be spent
//! from the instant at which the scale, with the burst on top, has reached its end, until the scale itself has passed its
//! beginning: from then on the bucket would have been full without it. A [`TokenBucket`] is one number, the position
//! handed out up to; to admit a call is to move it forward, as far as `E(now) + burst`.
//!
//! To wait is to move it further. Who is handed a stretch beyond `E(now) + burst` has tokens of his own that are not due
//! yet, and knows to the nanosecond when they will be. That is a [`Place`]; it takes the same single compare-and-swap as an
//! admission. There is no queue: the order of places is the order of positions. There is nobody to wake the next in
//! line, since the next knows when to come.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, Nanos, Quota, WaitingTokenBucket};
//!
//! let clock = ManualClock::new();
//! let bucket = WaitingTokenBucket::with_clock(Quota::per_second(10).with_burst(1), Duration::from_secs(5), clock.clone());
//! let places: Vec<_> = (0..4).map(|_| bucket.reserve(1)).collect::<Result<_, _>>()?;
//! let due: Vec<_> = places.iter().map(|place| place.due()).collect();
//! assert_eq!(due, [0, 100, 200, 300].map(Nanos::from_millis));
//! # Ok::<_, tollgate::Denied>(())
//! ```
//!
//! # What is promised
//!
//! * **The bound.** In any window of instants, what is spent at them is no more than the burst and what falls due in the window.
//!   A place counts at its own instant. Instants are fractions; [`Place::due`] is the first whole nanosecond after, so that
//!   readings of a clock may show what falls due in a nanosecond more.
//! * **Order.** Places are due in the order in which they were reserved, but for those that are served from what others
//!   gave back. A call that does not wait is refused while the line reaches ahead of it: nobody overtakes.
//! * **Nobody is served later than told.** A place's instant never changes.
//! * **A bound on the line**, given at construction. Beyond it, [`Denied::LineFull`], at once.
//! * **No waiting in vain.** A call that cannot be served in time is refused before it has waited, with
//!   [`Denied::WouldExceedDeadline`], which says when it could have been; and nothing is written.
//! * **Exact cancellation.** See below.
//! * **Nobody blocks anybody.** A place is two numbers in its holder's hand. A holder that never wakes, is not polled or
//!   has leaked its place delays nobody: its tokens count as spent, and everybody else's instants are what they were.
//!
//! # The place counts, not the wake-up
//!
//! A timer is late: by 50 us where threads are parked, by up to a millisecond and more in a runtime whose wheel turns once
//! in a millisecond. A limiter whose waiters wake up and then ask again loses that time with each token: with a burst of 1 at
//! 1000 per second, and timers of a millisecond, about half the rate is left.
//!
//! Here the token was taken before the wait. The next place is due one token's time after *its* position, whenever
//! the holder of this one gets round to it, so the rate is reached whatever the timer does. The price is that work is not
//! spaced more evenly than the timer allows: if three places come due while a timer sleeps, their holders act together. They
//! keep the bound at the instants of their places; in the time of the wall, they are as late as their timer.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{ManualClock, Nanos, Quota, WaitingTokenBucket};
//!
//! let clock = ManualClock::new();
//! let bucket = WaitingTokenBucket::with_clock(Quota::per_second(1_000).with_burst(1), Duration::MAX, clock.clone());
//! for i in 0..1_000 {
//!     let place = bucket.reserve(1)?;
//!     assert_eq!(place.due(), Nanos::from_millis(i)); // not a nanosecond is lost
//!     clock.set(place.due().saturating_add(Duration::from_micros(900))); // every wake-up is late
//!     assert!(place.spend().is_ok());
//! }
//! # Ok::<_, tollgate::Denied>(())
//! ```
//!
//! One thing is left that a late wake-up costs. A caller alone who takes one place after the other asks for the next only
//! when it is awake, and if that is later than the bucket takes to fill, what fell due meanwhile is gone; as it must be, by the bound. With
//! a burst of 1 at 1000 per second a task alone on tokio so gets some 950. Three ways to the full rate:
//!
//! * [`Turns`](crate::Turns): the next place counts from the instant of the last, so many milliseconds ago at most.
//!   `let mut turns = bucket.turns(slack)`, and then `turns.acquire(1).await`.
//! * a burst that covers how late the timer is: 3 or more at this rate;
//! * [`Pacer`](crate::Pacer) with some slack, where nobody shares the limit.
//!
//! So spend a place soon after it is due. One that is kept for a minute and spent then has the work done a minute late,
//! beside that of others; give it back instead, and reserve again.
//!
//! # Giving back
//!
//! A place that is dropped is given back. That is the safer default: a panic, an early return, a future that loses a race against a
//! timeout then costs nobody anything; while a place that is used and not marked as spent is an error that shows in any test,
//! as tokens that are there twice.
//!
//! The last place in line goes back by moving the position handed out to where the place began, by one
//! compare-and-swap, and with it all given-back stretches that end there. So a crowd that leaves from the end, or leaves
//! altogether in any order, leaves no trace.
//!
//! From the middle it cannot: the position is one number. The stretch is put into a small pool beside it, and the next call
//! that would be refused, or would have to wait longer, is served from there, as long as its tokens may still be spent at its
//! instant. Those who are waiting already keep the instants that they were told, so a gap is filled by whoever asks next; while
//! nobody asks, nobody misses it. A call takes its tokens from one stretch: pieces are not put together.
//!
//! What is lost, at most:
//!
//! * A place given back from the middle while the pool's seven stretches are all good: its tokens, once, as if they had been spent.
//! * A stretch for which nobody asks until it drops out of the bucket: its tokens. The bucket would have been full without
//!   them.
//! * A thread that is stopped for good in the middle of giving back: the tokens in its hand.
//!
//! None of these grows, and nothing is ever minted. A place that is leaked is as good as spent.
//!
//! | | the last place | from the middle |
//! |---|---|---|
//! | [`WaitingTokenBucket`] | comes back | comes back to the next who asks, while the pool has room |
//! | [`ShardedTokenBucket`] | comes back | is lost |
//! | [`KeyedLimiter`](crate::KeyedLimiter), in the line of each key | comes back | is lost |
//!
//! By key there is no room for a pool: a key's line is the word of its bucket, so that millions of keys may have one. Nor do
//! places come back from the end without limit: as many, one after the other, as take the longest burst of any class to
//! recover, and then as time goes by.
//!
//! [`refund`](crate::WaitingTokenBucket::refund) gives back tokens without a place. It cannot know which positions they had, so its bound
//! is the weaker one of any refund.
//!
//! # How to wait
//!
//! * [`acquire_blocking`](crate::WaitingTokenBucket::acquire_blocking), with a timeout or a deadline if need be, parks the thread.
//! * [`reserve`](crate::WaitingTokenBucket::reserve) gives the place itself: to wait by one's own means, to be interruptible, or to decide
//!   on the delay.
//! * [`reserve_owned`](crate::WaitingTokenBucket::reserve_owned) gives one that may outlive the stack frame.
//! * `acquire(n).await` and its forms, with the feature `async`, for a limiter on a clock that is also a `Timer`: `TokioClock`,
//!   `AsyncIoClock`, `ManualClock`, or one of your own. `place.await` waits for a place that is reserved already.
//!   By key, [`KeyedLimiter`](crate::KeyedLimiter) has the same forms, with the key in front: `acquire(&key, n).await`.
//! * [`Turns`](crate::Turns) for one who waits, works, and waits again.
//! * [`Pacer`](crate::Pacer) for one who works through a list at an even pace, and [`Throttled`](crate::Throttled) for bytes.
//! * [`Retrying`](crate::Retrying) for limiters in which there are no places. It tries again, and keeps no order.
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{Denied, ManualClock, Quota, WaitingTokenBucket};
//!
//! let bucket = WaitingTokenBucket::with_clock(Quota::per_second(2).with_burst(1), Duration::from_secs(60), ManualClock::new());
//! assert!(bucket.try_acquire().is_ok());
//! match bucket.reserve_within(1, Duration::from_millis(100)) {
//!     Ok(place) => println!("in {:?}", place.delay()),
//!     Err(Denied::WouldExceedDeadline(hint)) => assert_eq!(hint.due().as_nanos(), 500_000_000),
//!     Err(denied) => println!("{denied}"),
//! }
//! ```
//!
//! # Futures
//!
//! The future takes its place at its first poll, and holds it by value. Hence, whatever happens to it:
//!
//! * never polled: it has no place, and delays nobody;
//! * dropped, by a timeout, in `select!`, with its task: its place is given back;
//! * held and not polled any more: it keeps its own tokens from others, and nothing else;
//! * polled late: it has what it was promised, and those behind it have not waited for it.
//!
//! There is no queue that somebody has to drive, no task, no thread and no allocation: the runtime's timer, which the future
//! holds too, is all that wakes it. Timer and clock are one type, since two that disagree make a task spin: under tokio's
//! paused time a sleep ends at once, while the machine's clock has not moved. On `TokioClock` both stand still, and both
//! move on.
//!
//! # What it costs
//!
//! To reserve a place that is due at once and to spend it is one compare-and-swap, as an admission is: the place remembers that
//! it was due, and spending it writes nothing and reads no clock. (The benchmark's engine `places` does that.) Calls that
//! do not wait cost what they cost on a [`TokenBucket`]; a refusal looks at the pool's slots, two lines of memory that
//! nobody writes while nothing is given back from the middle. The bucket takes 192 bytes.
//!
//! [`Denied::LineFull`]: crate::Denied::LineFull
//! [`Denied::WouldExceedDeadline`]: crate::Denied::WouldExceedDeadline
//! [`Place`]: crate::Place
//! [`Place::due`]: crate::Place::due
//! [`ShardedTokenBucket`]: crate::ShardedTokenBucket
//! [`TokenBucket`]: crate::TokenBucket
//! [`WaitingTokenBucket`]: crate::WaitingTokenBucket
