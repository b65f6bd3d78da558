//! [`AdjustableTokenBucket`]: a token bucket whose quota can be changed while threads use it.
//!
//! ```text
//! LAYOUT   word | position V: 62 bits | bank: 2 bits |
//!
//! bank     the terms of one quota: its constants, the instant `start` from which they hold, and the position `base` at
//!          which their scale began. At instant `now` the scale stands at base + E(now - start).
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
//! 4. **Onward.** A change lets the new scale begin above every position that the word has had, `peak` included; no refund
//!    goes below where a scale began. So no word ever comes back after a change: a CAS, or a second look, that finds the word as it was, proves that the terms in
//!    its bank are those that were read, however long the thread has slept.
//! 5. **Peak first.** A refund raises `peak` to the position that it is about to lower before it lowers it.
//! 6. **Hand over.** Only after the word names the new bank is the old one free.
//!
//! Rule 4 is what keeps the bank's number so short. With a number alone, of however many bits, a thread that sleeps
//! through as many changes wakes to a word that looks the same and terms that are not.
//!
//! # Why it is strict
//!
//! Let a change at instant `c` leave a debt of `d` tokens (the position above the scale). What was admitted before it
//! with readings from `s` on lies below the old position and above the old scale at `s`: at most `d + old * (c - s)`, and
//! at most the old bound. What is admitted after it up to `t` is at most `burst' + new * (t - c) - d`, or nothing while
//! that is negative. Together: at most the larger burst and what either rate brings in its own time. Changes in a row add
//! up in the same way, since each carries the debt on, rounded up by less than a unit.

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
