//! The clock that counts the time during which the system was suspended.

use crate::config::TimeSource;

/// Returns a clock that counts suspended time, or `None` if the system's clock does, or if the
/// system has no other.
pub(crate) fn time_source() -> Option<TimeSource> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    return Some(std::sync::Arc::new(unix::now));
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    return None;
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod unix {
    use std::time::Duration;

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_BOOTTIME;
    #[cfg(target_vendor = "apple")]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;

    pub(super) fn now() -> Duration {
        // SAFETY: a time consists of numbers, and may have padding.
        let mut now: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a writable `timespec`.
        let result = unsafe { libc::clock_gettime(CLOCK, &raw mut now) };
        assert_eq!(result, 0, "clock_gettime fails for a clock of the system");
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        let nanos = u32::try_from(now.tv_nsec).unwrap_or(0);
        Duration::new(seconds, nanos)
    }
}
