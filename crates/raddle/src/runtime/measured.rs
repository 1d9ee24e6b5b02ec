//! What a runtime measures for a page or a server of metrics.

use std::sync::Arc;

use raddle_console::{
    BlockingWaits, Metrics, MetricsSource, ReactorMetrics, SlowPollCounts, WorkerMetrics,
};

use crate::runtime::Handle;
use crate::runtime::tools::Tools;

/// Measurements beyond the counts that each runtime has.
#[derive(Clone)]
struct Measured {
    waits: BlockingWaits,
    /// `None` without a watchdog.
    slow_polls: Option<SlowPollCounts>,
}

/// Has a runtime measure its metrics.
pub(crate) fn start(tools: &mut Tools) {
    if tools.shared.get::<Measured>().is_some() {
        return;
    }
    tools.samples_times = true;
    let waits = BlockingWaits::new();
    tools.observers.add_job_observer(Arc::new(waits.clone()));
    let slow_polls = tools.has_watchdog().then(SlowPollCounts::new);
    #[cfg(feature = "watchdog")]
    if let Some(counts) = slow_polls.clone() {
        use crate::runtime::watching::Listener;
        tools.shared.add(Listener(Arc::new(move |report| {
            if let raddle_watchdog::Report::SlowPoll(poll) = report {
                counts.add(&label(poll));
            }
        })));
    }
    tools.shared.add(Measured { waits, slow_polls });
}

/// Returns the label under which a slow poll counts.
#[cfg(feature = "watchdog")]
fn label(poll: &raddle_watchdog::SlowPoll) -> String {
    match (poll.place(), poll.spawned_at()) {
        (Some(function), _) => function,
        (None, Some(location)) => location.to_string(),
        (None, None) => "block_on".to_owned(),
    }
}

/// The source of the metrics of a runtime.
pub(crate) struct RuntimeSource(pub(crate) Handle);

impl MetricsSource for RuntimeSource {
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
                budget_yields: counts.budget_yields,
                overflows: counts.overflows,
            }
        };
        let spare = |spare| worker(scheduler.workers() + spare);
        let measured = self.0.inner.tools.get::<Measured>();
        let slow_polls = measured.and_then(|it| it.slow_polls.as_ref());
        Metrics {
            workers: (0..metrics.num_workers()).map(worker).collect(),
            spare_workers: (0..scheduler.made_spare_workers()).map(spare).collect(),
            active_spare_workers: scheduler.spare_workers(),
            max_spare_workers: scheduler.max_spare_workers(),
            spare_worker_starts: scheduler.spare_starts(),
            spare_worker_shortages: scheduler.spare_shortages(),
            alive_tasks: metrics.num_alive_tasks(),
            spawned_tasks: metrics.spawned_tasks_count(),
            remote_schedules: metrics.remote_schedule_count(),
            injection_depth: metrics.global_queue_depth(),
            blocking_threads: metrics.num_blocking_threads(),
            idle_blocking_threads: metrics.num_idle_blocking_threads(),
            blocking_depth: metrics.blocking_queue_depth(),
            blocking_waits: measured.map(|it| it.waits.times()),
            poll_times: scheduler.sampled_poll_times(),
            scheduling_delays: scheduler.sampled_delays(),
            slow_polls: slow_polls.map(SlowPollCounts::counts),
            reactor: reactor(&metrics),
        }
    }

    #[cfg(feature = "flight-recorder")]
    fn recording(&self) -> Option<Vec<u8>> {
        let crate::runtime::tools::RecordingFile(file) = self.0.inner.tools.get()?;
        file()
    }

    #[cfg(feature = "console")]
    fn stack(&self, task: u64) -> Option<String> {
        let crate::runtime::watching::StartedWatchdog(watchdog) = self.0.inner.tools.get()?;
        let poll = watchdog.upgrade()?.running_poll(task)?;
        poll.stack().map(|_| poll.to_string())
    }
}

#[cfg(feature = "mio")]
fn reactor(metrics: &crate::runtime::RuntimeMetrics) -> Option<ReactorMetrics> {
    Some(ReactorMetrics {
        registered: metrics.io_driver_fd_registered_count(),
        deregistered: metrics.io_driver_fd_deregistered_count(),
        events: metrics.io_driver_ready_count(),
    })
}

#[cfg(not(feature = "mio"))]
fn reactor(_: &crate::runtime::RuntimeMetrics) -> Option<ReactorMetrics> {
    None
}
