//! The live page of a runtime.

use std::io;
use std::time::Duration;

use raddle_console::{Console, Metrics, Serving, SlowPoll, SlowPolls, Source, WorkerMetrics};
use raddle_watchdog::{Report, StackTrace};

use crate::runtime::observers::Observers;
use crate::runtime::watching::Listener;
use crate::runtime::{Builder, Handle, Runtime};

/// When a poll is slow, if the runtime has no watchdog of its own.
pub(crate) const THRESHOLD: Duration = Duration::from_millis(100);

/// The address at which a builder's runtimes serve their page.
#[derive(Clone, Default)]
pub(crate) struct Options(Option<String>);

/// A page that has its address, if there is to be one.
pub(crate) struct Bound(Option<Console>);

/// A page that is served, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Guard(Option<Serving>);

impl Options {
    /// Takes the address, and adds the page's observer.
    pub(crate) fn bind(&self, observers: &mut Observers) -> io::Result<Bound> {
        let Some(address) = &self.0 else {
            return Ok(Bound(None));
        };
        let console = Console::bind(address)?;
        observers.add_of_tasks(console.observer());
        Ok(Bound(Some(console)))
    }
}

impl Bound {
    /// The list of slow polls of the page, if there is a page.
    pub(crate) fn listener(&self) -> Option<Listener> {
        let slow = self.0.as_ref()?.slow_polls();
        Some(Box::new(move |report| show(&slow, report)))
    }

    /// Serves the page, and prints its address.
    pub(crate) fn serve(self, handle: &Handle) -> io::Result<Guard> {
        let Some(console) = self.0 else {
            return Ok(Guard(None));
        };
        let serving = console.serve(OfRuntime(handle.clone()))?;
        eprintln!("console: {}", serving.url());
        Ok(Guard(Some(serving)))
    }
}

impl Guard {
    pub(crate) fn stop(&mut self) {
        self.0 = None;
    }

    fn url(&self) -> Option<String> {
        self.0.as_ref().map(Serving::url)
    }
}

fn show(slow: &SlowPolls, report: &Report) {
    let Report::SlowPoll(poll) = report else {
        return;
    };
    let stack = poll.stack().cloned();
    slow.push(SlowPoll {
        task: poll.task_id(),
        name: poll.task_name().map(str::to_owned),
        location: poll.spawned_at().map(ToString::to_string),
        thread: poll.thread_name().to_owned(),
        elapsed: poll.elapsed(),
        stack: Box::new(move || {
            stack
                .as_ref()
                .map_or_else(String::new, StackTrace::to_string)
        }),
    });
}

/// The data of the runtime that the page shows.
struct OfRuntime(Handle);

impl Source for OfRuntime {
    fn metrics(&self) -> Metrics {
        let metrics = self.0.metrics();
        let worker = |worker| WorkerMetrics {
            polls: metrics.worker_poll_count(worker),
            steals: metrics.worker_steal_count(worker),
            parks: metrics.worker_park_count(worker),
            busy: metrics.worker_total_busy_duration(worker),
            depth: metrics.worker_local_queue_depth(worker),
        };
        Metrics {
            workers: (0..metrics.num_workers()).map(worker).collect(),
            alive_tasks: metrics.num_alive_tasks(),
            spawned_tasks: metrics.spawned_tasks_count(),
            injection_depth: metrics.global_queue_depth(),
            blocking_threads: metrics.num_blocking_threads(),
            idle_blocking_threads: metrics.num_idle_blocking_threads(),
            blocking_depth: metrics.blocking_queue_depth(),
        }
    }

    fn recording(&self) -> Option<Vec<u8>> {
        self.0.inner.recorder.file()
    }
}

impl Builder {
    /// Serves a live page of the runtime on a loopback address and a port, such as
    /// `127.0.0.1:6669`; port 0 is any free one. The page shows what the workers do, the tasks,
    /// slow polls with stacks, and queue depths and rates, and it downloads the recording of the
    /// runtime's flight recorder, if there is one. Its address, with the token that a browser
    /// needs, is printed to standard error, and [`Runtime::console_url`] returns it. `/metrics` has
    /// the counters in Prometheus's text format, and needs no token.
    ///
    /// The page is served by threads of its own, also while all workers are stuck. To see it from
    /// another machine, forward the port (`ssh -L`). The page shows the slow polls that
    /// [`watchdog`](Self::watchdog) reports, or without it those that take more than 100 ms.
    ///
    /// Each spawn, wake and poll of a task takes a lock and reads the clock while a page is served.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails if the text is no such address, if the address is not a
    /// loopback address, and if it is in use.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .console("127.0.0.1:0")
    ///     .build()?;
    /// assert!(runtime.console_url().unwrap().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn console(&mut self, address: impl Into<String>) -> &mut Self {
        self.console = Options(Some(address.into()));
        self
    }
}

impl Runtime {
    /// The address of the live page, with its token, if the runtime has one; see
    /// [`Builder::console`].
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// assert_eq!(Runtime::new()?.console_url(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn console_url(&self) -> Option<String> {
        self.console().url()
    }
}
