//! A timer of the system that ends a wait for events: `epoll_wait` counts whole milliseconds, and
//! does not count the time during which the system is suspended.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use mio::unix::SourceFd;

use crate::error;
use crate::reactor::TimeoutClock;
use crate::table::UNPARK;

/// A timer that the selector reports like an unpark.
#[derive(Debug)]
pub(crate) struct WaitTimer {
    fd: OwnedFd,
    clock: TimeoutClock,
}

impl WaitTimer {
    /// Makes a timer and registers it.
    pub(crate) fn new(registry: &mio::Registry, clock: TimeoutClock) -> io::Result<Option<Self>> {
        let id = match clock {
            TimeoutClock::Precise => libc::CLOCK_MONOTONIC,
            TimeoutClock::CountsSuspendedTime => libc::CLOCK_BOOTTIME,
        };
        // SAFETY: the arguments are numbers.
        let fd = unsafe { libc::timerfd_create(id, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) };
        if fd == -1 {
            let error = io::Error::last_os_error();
            return Err(error::refused("timerfd_create", error));
        }
        // SAFETY: the call has just opened the descriptor for this owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let interest = mio::Interest::READABLE;
        registry.register(&mut SourceFd(&fd.as_raw_fd()), UNPARK, interest)?;
        Ok(Some(Self { fd, clock }))
    }

    pub(crate) fn counts_suspended_time(&self) -> bool {
        self.clock == TimeoutClock::CountsSuspendedTime
    }

    /// Sets the timer to end the current or next wait once `timeout` has passed, in place of the
    /// time that was set before.
    ///
    /// The timer need not be read: each expiry is an event, and setting the timer takes back an
    /// expiry that the selector has not reported yet.
    pub(crate) fn start(&self, timeout: Duration) -> io::Result<()> {
        // SAFETY: a setting consists of numbers, and may have padding.
        let mut setting: libc::itimerspec = unsafe { std::mem::zeroed() };
        // Longer than any program runs.
        setting.it_value.tv_sec = timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX);
        // Zero would turn the timer off.
        setting.it_value.tv_nsec = match timeout.as_secs() {
            0 => timeout.subsec_nanos().max(1) as _,
            _ => timeout.subsec_nanos() as _,
        };
        let former = std::ptr::null_mut();
        // SAFETY: the setting is valid, and the pointer to the former one may be null.
        match unsafe { libc::timerfd_settime(self.fd.as_raw_fd(), 0, &raw const setting, former) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
