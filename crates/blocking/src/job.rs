//! Jobs: dropping them, and observing their events.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use crate::observer::{JobMeta, JobObserver};

/// A piece of blocking work.
///
/// ```
/// use std::panic::Location;
/// use std::sync::mpsc;
///
/// use raddle_blocking::{Config, Job, JobMeta, Pool};
///
/// struct Square {
///     number: u32,
///     location: &'static Location<'static>,
///     result: mpsc::Sender<u32>,
/// }
///
/// impl Job for Square {
///     fn run(self) {
///         let _ = self.result.send(self.number * self.number);
///     }
///
///     fn meta(&self) -> JobMeta {
///         JobMeta { id: 1, location: Some(self.location) }
///     }
/// }
///
/// let pool = Pool::new(Config::default());
/// let (result, results) = mpsc::channel();
/// let job = Square { number: 12, location: Location::caller(), result };
/// pool.handle().submit(job).unwrap();
/// assert_eq!(results.recv().unwrap(), 144);
/// ```
pub trait Job: Send + 'static {
    /// Does the work, on a thread of the pool.
    fn run(self);

    /// Returns what a [`JobObserver`](crate::JobObserver) sees of the job; empty by default. Not
    /// called without an observer.
    fn meta(&self) -> JobMeta {
        JobMeta::default()
    }
}

impl<F: FnOnce() + Send + 'static> Job for F {
    fn run(self) {
        self();
    }
}

/// The observer of a pool, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Observed(pub(crate) Option<Arc<dyn JobObserver>>);

impl Observed {
    /// The job as the observer sees it.
    pub(crate) fn meta<J: Job>(&self, job: &J) -> JobMeta {
        match &self.0 {
            None => JobMeta::default(),
            Some(_) => job.meta(),
        }
    }

    /// Calls the observer. If it panics, the payload is dropped.
    pub(crate) fn notify(&self, call: impl FnOnce(&dyn JobObserver)) {
        let Some(observer) = &self.0 else { return };
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| call(&**observer))) {
            drop_each([payload]);
        }
    }

    /// Drops jobs that were not run, each separately.
    pub(crate) fn drop_jobs<J: Job>(&self, jobs: impl IntoIterator<Item = J>) {
        for job in jobs {
            let meta = self.meta(&job);
            drop_each([job]);
            self.notify(|observer| observer.dropped(meta));
        }
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observed").field(&self.0.is_some()).finish()
    }
}

/// Drops each item separately, so that a panic of one drop does not prevent the others. The panic
/// hook has reported the panic; if the drop of the payload panics too, the second payload is
/// forgotten.
pub(crate) fn drop_each<T>(items: impl IntoIterator<Item = T>) {
    for item in items {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| drop(item))) {
            if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(payload);
            }
        }
    }
}
