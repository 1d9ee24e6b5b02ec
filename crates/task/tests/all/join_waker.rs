//! The waker that a join handle is polled with: when it is cloned, and when it is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::common::{Executor, join, poll_with};
use raddle_primitives::sync::Mutex;

/// Counts the clones of its waker, and calls a function in the next one.
#[derive(Default)]
struct Clones {
    count: AtomicUsize,
    in_clone: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Clones {
    fn waker(self: &Arc<Self>) -> Waker {
        let data = Arc::into_raw(Arc::clone(self)).cast();
        // SAFETY: each waker owns a reference, which the functions of the table keep.
        unsafe { Waker::from_raw(RawWaker::new(data, &COUNTING)) }
    }

    fn get(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

static COUNTING: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // SAFETY: a waker owns a reference.
        let clones = unsafe { &*data.cast::<Clones>() };
        clones.count.fetch_add(1, Ordering::SeqCst);
        let called = clones.in_clone.lock().take();
        if let Some(call) = called {
            call();
        }
        // SAFETY: as above.
        unsafe { Arc::increment_strong_count(data.cast::<Clones>()) };
        RawWaker::new(data, &COUNTING)
    },
    // SAFETY: a waker owns a reference, and gives it up here.
    |data| drop(unsafe { Arc::from_raw(data.cast::<Clones>()) }),
    |_| {},
    // SAFETY: as above.
    |data| drop(unsafe { Arc::from_raw(data.cast::<Clones>()) }),
);

#[test]
fn a_poll_of_a_completed_task_does_not_clone_the_waker() {
    for awaited in [false, true] {
        let executor = Executor::new();
        let clones = Arc::new(Clones::default());
        let waker = clones.waker();
        let mut handle = executor.spawn(async { 7 });
        if awaited {
            assert!(poll_with(&mut handle, &waker).is_pending());
        }
        executor.run();
        assert!(poll_with(&mut handle, &waker).is_ready());
        assert_eq!(clones.get(), usize::from(awaited));
        drop(handle);
        executor.check();
    }
}

#[test]
fn a_poll_with_the_same_waker_does_not_clone_it_again() {
    let executor = Executor::new();
    let clones = Arc::new(Clones::default());
    let waker = clones.waker();
    let mut handle = executor.spawn(async { 7 });
    for _ in 0..3 {
        assert!(poll_with(&mut handle, &waker).is_pending());
    }
    assert_eq!(clones.get(), 1);
    executor.run();
    assert_eq!(join(handle).unwrap(), 7);
}

#[test]
fn a_task_that_completes_while_the_waker_is_cloned_keeps_no_waker() {
    for awaited in [false, true] {
        let executor = Executor::new();
        let (earlier, clones) = (Arc::new(Clones::default()), Arc::new(Clones::default()));
        let mut handle = executor.spawn(async { 7 });
        if awaited {
            assert!(poll_with(&mut handle, &earlier.waker()).is_pending());
        }
        let task = executor.pop().unwrap();
        *clones.in_clone.lock() = Some(Box::new(move || drop(task.run())));
        assert!(poll_with(&mut handle, &clones.waker()).is_ready());
        assert_eq!(clones.get(), 1);
        assert_eq!(
            (Arc::strong_count(&earlier), Arc::strong_count(&clones)),
            (1, 1)
        );
        drop(handle);
        executor.check();
    }
}
