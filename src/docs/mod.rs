//! Essays: what the crate promises, and why the promises hold.
//!
//! | page | for |
//! |---|---|
//! | [`algorithms`] | choosing a limiter: what each guarantees, where it errs, what it costs |
//! | [`limitations`] | what the crate does not do, and where its promises end |
//! | [`memory_ordering`] | why relaxed atomics are enough, and what a limiter does not synchronise |
//! | [`operation`] | between deploy and incident: saving, restoring, looking inside |
//! | [`performance`] | what a call costs, and when sharding pays |
//! | [`verification`] | what each kind of test proves, and what it cannot see |
//! | [`waiting`] | places in line: what is promised, and what a timer has to do with it |
//!
//! These modules hold no code. The examples in them are compiled and run as tests.

pub mod algorithms;
pub mod limitations;
pub mod memory_ordering;
pub mod operation;
pub mod performance;
pub mod verification;
pub mod waiting;
