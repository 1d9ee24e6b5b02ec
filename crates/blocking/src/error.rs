//! The error of a submission.

use std::{error, fmt, io};

/// The error of [`submit`](crate::Handle::submit): the job that the pool did not accept, and the
/// reason.
///
/// ```
/// use std::sync::mpsc;
///
/// use raddle_blocking::{Config, Job, Pool};
///
/// let mut pool = Pool::new(Config::default());
/// pool.shutdown(None);
/// let (sender, receiver) = mpsc::channel();
/// let refused = pool.handle().submit(move || sender.send(42).unwrap()).unwrap_err();
/// assert!(refused.is_shutdown() && !refused.is_no_thread());
/// assert_eq!(refused.to_string(), "the blocking pool has been shut down");
/// // The caller still has the job, and may run it itself.
/// refused.into_job().run();
/// assert_eq!(receiver.recv().unwrap(), 42);
/// ```
pub struct SubmitError<J> {
    job: J,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    ShutDown,
    NoThread(io::Error),
}

impl<J> SubmitError<J> {
    pub(crate) fn shut_down(job: J) -> Self {
        Self {
            job,
            reason: Reason::ShutDown,
        }
    }

    pub(crate) fn no_thread(job: J, error: io::Error) -> Self {
        Self {
            job,
            reason: Reason::NoThread(error),
        }
    }

    /// Returns whether the pool has been shut down.
    pub fn is_shutdown(&self) -> bool {
        matches!(self.reason, Reason::ShutDown)
    }

    /// Returns whether the pool has no thread for the job and the operating system refused to start
    /// one.
    pub fn is_no_thread(&self) -> bool {
        matches!(self.reason, Reason::NoThread(_))
    }

    /// Returns the job, so that the caller can run it elsewhere or submit it again.
    pub fn into_job(self) -> J {
        self.job
    }
}

impl<J> fmt::Display for SubmitError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::ShutDown => f.write_str("the blocking pool has been shut down"),
            Reason::NoThread(error) => write!(
                f,
                "no thread could be started for blocking work: {error}; raise the limit of \
                 threads, or ask for a smaller stack"
            ),
        }
    }
}

impl<J> fmt::Debug for SubmitError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SubmitError").field(&self.reason).finish()
    }
}

impl<J> error::Error for SubmitError<J> {}
