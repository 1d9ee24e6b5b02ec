//! Wakers that are reference-counted pointers: an `Rc`, which must stay on its thread, or an `Arc`.
#![allow(unsafe_code, reason = "a waker of an Rc has to be made by hand")]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

use raddle_primitives::sync::Mutex;

use super::boxes::Wakers;
use super::one_thread;

/// Wakers that are an `Rc`. With `CHECK` they panic on another thread than their own.
pub struct Local<const CHECK: bool>(Rc<LocalQueue>);

/// Wakers that are an `Rc` and do not check their thread.
pub type Unchecked = Local<false>;

/// Wakers that are an `Rc` and panic on another thread than their own.
pub type Checked = Local<true>;

/// Wakers that are an `Arc`, for any thread.
pub struct Atomic(Arc<SharedQueue>);

type LocalQueue = RefCell<VecDeque<Rc<LocalTask>>>;
type SharedQueue = Mutex<VecDeque<Arc<SharedTask>>>;

struct LocalTask {
    task: usize,
    thread: usize,
    queued: Cell<bool>,
    queue: Rc<LocalQueue>,
}

struct SharedTask {
    task: usize,
    queued: AtomicBool,
    queue: Arc<SharedQueue>,
}

impl<const CHECK: bool> Wakers for Local<CHECK> {
    fn new(capacity: usize) -> Self {
        Self(Rc::new(RefCell::new(VecDeque::with_capacity(capacity))))
    }

    fn spawn(&self, task: usize) -> Waker {
        let task = Rc::new(LocalTask {
            task,
            thread: one_thread::current(),
            queued: Cell::new(true),
            queue: self.0.clone(),
        });
        self.0.borrow_mut().push_back(task.clone());
        // SAFETY: each function of the table changes the count as its name says. Checked wakers
        // panic on other threads. Only the reactor has unchecked wakers, and it sends none to
        // another thread.
        unsafe { Waker::from_raw(raw::<CHECK>(Rc::into_raw(task))) }
    }

    fn pop(&self) -> Option<usize> {
        let task = self.0.borrow_mut().pop_front()?;
        task.queued.set(false);
        Some(task.task)
    }
}

fn raw<const CHECK: bool>(task: *const LocalTask) -> RawWaker {
    RawWaker::new(
        task.cast(),
        const {
            &RawWakerVTable::new(
                clone::<CHECK>,
                wake::<CHECK>,
                wake_by_ref::<CHECK>,
                drop_waker::<CHECK>,
            )
        },
    )
}

/// Returns the task of a waker's data, without its reference.
///
/// # Safety
///
/// The data is that of a waker that outlives the result.
unsafe fn task<const CHECK: bool>(data: *const ()) -> ManuallyDrop<Rc<LocalTask>> {
    let task = data.cast::<LocalTask>();
    // SAFETY: a waker keeps its task, and the thread of a task is never written.
    let owner = unsafe { (*task).thread };
    assert!(
        !CHECK || owner == one_thread::current(),
        "a waker is on another thread"
    );
    // SAFETY: the data came from `Rc::into_raw`, and the waker keeps its reference.
    ManuallyDrop::new(unsafe { Rc::from_raw(task) })
}

unsafe fn clone<const CHECK: bool>(data: *const ()) -> RawWaker {
    // SAFETY: the cloned waker exists during this call.
    let task = unsafe { task::<CHECK>(data) };
    raw::<CHECK>(Rc::into_raw(Rc::clone(&task)))
}

unsafe fn wake<const CHECK: bool>(data: *const ()) {
    // SAFETY: the second call consumes the waker.
    unsafe { wake_by_ref::<CHECK>(data) };
    // SAFETY: as above.
    unsafe { drop_waker::<CHECK>(data) };
}

unsafe fn wake_by_ref<const CHECK: bool>(data: *const ()) {
    // SAFETY: the waker exists during this call.
    let task = unsafe { task::<CHECK>(data) };
    if !task.queued.replace(true) {
        task.queue.borrow_mut().push_back(Rc::clone(&task));
    }
}

unsafe fn drop_waker<const CHECK: bool>(data: *const ()) {
    // SAFETY: the waker's reference is dropped with it.
    drop(ManuallyDrop::into_inner(unsafe { task::<CHECK>(data) }));
}

impl Wakers for Atomic {
    fn new(capacity: usize) -> Self {
        Self(Arc::new(Mutex::new(VecDeque::with_capacity(capacity))))
    }

    fn spawn(&self, task: usize) -> Waker {
        let task = Arc::new(SharedTask {
            task,
            queued: AtomicBool::new(true),
            queue: self.0.clone(),
        });
        push_shared(&task);
        task.into()
    }

    fn pop(&self) -> Option<usize> {
        let task = self.0.lock().pop_front()?;
        task.queued.store(false, Ordering::Release);
        Some(task.task)
    }
}

fn push_shared(task: &Arc<SharedTask>) {
    task.queue.lock().push_back(task.clone());
}

impl Wake for SharedTask {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            push_shared(self);
        }
    }
}
