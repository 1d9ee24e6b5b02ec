//! The live page of a runtime.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use raddle_console::{Console, ConsoleOptions, Metrics, MetricsSource, ServeGuard, WorkerMetrics};
use raddle_watchdog::Report;

use crate::runtime::tools::{RecordingFile, Running, Tool, Tools};
use crate::runtime::watching::{self, Listener, StartedWatchdog};
use crate::runtime::{Builder, Handle, Runtime};

/// The duration from which a poll counts as slow, if the runtime has no watchdog.
const THRESHOLD: Duration = Duration::from_millis(100);

/// The page of one runtime.
struct Page {
    bound: Option<Console>,
    serving: Option<ServeGuard>,
    url: Url,
    url_file: Option<PathBuf>,
}

/// The address of the page, once it is served.
#[derive(Clone, Default)]
struct Url(Arc<OnceLock<String>>);

/// Binds the address of a page, and collects what it shows.
fn start(options: &ConsoleOptions, tools: &mut Tools) -> io::Result<()> {
    let console = Console::with_options(options.clone())?;
    tools.observers.add_scheduler_observer(console.observer());
    let slow = console.slow_polls();
    let listener = Listener(Arc::new(move |report| slow.push_report(report)));
    tools.shared.add(listener);
    let url = Url::default();
    tools.shared.add(url.clone());
    tools.running.push(Box::new(Page {
        bound: Some(console),
        serving: None,
        url,
        url_file: options.url_file.clone(),
    }));
    Ok(())
}

impl Running for Page {
    fn serve(&mut self, handle: &Handle) -> io::Result<()> {
        if let Some(console) = self.bound.take() {
            let serving = console.serve(RuntimeMetrics(handle.clone()))?;
            let url = self.url.0.get_or_init(|| serving.url());
            match &self.url_file {
                Some(file) => eprintln!("console: its URL is in {}", file.display()),
                None => eprintln!("console: {url}"),
            }
            self.serving = Some(serving);
        }
        Ok(())
    }

    fn stop(&mut self) {
        self.serving = None;
    }
}

/// The source of the metrics that the page shows.
struct RuntimeMetrics(Handle);

impl MetricsSource for RuntimeMetrics {
    fn metrics(&self) -> Metrics {
        let metrics = self.0.metrics();
        let scheduler = self.0.scheduler().metrics();
        let worker = |worker| {
            let counts = scheduler.worker(worker);
            WorkerMetrics {
                polls: counts.polls,
                steals: counts.steals,
                parks: counts.parks,
                busy: counts.busy,
                depth: counts.local_queue_depth,
            }
        };
        let spare = |spare| worker(scheduler.workers() + spare);
        Metrics {
            workers: (0..metrics.num_workers()).map(worker).collect(),
            alive_tasks: metrics.num_alive_tasks(),
            spawned_tasks: metrics.spawned_tasks_count(),
            injection_depth: metrics.global_queue_depth(),
            blocking_threads: metrics.num_blocking_threads(),
            idle_blocking_threads: metrics.num_idle_blocking_threads(),
            blocking_depth: metrics.blocking_queue_depth(),
            spare_workers: (0..scheduler.made_spare_workers()).map(spare).collect(),
            active_spare_workers: scheduler.spare_workers(),
            spare_worker_starts: scheduler.spare_starts(),
        }
    }

    fn recording(&self) -> Option<Vec<u8>> {
        let RecordingFile(file) = self.0.inner.tools.get()?;
        file()
    }

    fn stack(&self, task: u64) -> Option<String> {
        let StartedWatchdog(watchdog) = self.0.inner.tools.get()?;
        let polls = watchdog.upgrade()?.running();
        let poll = polls
            .iter()
            .find(|poll| poll.task_id() == Some(task) && !poll.is_blocking_job())?;
        poll.stack().map(|_| poll.to_string())
    }
}

impl Builder {
    /// Serves a live page of the runtime on a loopback address and a port, such as
    /// `127.0.0.1:6670`; port 0 is any free one. The page shows what the workers do, the tasks and
    /// what they wait for, locks and channels with their queues, deadlocks, slow polls with stacks,
    /// and queue depths and rates, and it downloads the recording of the
    /// runtime's flight recorder, if there is one. Its address, with the token that a browser
    /// needs, is printed to standard error, and [`Runtime::console_url`] returns it. `/metrics` has
    /// the counters in Prometheus's text format, and needs no token.
    ///
    /// Separate threads serve the page, even while all workers are stuck. To see it from another
    /// machine, forward the port (`ssh -L`). The page shows the slow polls that
    /// [`watchdog`](Self::watchdog) reports, or without it those that take more than 100 ms.
    ///
    /// Each spawn, wake and poll of a task takes a lock and reads the clock while a page is served.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails if the text is not such an address, if the address is not a
    /// loopback address, and if it is in use.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .console("127.0.0.1:0")
    ///     .build()?;
    /// assert!(runtime.console_url().unwrap().starts_with("http://127.0.0.1:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn console(&mut self, address: impl Into<String>) -> &mut Self {
        self.console_options(ConsoleOptions::new(address))
    }

    /// Serves a live page like [`console`](Self::console), with a token of the program, or with a
    /// file for the URL instead of the line on standard error.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails as for `console`, if the token is not at least 16 letters,
    /// digits, `-` and `_`, and if the file cannot be written.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use raddle::runtime::{Builder, ConsoleOptions};
    ///
    /// let mut options = ConsoleOptions::new("127.0.0.1:6670");
    /// options.url_file = Some("/run/service/console-url".into());
    /// let runtime = Builder::new_multi_thread().console_options(options).build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn console_options(&mut self, options: ConsoleOptions) -> &mut Self {
        let start = Arc::new(move |tools: &mut Tools| start(&options, tools));
        self.tools.insert(Tool::Console, start);
        let watchdog = self.tools.entry(Tool::Watchdog);
        watchdog.or_insert_with(|| {
            let warn = raddle_watchdog::warn();
            watching::start(THRESHOLD, move |report| {
                // The page has the slow polls.
                if let Report::NoSpareWorkers(_) = report {
                    warn(report);
                }
            })
        });
        self
    }
}

impl Runtime {
    /// The address of the live page, with its token, if the runtime has one; see
    /// [`Builder::console`].
    pub fn console_url(&self) -> Option<String> {
        let Url(url) = self.handle().inner.tools.get()?;
        url.get().cloned()
    }
}
