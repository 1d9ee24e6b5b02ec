//! The scheduler of Raddle's current-thread runtime, with the reactor as its driver.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use raddle_sched::{Config, CurrentThread, Driver, Unpark};

use super::fake_io::Calls;
use super::one_thread::OneThread;
use super::reactor::Reactor;
use super::tasks::{Job, Spawn, serve};
use super::{BUFFER, leaked, timed};

/// The reactor, as the scheduler's driver.
///
/// It polls for events only when the scheduler has no task to run, as the poll loop does, so that
/// the calls can be counted.
struct Parking(OneThread<&'static Reactor<'static>>);

impl Driver for Parking {
    fn park(&mut self, timeout: Option<Duration>, _: usize) {
        if timeout != Some(Duration::ZERO) {
            self.0.poll();
        }
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(NoUnpark)
    }

    fn shutdown(&mut self) {}
}

/// The reactor never waits, so an unpark has nothing to do.
struct NoUnpark;

impl Unpark for NoUnpark {
    fn unpark(&self) {}
}

/// The number of unfinished tasks, and the waker of the future that waits for them.
#[derive(Default)]
struct Open {
    count: Cell<usize>,
    waiter: RefCell<Option<Waker>>,
}

impl Open {
    fn close(&self) {
        self.count.set(self.count.get() - 1);
        if self.count.get() == 0
            && let Some(waiter) = self.waiter.take()
        {
            waiter.wake();
        }
    }

    async fn wait(&self) {
        poll_fn(|cx| {
            if self.count.get() == 0 {
                return Poll::Ready(());
            }
            *self.waiter.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

#[derive(Clone, Copy)]
struct Spawner {
    reactor: &'static Reactor<'static>,
    open: &'static Open,
}

/// Any thread that blocks on the scheduler may run its tasks. The tasks of the server are not
/// `Send`, so each poll checks its thread.
impl Spawn<'static> for Spawner {
    fn spawn(&self, job: Job<'static>) {
        let Self { reactor, open } = *self;
        open.count.set(open.count.get() + 1);
        let future = serve::<BUFFER>(reactor, *self, job);
        raddle_sched::spawn(OneThread::new(async move {
            future.await;
            open.close();
        }));
    }
}

/// Runs the server on this scheduler. The reactor is never freed: a driver must not borrow.
pub fn current_thread(calls: &'static Calls, requests: usize, runs: u32) -> Duration {
    let reactor = leaked(calls, requests);
    let open = Box::leak(Box::default());
    let spawner = Spawner { reactor, open };
    let driver = Box::new(Parking(OneThread::new(reactor)));
    let scheduler = CurrentThread::new(Config::default(), Some(driver));
    timed(calls, runs, || {
        scheduler.block_on(async {
            spawner.spawn(Job::Listen(requests));
            spawner.open.wait().await;
        });
    })
}
