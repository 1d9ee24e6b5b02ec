//! The scheduler that runs on the threads that call `block_on`.

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::thread::{self, ThreadWaker, WakeHook};

use crate::config::Config;
use crate::config::policy::{Placement, Policy};
use crate::context::{self, Blocking};
use crate::driver::Driver;
use crate::handle::Handle;
use crate::panics;
use crate::pool;
use crate::worker::core::Step;
use crate::worker::{Worker, begin_driving};

/// A scheduler with one worker and no threads. Its tasks run while a thread is in
/// [`block_on`](Self::block_on), in the order in which they became ready.
///
/// Dropping the scheduler drops its tasks on the dropping thread.
///
/// ```
/// use raddle_sched::{Config, CurrentThread};
///
/// let scheduler = CurrentThread::new(Config::default(), None);
/// let greeting = scheduler.handle().spawn(async { "hello" });
/// // The task runs inside `block_on`, on this thread.
/// let length = scheduler.block_on(async { greeting.await.unwrap().len() });
/// assert_eq!(length, 5);
/// ```
pub struct CurrentThread {
    handle: Handle,
    undriven: Mutex<UndrivenWorker>,
}

/// Where the worker is while no thread drives it. Several threads may block on futures; one of
/// them has the worker, the others poll only their own futures and wait for it.
struct UndrivenWorker {
    worker: Option<Worker>,
    waiting: Vec<Arc<Signal>>,
}

/// Wakes a thread that blocks on a future: in the parker of the worker if it has that, or
/// without, on its own. Which of the two may change just now, so it wakes both.
type Signal = ThreadWaker<UnparkWorker>;

/// Unparks the worker of a scheduler, in whose parker or driver the thread may block.
struct UnparkWorker(Handle);

impl WakeHook for UnparkWorker {
    fn on_wake(&self) {
        self.0.shared().unpark(0);
    }
}

impl CurrentThread {
    /// Makes a scheduler. It ignores the number of workers, the thread name and the stack size of
    /// `config`.
    ///
    /// # Panics
    ///
    /// Panics if an interval is zero.
    pub fn new(config: Config, driver: Option<Box<dyn Driver>>) -> Self {
        let config = Config {
            workers: 1,
            policy: Policy::default(),
            ..config
        };
        let (handle, mut workers) = pool::build(config, driver, Some(Placement::RunQueue));
        Self {
            handle,
            undriven: Mutex::ranked(
                Rank::leaf("worker that no thread drives"),
                UndrivenWorker {
                    worker: workers.pop(),
                    waiting: Vec::new(),
                },
            ),
        }
    }

    /// Returns a reference to the scheduler.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future on the calling thread until it is ready, together with the scheduler's tasks.
    /// After a poll of the future, tasks run, with those that they spawn and wake, until the only
    /// ready ones have woken themselves since, as `yield_now` does. They run at most
    /// [`event_interval`](Config::event_interval) times. Then the future is polled again if it was
    /// woken. If several threads are in `block_on`, one of them runs the tasks.
    ///
    /// # Panics
    ///
    /// Panics on a thread that already runs tasks or blocks on a future, and if a task has panicked
    /// under [`UnhandledPanic::ShutdownRuntime`](crate::UnhandledPanic::ShutdownRuntime).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_sched::{Config, CurrentThread};
    ///
    /// let scheduler = CurrentThread::new(Config::default(), None);
    /// let sum = scheduler.block_on(async {
    ///     let tasks = [1, 2, 3].map(|n| raddle_sched::spawn(async move { n * n }));
    ///     let mut sum = 0;
    ///     for task in tasks {
    ///         sum += task.await.unwrap();
    ///     }
    ///     sum
    /// });
    /// assert_eq!(sum, 14);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _blocking = context::enter_blocking(Blocking::AsWorker);
        let _handle = self.handle.enter_once();
        let signal = Arc::new(ThreadWaker::new(true, UnparkWorker(self.handle.clone())));
        let waker = Waker::from(signal.clone());
        let _woken = self.handle.shared().panics.wake_on_panic(&waker);
        let mut cx = Context::from_waker(&waker);
        let mut future = pin!(future);
        let call = BlockOn {
            undriven: &self.undriven,
            signal: &signal,
            worker: None,
        };
        call.run(future.as_mut(), &mut cx)
            .unwrap_or_else(|| panics::end_block_on())
    }

    /// Drops every task. Tasks that are spawned later are cancelled at once.
    ///
    /// ```
    /// use std::future;
    ///
    /// use raddle_sched::{Config, CurrentThread};
    ///
    /// let mut scheduler = CurrentThread::new(Config::default(), None);
    /// let waits = scheduler.handle().spawn(future::pending::<()>());
    /// scheduler.shutdown();
    /// assert!(waits.is_finished());
    /// // A handle that is left spawns no further tasks.
    /// assert!(scheduler.handle().spawn(async {}).is_finished());
    /// ```
    pub fn shutdown(&mut self) {
        let worker = self.undriven.lock().worker.take();
        drop(worker);
    }
}

impl fmt::Debug for CurrentThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentThread").field(&self.handle).finish()
    }
}

/// One call of `block_on`.
struct BlockOn<'a> {
    undriven: &'a Mutex<UndrivenWorker>,
    signal: &'a Arc<Signal>,
    /// `Some` while this call drives the worker.
    worker: Option<Worker>,
}

impl BlockOn<'_> {
    /// `None` if a task's panic has shut the scheduler down. The waker wakes the signal.
    fn run<F: Future>(
        mut self,
        mut future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Option<F::Output> {
        let handle = &self.signal.hook().0;
        let shared = handle.shared();
        while !self.take_worker() {
            // CHECK: a wake of the future, which this call polls without the worker.
            if self.signal.take_woken() {
                let worker = handle.current_worker();
                if let Poll::Ready(output) = shared.poll_root(worker, future.as_mut(), cx) {
                    return output;
                }
            } else {
                thread::park();
            }
        }
        let core = self
            .worker
            .as_ref()
            .expect("the call has taken the worker")
            .core();
        core.attach();
        core.set_free_running();
        let _worker = core.enter();
        let _driving = begin_driving(core);
        // The number of steps before the future is polled again if it was woken. Tasks that are
        // spawned or woken meanwhile run first, as on Tokio. A task that keeps waking itself runs
        // once.
        let mut before_future = 0;
        loop {
            if before_future == 0 {
                if self.signal.take_woken() {
                    let worker = handle.current_worker();
                    if let Poll::Ready(output) = shared.poll_root(worker, future.as_mut(), cx) {
                        return output;
                    }
                }
                before_future = core.shared().config.event_interval;
                core.queues.put_behind_queue();
            }
            core.queues.count_step_to_future();
            match core.step() {
                Step::Ran if core.queues.has_only_requeued() => before_future = 0,
                Step::Ran => before_future -= 1,
                Step::Idle => {
                    before_future = 0;
                    // CHECK: a wake of the future since it was last polled.
                    if self.signal.is_woken() {
                        core.poll_driver_if_yielded();
                        continue;
                    }
                    core.park(None);
                }
                // Anything else that ends it needs the scheduler to itself.
                Step::Shutdown => return None,
            }
        }
    }

    /// Takes the worker, or lists the call as waiting for it.
    fn take_worker(&mut self) -> bool {
        let mut undriven = self.undriven.lock();
        self.worker = undriven.worker.take();
        if self.worker.is_none() && !undriven.waiting.iter().any(|other| self.is(other)) {
            undriven.waiting.push(self.signal.clone());
        }
        self.worker.is_some()
    }

    fn is(&self, other: &Arc<Signal>) -> bool {
        Arc::ptr_eq(self.signal, other)
    }
}

/// Puts the worker back, and wakes the next call. A worker whose scheduler has ended by a
/// panic is dropped instead, and the tasks with it.
impl Drop for BlockOn<'_> {
    fn drop(&mut self) {
        if self.signal.hook().0.shared().panics.is_fatal() {
            // Those that wait for the worker have been woken to see why it is
            // gone.
            self.worker = None;
        }
        let mut undriven = self.undriven.lock();
        if let Some(worker) = self.worker.take() {
            worker.core().detach();
            undriven.worker = Some(worker);
        }
        undriven
            .waiting
            .retain(|other| !Arc::ptr_eq(self.signal, other));
        let next = match undriven.worker {
            Some(_) => undriven.waiting.first().cloned(),
            None => None,
        };
        drop(undriven);
        if let Some(next) = next {
            next.unpark();
        }
    }
}
