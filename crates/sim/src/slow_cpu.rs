//! Slow CPUs: a poll of a task, and a run of a thread from one wait to the next, takes time before
//! its effects. A host does one of them after the other.

use raddle::runtime::stepped::SteppedWorker;

use crate::engine::Process;
use crate::kernel::{Event, Kernel};

impl Process {
    /// Whether a poll or a thread may run now: it has taken its time.
    #[inline]
    pub(crate) fn has_computed(&self, now: u64) -> bool {
        self.slow_cpu == 0 || self.poll_ends.is_some_and(|end| end <= now)
    }

    /// Whether a worker of a slow host may be stepped now: its next step polls no task, or that has
    /// taken its time.
    #[cold]
    pub(crate) fn may_step(&self, slot: usize, now: u64) -> bool {
        let worker = self.workers[slot].as_ref();
        if worker.is_none_or(SteppedWorker::is_parked) || self.has_computed(now) {
            return true;
        }
        self.runtime.as_ref().is_none_or(|runtime| {
            let metrics = runtime.handle().metrics();
            let mut workers = 0..metrics.num_workers();
            metrics.global_queue_depth() == 0
                && workers.all(|worker| metrics.worker_local_queue_depth(worker) == 0)
        })
    }
}

impl Kernel {
    /// A host begins to poll a task or to run a thread, unless it does so already.
    #[cold]
    pub(crate) fn compute(&mut self, host: usize) {
        let process = &mut self.hosts[host].process;
        if process.poll_ends.is_none() && process.paused == 0 {
            let end = self.now.saturating_add(process.slow_cpu);
            process.poll_ends = Some(end);
            self.push_at(end, Event::Wake(host));
        }
    }

    /// Threads of slow hosts that can go on begin to run.
    #[cold]
    pub(crate) fn begin_slow_threads(&mut self) {
        let hosts: Vec<_> = self.threads.ready().map(|thread| thread.host).collect();
        hosts.into_iter().for_each(|host| self.compute(host));
    }
}
