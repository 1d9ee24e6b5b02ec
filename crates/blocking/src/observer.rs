//! The events of jobs that a pool reports to an observer.

use std::panic::Location;

/// Callbacks for the events of a pool's jobs, for a recorder or a watchdog.
///
/// Each method does nothing by default. It is called without a lock of the pool, on the thread
/// where the event happens. A panic in it ends only the call. Without an observer, a job costs only
/// a few predictable branches.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use raddle_blocking::{Config, JobMeta, JobObserver, Pool};
///
/// #[derive(Default)]
/// struct Finished(AtomicUsize);
///
/// impl JobObserver for Finished {
///     fn finished(&self, _job: JobMeta) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let finished = Arc::new(Finished::default());
/// let config = Config { observer: Some(finished.clone()), ..Config::default() };
/// let mut pool = Pool::new(config);
/// pool.handle().submit_mandatory(|| ()).unwrap();
/// pool.shutdown(None);
/// assert_eq!(finished.0.load(Ordering::Relaxed), 1);
/// ```
pub trait JobObserver: Send + Sync {
    /// A job was submitted, on this thread. It has not been started.
    fn queued(&self, job: JobMeta) {
        let _ = job;
    }

    /// This thread is about to run the job.
    fn started(&self, job: JobMeta) {
        let _ = job;
    }

    /// This thread has run the job, which may have panicked.
    fn finished(&self, job: JobMeta) {
        let _ = job;
    }

    /// The job is dropped on this thread without being run: the pool has refused it, or shuts down.
    fn dropped(&self, job: JobMeta) {
        let _ = job;
    }
}

/// A job as an observer sees it: the value that [`Job::meta`](crate::Job::meta) returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobMeta {
    /// The number of the job, or 0.
    pub id: u64,
    /// The location where the job was submitted, if it is known.
    pub location: Option<&'static Location<'static>>,
}
