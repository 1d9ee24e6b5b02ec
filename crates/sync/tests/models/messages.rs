//! Messages, wakers and waits of the models.

use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread::{self, Thread};

/// A message whose content is written before it is sent. The model reports a message that is never
/// dropped.
pub(crate) struct Message(Arc<UnsafeCell<u32>>);

impl Message {
    pub(crate) fn new() -> Self {
        let content = Arc::new(UnsafeCell::new(0));
        // SAFETY: no other thread has it yet.
        content.with_mut(|content| unsafe { *content = 7 });
        Self(content)
    }

    /// Counts as a write, so a later access must be ordered after it.
    pub(crate) fn touch(&self) {
        self.0.with_mut(|_| ());
    }

    /// Returns another message with the same content, so that both accesses race.
    pub(crate) fn forge(&self) -> Self {
        Self(self.0.clone())
    }

    /// Checks the content that was written before the message was sent.
    pub(crate) fn check(self) {
        // SAFETY: the message was sent to the caller; loom reports it if that gives no order.
        self.0.with_mut(|content| unsafe {
            assert_eq!(*content, 7);
            *content = 8;
        });
    }
}

/// A cell whose accesses race on purpose. It has no content that the failed model would have to
/// drop.
pub(crate) struct Raced(UnsafeCell<()>);

// SAFETY: the model finds the race, and the cell has no content.
unsafe impl Sync for Raced {}
// SAFETY: as above.
unsafe impl Send for Raced {}

impl Raced {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(()))
    }

    pub(crate) fn touch(&self) {
        self.0.with_mut(|_| ());
    }
}

/// Wakes a thread of the model. The count is loom's, so that a waker that is never dropped is a
/// leak.
struct Unpark {
    thread: Thread,
    _alive: Arc<()>,
}

// SAFETY: the handle of a thread of a model may be sent to another thread.
unsafe impl Send for Unpark {}
// SAFETY: as above.
unsafe impl Sync for Unpark {}

impl Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.thread.unpark();
    }
}

/// Wakes the calling thread.
pub(crate) fn waker() -> Waker {
    std::sync::Arc::new(Unpark {
        thread: thread::current(),
        _alive: Arc::new(()),
    })
    .into()
}

/// Returns whether no clone of a waker is left, and drops it.
pub(crate) fn is_last(waker: Waker) -> bool {
    let waker = std::mem::ManuallyDrop::new(waker);
    // SAFETY: `waker` above made the data from an `Arc`, which has not been dropped.
    let unpark = unsafe { std::sync::Arc::from_raw(waker.data().cast::<Unpark>()) };
    std::sync::Arc::into_inner(unpark).is_some()
}

/// Polls a future until it is ready, with a new waker each time if `changes`.
pub(crate) fn wait<T>(changes: bool, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let mut current = waker();
    loop {
        for _ in 0..=usize::from(changes) {
            if let Poll::Ready(output) = poll(&mut Context::from_waker(&current)) {
                return output;
            }
            if changes {
                current = waker();
            }
        }
        if changes {
            // A waiter that is polled while it is woken wakes itself until the wake has finished.
            thread::yield_now();
        }
        thread::park();
    }
}
