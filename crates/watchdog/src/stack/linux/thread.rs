//! The stack of a thread.

use std::ops::Range;

/// A thread and the addresses of its stack.
#[derive(Debug)]
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
