//! A custom executor on `raddle-task` and `raddle-queue`: a few threads that steal from each other,
//! without sockets, timers or a runtime.
//!
//! `raddle-task` makes a task of a future, and calls this program when the task is due to run; the
//! program decides where it waits. `raddle-queue` has the queues: one that all threads push to, and
//! a bounded one for each worker, from which the others steal.
//!
//! ```sh
//! cargo run --example custom_executor
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};

use raddle_queue::{Injection, Owner, Stealer};
use raddle_task::{Outcome, Runnable};

/// How many tasks a worker takes from the common queue at once.
const BATCH: usize = 32;
/// After how many tasks a worker looks into the common queue first. Tasks that wake themselves
/// would keep it waiting for ever.
const COMMON_INTERVAL: u32 = 64;

pub(crate) struct Executor {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    common: Injection<Runnable>,
    stealers: Vec<Stealer<Runnable>>,
    /// A worker sleeps under this lock, and only if no queue has a task for it.
    idle: Mutex<()>,
    work: Condvar,
}

impl Executor {
    pub(crate) fn new(workers: usize) -> Self {
        let owners: Vec<_> = (0..workers).map(|_| Owner::new()).collect();
        let shared = Arc::new(Shared {
            common: Injection::new(),
            stealers: owners.iter().map(Owner::stealer).collect(),
            idle: Mutex::new(()),
            work: Condvar::new(),
        });
        let start = |own| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work(&own))
        };
        let threads = owners.into_iter().map(start).collect();
        Self { shared, threads }
    }

    pub(crate) fn spawn<F>(&self, future: F) -> raddle_task::JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        // Called whenever the task is woken, on the thread that wakes it.
        let (task, handle) = raddle_task::spawn(future, move |task| shared.schedule(task));
        self.shared.schedule(task);
        handle
    }
}

/// Lets the workers run what is due, and waits for them.
impl Drop for Executor {
    fn drop(&mut self) {
        self.shared.common.close();
        drop(self.shared.idle.lock().unwrap());
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

impl Shared {
    fn schedule(&self, task: Runnable) {
        // A closed queue gives the task back; dropping a runnable cancels its task.
        let _ = self.common.push(task);
        self.wake_one();
    }

    /// Taking the lock orders this after a worker's last check of the queues: a worker either sees
    /// the task that was pushed before, or already waits for the notification.
    fn wake_one(&self) {
        drop(self.idle.lock().unwrap());
        self.work.notify_one();
    }

    fn work(&self, own: &Owner<Runnable>) {
        let mut tick = 0_u32;
        loop {
            while let Some(task) = self.next(own, tick) {
                tick = tick.wrapping_add(1);
                // A task that was woken while it ran comes back instead of being scheduled.
                if let Outcome::Again(task) = task.run() {
                    own.push(task, &self.common);
                }
            }
            if !self.sleep() {
                return;
            }
        }
    }

    /// From the worker's own queue, the common one, or another worker's, in this order. A full own
    /// queue moves half of its tasks to the common one.
    fn next(&self, own: &Owner<Runnable>, tick: u32) -> Option<Runnable> {
        if tick % COMMON_INTERVAL == 0 {
            if let Some(task) = self.common.pop() {
                return Some(task);
            }
        }
        own.pop().or_else(|| {
            let steal = |other: &Stealer<_>| other.steal_into(own, |n| n.div_ceil(2));
            let taken = self.common.pop_into(BATCH, own);
            let taken = taken.or_else(|| self.stealers.iter().find_map(steal))?;
            if taken.moved > 0 {
                // There is work for one more worker, which will steal it.
                self.wake_one();
            }
            Some(taken.first)
        })
    }

    /// Sleeps until there may be work. Returns `false` if there will be none.
    fn sleep(&self) -> bool {
        let idle = self.idle.lock().unwrap();
        let queued = self.stealers.iter().any(|stealer| !stealer.is_empty());
        if queued || !self.common.is_empty() {
            return true;
        }
        if self.common.is_closed() {
            return false;
        }
        drop(self.work.wait(idle).unwrap());
        true
    }
}

/// Blocks the thread until the future is ready.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let executor = Executor::new(4);
    let squares: Vec<_> = (0..1000_u64)
        .map(|n| executor.spawn(async move { n * n }))
        .collect();
    let sum: u64 = squares
        .into_iter()
        .map(|square| block_on(square).unwrap())
        .sum();
    println!("{sum}");
}
