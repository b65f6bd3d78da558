//! Arrivals from a file.

use super::traffic::{Arrivals, Numbers};
use crate::figures::error::{Error, Result};
use core::fmt::Display;
use std::path::Path;
use tollgate::Nanos;

/// The arrivals in a csv whose first two columns are milliseconds and a key, with or without a header: each of cost 1, in
/// the order of time. (`tollgate-replay` reads other logs, and compares all algorithms on them.)
///
/// # Errors
///
/// If it cannot be read, or a line is no arrival.
pub(super) fn read(path: &Path) -> Result<Arrivals> {
    let failed = |why: &dyn Display| Error::Request(format!("cannot read {}: {why}", path.display()));
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).comment(Some(b'#')).from_path(path);
    let mut keys = Numbers::default();
    let mut arrivals = Arrivals::new();
    for (number, record) in reader.map_err(|error| failed(&error))?.records().enumerate() {
        let record = record.map_err(|error| failed(&error))?;
        let at = record.get(0).and_then(|millis| millis.trim().parse().ok());
        match at.and_then(|millis| u64::checked_mul(millis, 1_000_000)).zip(record.get(1)) {
            Some((nanos, key)) => arrivals.push((Nanos::from_nanos(nanos), keys.of(key.to_owned()))),
            None if number == 0 => {} // a header
            None => return Err(failed(&format!("line {}: milliseconds and a key are needed", number + 1))),
        }
    }
    arrivals.sort_by_key(|&(at, _)| at);
    if arrivals.is_empty() { Err(failed(&"there are no arrivals in it")) } else { Ok(arrivals) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Arrivals> {
        let path = std::env::temp_dir().join(format!("tollgate-bench-{name}-{}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let arrivals = super::read(&path);
        std::fs::remove_file(path).unwrap();
        arrivals
    }

    #[test]
    fn arrivals_are_in_the_order_of_time_and_keys_are_numbered() {
        let expected = [(1, 0), (2, 1), (5, 0)].map(|(millis, key)| (Nanos::from_millis(millis), key));
        assert_eq!(read("headed", "t_ms,client,bytes\n5,b,10\n2,a,10\n1,b,7\n").unwrap(), expected);
        assert_eq!(read("bare", "5,b\n2,a\n1,b\n").unwrap(), expected);
    }

    #[test]
    fn what_is_no_arrival_is_an_error_with_its_line() {
        for (name, text, why) in [
            ("soon", "1,a\nsoon,b\n", "line 2"),
            ("keyless", "1,a\n2\n", "line 2"),
            ("empty", "t_ms,client\n", "no arrivals"),
        ] {
            let message = read(name, text).unwrap_err().to_string();
            assert!(message.contains(why) && message.contains("cannot read"), "{message}");
        }
    }
}
