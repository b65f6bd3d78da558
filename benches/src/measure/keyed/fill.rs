//! How full this crate's table gets before it refuses the first newcomer.

use super::load::Load;
use super::population::row as case;
use crate::engine::keyed::registry::named;
use crate::figures::row::Row;
use tollgate::KeyedLimiter;

/// Slots in a line of 64 bytes; see `KeyedLimiter`'s documentation of its memory.
const BYTES_PER_SLOT: f64 = 64.0 / 5.0;

/// How often it is tried, each time with other hashes.
const TRIES: usize = 3;

/// The part of a table's slots that hold a key in debt when the first newcomer is refused: the least of three tries.
pub fn fill(keys: u32) -> f64 {
    (0..TRIES).map(|_| once(keys)).fold(f64::INFINITY, f64::min)
}

#[allow(clippy::cast_precision_loss)] // counts stay far below 2^52
fn once(keys: u32) -> f64 {
    let limiter = KeyedLimiter::<u64>::new(Load::Deny.quota(), keys as usize);
    let placed = (0..u64::from(u32::MAX)).take_while(|key| limiter.try_acquire(key).is_ok()).count();
    placed as f64 / (limiter.bytes() as f64 / BYTES_PER_SLOT)
}

/// The row of a table for so many keys.
pub fn row(keys: u32) -> Row {
    Row { verified: true, fill: Some(fill(keys)), ..case(&named("keyed"), Load::Admit, "fill", 1, u64::from(keys)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_more_than_it_is_made_for_and_less_than_it_has_slots() {
        let fill = fill(10_000);
        assert!((0.5..1.0).contains(&fill), "{fill}");
    }
}
