//! The counts of one worker of a scheduler.

use std::time::Duration;

use raddle_primitives::sync::Arc;
use raddle_primitives::{Count, Epoch, thread};

use super::{BusyClock, HistogramConfiguration, HistogramRecorder, PollAverage, WorkerTimes};

/// The counts of one worker. Only that worker writes them. The counts that each step and poll
/// changes come first, so that they share one cache line.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct WorkerCounters {
    /// Polls. The monitor also reads it, to see whether the worker makes progress.
    pub(crate) polls: Count,
    /// The number of polls when the last one ended, if the queue is not always shared.
    pub(crate) ended: Count,
    /// Tasks that the worker itself queued.
    pub(crate) local_schedules: Count,
    /// Tasks spawned on the worker while the scheduler was open.
    pub(crate) spawned: Count,
    /// Tasks that completed on this worker, cancelled ones included.
    pub(crate) completed: Count,
    /// Tasks that completed on this worker and are in the live list of another one.
    pub(crate) completed_elsewhere: Count,
    /// Polls of the driver between two steps that made tasks ready: these have waited for it.
    pub(crate) late_events: Count,
    /// Parks that have begun.
    pub(crate) parks: Count,
    /// Parks that have ended.
    pub(crate) unparks: Count,
    /// Parks without a poll since the park before.
    pub(crate) noops: Count,
    /// Tasks that the worker has stolen.
    pub(crate) steals: Count,
    /// Steals; one takes several tasks.
    pub(crate) steal_operations: Count,
    /// How often the full run queue moved tasks to the injection queue.
    pub(crate) overflows: Count,
    /// Polls that used up their budget.
    pub(crate) budget_yields: Count,
    /// The number of tasks in the backlog now.
    pub(crate) backlog: Count,
    /// How long the worker has been driven while it was not parked.
    pub(crate) clock: BusyClock,
    /// The moving average of poll times.
    pub(crate) poll_average: PollAverage,
    /// The duration of each poll, if they are measured.
    pub(crate) poll_times: Option<HistogramRecorder>,
    /// Durations that are measured on a sample, if they are.
    pub(crate) sampled: Option<Arc<WorkerTimes>>,
    /// One more than the number of polls at the last park; zero before the first.
    polls_at_park: Count,
}

impl WorkerCounters {
    /// Starts at zero, with a histogram if its configuration is given. Times are measured since
    /// `epoch`.
    pub(crate) fn new(
        poll_times: Option<&HistogramConfiguration>,
        samples_times: bool,
        epoch: Epoch,
    ) -> Self {
        Self {
            clock: BusyClock::new(epoch),
            poll_times: poll_times.map(HistogramRecorder::new),
            sampled: samples_times.then(Arc::default),
            ..Self::default()
        }
    }

    /// Counts a steal of `tasks` tasks.
    #[inline]
    pub(crate) fn count_steal(&self, tasks: usize) {
        self.steals.add(tasks as u64);
        self.steal_operations.add(1);
    }

    /// Counts a park that is about to begin.
    #[inline]
    pub(crate) fn count_park(&self) {
        let polls = self.polls.get() + 1;
        self.parks.add(1);
        if self.polls_at_park.get() == polls {
            self.noops.add(1);
        }
        self.polls_at_park.set(polls);
        self.stop_clock();
    }

    /// Counts the worker as not busy until its clock is started again.
    #[inline]
    pub(crate) fn stop_clock(&self) {
        self.clock.stop();
        self.update_poll_average();
    }

    /// Yields the processor to other threads, and returns how long they had it. The worker does not
    /// count as busy meanwhile.
    #[inline]
    pub(crate) fn yield_processor(&self) -> Duration {
        self.clock.pause(thread::yield_now)
    }

    /// Adds a sample to the poll-time average, and returns the total busy time.
    #[inline]
    pub(crate) fn update_poll_average(&self) -> Duration {
        let busy = self.clock.busy();
        self.poll_average.update(busy, self.polls.get());
        busy
    }

    /// Returns the current values. `queued` is the number of tasks in the run queue and the
    /// next-task slot of the worker.
    pub(crate) fn metrics(&self, queued: usize) -> WorkerMetrics {
        WorkerMetrics {
            polls: self.polls.get(),
            parks: self.parks.get(),
            unparks: self.unparks.get(),
            noops: self.noops.get(),
            steals: self.steals.get(),
            steal_operations: self.steal_operations.get(),
            overflows: self.overflows.get(),
            budget_yields: self.budget_yields.get(),
            local_schedules: self.local_schedules.get(),
            completed_elsewhere: self.completed_elsewhere.get(),
            local_queue_depth: queued + self.backlog.get() as usize,
            busy: self.clock.busy(),
            mean_poll_time: self.poll_average.mean_poll_time(),
        }
    }
}

/// The counts of one worker at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// The number of polls, and of drops of aborted tasks.
    pub polls: u64,
    /// The number of times the worker has parked.
    pub parks: u64,
    /// The number of times that the worker has stopped parking.
    pub unparks: u64,
    /// The number of parks without a poll since the park before.
    pub noops: u64,
    /// The number of tasks that it has stolen from other workers.
    pub steals: u64,
    /// The number of steal operations.
    pub steal_operations: u64,
    /// The number of times its full run queue moved tasks to the injection queue.
    pub overflows: u64,
    /// The number of polls that used up their budget, so that the task yielded.
    pub budget_yields: u64,
    /// The number of times the worker itself queued a task: one that was spawned or woken on it, or
    /// woken while it ran there.
    pub local_schedules: u64,
    /// The number of tasks that completed on this worker and are in the live list of another one:
    /// those that another worker ran first or spawned, and those from whose poll this worker was
    /// handed off.
    pub completed_elsewhere: u64,
    /// The number of tasks in its run queue, its next-task slot and its backlog.
    pub local_queue_depth: usize,
    /// The time during which a thread drove the worker and it was not parked.
    pub busy: Duration,
    /// The mean duration of a poll, including what the worker does between polls. It is a moving
    /// average of samples: a sample lasts from one park or tick to the next, and one of `n` polls
    /// has the weight `n / (n + 9)`.
    pub mean_poll_time: Duration,
}
