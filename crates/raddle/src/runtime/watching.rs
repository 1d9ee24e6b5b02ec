//! The watchdog of a runtime.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_watchdog::{Report, Watchdog};

use crate::runtime::console::{self, Bound};
use crate::runtime::observers::Observers;
use crate::runtime::runtime::Stopped;
use crate::runtime::{Builder, Handle, Runtime};

pub(crate) use raddle_watchdog::ShutdownReport;

/// A function that is called with each report, in addition to the action.
pub(crate) type Listener = Box<dyn Fn(&Report) + Send + Sync>;

/// The settings with which a builder starts watchdogs.
#[derive(Clone, Default)]
pub(crate) struct Options(Option<Watching>);

#[derive(Clone)]
struct Watching {
    threshold: Duration,
    action: Arc<dyn Fn(&Report) + Send + Sync>,
}

/// The watchdog of one runtime, if it has one.
#[derive(Debug, Default)]
pub(crate) struct Guard(Option<Watchdog>);

impl Options {
    /// Starts the watchdog of a runtime, if there is to be one, and adds its observers.
    pub(crate) fn start(&self, observers: &mut Observers, page: &Bound) -> io::Result<Guard> {
        let (listener, own) = (page.listener(), self.0.clone());
        if listener.is_none() && own.is_none() {
            return Ok(Guard(None));
        }
        let threshold = own.as_ref().map_or(console::THRESHOLD, |own| own.threshold);
        let action = move |report: &Report| {
            if let Some(listener) = &listener {
                listener(report);
            }
            if let Some(own) = &own {
                (own.action)(report);
            }
        };
        let watchdog = Watchdog::start(threshold, action)?;
        observers.add_of_tasks(watchdog.observer());
        observers.add_of_jobs(watchdog.job_observer());
        Ok(Guard(Some(watchdog)))
    }
}

impl Guard {
    /// Reports a shutdown that has given up on something.
    pub(crate) fn report(&self, handle: &Handle, stopped: Stopped) -> ShutdownReport {
        let (watchdog, is_complete) = (self.0.as_ref(), stopped.workers && stopped.blocking);
        let stuck = watchdog.filter(|_| !is_complete);
        let report = ShutdownReport::new(
            stopped.workers,
            stopped.blocking,
            handle.metrics().num_alive_tasks(),
            stuck.map_or_else(Vec::new, Watchdog::running),
        );
        if let Some(watchdog) = stuck {
            watchdog.report_shutdown(&report);
        }
        report
    }
}

impl Builder {
    /// Calls `action` while something takes longer than `threshold`:
    ///
    /// - a poll of a task or of the future of `block_on`, once, while it still runs, with the
    ///   task's id, name and spawn location, the time that it has taken, and the stack of its
    ///   thread;
    /// - jobs of [`spawn_blocking`](crate::task::spawn_blocking) that wait for a thread, once a
    ///   second;
    /// - a shutdown that gives up after its time, with what still runs.
    ///
    /// [`watchdog::warn`](crate::runtime::watchdog::warn) is the usual action: a warning of the
    /// crate `tracing`, at most one a second for each location. The action is called on a thread of
    /// the watchdog, which works also while all workers are stuck. Polls that begin and end between
    /// two looks of that thread, a quarter of the threshold apart, may be missed unless they take
    /// five quarters of it. A task in [`block_in_place`](crate::task::block_in_place) is not
    /// reported.
    ///
    /// On Linux, on x86-64 and AArch64, a stack is taken by the signal `SIGURG` to the thread,
    /// which may end a system call of it early, with the error `EINTR`: a sleep or a `poll` of the
    /// system. On other platforms reports have no stacks.
    ///
    /// # Panics
    ///
    /// If `threshold` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, watchdog};
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .watchdog(Duration::from_millis(100), watchdog::warn())
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn watchdog<F>(&mut self, threshold: Duration, action: F) -> &mut Self
    where
        F: Fn(&Report) + Send + Sync + 'static,
    {
        assert!(
            !threshold.is_zero(),
            "the threshold of the watchdog is zero; use a longer one"
        );
        self.watchdog = Options(Some(Watching {
            threshold,
            action: Arc::new(action),
        }));
        self
    }
}

impl Runtime {
    /// Shuts the runtime down as [`shutdown_timeout`](Self::shutdown_timeout) does, and returns
    /// what has not stopped within `duration`: whether it is workers or blocking threads, how many
    /// tasks have not ended, and, on a runtime with a [watchdog](Builder::watchdog), each poll and
    /// each blocking job that still runs, with its stack.
    ///
    /// Inside async code or blocking work it does not wait, and reports what runs now.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, watchdog};
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .watchdog(Duration::from_millis(100), watchdog::warn())
    ///     .build()?;
    /// runtime.spawn_blocking(|| std::thread::sleep(Duration::from_secs(60)));
    /// let report = runtime.shutdown_report(Duration::from_millis(10));
    /// assert!(report.has_stopped_workers() && !report.has_stopped_blocking_threads());
    /// println!("{report}");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn shutdown_report(mut self, duration: Duration) -> ShutdownReport {
        let report = self.shut_down(Some(duration));
        report.unwrap_or_default()
    }
}
