//! Panics of the join waker and of the scheduler: where each ends, and that nothing leaks.
//! `docs/task-states.md` has the table.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::common::{Count, Counted, Executor, Gate, join, poll, poll_with};
use raddle_task::{JoinHandle, Runnable, Schedule};

#[derive(Clone, Copy, Debug, PartialEq)]
enum WakerPanic {
    Clone,
    Wake,
    Drop,
}

/// What a panicking waker knows. Each of its wakers owns a box of it.
struct WakerData {
    panic: Option<WakerPanic>,
    payloads: Count,
    counted: Counted,
}

impl WakerData {
    fn panic_if(&self, panic: WakerPanic) {
        if self.panic == Some(panic) {
            panic_any(self.payloads.one());
        }
    }

    fn raw(self) -> RawWaker {
        RawWaker::new(Box::into_raw(Box::new(self)).cast_const().cast(), &WAKER)
    }
}

static WAKER: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // SAFETY: a waker owns its data.
        let data = unsafe { &*data.cast::<WakerData>() };
        data.panic_if(WakerPanic::Clone);
        WakerData {
            panic: data.panic,
            payloads: data.payloads.clone(),
            counted: data.counted.clone(),
        }
        .raw()
    },
    |data| {
        // SAFETY: a waker owns its data, and gives itself up here.
        let data = unsafe { Box::from_raw(data.cast_mut().cast::<WakerData>()) };
        data.panic_if(WakerPanic::Wake);
        data.panic_if(WakerPanic::Drop);
    },
    |_| {},
    |data| {
        // SAFETY: as above.
        let data = unsafe { Box::from_raw(data.cast_mut().cast::<WakerData>()) };
        data.panic_if(WakerPanic::Drop);
    },
);

/// A panicking waker, which must be forgotten with [`forget`], not dropped.
fn waker(panic: WakerPanic, wakers: &Count, payloads: &Count) -> Waker {
    let data = WakerData {
        panic: Some(panic),
        payloads: payloads.clone(),
        counted: wakers.one(),
    };
    // SAFETY: the table's functions treat the data as each waker's own.
    unsafe { Waker::from_raw(data.raw()) }
}

/// Drops a waker, and swallows what that panics with.
fn forget(waker: Waker) {
    drop(catch_unwind(AssertUnwindSafe(|| drop(waker))));
}

struct WakerCase {
    executor: Executor,
    wakers: Count,
    payloads: Count,
    waker: Waker,
    handle: JoinHandle<u32>,
}

impl WakerCase {
    /// A queued task and a waker to await it with.
    fn new(panic: WakerPanic) -> Self {
        let executor = Executor::new();
        let (wakers, payloads) = (Count::default(), Count::default());
        let waker = waker(panic, &wakers, &payloads);
        let handle = executor.spawn(async { 7 });
        Self {
            executor,
            wakers,
            payloads,
            waker,
            handle,
        }
    }

    fn end(self) {
        assert_eq!(join(self.handle).unwrap(), 7);
        forget(self.waker);
        self.executor.check();
        assert_eq!(self.wakers.get(), 0);
        assert_eq!(self.payloads.get(), 0);
    }
}

#[test]
fn a_join_waker_that_panics_when_woken_is_swallowed() {
    for panic in [WakerPanic::Wake, WakerPanic::Drop] {
        let mut case = WakerCase::new(panic);
        assert!(poll_with(&mut case.handle, &case.waker).is_pending());
        case.executor.run();
        case.end();
    }
}

#[test]
fn a_panic_in_the_clone_of_a_join_waker_reaches_the_poll() {
    let mut case = WakerCase::new(WakerPanic::Clone);
    let polled = || poll_with(&mut case.handle, &case.waker);
    drop(catch_unwind(AssertUnwindSafe(polled)).unwrap_err());
    case.executor.run();
    case.end();
}

#[test]
fn a_panic_of_a_replaced_join_waker_reaches_the_poll() {
    let mut case = WakerCase::new(WakerPanic::Drop);
    assert!(poll_with(&mut case.handle, &case.waker).is_pending());
    drop(catch_unwind(AssertUnwindSafe(|| poll(&mut case.handle))).unwrap_err());
    assert!(poll(&mut case.handle).is_pending());
    case.executor.run();
    case.end();
}

#[test]
fn a_panic_in_the_drop_of_a_join_waker_reaches_the_drop_of_the_handle() {
    let mut case = WakerCase::new(WakerPanic::Drop);
    assert!(poll_with(&mut case.handle, &case.waker).is_pending());
    let handle = case.handle;
    drop(catch_unwind(AssertUnwindSafe(|| drop(handle))).unwrap_err());
    case.handle = case.executor.spawn(async { 7 });
    case.executor.run();
    case.end();
}

/// A scheduler that panics in its clone, its call or its drop.
struct BadScheduler {
    panic: &'static str,
    armed: Arc<AtomicBool>,
    counted: Counted,
}

impl BadScheduler {
    fn panic_if(&self, panic: &'static str) {
        if self.panic == panic && self.armed.swap(false, Ordering::SeqCst) {
            panic_any(panic);
        }
    }
}

impl Clone for BadScheduler {
    fn clone(&self) -> Self {
        self.panic_if("clone");
        Self {
            panic: self.panic,
            armed: self.armed.clone(),
            counted: self.counted.clone(),
        }
    }
}

impl Schedule for BadScheduler {
    fn schedule(&self, task: Runnable) {
        self.panic_if("schedule");
        drop(task.run());
    }
}

impl Drop for BadScheduler {
    fn drop(&mut self) {
        self.panic_if("drop");
    }
}

#[test]
fn a_panic_of_the_scheduler_cancels_the_task_and_reaches_the_wake() {
    for panic in ["clone", "schedule", "drop"] {
        let executor = Executor::new();
        let gate = Gate::default();
        let armed = Arc::new(AtomicBool::new(false));
        let scheduler = BadScheduler {
            panic,
            armed: armed.clone(),
            counted: executor.cells.one(),
        };
        let (task, handle) = raddle_task::spawn(gate.clone(), scheduler);
        drop(task.run());
        gate.open();
        armed.store(true, Ordering::SeqCst);
        let waker = gate.waker();
        let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        let payload = woken.unwrap_err().downcast::<&'static str>().unwrap();
        assert_eq!(*payload, panic);
        if panic == "drop" {
            // It was only the clone's.
            join(handle).unwrap();
            drop(gate.waker());
        } else {
            assert!(join(handle).unwrap_err().is_cancelled());
        }
        executor.check();
    }
}
