//! Counters that one thread at a time writes with plain stores.

use std::time::Duration;

use raddle_counters::{BusyClock, Histogram, HistogramConfiguration, PollAverage};
use raddle_primitives::{Count, Epoch, thread};

/// The counts of one worker. Only that worker writes them. The counts that each step and poll
/// changes come first, so that they share one cache line.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Counters {
    /// The monitor also reads it, to see whether the worker makes progress.
    pub(crate) polls: Count,
    pub(crate) local_schedules: Count,
    /// Tasks spawned on the worker while the scheduler was open.
    pub(crate) spawned: Count,
    /// Tasks that completed on this worker, cancelled ones included.
    pub(crate) completed: Count,
    pub(crate) completed_elsewhere: Count,
    pub(crate) parks: Count,
    pub(crate) unparks: Count,
    pub(crate) noops: Count,
    pub(crate) steals: Count,
    pub(crate) steal_operations: Count,
    pub(crate) overflows: Count,
    /// Polls that used up their budget.
    pub(crate) budget_yields: Count,
    /// The number of tasks in the backlog now.
    pub(crate) backlog: Count,
    pub(crate) clock: BusyClock,
    pub(crate) poll_average: PollAverage,
    pub(crate) poll_times: Option<Histogram>,
    /// One more than the number of polls at the last park; zero before the first.
    polls_at_park: Count,
}

impl Counters {
    /// Counts from `epoch` on.
    pub(crate) fn new(poll_times: Option<&HistogramConfiguration>, epoch: Epoch) -> Self {
        Self {
            clock: BusyClock::new(epoch),
            poll_times: poll_times.map(Histogram::new),
            ..Self::default()
        }
    }

    /// Counts a steal.
    pub(crate) fn stole(&self, tasks: usize) {
        self.steals.add(tasks as u64);
        self.steal_operations.add(1);
    }

    /// Counts a park that is about to begin.
    pub(crate) fn park(&self) {
        let polls = self.polls.get() + 1;
        self.parks.add(1);
        if self.polls_at_park.get() == polls {
            self.noops.add(1);
        }
        self.polls_at_park.set(polls);
        self.rest();
    }

    /// Counts the worker as not busy until its clock is started again.
    pub(crate) fn rest(&self) {
        self.clock.stop();
        self.take_time();
    }

    /// Yields the processor to other threads, and returns how long they had it. The worker does not
    /// count as busy meanwhile.
    pub(crate) fn yield_processor(&self) -> Duration {
        self.clock.pause(thread::yield_now)
    }

    /// Adds a sample to the poll-time average, and returns the total busy time.
    pub(crate) fn take_time(&self) -> Duration {
        let busy = self.clock.busy();
        self.poll_average.note(busy, self.polls.get());
        busy
    }
}

/// Counts of tasks from outside the workers. Written under the lock of the injection queue.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) schedules: Count,
    pub(crate) spawned: Count,
}
