//! A timer of the kernel for which the monitor on standby waits. See "Standby" in
//! `docs/scheduler.md`.
//!
//! # Why the alarm is set while a worker runs
//!
//! A worker P that clears the alarm, because no worker runs, clears it *before* it changes the role
//! of the monitor to standby, and reads afterwards whether a worker runs.
//!
//! - P's change succeeds. A worker that reads the role after that elects the monitor, and sets the
//!   alarm after P cleared it. For a worker that read the role before, P has the monitor elected:
//!   when it asks for its duty, or when it runs, if it was claimed before that.
//! - P's change fails: another worker has become the monitor, and P may have cleared the alarm that
//!   was set for it. P sets the alarm again. At worst it is due once while no worker runs.
//!
//! The electing worker sets the alarm only if a compare-exchange finds the monitor's parker in
//! `ON_ALARM`. The monitor leaves the parker by a swap. If the swap comes first, the monitor is
//! unparked; otherwise it sees the election.

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// The alarm is cleared only if the last setting came at least this time after the one before it. A
/// pool that repeatedly runs and parks therefore makes at most three system calls for the alarm in
/// this time.
const SHORTEST_CLEAR: Duration = Duration::from_millis(2);
/// The duration of a wait that the system refuses.
const REFUSED_WAIT: Duration = Duration::from_millis(5);

/// A timer that other threads set and clear while one thread waits for it.
///
/// A thread that sleeps has to be woken to give it a time-out. This timer is set without waking the
/// thread. It is a `timerfd` of Linux; other systems have no alarm.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_idle::Alarm;
///
/// if let Some(alarm) = Alarm::new() {
///     assert!(alarm.take());
///     alarm.set(Duration::from_millis(1));
///     assert!(alarm.wait(None), "it is due");
///     alarm.notify();
///     assert!(!alarm.wait(None));
///     alarm.give_back();
/// }
/// ```
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
    /// The counter that ends a wait before the timer does.
    notification: OwnedFd,
    is_taken: AtomicBool,
    /// The result of the method `is_worth_clearing`.
    is_worth_clearing: AtomicBool,
    made: Instant,
    /// The time when the alarm was last set, in nanoseconds since `made`.
    last_set: AtomicU64,
}

impl Alarm {
    /// Makes an alarm that is not set. Returns `None` on systems other than Linux, and if the
    /// process has no descriptors left.
    pub fn new() -> Option<Self> {
        let make = || -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            Ok(Self {
                timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
                notification: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
                is_taken: AtomicBool::new(false),
                is_worth_clearing: AtomicBool::new(false),
                made: Instant::now(),
                last_set: AtomicU64::new(0),
            })
        };
        make().ok()
    }

    /// Reserves the alarm for one waiting thread. Returns `false` if another thread has it.
    #[must_use]
    pub fn take(&self) -> bool {
        // ORDERING: Acquire pairs with `give_back`: the previous thread has left its wait.
        !self.is_taken.swap(true, Ordering::Acquire)
    }

    /// Lets another thread take the alarm.
    pub fn give_back(&self) {
        // ORDERING: Release pairs with `take`.
        self.is_taken.store(false, Ordering::Release);
    }

    /// Waits until the alarm is due, [`notify`](Self::notify) is called, or the time is over.
    /// Returns whether it is due. May return early, with `false`.
    ///
    /// If the system refuses the wait, because a sandbox forbids it or the program has closed the
    /// descriptors, the alarm is due after 5 ms each time.
    pub fn wait(&self, timeout: Option<Duration>) -> bool {
        let is_due = self.try_wait(timeout).unwrap_or_else(|_| {
            thread::sleep(REFUSED_WAIT);
            true
        });
        if is_due {
            // ORDERING: a hint.
            self.is_worth_clearing.store(false, Ordering::Relaxed);
        }
        is_due
    }

    fn try_wait(&self, timeout: Option<Duration>) -> rustix::io::Result<bool> {
        let mut ready = [&self.timer, &self.notification].map(|fd| PollFd::new(fd, PollFlags::IN));
        let timeout =
            timeout.map(|timeout| Timespec::try_from(timeout).expect("the time is short"));
        match poll(&mut ready, timeout.as_ref()) {
            // A signal interrupted the wait; the caller checks why it was woken.
            Err(Errno::INTR) => return Ok(false),
            result => result?,
        };
        let [is_due, is_notified] = ready.map(|fd| !fd.revents().is_empty());
        if is_notified {
            take_count(&self.notification)?;
        }
        Ok(is_due && take_count(&self.timer)?)
    }

    /// Ends the current wait, or the next one.
    pub fn notify(&self) {
        // If this write fails, the wait fails too and ends after `REFUSED_WAIT`.
        let _ = rustix::io::write(&self.notification, &1_u64.to_ne_bytes());
    }

    /// Makes the alarm due after a time, which replaces the time that was set before.
    pub fn set(&self, after: Duration) {
        let now = self.made.elapsed().as_nanos() as u64;
        // ORDERING: hints.
        let last = self.last_set.swap(now, Ordering::Relaxed);
        let is_rare = now.saturating_sub(last) >= SHORTEST_CLEAR.as_nanos() as u64;
        self.is_worth_clearing.store(is_rare, Ordering::Relaxed);
        if self.set_timer(after).is_err() {
            // The waiting worker asks for its duty and becomes the active monitor.
            self.notify();
        }
    }

    /// Returns whether the alarm is set, and was not set in the 2 ms before that. Then it costs
    /// less to clear it than to let it wake a thread. This is a hint.
    #[inline]
    pub fn is_worth_clearing(&self) -> bool {
        // ORDERING: a hint.
        self.is_worth_clearing.load(Ordering::Relaxed)
    }

    /// Clears the alarm: it is not due until it is set again.
    pub fn clear(&self) {
        // ORDERING: a hint.
        self.is_worth_clearing.store(false, Ordering::Relaxed);
        // If this call fails, the alarm is due once unnecessarily.
        let _ = self.set_timer(Duration::ZERO);
    }

    fn set_timer(&self, after: Duration) -> rustix::io::Result<()> {
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let it_value = Timespec::try_from(after).expect("the time is short");
        let timer = Itimerspec {
            it_interval: zero,
            it_value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &timer).map(drop)
    }
}

/// Resets the count of a descriptor. Returns `false` if it was zero: another thread has cleared the
/// alarm.
fn take_count(fd: &OwnedFd) -> rustix::io::Result<bool> {
    match rustix::io::read(fd, &mut [0; 8]) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn an_alarm_that_the_system_refuses_is_due_after_a_while() {
        let directory = || File::open("/").unwrap().into();
        let alarm = Alarm {
            timer: directory(),
            notification: directory(),
            ..Alarm::new().unwrap()
        };
        let start = Instant::now();
        alarm.set(Duration::from_millis(1));
        alarm.notify();
        alarm.clear();
        assert!(alarm.wait(None));
        assert!(start.elapsed() >= REFUSED_WAIT);
    }
}
