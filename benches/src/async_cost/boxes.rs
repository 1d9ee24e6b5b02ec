//! An executor of the usual kind: boxed futures of any type, and a reference-counted waker for each
//! task: an `Rc`, which must stay on its thread, or an `Arc`.
#![allow(unsafe_code, reason = "a waker of an Rc has to be made by hand")]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, RawWaker, RawWakerVTable, Wake, Waker};
use std::time::Duration;

use raddle_primitives::sync::Mutex;
use slab::Slab;

use super::fake_io::Calls;
use super::reactor::Reactor;
use super::tasks::{Job, Spawn, serve};
use super::{BUFFER, leaked, timed};

/// A kind of waker, and the queue to which it adds its tasks.
pub trait Wakers {
    /// Makes an empty queue.
    fn new(capacity: usize) -> Self;

    /// Queues a new task, and returns its waker.
    fn spawn(&self, task: usize) -> Waker;

    /// Takes the task that has been ready for the longest time. From now on it may be queued again.
    fn pop(&self) -> Option<usize>;
}

type BoxFuture = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    /// `None` while the future is polled, since the poll may spawn tasks.
    future: Option<BoxFuture>,
    waker: Option<Waker>,
}

struct Executor<W> {
    tasks: RefCell<Slab<Task>>,
    wakers: W,
}

impl<W: Wakers> Executor<W> {
    fn new(capacity: usize) -> Self {
        Self {
            tasks: RefCell::new(Slab::with_capacity(capacity)),
            wakers: W::new(capacity),
        }
    }

    fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let future: BoxFuture = Box::pin(future);
        let mut tasks = self.tasks.borrow_mut();
        let entry = tasks.vacant_entry();
        let waker = self.wakers.spawn(entry.key());
        entry.insert(Task {
            future: Some(future),
            waker: Some(waker),
        });
    }

    fn run(&self, park: impl Fn()) {
        loop {
            while let Some(task) = self.wakers.pop() {
                self.poll(task);
            }
            if self.tasks.borrow().is_empty() {
                return;
            }
            park();
        }
    }

    fn poll(&self, key: usize) {
        let taken = self.tasks.borrow_mut().get_mut(key).and_then(|task| {
            let future = task.future.take()?;
            Some((future, task.waker.take()?))
        });
        // The waker of a completed task was woken late.
        let Some((mut future, waker)) = taken else {
            return;
        };
        let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
        if poll.is_ready() {
            drop((future, waker));
            self.tasks.borrow_mut().remove(key);
        } else {
            let task = &mut self.tasks.borrow_mut()[key];
            task.future = Some(future);
            task.waker = Some(waker);
        }
    }
}

struct Spawner<W> {
    executor: Rc<Executor<W>>,
    reactor: &'static Reactor<'static>,
}

impl<W: Wakers + 'static> Spawn<'static> for Spawner<W> {
    fn spawn(&self, job: Job<'static>) {
        let spawner = Self {
            executor: Rc::clone(&self.executor),
            reactor: self.reactor,
        };
        let future = serve::<BUFFER>(self.reactor, spawner, job);
        self.executor.spawn(future);
    }
}

/// Runs the server on this executor. The reactor is never freed: a task that spawns others shares
/// the executor, and so cannot borrow the reactor.
pub fn run<W: Wakers + 'static>(calls: &'static Calls, requests: usize, runs: u32) -> Duration {
    let spawner = Spawner {
        executor: Rc::new(Executor::<W>::new(requests + 1)),
        reactor: leaked(calls, requests),
    };
    timed(calls, runs, || {
        spawner.spawn(Job::Listen(requests));
        spawner.executor.run(|| spawner.reactor.poll());
    })
}

thread_local! {
    static HERE: u8 = const { 0 };
}

/// Returns a number that no other living thread has: the address of a thread-local variable, which
/// is not read.
#[inline]
fn current() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

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
            thread: current(),
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
    assert!(!CHECK || owner == current(), "a waker is on another thread");
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
