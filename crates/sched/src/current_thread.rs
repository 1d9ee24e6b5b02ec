//! The scheduler that runs on the threads that call `block_on`.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::{Mutex, Rank};
use raddle_primitives::thread::{self, ThreadWaker, WakeHook};
use raddle_task::box_if_large;

use crate::config::Config;
use crate::config::policy::Policy;
use crate::context::{self, Blocking};
use crate::driver::Driver;
use crate::erased::{ErasedFuture, run_erased};
use crate::handle::Handle;
use crate::panics;
use crate::pool;
use crate::worker::core::{Core, Step};
use crate::worker::shard::DrivenBy;
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

/// Holds the worker while no thread drives it. Several threads may block on futures; one of them
/// has the worker, the others poll only their own futures and wait for it.
struct UndrivenWorker {
    worker: Option<Worker>,
    /// The calls that have waited for the worker and have not returned, the oldest one first.
    waiting: Vec<Arc<Signal>>,
}

/// Wakes a thread that blocks on a future. With the worker, the thread blocks in the parker of the
/// worker; without it, in a park of its own. It may be changing from one to the other, so a wake
/// unparks both.
type Signal = ThreadWaker<UnparkWorker>;

/// Unparks the worker of a scheduler, in whose parker or driver the thread may block.
struct UnparkWorker(Handle);

impl WakeHook for UnparkWorker {
    fn on_wake(&self) {
        // The thread that drives the worker checks for wakes before it parks, and when it returns
        // from the driver. Without this an own wake would cost a turn of the loop, and in the
        // driver a system call.
        let is_seen = |core: Option<&Core>| core.is_some_and(Core::will_return_before_it_blocks);
        if !self.0.with_core(is_seen) {
            self.0.first_shard.unpark(0);
        }
    }
}

impl CurrentThread {
    /// Makes a scheduler. It ignores the number of workers, the thread name and the stack size of
    /// `config`.
    ///
    /// # Panics
    ///
    /// Panics if an interval is zero.
    #[track_caller]
    pub fn new(config: Config, driver: Option<Box<dyn Driver>>) -> Self {
        let config = Config {
            workers: 1,
            // One shard, whose tasks may run on any thread.
            policy: Policy::Sharded,
            max_spare_workers: 0,
            ..config
        };
        let (handle, mut workers) = pool::build(config, vec![driver], DrivenBy::BlockOn);
        let undriven = UndrivenWorker {
            worker: workers.pop(),
            waiting: Vec::new(),
        };
        Self {
            handle,
            undriven: Mutex::ranked(Rank::leaf("worker that no thread drives"), undriven),
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
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        box_if_large!(future: F, Box::pin => self.block_on_sized(future))
    }

    #[track_caller]
    fn block_on_sized<F: Future>(&self, future: F) -> F::Output {
        let _blocking = context::enter_blocking(Blocking::AsWorker);
        let _handle = self.handle.enter_once();
        match run_erased(pin!(future), |future| self.run(future)) {
            Some(output) => output,
            None => panics::end_block_on(),
        }
    }

    /// Returns `None` if a task's panic has shut the scheduler down.
    fn run(&self, future: &mut ErasedFuture<'_>) -> Option<()> {
        let signal = Arc::new(ThreadWaker::new(true, UnparkWorker(self.handle.clone())));
        let waker = Waker::from(signal.clone());
        let _woken = self.handle.first_shard.panics.wake_on_panic(&waker);
        let call = BlockOn {
            scheduler: self,
            signal,
            worker: None,
        };
        call.run(future, &mut Context::from_waker(&waker))
    }

    /// Begins the shutdown: tasks that are spawned from now on are cancelled at once. So a runtime
    /// can drop what belongs to the tasks before [`shutdown`](Self::shutdown) drops them.
    pub fn close(&mut self) {
        self.handle.first_shard.close();
    }

    /// Drops every task. Tasks that are spawned later are cancelled at once.
    ///
    /// The drops may block on futures, unless the calling thread runs tasks or blocks on a future
    /// itself.
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
    scheduler: &'a CurrentThread,
    /// The waker of the future wakes it.
    signal: Arc<Signal>,
    /// `Some` while this call drives the worker.
    worker: Option<Worker>,
}

impl BlockOn<'_> {
    /// Returns `None` if a task's panic has shut the scheduler down.
    fn run(mut self, future: &mut ErasedFuture<'_>, cx: &mut Context<'_>) -> Option<()> {
        let handle = &self.scheduler.handle;
        let mut poll_future = || {
            let worker = handle.current_worker();
            handle.first_shard.poll_root(worker, future, cx)
        };
        let mut undriven = self.scheduler.undriven.lock();
        if undriven.worker.is_none() {
            undriven.waiting.push(self.signal.clone());
        }
        let worker = loop {
            if let Some(worker) = undriven.worker.take() {
                break self.worker.insert(worker);
            }
            drop(undriven);
            // CHECK: a wake of the future, which this call polls without the worker.
            if self.signal.take_woken() {
                if let Poll::Ready(output) = poll_future() {
                    return output;
                }
            } else {
                thread::park();
            }
            undriven = self.scheduler.undriven.lock();
        };
        drop(undriven);
        let core = worker.core();
        let _worker = core.enter();
        let _driving = begin_driving(core);
        // The number of steps before the future is polled again if it was woken. Tasks that are
        // spawned or woken meanwhile run first, as on Tokio. A task that keeps waking itself runs
        // once.
        let mut before_future = 0;
        loop {
            if before_future == 0 {
                if self.signal.take_woken() {
                    if let Poll::Ready(output) = poll_future() {
                        return output;
                    }
                }
                before_future = core.shard().config.polls_between_events();
                core.queues.delay_root_future();
            }
            core.queues.root_future.count_step();
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
                    core.park();
                }
                // A panic has shut the scheduler down: any other shutdown needs `&mut self`, which
                // this call prevents.
                Step::Shutdown => return None,
            }
        }
    }
}

/// Puts the worker back, and wakes the oldest call that waits for it. If a panic has shut the
/// scheduler down, the worker is dropped instead, and the tasks with it.
impl Drop for BlockOn<'_> {
    fn drop(&mut self) {
        if self.scheduler.handle.first_shard.panics.is_fatal() {
            // The panic has woken the calls that wait for the worker.
            self.worker = None;
        }
        let mut undriven = self.scheduler.undriven.lock();
        let waiting = &mut undriven.waiting;
        waiting.retain(|call| !Arc::ptr_eq(call, &self.signal));
        if let Some(worker) = self.worker.take() {
            worker.core().queues.counters.stop_clock();
            undriven.worker = Some(worker);
        }
        let next = undriven.waiting.first().cloned();
        let next = next.filter(|_| undriven.worker.is_some());
        drop(undriven);
        if let Some(next) = next {
            next.unpark();
        }
    }
}
