//! Runtimes whose workers the caller steps, in an order of its choice: the production scheduler,
//! reactor and timers, without threads of their own. The crate `raddle-sim` runs the runtimes of
//! simulated hosts.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_sched::{Monitor, Pool, Step, Worker};
use raddle_timer::Instant;

pub use raddle_blocking::JobObserver;
pub use raddle_sched::{MonitorCheck, Observer};

use crate::runtime::blocking::PoolOwner;
use crate::runtime::context;
use crate::runtime::tools::Tools;
use crate::runtime::{Builder, Handle};

/// The callbacks of a stepped runtime.
pub trait Stepper: Send + Sync {
    /// A worker was unparked: one for which [`SteppedWorker::is_runnable`] is true now is to be
    /// stepped. Called on any thread.
    fn unparked(&self);

    /// Takes a spare worker to step, beside one whose poll blocks. Called on any thread.
    fn add_worker(&self, worker: SteppedWorker);

    /// Returns an observer of the workers and tasks, besides the tools of the runtime. Called when
    /// the runtime is built. Default: none.
    fn observer(&self) -> Option<Arc<dyn Observer>> {
        None
    }

    /// Returns an observer of the blocking jobs. Called when the runtime is built. Default: none.
    fn job_observer(&self) -> Option<Arc<dyn JobObserver>> {
        None
    }
}

/// A runtime whose workers the caller steps.
///
/// Dropping it drops the jobs for blocking threads that have not begun, and waits for no job. The
/// tasks are dropped when the last worker is.
pub struct SteppedRuntime {
    handle: Handle,
    monitor: Monitor,
    blocking: Box<dyn PoolOwner>,
}

/// A worker of a stepped runtime.
pub struct SteppedWorker {
    handle: Handle,
    number: usize,
    worker: Worker,
    wait: Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// It is not parked.
    None,
    InDriver,
    Parked,
}

/// What [`SteppedWorker::step`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The worker may have more to do.
    Ran,
    /// The worker is parked.
    Parked,
    /// The worker has ended, or another one continues for it: drop it.
    Ended,
}

impl Builder {
    /// Builds a multi-thread runtime whose workers the caller steps. Sockets and timers are
    /// enabled. Without [`worker_threads`](Self::worker_threads) there are two workers. No thread
    /// watches them: call [`SteppedRuntime::check_workers`] while one blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no descriptors for the runtime.
    ///
    /// # Panics
    ///
    /// Panics if the builder is not for a multi-thread runtime, or has the policy
    /// [`Sharded`](crate::runtime::Policy::Sharded), whose workers stay on their threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use raddle::runtime::Builder;
    /// use raddle::runtime::stepped::{StepOutcome, SteppedWorker, Stepper};
    ///
    /// struct OneThread;
    ///
    /// impl Stepper for OneThread {
    ///     fn unparked(&self) {}
    ///     fn add_worker(&self, _worker: SteppedWorker) {
    ///         unreachable!("nothing blocks");
    ///     }
    /// }
    ///
    /// let (runtime, mut workers) = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .build_stepped(Arc::new(OneThread))?;
    /// let task = runtime.handle().spawn(async { 6 * 7 });
    /// while !task.is_finished() {
    ///     workers[1].step(1);
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn build_stepped(
        &mut self,
        stepper: Arc<dyn Stepper>,
    ) -> io::Result<(SteppedRuntime, Vec<SteppedWorker>)> {
        let is_pinned = self.scheduler.policy == crate::runtime::Policy::Sharded;
        assert!(
            self.flavor == crate::runtime::RuntimeFlavor::MultiThread && !is_pinned,
            "only workers that may change threads can be stepped; use Builder::new_multi_thread"
        );
        let count = self.worker_threads.unwrap_or(2);
        let drivers = self.enable_all().drivers(count)?;
        let mut tools = Tools::start(&self.tools)?;
        if let Some(observer) = stepper.observer() {
            tools.observers.add_scheduler_observer(observer);
        }
        if let Some(observer) = stepper.job_observer() {
            tools.observers.add_job_observer(observer);
        }
        let (inner, blocking) = self.inner(&drivers, &mut tools);
        let (taker, taken) = (Arc::clone(&stepper), Arc::downgrade(&inner));
        let handoff = move |handoff: raddle_sched::Handoff| {
            let number = handoff.worker();
            if let (Some(inner), Some(worker)) = (taken.upgrade(), handoff.into_worker()) {
                taker.add_worker(SteppedWorker::new(Handle { inner }, number, worker));
            }
        };
        let config = raddle_sched::Config {
            observer: tools.observers.scheduler_observer(),
            samples_times: tools.samples_times,
            handoff: Some(Arc::new(handoff)),
            on_unpark: Some(Arc::new(move |_| stepper.unparked())),
            ..self.scheduler_config(count, &inner)
        };
        let drivers = drivers
            .into_iter()
            .map(|driver| -> Box<dyn raddle_sched::Driver> { Box::new(driver) });
        let (scheduler, workers) = Pool::stepped(config, drivers);
        inner.scheduler.get_or_init(|| scheduler);
        let handle = Handle { inner };
        let runtime = SteppedRuntime {
            handle: handle.clone(),
            monitor: workers[0].monitor(),
            blocking,
        };
        let workers = workers.into_iter().enumerate();
        let workers = workers
            .map(|(number, worker)| SteppedWorker::new(handle.clone(), number, worker))
            .collect();
        Ok((runtime, workers))
    }
}

impl SteppedRuntime {
    /// Returns the handle of the runtime.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the time at which a worker in the driver is to be stepped, since a timer may be due,
    /// or `None` if no timer is set.
    pub fn next_deadline(&self) -> Option<Instant> {
        let drivers = self.handle.inner.drivers.iter();
        let timers = drivers.filter_map(|driver| driver.timers.as_ref());
        timers.filter_map(raddle_timer::Handle::next_deadline).min()
    }

    /// Has the monitor check the workers at this time, which must not decrease. Returns when it is
    /// to check next.
    pub fn check_workers(&self, now: Duration) -> MonitorCheck {
        self.monitor.check(now)
    }
}

impl Drop for SteppedRuntime {
    fn drop(&mut self) {
        self.blocking.shutdown(Some(Duration::ZERO));
    }
}

impl SteppedWorker {
    fn new(handle: Handle, number: usize, worker: Worker) -> Self {
        Self {
            handle,
            number,
            worker,
            wait: Wait::None,
        }
    }

    /// Returns whether the worker has something to do. `has_events` is true if a timer is due or
    /// sockets may have events, which the caller knows from its selector; a caller that does not
    /// know passes true.
    pub fn is_runnable(&self, has_events: bool) -> bool {
        match self.wait {
            Wait::None => true,
            Wait::InDriver => has_events || self.worker.is_unparked(),
            Wait::Parked => self.worker.is_unparked(),
        }
    }

    /// Returns whether the worker has parked, and was not stepped since: its next step polls no
    /// task. Only an unpark makes it runnable, or an event if it waits in the driver.
    #[inline]
    pub fn is_parked(&self) -> bool {
        self.wait != Wait::None
    }

    /// Returns whether the worker waits in the driver, which its next step polls.
    #[inline]
    pub fn is_in_driver(&self) -> bool {
        self.wait == Wait::InDriver
    }

    /// Steps the worker until it parks, at most `steps` times: each time it runs a task, parks or
    /// continues a park.
    pub fn step(&mut self, steps: usize) -> StepOutcome {
        let _entered = context::enter_worker(&self.handle, self.number);
        for _ in 0..steps {
            let wait = match self.wait {
                Wait::None => match self.worker.step() {
                    Step::Ran => continue,
                    Step::Shutdown => return StepOutcome::Ended,
                    Step::Idle => self.worker.begin_park(),
                },
                Wait::InDriver | Wait::Parked => self.worker.resume_park(),
            };
            self.wait = match wait {
                None => Wait::None,
                Some(wait) if wait.in_driver => Wait::InDriver,
                Some(_) => Wait::Parked,
            };
            if self.wait != Wait::None {
                return StepOutcome::Parked;
            }
        }
        StepOutcome::Ran
    }
}

impl fmt::Debug for SteppedRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedRuntime").finish_non_exhaustive()
    }
}

impl fmt::Debug for SteppedWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedWorker")
            .field("number", &self.number)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
