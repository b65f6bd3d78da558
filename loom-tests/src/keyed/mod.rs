//! The keyed limiter: [`Table`] is its protocol in short, [`Real`] the type itself on a table as small.

mod real;
mod transcription;

pub use real::{Chosen, Real, empty, real};
pub use transcription::{Rules, Table};

/// Tokens of one key at once. One falls due each nanosecond, so that instants and tokens are the same small numbers.
pub const BURST: u64 = 3;

/// The protocol, on a table in whose first slots these keys are open, each full at its instant.
pub fn protocol<const SLOTS: usize>(open: &[(u32, u64)]) -> Table<SLOTS> {
    Table::new(BURST, Rules::ALL, open)
}
