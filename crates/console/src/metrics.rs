//! The runtime metrics that the page shows.

use std::fmt::Write;
use std::time::Duration;

/// The interface through which the console's threads read the metrics of the runtime.
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

/// The metrics of a runtime.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The metrics of each worker.
    pub workers: Vec<WorkerMetrics>,
    /// The metrics of each spare worker that was made, whether or not it serves now.
    pub spare_workers: Vec<WorkerMetrics>,
    /// The number of spare workers that serve now.
    pub active_spare_workers: usize,
    /// The number of times that a spare worker was started.
    pub spare_worker_starts: u64,
    /// The number of tasks that have not completed.
    pub alive_tasks: usize,
    /// The number of tasks that were spawned.
    pub spawned_tasks: u64,
    /// The number of tasks in the injection queue.
    pub injection_depth: usize,
    /// The number of threads of the blocking pool.
    pub blocking_threads: usize,
    /// The number of these threads that wait for a job.
    pub idle_blocking_threads: usize,
    /// The number of blocking jobs that wait for a thread.
    pub blocking_depth: usize,
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
}

impl Metrics {
    /// The text format of Prometheus, version 0.0.4.
    pub(crate) fn prometheus(&self) -> String {
        let mut text = String::new();
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            let _ = writeln!(
                text,
                "# HELP raddle_{name} {help}\n# TYPE raddle_{name} {kind}\nraddle_{name} {value}"
            );
        };
        let gauge = "gauge";
        one(
            "workers",
            gauge,
            "Number of workers.",
            self.workers.len() as f64,
        );
        one(
            "spare_workers",
            gauge,
            "Number of spare workers that serve now.",
            self.active_spare_workers as f64,
        );
        one(
            "spare_worker_starts_total",
            "counter",
            "How often a spare worker was started.",
            self.spare_worker_starts as f64,
        );
        one(
            "alive_tasks",
            gauge,
            "Tasks that have not ended.",
            self.alive_tasks as f64,
        );
        let spawned = self.spawned_tasks as f64;
        one(
            "spawned_tasks_total",
            "counter",
            "Tasks that were spawned.",
            spawned,
        );
        let depth = self.injection_depth as f64;
        one(
            "injection_queue_depth",
            gauge,
            "Tasks in the injection queue.",
            depth,
        );
        let threads = self.blocking_threads as f64;
        one(
            "blocking_threads",
            gauge,
            "Threads for blocking work.",
            threads,
        );
        let idle = self.idle_blocking_threads as f64;
        one(
            "blocking_threads_idle",
            gauge,
            "Threads that wait for blocking work.",
            idle,
        );
        let depth = self.blocking_depth as f64;
        one(
            "blocking_queue_depth",
            gauge,
            "Blocking jobs that wait for a thread.",
            depth,
        );
        type Count = fn(&WorkerMetrics) -> f64;
        let counts: [(&str, &str, &str, Count); 5] = [
            ("polls_total", "counter", "Polls of tasks.", |worker| {
                worker.polls as f64
            }),
            (
                "steals_total",
                "counter",
                "Tasks taken from other workers.",
                |worker| worker.steals as f64,
            ),
            (
                "parks_total",
                "counter",
                "How many times it parked.",
                |worker| worker.parks as f64,
            ),
            (
                "busy_seconds_total",
                "counter",
                "Time in which it was not parked.",
                |worker| worker.busy.as_secs_f64(),
            ),
            ("queue_depth", "gauge", "Tasks in its queue.", |worker| {
                worker.depth as f64
            }),
        ];
        for (name, kind, help, count) in counts {
            let name = format!("raddle_worker_{name}");
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (number, worker) in self.workers.iter().enumerate() {
                let _ = writeln!(text, "{name}{{worker=\"{number}\"}} {}", count(worker));
            }
        }
        text
    }
}
