//! Whether every engine limits at all, and each key by itself, before it is measured.

use crate::engine::keyed::Entry;
use crate::engine::label::Kind;
use crate::figures::outcome::Verdict;
use crate::run::pool::Pool;
use core::time::Duration;
use std::sync::Arc;
use tollgate::Quota;

const KEYS: u32 = 500;
const BURST: u64 = 5;
const CALLS: usize = 4;

/// Two threads call for each of 500 keys, four times each, through the very loop that is measured; of the eight calls for
/// a key exactly the five must be admitted that its burst holds. The next token is an hour away.
///
/// # Errors
///
/// Says how many calls were admitted instead.
pub fn audit(entry: &Entry, pool: &Pool) -> Verdict {
    if entry.label.kind == Kind::Floor {
        return Ok(()); // it limits nothing
    }
    check(entry, pool, Quota::per(1, Duration::from_hours(1)).with_burst(BURST))
}

fn check(entry: &Entry, pool: &Pool, quota: Quota) -> Verdict {
    let engine = (entry.work.build)(quota, 2 * KEYS);
    let keys: Arc<[u32]> = (0..CALLS).flat_map(|_| 0..KEYS).collect();
    let admitted: u64 = pool.run(2, move |_| engine.admit(&keys), || ()).into_iter().sum();
    let due = u64::from(KEYS) * BURST;
    if admitted == due {
        return Ok(());
    }
    Err(format!(
        "{} ({} clock): {admitted} calls admitted, though {due} tokens were there",
        entry.label.name, entry.label.clock
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::keyed::registry::ENTRIES;

    #[test]
    fn every_engine_keeps_to_the_quota_and_a_wrong_one_is_found_out() {
        let pool = Pool::default();
        for entry in ENTRIES {
            assert_eq!(audit(entry, &pool), Ok(()));
            // One token more than there should be, and the floor, which admits all.
            assert!(check(entry, &pool, Quota::per(1, Duration::from_hours(1)).with_burst(BURST + 1)).is_err());
        }
    }
}
