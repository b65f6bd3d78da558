//! Several limits at once: all of them, or nothing.
//!
//! # Rules
//!
//! 1. **One reading.** The set reads one clock, once; every limit is asked as of that reading.
//! 2. **Look first.** All limits are looked at, and nothing is written. If any of them refuses, the call is refused by all that do.
//! 3. **Take in order.** Then each limit is taken of, first to last. Each take decides anew, by the limiter's own atomic step: what
//!    was seen is no promise.
//! 4. **All or nothing.** If a take is refused after all, what was taken is given back, last to first, each from the receipt of its
//!    take. The limits that were not reached are looked at once more, so that all who refuse are named.
//! 5. **Exactly that.** A receipt holds the limiter's state before and after. A state that is as the take left it becomes what it was
//!    before. Where others have changed it since, a window takes its count off the window in which it was counted, or nothing if that is
//!    past; a bucket with a pool keeps the stretch for the next caller; and of any other bucket the tokens stay spent.
//! 6. **What takes nothing back comes last.** So it is taken of only when nothing can refuse any more.
//!
//! # Why it is strict
//!
//! A call that is admitted has taken of each limit by a step that keeps that limit's bound. One that is refused leaves each limit as if
//! it had never come, or fuller of debt, never emptier (rule 5). So what each limit admits, through however many sets and from whomever
//! else, is what it would admit alone.
//!
//! # What others see meanwhile
//!
//! From a take to the giving back, those tokens are held by a call that will be refused, and another may be refused for want of
//! them: for as long as the takes that remain last, some ten nanoseconds each; if the thread is stopped just there, for as long as it
//! is stopped. It takes a race to get there: all limits had enough when they were looked at, and one was gone a moment later. Nobody
//! waits for anybody: each step is lock-free.
//!
//! Two calls can so refuse each other, where each holds the last token that the other needs. If all sets have the limits that they share
//! in one order, one of them gets both.
//!
//! A refusal is no statement on one instant, for the limits are looked at one after the other.

mod denied;
mod error;
mod set;
#[cfg(all(test, not(all(loom, feature = "loom"))))]
mod tests;

pub use denied::DeniedBy;
pub use error::LimitSetError;
pub use set::LimitSet;
