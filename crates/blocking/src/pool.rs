//! The pool and the handle that submits to it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, MutexGuard};
use raddle_primitives::thread::{self, Builder, Joining};

use crate::config::Config;
use crate::error::SubmitError;
use crate::job::{Job, drop_each};
use crate::shared::{PoolState, Queued, Shared, Spawn, ThreadConfig};
use crate::thread::CountedThread;

/// The owner of a pool of threads for blocking work, which shuts the pool down.
///
/// Dropping it calls [`shutdown(None)`](Pool::shutdown), which waits for running jobs. After an
/// explicit shutdown, even one that has timed out, dropping it does nothing.
pub struct Pool<J: Job> {
    handle: Handle<J>,
    /// The threads whose work has ended.
    joining: Joining,
}

/// Submits jobs to a [`Pool`]. Clones submit to the same pool.
pub struct Handle<J: Job> {
    pub(crate) shared: Arc<Shared<J>>,
}

impl<J: Job> Pool<J> {
    /// Makes a pool, without starting a thread.
    ///
    /// # Panics
    ///
    /// Panics if `config.max_threads` is zero.
    #[track_caller]
    pub fn new(config: Config) -> Self {
        Self::with_spawn(config, Box::new(thread::spawn_boxed))
    }

    /// Makes a pool whose threads are started by `spawn`.
    #[track_caller]
    pub(crate) fn with_spawn(config: Config, spawn: Box<Spawn>) -> Self {
        assert!(
            config.max_threads > 0,
            "a blocking pool needs at least one thread; raise max_threads"
        );
        Self {
            handle: Handle {
                shared: Arc::new(Shared::new(config, spawn)),
            },
            joining: Joining::default(),
        }
    }

    /// Returns the handle for submitting jobs.
    pub fn handle(&self) -> &Handle<J> {
        &self.handle
    }

    /// Shuts the pool down. From now on it accepts no jobs. Jobs that have not been started are
    /// dropped, unless they are [mandatory](Handle::submit_mandatory): on this thread, or with a
    /// limit on another, since such a drop may be slow. Waits for running and mandatory jobs, for
    /// at most `wait` (`None`: without a limit). A job counts as started once a thread was started
    /// or woken for it.
    ///
    /// Returns whether all threads have exited, including the hook around their loops and the
    /// destructors of their thread-locals. A thread that has not exited by then exits by itself
    /// later. With a `wait` of zero the call returns at once. May be called again, to wait once
    /// more.
    ///
    /// A job that calls this waits for its own thread; give it a `wait`, or call it on another
    /// thread.
    pub fn shutdown(&mut self, wait: Option<Duration>) -> bool {
        let shared = &self.handle.shared;
        let mut state = shared.state.lock();
        let thread_config = state.thread_config.take();
        // The threads check the queue once more before they end. Each free thread was started or
        // woken for one of the first jobs in it.
        let mut free = state.free;
        let (kept, jobs) = std::mem::take(&mut state.queue)
            .into_iter()
            .partition(|queued| {
                let is_started = free > 0;
                free = free.saturating_sub(1);
                is_started || queued.mandatory
            });
        state.queue = kept;
        drop(state);
        shared.work_available.notify_all();
        drop_each(thread_config);
        let jobs: VecDeque<Queued<J>> = jobs;
        let has_jobs = !jobs.is_empty();
        let of_jobs = Arc::clone(shared);
        let drop_jobs = move || {
            let jobs = jobs.into_iter().map(|queued| queued.job);
            of_jobs.observed.drop_jobs(jobs);
        };
        match has_jobs && wait.is_some() && cfg!(not(raddle_loom)) {
            true => thread::run_elsewhere(Box::new(drop_jobs))
                .into_iter()
                .for_each(|thread| self.joining.push(thread)),
            false => drop_jobs(),
        }

        // A deadline beyond the range of the clock means no limit.
        let deadline = wait.and_then(|wait| Instant::now().checked_add(wait));
        let (mut state, ended) = wait_for_threads(shared, deadline);
        if !ended {
            // The handles stay in the map, for a later call that waits again.
            return false;
        }
        let handles = std::mem::take(&mut state.handles);
        drop(state);
        for handle in handles.into_values() {
            self.joining.push(handle);
        }
        self.joining.join(deadline)
    }
}

impl<J: Job> Drop for Pool<J> {
    fn drop(&mut self) {
        let mut state = self.handle.shared.state.lock();
        if state.is_shut_down() {
            // No later call joins these threads.
            let handles = std::mem::take(&mut state.handles);
            drop(state);
            drop(handles);
        } else {
            drop(state);
            self.shutdown(None);
        }
    }
}

impl<J: Job> Handle<J> {
    /// Queues `job`, and starts a thread for it if none is free and the pool is below its limit.
    ///
    /// # Errors
    ///
    /// Returns the job in the error if the pool has been shut down, or if it has no thread and the
    /// operating system refuses to start one. If the pool has threads, a refusal is not an error:
    /// the job waits for one of them, and the next submission tries again to start a thread.
    ///
    /// # Panics
    ///
    /// Panics if `thread_name` panics or returns a name with a zero byte.
    pub fn submit(&self, job: J) -> Result<(), SubmitError<J>> {
        self.submit_observed(Queued {
            job,
            mandatory: false,
            may_wait: true,
        })
    }

    /// Like [`submit`](Self::submit), for a job that waits for no other job: it is not accepted if
    /// no thread is free and the operating system refuses to start one. If the pool has as many
    /// threads as it may have, the job does wait.
    ///
    /// # Errors
    ///
    /// Returns the job in the error if the pool has been shut down, or if there is no thread for
    /// it.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`submit`](Self::submit).
    pub fn submit_now(&self, job: J) -> Result<(), SubmitError<J>> {
        self.submit_observed(Queued {
            job,
            mandatory: false,
            may_wait: false,
        })
    }

    /// Like [`submit`](Self::submit), for a job that the shutdown does not drop: if the pool has
    /// accepted it, it is run even if the shutdown comes before its start.
    ///
    /// It is still dropped if the process ends, or if a panicking hook of the pool leaves no thread
    /// to run it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`submit`](Self::submit).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`submit`](Self::submit).
    pub fn submit_mandatory(&self, job: J) -> Result<(), SubmitError<J>> {
        self.submit_observed(Queued {
            job,
            mandatory: true,
            may_wait: true,
        })
    }

    /// Submits a job, and notifies the observer.
    fn submit_observed(&self, job: Queued<J>) -> Result<(), SubmitError<J>> {
        let observed = &self.shared.observed;
        let meta = observed.meta(&job.job);
        // Called before a thread can start the job.
        observed.notify(|observer| observer.queued(meta));
        let submitted = self.submit_queued(job);
        if submitted.is_err() {
            observed.notify(|observer| observer.dropped(meta));
        }
        submitted
    }

    fn submit_queued(&self, job: Queued<J>) -> Result<(), SubmitError<J>> {
        let state = self.shared.state.lock();
        let thread_config = match &state.thread_config {
            Some(thread_config) => thread_config,
            None => {
                drop(state);
                return Err(SubmitError::shut_down(job.job));
            }
        };
        if state.wants_thread(thread_config.config.max_threads) {
            let thread_config = StdArc::clone(thread_config);
            drop(state);
            return self.submit_to_new(job, thread_config);
        }
        self.enqueue(state, job);
        Ok(())
    }

    /// Queues `job` and starts a thread, unless a thread has become free in the meantime.
    #[cold]
    fn submit_to_new(
        &self,
        job: Queued<J>,
        thread_config: StdArc<ThreadConfig>,
    ) -> Result<(), SubmitError<J>> {
        // `thread_name` is user code, so it is called before the lock is taken.
        let name = (thread_config.config.thread_name)();
        assert!(
            !name.as_bytes().contains(&0),
            "a thread's name must not contain a zero byte; change thread_name"
        );
        let mut builder = Builder::new().name(name);
        if let Some(size) = thread_config.config.stack_size {
            builder = builder.stack_size(size);
        }
        let mut state = self.shared.state.lock();
        if state.is_shut_down() {
            drop(state);
            return Err(SubmitError::shut_down(job.job));
        }
        if !state.wants_thread(thread_config.config.max_threads) {
            self.enqueue(state, job);
            return Ok(());
        }

        // The lock is held while the thread is started: a submitter that finds the maximum reached
        // relies on the existing threads.
        let number = state.next_number;
        state.next_number += 1;
        state.alive += 1;
        state.serving += 1;
        state.free += 1;
        let shared = Arc::clone(&self.shared);
        let around = thread_config.config.around_thread.clone();
        let keep_alive = thread_config.config.keep_alive;
        let body = move || CountedThread::new(shared, number).run(around.as_ref(), keep_alive);
        match (thread_config.spawn)(builder, Box::new(body)) {
            Ok(handle) => {
                state.handles.insert(number, handle);
            }
            Err(error) => {
                state.alive -= 1;
                state.serving -= 1;
                state.free -= 1;
                if state.serving == 0 || !job.may_wait {
                    drop(state);
                    return Err(SubmitError::no_thread(job.job, error));
                }
            }
        }
        self.enqueue(state, job);
        Ok(())
    }

    /// Queues `job` for the threads that exist.
    fn enqueue(&self, mut state: MutexGuard<'_, PoolState<J>>, job: Queued<J>) {
        state.queue.push_back(job);
        let wake = state.free > 0;
        drop(state);
        if wake {
            self.shared.work_available.notify_one();
        }
    }

    /// Returns the current number of threads, including those that are exiting.
    pub fn threads(&self) -> usize {
        self.shared.state.lock().alive
    }

    /// Returns the current number of threads that wait for a job. A thread that a queued job is
    /// about to wake does not count.
    pub fn idle_threads(&self) -> usize {
        let state = self.shared.state.lock();
        state.free.saturating_sub(state.queue.len())
    }

    /// Returns the current number of jobs that wait for a thread.
    pub fn queued(&self) -> usize {
        self.shared.state.lock().queue.len()
    }
}

/// Waits until no thread is left in its loop or its hook. Returns whether none is left.
fn wait_for_threads<J>(
    shared: &Shared<J>,
    deadline: Option<Instant>,
) -> (MutexGuard<'_, PoolState<J>>, bool) {
    let mut state = shared.state.lock();
    while state.alive > 0 {
        state = match deadline {
            None => shared.all_exited.wait(state),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                let (state, timed_out) = shared.all_exited.wait_timeout(state, left);
                if timed_out {
                    let ended = state.alive == 0;
                    return (state, ended);
                }
                state
            }
        };
    }
    (state, true)
}

impl<J: Job> Clone for Handle<J> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<J: Job> fmt::Debug for Pool<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.handle.threads())
            .finish_non_exhaustive()
    }
}

impl<J: Job> fmt::Debug for Handle<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}
