//! An executor of the usual kind: boxed futures of any type, and a reference-counted waker for each
//! task.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

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
