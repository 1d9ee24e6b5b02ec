//! Making a runtime from the settings of its builder.

use std::io;
use std::sync::{Arc, OnceLock, Weak};

use raddle_primitives::random::Random;
use raddle_sched::Pool;

use super::{Builder, MAX_WORKERS, ThreadName};
use crate::runtime::blocking::{self, PoolJob, PoolOwner};
use crate::runtime::context::{self, OwnThread};
use crate::runtime::driver::RuntimeDriver;
use crate::runtime::handle::Inner;
use crate::runtime::runtime::Scheduler;
use crate::runtime::tools::Tools;
use crate::runtime::{Handle, LocalOptions, LocalRuntime, Policy, Runtime, RuntimeFlavor};

/// The environment variables for the default number of workers. The first one that is set is used.
const WORKERS_VARIABLES: [&str; 2] = ["RADDLE_WORKER_THREADS", "TOKIO_WORKER_THREADS"];

type Around = Arc<dyn Fn(usize, &mut dyn FnMut()) + Send + Sync>;

impl Builder {
    /// Builds the runtime. The builder may be used again.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no threads or descriptors for it.
    ///
    /// # Panics
    ///
    /// Panics if an environment variable of [`worker_threads`](Self::worker_threads) is used and is
    /// not a number from 1 to 65535, and in the case that [`start_paused`](Self::start_paused)
    /// describes.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_all().build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        let workers = match (self.flavor, self.worker_threads) {
            (RuntimeFlavor::CurrentThread, _) => 1,
            (RuntimeFlavor::MultiThread, Some(count)) => count,
            (RuntimeFlavor::MultiThread, None) => default_workers(),
        };
        let mut drivers = self.drivers(workers)?;
        // One reactor of the runtime is enough: it wakes the tasks of all workers.
        if let Some(first) = drivers.first_mut() {
            first.attach_signals()?;
        }
        let mut tools = self.start_tools()?;
        let (inner, blocking) = self.inner(&drivers, &mut tools);

        let config = raddle_sched::Config {
            observer: tools.observers.scheduler_observer(),
            samples_times: tools.samples_times,
            ..self.scheduler_config(workers, &inner)
        };
        let mut drivers = drivers
            .into_iter()
            .map(|driver| -> Box<dyn raddle_sched::Driver> { Box::new(driver) });
        let (scheduler, handle) = match self.flavor {
            RuntimeFlavor::CurrentThread => {
                let scheduler = raddle_sched::CurrentThread::new(config, drivers.next());
                let handle = scheduler.handle().clone();
                (Scheduler::CurrentThread(Box::new(scheduler)), handle)
            }
            RuntimeFlavor::MultiThread => {
                // The spare workers, and after a handoff each worker, run on these threads.
                let max_handoffs = self
                    .max_blocking_threads
                    .saturating_add(workers)
                    .saturating_add(config.max_spare_workers);
                let (inner, names) = (Arc::downgrade(&inner), &config.thread_name);
                let handoffs = self.thread_pool(&inner, max_handoffs, Some(names), None);
                let jobs = handoffs.handle().clone();
                let config = raddle_sched::Config {
                    // If no thread is available, the worker waits until its own thread returns to
                    // it. The monitor starts a spare worker again later, if it is dropped.
                    handoff: Some(Arc::new(move |handoff| {
                        let is_spare = handoff.worker() >= workers;
                        let job = PoolJob::Handoff(handoff);
                        drop(match is_spare {
                            true => jobs.submit_now(job),
                            false => jobs.submit(job),
                        });
                    })),
                    ..config
                };
                let pool = Pool::start(config, drivers)?;
                let handle = pool.handle().clone();
                let handoffs = Box::new(handoffs);
                (Scheduler::MultiThread { pool, handoffs }, handle)
            }
        };
        inner.scheduler.get_or_init(|| handle);
        let mut runtime = Runtime::from_parts(Handle { inner }, scheduler, blocking);
        for tool in tools.running {
            runtime.serve(tool)?;
        }
        Ok(runtime)
    }

    /// Starts the tools that the builder and the environment select.
    #[cfg(any(
        feature = "flight-recorder",
        feature = "metrics-server",
        feature = "task-dumps",
        feature = "watchdog"
    ))]
    fn start_tools(&self) -> io::Result<Tools> {
        Tools::start(&crate::runtime::environment::select(&self.tools))
    }

    /// A program without tools does not read the environment.
    #[cfg(not(any(
        feature = "flight-recorder",
        feature = "metrics-server",
        feature = "task-dumps",
        feature = "watchdog"
    )))]
    fn start_tools(&self) -> io::Result<Tools> {
        Tools::start(&self.tools)
    }

    /// Makes what handles reach, and the pool for blocking work. The caller sets the scheduler.
    pub(in crate::runtime) fn inner(
        &self,
        drivers: &[RuntimeDriver],
        tools: &mut Tools,
    ) -> (Arc<Inner>, Box<dyn PoolOwner>) {
        raddle_task::blocking::set_submit(blocking::submit_to_current);
        let mut handles = Vec::new();
        for driver in drivers {
            handles.extend(driver.handles());
        }
        let mut blocking = None;
        let inner = Arc::new_cyclic(|inner| {
            let observer = tools.observers.job_observer();
            let names = self
                .blocking_thread_name
                .as_ref()
                .or(self.thread_name.as_ref());
            let pool = self.thread_pool(inner, self.max_blocking_threads, names, observer);
            let pool = blocking.insert(pool);
            Inner {
                scheduler: OnceLock::new(),
                drivers: handles.into(),
                blocking: pool.handle().clone(),
                flavor: self.flavor,
                name: self.name.clone(),
                random: self.rng_seed.clone().map(Random::new),
                tools: std::mem::take(&mut tools.shared),
            }
        });
        let blocking = blocking.expect("the closure that makes the handle sets it");
        (inner, Box::new(blocking))
    }

    /// Builds a runtime that stays on the calling thread; otherwise like [`build`](Self::build).
    /// [`unhandled_panic`](Self::unhandled_panic) applies to its local tasks too.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    ///
    /// # Panics
    ///
    /// Panics if the builder is for a multi-thread runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, LocalOptions};
    /// use raddle::task::spawn_local;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_all()
    ///     .build_local(LocalOptions::default())?;
    /// let text = std::rc::Rc::new("not Send");
    /// let length = runtime.block_on(async {
    ///     spawn_local(async move { text.len() }).await.unwrap()
    /// });
    /// assert_eq!(length, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        assert!(
            self.flavor == RuntimeFlavor::CurrentThread,
            "a local runtime has one thread; begin with Builder::new_current_thread"
        );
        let runtime = self.build()?;
        Ok(LocalRuntime::from_runtime(
            runtime,
            self.scheduler.unhandled_panic,
        ))
    }

    /// Makes one driver for each worker of a sharded runtime, otherwise one for all workers.
    #[track_caller]
    pub(in crate::runtime) fn drivers(&self, workers: usize) -> io::Result<Vec<RuntimeDriver>> {
        let is_pausable = self.flavor == RuntimeFlavor::CurrentThread;
        if self.driver.start_paused {
            assert!(
                is_pausable,
                "start_paused needs a runtime of one thread; use Builder::new_current_thread"
            );
            assert!(
                self.driver.time,
                "start_paused needs timers; call Builder::enable_time"
            );
        }
        let count = match self.scheduler.policy {
            Policy::Sharded => workers,
            _ => 1,
        };
        (0..count)
            .map(|_| RuntimeDriver::new(self.driver, workers / count, is_pausable))
            .collect()
    }

    pub(in crate::runtime) fn scheduler_config(
        &self,
        workers: usize,
        inner: &Arc<Inner>,
    ) -> raddle_sched::Config {
        let defaults = &self.scheduler;
        let thread_name = self.thread_name.as_ref().unwrap_or(&defaults.thread_name);
        raddle_sched::Config {
            workers,
            thread_name: thread_name.clone(),
            around_worker: Some(self.around(&Arc::downgrade(inner), |handle, worker, run| {
                let scheduler = &handle.inner.scheduler;
                scheduler.get_or_init(raddle_sched::Handle::current);
                let _entered = context::enter_worker(handle, worker);
                let random = handle.inner.random.as_ref();
                let _random = random.map(|random| random.enter_worker(worker));
                run();
            })),
            on_spares_used_up: self.spares_warning(),
            poll_time_histogram: self
                .poll_time_histogram
                .then(|| self.poll_time_buckets.clone()),
            ..self.scheduler.clone()
        }
    }

    /// Returns the function that warns when there are no more spare workers, unless a watchdog
    /// reports it, with the locations and the stacks.
    #[cfg(feature = "tracing")]
    fn spares_warning(&self) -> Option<raddle_sched::SparesHook> {
        let max = self.scheduler.max_spare_workers;
        let warn = move |polled: &[&'static str]| {
            let mut futures = std::collections::BTreeMap::new();
            for future in polled {
                *futures.entry(future).or_insert(0) += 1;
            }
            let futures = futures
                .iter()
                .map(|(future, count)| format!("{count} of {future}"));
            let futures = Vec::from_iter(futures).join(", ");
            tracing::warn!(
                target: "raddle::runtime",
                "tasks wait behind polls that do not return, and all {max} spare workers are in \
                 use, {futures}; move what blocks to spawn_blocking, or raise \
                 Builder::max_spare_workers; Builder::watchdog reports the stacks"
            );
        };
        let has_watchdog = self
            .tools
            .contains_key(&crate::runtime::tools::Tool::Watchdog);
        (!has_watchdog).then(|| -> raddle_sched::SparesHook { Arc::new(warn) })
    }

    #[cfg(not(feature = "tracing"))]
    fn spares_warning(&self) -> Option<raddle_sched::SparesHook> {
        None
    }

    /// Makes a pool of threads for blocking jobs, which run inside the runtime.
    fn thread_pool(
        &self,
        inner: &Weak<Inner>,
        max_threads: usize,
        thread_name: Option<&ThreadName>,
        observer: Option<Arc<dyn raddle_blocking::JobObserver>>,
    ) -> raddle_blocking::Pool<PoolJob> {
        let around = self.around(inner, |handle, _, run| {
            let _guard = handle.enter();
            run();
        });
        // The index is not used, since the closure enters no worker.
        let around = Arc::new(move |run: &mut dyn FnMut()| around(0, run));
        let defaults = raddle_blocking::Config::default();
        raddle_blocking::Pool::new(raddle_blocking::Config {
            max_threads,
            keep_alive: Some(self.thread_keep_alive),
            thread_name: thread_name.unwrap_or(&defaults.thread_name).clone(),
            stack_size: self.scheduler.thread_stack_size,
            around_thread: Some(around),
            observer,
        })
    }

    /// Returns the function that wraps the loop of each thread: it enters the runtime by `enter`,
    /// and calls the user's hooks before and after the loop.
    ///
    /// It has a weak reference to the runtime, since the runtime holds it. On a thread that starts
    /// after the runtime is gone, it only calls the loop, which ends at once.
    fn around(&self, inner: &Weak<Inner>, enter: fn(&Handle, usize, &mut dyn FnMut())) -> Around {
        let inner = Weak::clone(inner);
        let start = self.on_thread_start.clone();
        let stop = self.on_thread_stop.clone();
        Arc::new(move |worker, run| {
            let Some(inner) = inner.upgrade() else {
                return run();
            };
            let handle = Handle { inner };
            let _own = OwnThread::enter(&handle.inner);
            enter(&handle, worker, &mut || {
                start();
                run();
                stop();
            });
        })
    }
}

#[track_caller]
fn default_workers() -> usize {
    for variable in WORKERS_VARIABLES {
        match std::env::var(variable) {
            Ok(text) => match text.parse() {
                Ok(count) if (1..=MAX_WORKERS).contains(&count) => return count,
                _ => panic!("{variable} is {text:?}; set it to a number from 1 to {MAX_WORKERS}"),
            },
            Err(std::env::VarError::NotPresent) => {}
            Err(error) => panic!("{variable}: {error}; set it to a number from 1 to {MAX_WORKERS}"),
        }
    }
    raddle_primitives::thread::available_parallelism()
}
