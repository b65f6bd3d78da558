//! Every cut and every changed byte is an error.

use super::at;
use tollgate::{KeyedLimiter, ManualClock, Quota, SeededState, SlidingWindowLog, Snapshot, SnapshotError, TokenBucket};

fn small() -> Vec<u8> {
    let log = SlidingWindowLog::with_clock(Quota::per_minute(5), ManualClock::new());
    assert!(log.try_acquire_n(3).is_ok());
    log.snapshot_at(at(1, 2)).to_bytes()
}

fn table() -> KeyedLimiter<u64, SeededState, ManualClock> {
    KeyedLimiter::with_hasher_and_clock(Quota::per_hour(2), 300, SeededState::new(9), ManualClock::new())
        .sharing_when_full(Quota::per_second(3))
}

fn keyed() -> Vec<u8> {
    let limiter = table();
    assert!((0..290).all(|key| limiter.try_acquire(&key).is_ok()));
    limiter.to_bytes_at(at(1, 2))
}

fn read_small(bytes: &[u8]) -> Result<(), SnapshotError> {
    Snapshot::from_bytes(bytes).map(|_| ())
}

fn read_keyed(bytes: &[u8]) -> Result<(), SnapshotError> {
    table().restored_from_bytes_at(bytes, at(1, 2)).map(|_| ())
}

#[test]
fn damage_is_found() {
    for (bytes, read) in [(small(), read_small as fn(&[u8]) -> _), (keyed(), read_keyed)] {
        assert_eq!(read(&bytes), Ok(()));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), Err(SnapshotError::Truncated), "of {length} bytes");
        }
        for changed in 0..bytes.len() {
            for bit in [1, 128] {
                let mut bytes = bytes.clone();
                bytes[changed] ^= bit;
                assert!(read(&bytes).is_err(), "byte {changed} changed");
            }
        }
        assert_eq!(read(&[&bytes[..], &[0]].concat()), Err(SnapshotError::Corrupt));
        let next_version = [&bytes[..8], &[2, 0], &bytes[10..]].concat();
        assert_eq!(read(&next_version), Err(SnapshotError::Version { found: 2 }));
    }
    assert_eq!(read_small(&[0; 100]), Err(SnapshotError::NotASnapshot));
}

/// The layout that the documentation tells, byte for byte: files written today are read for ever.
#[test]
fn the_layout_is_what_it_was() {
    let bucket = TokenBucket::with_clock(Quota::per_second(1).with_burst(3), ManualClock::new());
    assert!(bucket.try_acquire_n(2).is_ok());
    let mut expected = b"tollgate".to_vec();
    expected.extend([1, 0, 1, 0, 1, 0, 0, 0]); // version, kind, flags, quotas
    for word in [7, 8, 0, 1, 1, 1_000_000_000, 3, 2 << 31] {
        expected.extend(u64::to_le_bytes(word));
    }
    let bytes = bucket.snapshot_at(at(7, 8)).to_bytes();
    assert_eq!(bytes[..expected.len()], expected);
    assert_eq!(bytes.len(), expected.len() + 8);
}

/// Several in one stream, each read to its end and no further.
#[test]
fn snapshots_follow_one_another_in_a_stream() {
    let (mut stream, limiter) = (vec![], table());
    assert!(limiter.try_acquire(&1).is_ok());
    let bucket = TokenBucket::with_clock(Quota::per_hour(3), ManualClock::new());
    bucket.snapshot().write_to(&mut stream).unwrap();
    assert_eq!(limiter.save(&mut stream).unwrap(), 1);
    bucket.snapshot().write_to(&mut stream).unwrap();
    let mut stream = stream.as_slice();
    assert_eq!(Snapshot::read_from(&mut stream).unwrap().quota(), Quota::per_hour(3));
    assert_eq!(table().restored(&mut stream).unwrap().live(), 1);
    assert_eq!(Snapshot::read_from(&mut stream).unwrap().quota(), Quota::per_hour(3));
    let error = Snapshot::read_from(&mut stream).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    let error = table().restored(&[b'x'; 99][..]).map(|_| ()).unwrap_err();
    assert_eq!(error.downcast::<SnapshotError>().unwrap(), SnapshotError::NotASnapshot);
}

#[cfg(feature = "serde")]
#[test]
fn serde_carries_the_bytes_as_text() {
    let snapshot = Snapshot::from_bytes(&small()).unwrap();
    let json = serde_json::to_string(&snapshot).unwrap();
    assert!(json.starts_with("\"746f6c6c67617465")); // "tollgate"
    assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), snapshot);
    for damaged in [json.replace("746f", "747f"), json[..20].to_owned() + "\"", "\"7\"".to_owned(), "\"zz\"".to_owned()]
    {
        assert!(serde_json::from_str::<Snapshot>(&damaged).is_err(), "{damaged}");
    }
}
