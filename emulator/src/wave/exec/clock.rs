//! The clocks that device code can read.

/// Nanoseconds of the host's monotonic clock, which never stops and is the same for all devices.
pub fn nanoseconds() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writes; CLOCK_MONOTONIC exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The constant clock of 100 MHz.
pub fn realtime() -> u64 {
    nanoseconds() / 10
}
