//! Waiting for the end of a process.

use std::io;
use std::process::ExitStatus;
use std::task::{Context, Poll, ready};

use super::ending::Ending;
#[cfg(unix)]
use super::orphans;

/// A process whose exit status is always taken eventually: by a wait, or, after this is dropped,
/// when the reactor is notified of the end.
#[derive(Debug)]
pub(super) struct Process {
    /// `None` after the child was found to have ended.
    running: Option<std::process::Child>,
    status: Option<ExitStatus>,
    /// Made along with it. None if that failed, or once the process has ended.
    ending: Option<Ending>,
}

impl Process {
    pub(super) fn new(running: std::process::Child) -> Self {
        #[cfg(unix)]
        orphans::reap();
        // Now, since spawning has just given descriptors back. If all ways
        // fail, the wait tries again, and reports that.
        let ending = Ending::of(&running).ok();
        Self {
            running: Some(running),
            status: None,
            ending,
        }
    }

    /// The process, while it is not known to have ended.
    pub(super) fn running(&mut self) -> Option<&mut std::process::Child> {
        self.running.as_mut()
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.running.as_ref().map(std::process::Child::id)
    }

    #[cfg(windows)]
    pub(super) fn raw_handle(&self) -> Option<std::os::windows::io::RawHandle> {
        use std::os::windows::io::AsRawHandle;
        self.running.as_ref().map(AsRawHandle::as_raw_handle)
    }

    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if let Some(running) = &mut self.running {
            if let Some(status) = running.try_wait()? {
                self.status = Some(status);
                self.running = None;
                self.ending = None;
            }
        }
        Ok(self.status)
    }

    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        loop {
            // Listen first: an end that the look misses is noticed.
            if self.ending.is_none() {
                if let Some(running) = &self.running {
                    self.ending = Some(Ending::of(running)?);
                }
            }
            if let Some(status) = self.try_wait()? {
                return Poll::Ready(Ok(status));
            }
            if let Some(ending) = &mut self.ending {
                if ready!(ending.poll(cx)).is_err() {
                    // The runtime that it was made in has shut down. If this is
                    // another one, it takes over; if not, it says so.
                    self.ending = None;
                }
            }
        }
    }
}

/// Windows frees a process when its handles are closed.
#[cfg(unix)]
impl Drop for Process {
    fn drop(&mut self) {
        if !matches!(self.try_wait(), Ok(None)) {
            return;
        }
        if let Some(running) = self.running.take() {
            orphans::add(running, self.ending.take());
        }
    }
}

#[cfg(all(test, unix, not(raddle_loom)))]
mod tests;
