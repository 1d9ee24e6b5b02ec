//! The metrics of runtimes, and Prometheus's text format for them.

mod text;

use std::time::Duration;

use raddle_sched::SampledTimes;

pub(crate) use text::prometheus;

/// The interface through which the threads of a server read the metrics of a runtime.
pub trait MetricsSource: Send + Sync + 'static {
    /// Returns the current metrics of the runtime.
    fn metrics(&self) -> Metrics;

    /// Returns a recording of the flight recorder, as the bytes of a file. `None` if there is no
    /// recorder.
    fn recording(&self) -> Option<Vec<u8>> {
        None
    }

    /// Returns the stack of the thread that polls the task now, as text. `None` if no thread polls
    /// it, or if stacks cannot be taken.
    fn stack(&self, task: u64) -> Option<String> {
        let _ = task;
        None
    }
}

/// The metrics of a runtime. Those that are `None` are not measured.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The metrics of each worker.
    pub workers: Vec<WorkerMetrics>,
    /// The metrics of each spare worker that was made, whether or not it serves now.
    pub spare_workers: Vec<WorkerMetrics>,
    /// The number of spare workers that serve now.
    pub active_spare_workers: usize,
    /// The highest number of spare workers.
    pub max_spare_workers: usize,
    /// The number of times that a spare worker was started.
    pub spare_worker_starts: u64,
    /// The number of times that tasks waited while all spare workers were in use, at most once
    /// every 10 seconds.
    pub spare_worker_shortages: u64,
    /// The number of tasks that have not completed.
    pub alive_tasks: usize,
    /// The number of tasks that were spawned.
    pub spawned_tasks: u64,
    /// The number of times that a task was queued from outside the workers.
    pub remote_schedules: u64,
    /// The number of tasks in the injection queue.
    pub injection_depth: usize,
    /// The number of threads of the blocking pool.
    pub blocking_threads: usize,
    /// The number of these threads that wait for a job.
    pub idle_blocking_threads: usize,
    /// The number of blocking jobs that wait for a thread.
    pub blocking_depth: usize,
    /// How long blocking jobs have waited for a thread.
    pub blocking_waits: Option<SampledTimes>,
    /// The durations of polls.
    pub poll_times: Option<SampledTimes>,
    /// How long tasks have waited from their wakes to their polls.
    pub scheduling_delays: Option<SampledTimes>,
    /// The number of slow polls with each label.
    pub slow_polls: Option<Vec<(String, u64)>>,
    /// The counts of the reactors.
    pub reactor: Option<ReactorMetrics>,
}

/// The counts of the reactors of a runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReactorMetrics {
    /// The number of sources, such as sockets, that were registered.
    pub registered: u64,
    /// The number of sources that were deregistered.
    pub deregistered: u64,
    /// The number of events of sources.
    pub events: u64,
}

/// The metrics of one worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerMetrics {
    /// The number of polls.
    pub polls: u64,
    /// The number of tasks that it has taken from other workers.
    pub steals: u64,
    /// The number of times that it has parked.
    pub parks: u64,
    /// The time during which it was not parked.
    pub busy: Duration,
    /// The number of tasks in its queue.
    pub depth: usize,
    /// The number of polls that used up their budget.
    pub budget_yields: u64,
    /// The number of times that its full queue moved tasks to the injection queue.
    pub overflows: u64,
}
