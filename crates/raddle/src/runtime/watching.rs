//! The watchdog of a runtime.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use raddle_watchdog::{Report, ShutdownReport, SlowPoll, Watchdog};

use crate::runtime::runtime::Stopped;
use crate::runtime::tools::{Running, RunningStacks, SpanListener, Start, Tool, Tools};
use crate::runtime::{Builder, Runtime};

/// A function that is called with each report, in addition to the action.
#[derive(Clone)]
pub(crate) struct Listener(pub(crate) Arc<dyn Fn(&Report) + Send + Sync>);

/// The watchdog of a runtime, for other tools, until the runtime is dropped.
#[cfg_attr(
    not(feature = "console"),
    expect(dead_code, reason = "the live page takes stacks")
)]
pub(crate) struct StartedWatchdog(pub(crate) Weak<Watchdog>);

/// The watchdog of one runtime.
struct Watching {
    watchdog: Arc<Watchdog>,
    first_report: FirstReport,
}

/// The first report of the runtime's shutdown.
#[derive(Clone, Default)]
struct FirstReport(Arc<OnceLock<ShutdownReport>>);

/// Returns the function that starts a watchdog for a runtime.
pub(crate) fn start<F>(threshold: Duration, action: F) -> Start
where
    F: Fn(&Report) + Send + Sync + 'static,
{
    let action = Arc::new(action);
    Arc::new(move |tools: &mut Tools| {
        let listeners = Vec::from_iter(tools.shared.iter::<Listener>().cloned());
        let action = action.clone();
        let watchdog = Watchdog::start(threshold, move |report| {
            for Listener(listener) in &listeners {
                listener(report);
            }
            action(report);
        })?;
        tools.observers.add_scheduler_observer(watchdog.observer());
        tools.observers.add_job_observer(watchdog.job_observer());
        let watchdog = Arc::new(watchdog);
        if let Some(RunningStacks(stacks)) = tools.shared.get() {
            let watchdog = Arc::downgrade(&watchdog);
            let _ = stacks.set(Box::new(move |text| write_stacks(&watchdog, text)));
        }
        tools.shared.add_span_listener(ThreadSpans);
        tools.shared.add(StartedWatchdog(Arc::downgrade(&watchdog)));
        let first_report = FirstReport::default();
        tools.shared.add(first_report.clone());
        tools.running.push(Box::new(Watching {
            watchdog,
            first_report,
        }));
        Ok(())
    })
}

/// Shows the spans of threads in reports.
struct ThreadSpans;

impl SpanListener for ThreadSpans {
    fn entered(&self, _: &'static str, span: &Arc<str>) {
        Watchdog::set_span(Some(span.clone()));
    }

    fn left(&self, _: &'static str, present: Option<&Arc<str>>) {
        Watchdog::set_span(present.cloned());
    }
}

impl Running for Watching {
    fn report(&self, stopped: Stopped) {
        let is_complete = stopped.workers && stopped.blocking;
        let running = match is_complete {
            true => Vec::new(),
            false => self.watchdog.running(),
        };
        let report = describe(stopped, running);
        if !is_complete {
            self.watchdog.report_shutdown(&report);
        }
        self.first_report.0.get_or_init(|| report);
    }
}

/// Writes the polls and the blocking jobs that run, with their stacks.
fn write_stacks(watchdog: &Weak<Watchdog>, text: &mut dyn fmt::Write) -> fmt::Result {
    let watchdog = watchdog.upgrade();
    let running = watchdog.map_or_else(Vec::new, |watchdog| watchdog.running());
    if !running.is_empty() {
        writeln!(text, "{} running polls and blocking jobs:", running.len())?;
    }
    running
        .iter()
        .try_for_each(|poll| writeln!(text, "{}", poll.to_string().trim_end()))
}

fn describe(stopped: Stopped, running: Vec<SlowPoll>) -> ShutdownReport {
    ShutdownReport::new(
        stopped.workers,
        stopped.blocking,
        stopped.alive_tasks,
        running,
    )
}

impl Builder {
    /// Calls `action` while something takes longer than `threshold`:
    ///
    /// - a poll of a task or of the future of `block_on`, while it still runs, with the task's id,
    ///   name and spawn location, the time that it has taken, and the stack of its thread; and once
    ///   more when it has returned, with its whole time;
    /// - jobs of [`spawn_blocking`](crate::task::spawn_blocking) that wait for a thread, once a
    ///   second;
    /// - tasks that wait behind polls that do not return while all [spare
    ///   workers](Self::max_spare_workers) are in use, at most every 10 seconds, with all polls
    ///   that run;
    /// - a shutdown that has timed out, with the polls and jobs that still run.
    ///
    /// [`watchdog::warn`](crate::runtime::watchdog::warn) is the usual action: a warning of the
    /// crate `tracing`, at most one per second for each function of the application. The action is
    /// called on a thread of its own, even while all workers are stuck. Another one checks every
    /// quarter of the threshold, so it finds every poll that takes at least five quarters of the
    /// threshold, and may miss shorter ones. A task in
    /// [`block_in_place`](crate::task::block_in_place) is not reported.
    ///
    /// Stacks are read on Linux on x86-64 and AArch64: that of a thread that is blocked in a system
    /// call without a signal, that of a thread that runs by the signal `SIGURG`. The threads of the
    /// runtime do not block this signal, and neither does a thread while it is in `block_on`.
    /// Without `/proc` blocked threads get the signal too, which ends a sleep or a `poll` with the
    /// error `EINTR`.
    ///
    /// # Panics
    ///
    /// Panics if `threshold` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Builder, watchdog};
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .watchdog(Duration::from_millis(100), watchdog::warn())
    ///     .build()?;
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
        self.tools.insert(Tool::Watchdog, start(threshold, action));
        self
    }
}

impl Runtime {
    /// Shuts the runtime down as [`shutdown_timeout`](Self::shutdown_timeout) does, and returns a
    /// report of what has not stopped within `duration`: workers or blocking threads, the number of
    /// tasks that have not completed and, on a runtime with a [watchdog](Builder::watchdog), each
    /// poll and each blocking job that still runs, with its stack.
    ///
    /// Inside async code and on a thread of this runtime it does not wait, and reports what runs
    /// now.
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
    /// let report = runtime.shutdown_report(Duration::from_millis(500));
    /// assert!(report.has_stopped_workers() && !report.has_stopped_blocking_threads());
    /// println!("{report}");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn shutdown_report(mut self, duration: Duration) -> ShutdownReport {
        let handle = self.handle().clone();
        let Some(stopped) = self.shut_down(Some(duration), true) else {
            return ShutdownReport::default();
        };
        match handle.inner.tools.get() {
            Some(FirstReport(report)) => report.get().cloned().unwrap_or_default(),
            None => describe(stopped, Vec::new()),
        }
    }
}
