//! Faults that users of other rate limiters have met with many keys.

use allocation_counter::{AllocationInfo, measure};
use core::net::IpAddr;
use core::time::Duration;
use std::hash::{BuildHasherDefault, DefaultHasher};
use tollgate::{ClientKey, Clock, Denied, KeyedLimiter, ManualClock, Nanos, Quota};

/// Ten million keys seen once each go through a table for a hundred thousand, at a rate at which half that many are in
/// debt at any time. All are admitted; nothing is allocated.
#[test]
fn keys_seen_once_take_no_memory() {
    let keys: u64 = if cfg!(debug_assertions) { 500_000 } else { 10_000_000 };
    let clock = ManualClock::new();
    // The same hashes in every run: among so many random ones, two keys may happen to be one to the table.
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let limiter =
        KeyedLimiter::<u64, _, _>::with_hasher_and_clock(Quota::per_second(1), 100_000, hasher, clock.clone());
    let bytes = limiter.bytes();
    let mut admitted = 0;
    let allocated = measure(|| {
        for key in 0..keys {
            clock.advance(Duration::from_micros(20));
            admitted += u64::from(limiter.try_acquire(&key).is_ok());
        }
        let batch = [keys + 1, keys + 2];
        limiter.check_many(&batch, &mut [Ok(()); 2]);
        let _ = (limiter.status(&1), limiter.live(), limiter.fill(), limiter.forget(&1));
    });
    assert_eq!((admitted, allocated), (keys, AllocationInfo::default()));
    assert_eq!(limiter.bytes(), bytes);
    assert!(bytes < 2_600_000, "{bytes} bytes");
    assert_eq!(limiter.live(), 50_002);
}

/// A table full of keys that owe tokens refuses a newcomer as such, and forgets none of them.
#[test]
fn keys_in_debt_are_never_forgotten() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_minute(1), 1_000, clock.clone());
    let (known, refused): (Vec<u64>, Vec<u64>) = (0..10_000).partition(|key| limiter.try_acquire(key).is_ok());
    assert!(known.len() > 1_200 && limiter.live() == known.len(), "{} keys", known.len());
    for _ in 0..3 {
        clock.advance(Duration::from_secs(15));
        for key in &known {
            assert!(matches!(limiter.try_acquire(key), Err(Denied::TryAfter(_))), "key {key} was forgotten");
        }
        for key in &refused {
            let Err(Denied::TableFull(hint)) = limiter.try_acquire(key) else { panic!("room for key {key}") };
            assert_eq!(hint.due(), Nanos::from_secs(60));
        }
    }
}

/// A key that has fully recovered gives its slot to the next at that very instant, and no nanosecond earlier.
#[test]
fn slots_of_recovered_keys_are_reused_at_once() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<u64>::with_clock(Quota::per_second(3), 1, clock.clone());
    let fill = |from: u64| (from..from + 100).filter(|key| limiter.try_acquire_n(key, 3).is_ok()).count();
    assert_eq!(fill(0), 15); // three lines of five slots
    for round in 1..100 {
        clock.set(Nanos(round * 1_000_000_000 - 1));
        assert_eq!(fill(round * 100), 0, "round {round}");
        clock.advance(Duration::from_nanos(1));
        assert_eq!(fill(round * 100), 15, "round {round}");
    }
}

/// A new key an hour after the start has its initial level, and not what would have come in that hour.
#[test]
fn a_new_key_starts_at_its_initial_level() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<str>::with_clock(Quota::per_hour(50), 100, clock.clone()).with_initial(5);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(limiter.status("new").remaining, 5);
    assert_eq!((0..50).filter(|_| limiter.try_acquire("new").is_ok()).count(), 5);
    clock.advance(Duration::from_secs(72));
    assert_eq!((0..50).filter(|_| limiter.try_acquire("new").is_ok()).count(), 1);

    // A first call that is refused starts the clock all the same: the hint comes true.
    let hint = limiter.try_acquire_n("other", 6).unwrap_err().retry_after().expect("not never");
    assert_eq!(hint, Duration::from_secs(72));
    clock.advance(hint);
    assert!(limiter.try_acquire_n("other", 6).is_ok());
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(limiter.status("new").remaining, 50);
}

/// An IPv6 client is its /64; an IPv4 client is itself, however it is written.
#[test]
fn addresses_make_keys() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::<ClientKey>::with_clock(Quota::per_minute(1), 100, clock.clone());
    let key = |text: &str| ClientKey::from(text.parse::<IpAddr>().expect("an address"));
    for (first, same, other) in [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:3::1"),
        ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
        ("::ffff:198.51.100.7", "198.51.100.7", "::ffff:198.51.100.8"),
    ] {
        assert!(limiter.try_acquire(&key(first)).is_ok(), "{first}");
        assert!(limiter.try_acquire(&key(same)).is_err(), "{same}");
        assert!(limiter.try_acquire(&key(other)).is_ok(), "{other}");
    }
    let site = |text: &str| ClientKey::with_prefix(text.parse().expect("an address"), 48);
    assert_eq!(site("2001:db8:1:2::1"), site("2001:db8:1:ffff::1"));
    assert_ne!(site("2001:db8:1:2::1"), site("2001:db8:2:2::1"));
    assert_eq!(key("2001:db8:1:2::1").to_string(), "2001:db8:1:2::");
    assert!(clock.now() == Nanos::ZERO);
}
