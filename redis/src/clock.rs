//! The holder's clock: microseconds that go on while the machine sleeps, where the system has such a clock.

#[cfg(target_os = "linux")]
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec.cast_unsigned() * 1_000_000 + now.tv_nsec.cast_unsigned() / 1_000
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(ORIGIN.elapsed().as_micros()).unwrap_or(u64::MAX)
}
