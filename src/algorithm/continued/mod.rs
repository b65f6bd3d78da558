//! Windows that go on from others, under another quota: of a limiter whose quota has changed.

mod counter;
mod window;

pub use counter::ContinuedCounter;
pub(crate) use counter::Standing;
pub use window::ContinuedWindow;

/// The most tokens that can be owed, above any limit: sums of a few do not overflow.
pub(crate) const MOST_OWED: u64 = 1 << 61;

/// How much of `owed` tokens a count of up to `limit` has, and how much is left over.
const fn divided(owed: u64, limit: u64) -> (u64, u64) {
    if owed <= limit { (owed, 0) } else { (limit, owed - limit) }
}
