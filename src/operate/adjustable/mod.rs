//! [`AdjustableLimiter`]: a limiter whose quota can be changed while threads use it: a token bucket, a fixed window, a sliding
//! window counter.
//!
//! ```text
//! LAYOUT   word | position: 62 bits | bank: 2 bits |
//!
//! bank     the terms of one quota: its algorithm's constants, the instant `start` from which they hold, and the position
//!          `base` at which they began. The position is base + the algorithm's word, of instants since the start.
//! in use   a bit for each bank that must not be written: the one that the word names, and those that a change has
//!          claimed.
//! peak     the highest position from which a refund has lowered the word.
//! ```
//!
//! Rules:
//!
//! 1. **Decide.** Load the word, read the terms in the bank that it names, and load the word again: if it is another, start
//!    again, for the terms may have been rewritten while they were read. What changes the word is one CAS from the word that
//!    was loaded; a denial writes nothing.
//! 2. **Banks.** Terms are written only into a bank that is not in use, by the one change that has claimed it.
//! 3. **Look, then read the clock.** A change loads the word first and reads the clock afterwards, anew for each attempt:
//!    so every decision that is in the word was made on an earlier reading (of a clock that does not go back), and its
//!    debt is counted in full at the change's instant.
//! 4. **Onward.** A change lets the new base lie above every position that the word has had, `peak` included; no algorithm's
//!    word goes below 0, that of a limiter which owes nothing. So no word ever comes back after a change: a CAS, or a second look, that finds the word as it was, proves that the terms in
//!    its bank are those that were read, however long the thread has slept.
//! 5. **Peak first.** A refund raises `peak` to the position that it is about to lower before it lowers it.
//! 6. **Hand over.** Only after the word names the new bank is the old one free.
//!
//! Rule 4 is what keeps the bank's number so short. With a number alone, of however many bits, a thread that sleeps
//! through as many changes wakes to a word that looks the same and terms that are not.
//!
//! # Why it is strict
//!
//! **Token bucket.** Let a change at instant `c` leave a debt of `d` tokens (the position above the scale). What was admitted
//! before it with readings from `s` on lies below the old position and above the old scale at `s`: at most `d + old * (c - s)`, and
//! at most the old bound. What is admitted after it up to `t` is at most `burst' + new * (t - c) - d`, or nothing while
//! that is negative. Together: at most the larger burst and what either rate brings in its own time. Changes in a row add
//! up in the same way, since each carries the debt on, rounded up by less than a unit, and none begins earlier than the one before,
//! on however old a reading: no stretch of time is paid twice.
//!
//! **Fixed window.** Let `D` be what the stored window owes: its count, and the excess over the limit of a later quota. A call
//! of `n` is admitted only if `D + n` is at most the limit in force, and `D` grows by it; a change leaves `D` as it is; only the
//! end of a window, of the quota in force then, makes it 0. So between two ends at most the largest limit in force between them is
//! admitted. A window begins where the clock's count says: of the new quota, the one that holds `max(c, begin of the stored window)`.
//! A change therefore never moves to a window that is over, and never begins a second one.
//!
//! **Sliding window counter.** The estimate is `previous * (W - elapsed) / W + current`. A change at `c` keeps both counts and makes
//! `elapsed' = floor(elapsed * W' / W)`, so that the weight of the previous window is the same or, by the rounding, greater: the
//! estimate does not fall. `current` grows with each admission, which is one only if it is at most the limit in force
//! afterwards; it begins anew only when a window ends; and since `elapsed / W` grows by `1 / W` in a nanosecond and never by a
//! change, no window ends before the parts of periods that have passed in it sum up to 1.
//!
//! A debt beyond the limit does not fit in a window's count. What is left over, the *excess*, is a constant of the bank: it counts
//! in each decision for as long as the window that owes it does, the next change carries it on, and no refund reaches it. Under the
//! quota that is in force already, a change of windows that keeps what is there writes nothing, so that however often a file is
//! read again, nothing is rounded.

mod bucket;
mod carry_over;
mod change;
mod construction;
mod counter;
mod keyed;
mod limiter;
mod names;
mod saved;
mod state;
mod terms;
mod window;

pub use carry_over::{AdjustError, CarryOver};
pub use change::Adjustable;
pub use limiter::AdjustableLimiter;
pub use names::*;
