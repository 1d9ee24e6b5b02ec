//! A task as the queues and slots of the scheduler store it: one word.

use std::ptr::NonNull;

use raddle_queue::Pointer;
use raddle_task::Runnable;

/// A runnable in a queue.
#[derive(Debug)]
pub(crate) struct Task(pub(crate) Runnable);

// SAFETY: `Runnable::into_raw` and `from_raw` are inverses, and run no code of the task.
unsafe impl Pointer for Task {
    #[inline]
    fn into_ptr(self) -> NonNull<()> {
        self.0.into_raw()
    }

    #[inline]
    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the caller passes what `into_ptr` returned, once.
        Self(unsafe { Runnable::from_raw(ptr) })
    }
}
