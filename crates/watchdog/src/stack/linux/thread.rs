//! The stack of a thread, and its signal mask.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Duration;

use super::signal::SIGNAL;

/// A thread and the addresses of its stack.
#[derive(Clone, Debug)]
pub(crate) struct ThreadStack {
    /// The system's number for the thread.
    pub(super) thread: libc::pid_t,
    pub(super) addresses: Range<usize>,
}

impl ThreadStack {
    /// Returns the stack of the calling thread, or `None` if the system does not report it.
    pub(crate) fn of_current_thread() -> Option<Self> {
        Some(Self {
            // SAFETY: the call has no arguments.
            thread: unsafe { libc::gettid() },
            addresses: stack_addresses()?,
        })
    }
}

impl ThreadStack {
    /// Returns the processor time of the thread.
    pub(super) fn processor_time(&self) -> Duration {
        // The number of a thread's clock, as the system defines it.
        let clock = !self.thread << 3 | 6;
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call writes to `time`, or fails.
        unsafe { libc::clock_gettime(clock, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// Takes the signal of samples out of the calling thread's mask. Returns whether it was in it.
pub(crate) fn unblock_signal() -> bool {
    change_mask(libc::SIG_UNBLOCK)
}

/// Adds the signal of samples to the calling thread's mask.
pub(crate) fn block_signal() {
    change_mask(libc::SIG_BLOCK);
}

/// Changes the calling thread's mask, and returns whether the signal was in it.
fn change_mask(how: libc::c_int) -> bool {
    let mut set = MaybeUninit::uninit();
    let mut former = MaybeUninit::uninit();
    // SAFETY: the first call initializes `set`, which the others use; the third one writes to
    // `former`, which is read only if it has succeeded.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), SIGNAL);
        libc::pthread_sigmask(how, set.as_ptr(), former.as_mut_ptr()) == 0
            && libc::sigismember(former.as_ptr(), SIGNAL) == 1
    }
}

fn stack_addresses() -> Option<Range<usize>> {
    // SAFETY: zeros are a value of this structure of integers.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    // SAFETY: the thread is the calling one; the call initializes `attributes`.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) } != 0 {
        return None;
    }
    let mut start = std::ptr::null_mut();
    let mut size = 0;
    // SAFETY: `attributes` is initialized, and the call writes to both variables.
    let result = unsafe { libc::pthread_attr_getstack(&attributes, &mut start, &mut size) };
    // SAFETY: `attributes` was initialized above, and is no longer used.
    unsafe { libc::pthread_attr_destroy(&mut attributes) };
    let start = start as usize;
    let end = start.checked_add(size)?;
    (result == 0 && size > 0).then_some(start..end)
}
