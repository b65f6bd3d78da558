//! [`parse`]: the answers of the script, as text.

use crate::centre::{Answer, Seen};

/// What the script says; [`parse`] reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The request was executed, now or when it first came.
    Answer(Answer),
    /// A later request of this instance was executed before; this one was not.
    Old,
    /// Other processes use this name with other terms: (tokens, micros, burst, lease).
    Terms([u64; 4]),
}

/// Integers from here on are not exact in the script.
const EXACT: u64 = 1 << 53;

/// Reads a reply of the script; `None` for anything else.
///
/// # Examples
///
/// ```
/// use tollgate_redis::{Reply, parse};
///
/// let Some(Reply::Answer(answer)) = parse("draw 7 1 50 1000 2000 150") else { panic!() };
/// assert_eq!((answer.granted, answer.seen.position), (50, 150));
/// assert_eq!(parse("draw 7 1 50 1000 2000 49"), None); // no such stretch
/// assert_eq!(parse("old"), Some(Reply::Old));
/// ```
pub fn parse(text: &str) -> Option<Reply> {
    let mut words = text.split(' ');
    let kind = words.next()?;
    let mut number = || {
        let word = words.next().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))?; // no sign
        word.parse::<u64>().ok().filter(|&n| n < EXACT)
    };
    let reply = match kind {
        "draw" => {
            let (instance, sequence, granted) = (number()?, number()?, number()?);
            let seen = Seen { epoch: number()?, instant: number()?, position: number()? };
            if granted > seen.position || seen.instant < seen.epoch {
                return None;
            }
            Reply::Answer(Answer { instance, sequence, granted, seen })
        }
        "old" => Reply::Old,
        "terms" => Reply::Terms([number()?, number()?, number()?, number()?]),
        _ => return None,
    };
    words.next().is_none().then_some(reply)
}
