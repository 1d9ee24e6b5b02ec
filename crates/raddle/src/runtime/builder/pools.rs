//! The pools of threads beside the scheduler's own.

use std::sync::{Arc, Weak};

use super::Builder;
use crate::runtime::blocking::{self, BlockingJob, HandoffJob};
use crate::runtime::handle::Inner;
use crate::runtime::observers::Observers;

impl Builder {
    /// The threads for blocking work, that of the layers included.
    pub(super) fn blocking_pool(
        &self,
        inner: &Weak<Inner>,
        observers: &Observers,
    ) -> raddle_blocking::Pool<BlockingJob> {
        raddle_task::blocking::set_submit(blocking::submit_to_current);
        self.thread_pool(inner, self.max_blocking_threads, observers.of_jobs())
    }

    /// The threads that take workers over. Each worker may stay on one.
    pub(super) fn handoffs(
        &self,
        inner: &Weak<Inner>,
        workers: usize,
    ) -> raddle_blocking::Pool<HandoffJob> {
        let max_threads = self.max_blocking_threads.saturating_add(workers);
        self.thread_pool(inner, max_threads, None)
    }

    /// Threads for work that blocks, inside the runtime.
    fn thread_pool<J: raddle_blocking::Job>(
        &self,
        inner: &Weak<Inner>,
        max_threads: usize,
        observer: Option<Arc<dyn raddle_blocking::Observer>>,
    ) -> raddle_blocking::Pool<J> {
        let around = self.around(inner, |handle, _, run| {
            let _guard = handle.enter();
            run();
        });
        // The thread is no worker's.
        let around = Arc::new(move |run: &mut dyn FnMut()| around(0, run));
        raddle_blocking::Pool::new(raddle_blocking::Config {
            max_threads,
            keep_alive: Some(self.thread_keep_alive),
            thread_name: Arc::clone(&self.scheduler.thread_name),
            stack_size: self.scheduler.thread_stack_size,
            around_thread: Some(around),
            observer,
        })
    }
}

/// The function that the scheduler calls to get a thread.
pub(super) fn handoff(handoffs: &raddle_blocking::Pool<HandoffJob>) -> raddle_sched::StartHandoff {
    let jobs = handoffs.handle().clone();
    Arc::new(move |handoff| {
        // Without a thread the worker waits for its own.
        drop(jobs.submit(HandoffJob(handoff)));
    })
}
